#include "http/cpprest_transport.h"

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/http_server.h"

namespace http {
namespace {

using sim::Answer;
using sim::HttpServer;
using ::testing::HasSubstr;

std::unique_ptr<Transport> Connect(const std::string& url) {
  return MakeCpprestTransport({.base_url = url}).value();
}

Request Get(std::string target) {
  return {.method = "GET", .target = std::move(target), .timeout = absl::Seconds(30)};
}

Request Put(std::string target, std::string body) {
  return {.method = "PUT",
          .target = std::move(target),
          .headers = {{"content-type", "application/json"}},
          .body = std::move(body),
          .timeout = absl::Seconds(30)};
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// Collects a stream; `until` ends it from OnData.
class Collector : public StreamHandler {
 public:
  absl::Status OnHead(int status, const Headers&) override {
    status_ = status;
    return head_answer;
  }
  absl::Status OnData(absl::string_view bytes) override {
    text_.append(bytes.data(), bytes.size());
    if (on_data) return on_data(text_);
    return absl::OkStatus();
  }

  int status() const { return status_; }
  const std::string& text() const { return text_; }

  absl::Status head_answer = absl::OkStatus();
  std::function<absl::Status(const std::string& so_far)> on_data;

 private:
  int status_ = 0;
  std::string text_;
};

TEST(CpprestTransport, SendsMethodTargetHeadersAndBodyAsTheyAre) {
  Request seen;
  auto server = HttpServer::Start([&](const Request& request) {
                  seen = request;
                  return Response{.status = 200, .headers = {{"Etag", "v7"}}, .body = "answer"};
                }).value();
  auto transport = Connect(server->url());
  Request request = Put("/a/10.0.0.3:8080%2Fx?page=%20y&z", "{\"a\":1}");
  request.headers.emplace_back("If-Match", "q\"1\"");
  const auto response = transport->Send(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "answer");
  EXPECT_EQ(FindHeader(response->headers, "etag"), "v7");
  EXPECT_EQ(seen.method, "PUT");
  EXPECT_EQ(seen.target, request.target);
  EXPECT_EQ(seen.body, request.body);
  EXPECT_EQ(FindHeader(seen.headers, "host"), "127.0.0.1:" + std::to_string(server->port()));
  EXPECT_EQ(FindHeader(seen.headers, "content-length"), "7");
  EXPECT_EQ(FindHeader(seen.headers, "content-type"), "application/json");
  EXPECT_EQ(FindHeader(seen.headers, "if-match"), "q\"1\"");
  EXPECT_EQ(FindHeader(seen.headers, "transfer-encoding"), "");
}

TEST(CpprestTransport, SendsAnEmptyBodyWithLengthZeroAndWithoutType) {
  Request seen;
  auto server = HttpServer::Start([&](const Request& request) {
                  seen = request;
                  return Response{.status = 204};
                }).value();
  auto transport = Connect(server->url());
  const auto response = transport->Send({.method = "DELETE", .target = "/x"});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 204);
  EXPECT_EQ(FindHeader(seen.headers, "content-length"), "0");
  EXPECT_EQ(FindHeader(seen.headers, "content-type"), "");
}

TEST(CpprestTransport, UsesOneConnectionForManyRequests) {
  auto server = HttpServer::Start([](const Request&) { return Response{.status = 200}; }).value();
  auto transport = Connect(server->url());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(transport->Send(i % 2 == 0 ? Get("/") : Put("/", "x")).ok());
  }
  EXPECT_EQ(server->requests_received(), 50);
  // The library may give a connection back a moment after its answer is read.
  EXPECT_LE(server->connections_accepted(), 5);
}

TEST(CpprestTransport, AnswersErrorStatusesAndRedirectsAsTheyAre) {
  auto server =
      HttpServer::Start([](const Request& request) {
        const int status = std::stoi(request.target.substr(1));
        return Response{.status = status, .headers = {{"location", "/200"}}, .body = "because"};
      }).value();
  auto transport = Connect(server->url());
  for (const int status : {301, 302, 307, 400, 404, 409, 412, 429, 500, 503}) {
    const auto response = transport->Send(Get("/" + std::to_string(status)));
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->status, status);
    EXPECT_EQ(response->body, "because");
  }
  EXPECT_EQ(server->requests_received(), 10);
}

TEST(CpprestTransport, RefusedConnectionIsUnavailableAndNamesTheServer) {
  int port = 0;
  {
    boost::asio::io_context io;
    const boost::asio::ip::tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
    port = acceptor.local_endpoint().port();
  }
  const std::string url = "http://127.0.0.1:" + std::to_string(port);
  const auto response = Connect(url)->Send(Put("/x?secret=1", "{}"));
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Message(response.status()),
            "PUT " + url + "/x: connection refused or host unreachable");
}

TEST(CpprestTransport, UnknownHostNameIsUnavailable) {
  const auto response = Connect("http://no-such-host.invalid")->Send(Get("/"));
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(response.status()), HasSubstr("the host name cannot be resolved"));
}

TEST(CpprestTransport, LostReplyIsDeadlineExceededAndTheWriteWentOutOnce) {
  for (const auto fault : {Answer::Fault::kLoseReply, Answer::Fault::kResetReply}) {
    auto server = HttpServer::Start([&](const Request&) {
                    Answer answer;
                    answer.fault = fault;
                    return answer;
                  }).value();
    const auto response = Connect(server->url())->Send(Put("/", "{}"));
    EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(Message(response.status()), HasSubstr("the connection broke before the answer"));
    EXPECT_EQ(server->requests_received(), 1);
  }
}

// cpprestsdk sends a request again by itself when a kept connection breaks before
// the answer. For a write that would be a second write.
TEST(CpprestTransport, LostReplyOnAKeptConnectionNeverSendsAWriteTwice) {
  for (const std::string method : {"PUT", "POST", "PATCH", "DELETE"}) {
    std::atomic<int> writes = 0;
    auto server = HttpServer::Start([&](const Request& request) {
                    Answer answer(Response{.status = 200});
                    if (request.method != "GET" && ++writes == 1) {
                      answer.fault = Answer::Fault::kLoseReply;
                    }
                    return answer;
                  }).value();
    auto transport = Connect(server->url());
    // Until the write finds a kept connection; the library keeps it a moment after
    // the answer.
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(transport->Send(Get("/")).ok());
    Request write = Put("/", method == "DELETE" ? "" : "{}");
    write.method = method;
    const auto response = transport->Send(write);
    EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded) << method;
    EXPECT_EQ(writes, 1) << method;
  }
}

TEST(CpprestTransport, ReadOnAConnectionThatTheServerClosedIsSentAgain) {
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 200, .body = "x"});
                  answer.fault = Answer::Fault::kCloseAfterward;
                  return answer;
                }).value();
  auto transport = Connect(server->url());
  for (int i = 0; i < 20; ++i) {
    const auto response = transport->Send(Get("/"));
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->body, "x");
  }
}

TEST(CpprestTransport, CutBodyIsDeadlineExceeded) {
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 200, .body = std::string(1000, 'x')});
                  answer.fault = Answer::Fault::kCutBody;
                  return answer;
                }).value();
  const auto response = Connect(server->url())->Send(Get("/"));
  EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(response.status()), HasSubstr("closed by the server"));
}

TEST(CpprestTransport, SilentServerIsDeadlineExceededAtTheTimeout) {
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.delay = absl::InfiniteDuration();
                  return answer;
                }).value();
  Request request = Put("/", "{}");
  request.timeout = absl::Milliseconds(50);
  const auto response = Connect(server->url())->Send(request);
  EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(response.status()), HasSubstr("nothing heard within 50ms"));
}

TEST(CpprestTransport, TimeoutCoversTheWholeAnswer) {
  // A byte now and then would restart a timeout of silence for ever.
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.stream = [](sim::StreamWriter& writer) {
                    while (!writer.WaitUntilClosed(absl::Milliseconds(1))) writer.Write("x");
                  };
                  return answer;
                }).value();
  Request request = Get("/");
  request.timeout = absl::Milliseconds(100);
  const auto response = Connect(server->url())->Send(request);
  EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(CpprestTransport, AnswerOverTheBoundIsResourceExhausted) {
  for (const bool chunked : {false, true}) {
    auto server = HttpServer::Start([&](const Request&) {
                    Answer answer(Response{.status = 200, .body = std::string(3000, 'x')});
                    if (chunked) {
                      answer.stream = [](sim::StreamWriter& writer) {
                        while (writer.Write("0123456789")) {
                        }
                      };
                    }
                    return answer;
                  }).value();
    Request request = Get("/");
    request.max_response_bytes = 2999;
    const auto response = Connect(server->url())->Send(request);
    EXPECT_EQ(response.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(Message(response.status()), HasSubstr("larger than 2999 bytes"));
  }
}

TEST(CpprestTransport, ReceivesLargeBodiesWhole) {
  std::string large(5 << 20, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7);
  auto server = HttpServer::Start([&](const Request& request) {
                  return Response{.status = 200, .body = request.body + large};
                }).value();
  const auto response = Connect(server->url())->Send(Put("/", large));
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_TRUE(response->body == large + large);
}

TEST(CpprestTransport, AnswerThatIsNotHttpIsAnError) {
  for (const std::string raw : {"nonsense", "nonsense\r\n\r\n", "HTTP/1.1 xyz\r\n\r\n",
                                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc",
                                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n",
                                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"}) {
    auto server = HttpServer::Start([&](const Request&) {
                    Answer answer;
                    answer.raw = raw;
                    return answer;
                  }).value();
    const auto response = Connect(server->url())->Send(Put("/", "{}"));
    EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded) << raw;
    EXPECT_EQ(server->requests_received(), 1);
  }
}

TEST(CpprestTransport, RefusesWhatWouldBreakTheRequestsForm) {
  auto transport = Connect("http://127.0.0.1:1");
  for (const std::string target : {"", "x", "/a b", "/a\r\nx: y", "/\xff", "/?"}) {
    EXPECT_EQ(transport->Send(Get(target)).status().code(), absl::StatusCode::kInvalidArgument)
        << target;
  }
  Request request = Get("/");
  request.headers = {{"authorization", "Bearer abc\n"}};
  const auto response = transport->Send(request);
  EXPECT_EQ(response.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(response.status()), HasSubstr("header authorization: a control character"));
  EXPECT_THAT(Message(response.status()), ::testing::Not(HasSubstr("abc")));
}

TEST(CpprestTransport, RefusesAnUnusableAddress) {
  EXPECT_EQ(MakeCpprestTransport({.base_url = "nonsense"}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(CpprestTransport, BlocksOnlyTheCallersThreads) {
  // More calls at a time than the library has threads, none answered before all
  // have arrived.
  constexpr int kCalls = 40;
  std::atomic<int> arrived = 0;
  absl::Notification all;
  auto server = HttpServer::Start([&](const Request&) {
                  if (++arrived == kCalls) all.Notify();
                  all.WaitForNotification();
                  return Response{.status = 200};
                }).value();
  auto transport = Connect(server->url());
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int i = 0; i < kCalls; ++i) {
    threads.emplace_back([&] { answered += transport->Send(Get("/")).ok() ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, kCalls);
}

TEST(CpprestStream, GivesTheHeadThenTheBytesAsTheyCome) {
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.stream = [](sim::StreamWriter& writer) {
                    writer.Write("one\n");
                    writer.Write("two\n");
                  };
                  return answer;
                }).value();
  Collector collector;
  const auto status = Connect(server->url())->Stream(Get("/"), collector, nullptr);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(collector.status(), 200);
  EXPECT_EQ(collector.text(), "one\ntwo\n");
}

TEST(CpprestStream, DeliversEachPieceWithoutWaitingForMore) {
  absl::Notification received;
  auto server = HttpServer::Start([&](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.stream = [&](sim::StreamWriter& writer) {
                    writer.Write("first");
                    received.WaitForNotification();
                    writer.Write("second");
                  };
                  return answer;
                }).value();
  Collector collector;
  collector.on_data = [&](const std::string& so_far) {
    if (so_far == "first") received.Notify();
    return absl::OkStatus();
  };
  EXPECT_TRUE(Connect(server->url())->Stream(Get("/"), collector, nullptr).ok());
  EXPECT_EQ(collector.text(), "firstsecond");
}

TEST(CpprestStream, CutStreamIsDeadlineExceeded) {
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.stream = [](sim::StreamWriter& writer) {
                    writer.Write("half");
                    writer.Cut();
                  };
                  return answer;
                }).value();
  Collector collector;
  const auto status = Connect(server->url())->Stream(Get("/"), collector, nullptr);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

TEST(CpprestStream, SilenceIsDeadlineExceeded) {
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.stream = [](sim::StreamWriter& writer) {
                    writer.Write("hello");
                    writer.WaitUntilClosed(absl::InfiniteDuration());
                  };
                  return answer;
                }).value();
  Collector collector;
  Request request = Get("/");
  request.timeout = absl::Milliseconds(100);
  const auto status = Connect(server->url())->Stream(request, collector, nullptr);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

TEST(CpprestStream, SilenceIsMeasuredFromByteToByte) {
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.stream = [](sim::StreamWriter& writer) {
                    for (int i = 0; i < 25; ++i) {
                      writer.Write("x");
                      writer.WaitUntilClosed(absl::Milliseconds(100));
                    }
                  };
                  return answer;
                }).value();
  Collector collector;
  Request request = Get("/");
  request.timeout = absl::Seconds(2);  // the whole takes 2.5
  const auto status = Connect(server->url())->Stream(request, collector, nullptr);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(collector.text(), std::string(25, 'x'));
}

TEST(CpprestStream, CancelEndsABlockedRead) {
  absl::Notification server_saw_the_end;
  auto server = HttpServer::Start([&](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.stream = [&](sim::StreamWriter& writer) {
                    writer.Write("hello");
                    writer.WaitUntilClosed(absl::InfiniteDuration());
                    server_saw_the_end.Notify();
                  };
                  return answer;
                }).value();
  auto transport = Connect(server->url());
  auto cancellation = std::make_shared<Cancellation>();
  absl::Notification started;
  Collector collector;
  collector.on_data = [&](const std::string&) {
    started.Notify();
    return absl::OkStatus();
  };
  absl::Status status;
  std::thread reader([&] { status = transport->Stream(Get("/"), collector, cancellation); });
  started.WaitForNotification();
  cancellation->Cancel();
  reader.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  server_saw_the_end.WaitForNotification();
}

TEST(CpprestStream, CancelBeforeTheStartEndsItAtOnce) {
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.delay = absl::InfiniteDuration();
                  return answer;
                }).value();
  auto cancellation = std::make_shared<Cancellation>();
  cancellation->Cancel();
  Collector collector;
  EXPECT_EQ(Connect(server->url())->Stream(Get("/"), collector, cancellation).code(),
            absl::StatusCode::kCancelled);
}

TEST(CpprestStream, HandlersErrorEndsItWithThatStatus) {
  auto server = HttpServer::Start([](const Request&) {
                  Answer answer(Response{.status = 410});
                  answer.stream = [](sim::StreamWriter& writer) {
                    while (writer.Write("data")) {
                    }
                  };
                  return answer;
                }).value();
  auto transport = Connect(server->url());
  Collector by_head;
  by_head.head_answer = absl::OutOfRangeError("gone");
  EXPECT_EQ(transport->Stream(Get("/"), by_head, nullptr), absl::OutOfRangeError("gone"));
  Collector by_data;
  by_data.on_data = [](const std::string&) { return absl::InvalidArgumentError("bad line"); };
  EXPECT_EQ(transport->Stream(Get("/"), by_data, nullptr), absl::InvalidArgumentError("bad line"));
}

TEST(CpprestStream, ManyStreamsLeaveRoomForRequests) {
  auto server = HttpServer::Start([](const Request& request) {
                  Answer answer(Response{.status = 200});
                  if (request.target == "/watch") {
                    answer.stream = [](sim::StreamWriter& writer) {
                      writer.Write("x");
                      writer.WaitUntilClosed(absl::InfiniteDuration());
                    };
                  }
                  return answer;
                }).value();
  auto transport = Connect(server->url());
  auto cancellations = std::vector<std::shared_ptr<Cancellation>>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 30; ++i) {
    cancellations.push_back(std::make_shared<Cancellation>());
    threads.emplace_back([&, cancellation = cancellations.back()] {
      Collector collector;
      EXPECT_EQ(transport->Stream(Get("/watch"), collector, cancellation).code(),
                absl::StatusCode::kCancelled);
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(transport->Send(Get("/")).ok());
  for (const auto& cancellation : cancellations) cancellation->Cancel();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace http

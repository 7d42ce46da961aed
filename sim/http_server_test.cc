#include "sim/http_server.h"

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <list>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sim {
namespace {

using boost::asio::ip::tcp;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// A client that knows nothing of HTTP: what it reads is what was on the wire.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(io_) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)});
  }

  void Write(const std::string& bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }

  std::string ReadUntil(const std::string& end) {
    boost::system::error_code error;
    const size_t length =
        boost::asio::read_until(socket_, boost::asio::dynamic_buffer(buffer_), end, error);
    const std::string text = error ? buffer_ : buffer_.substr(0, length);
    buffer_.erase(0, text.size());
    return text;
  }

  // All bytes until the server closes.
  std::string ReadAll() { return ReadUntil("\n never sent \n"); }

  void Close() { socket_.close(); }

 private:
  boost::asio::io_context io_;
  tcp::socket socket_;
  std::string buffer_;
};

TEST(HttpServer, GivesTheHandlerTheRawTargetAndHeaders) {
  http::Request seen;
  auto server = HttpServer::Start([&](const http::Request& request) {
                  seen = request;
                  return http::Response{.status = 200, .headers = {{"etag", "7"}}, .body = "hi"};
                }).value();
  RawClient client(server->port());
  client.Write(
      "PUT /a%3Ab?x=%20 HTTP/1.1\r\nHost: h:1\r\nIf-Match: q\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(client.ReadUntil("hi"), "HTTP/1.1 200 OK\r\netag: 7\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(seen.method, "PUT");
  EXPECT_EQ(seen.target, "/a%3Ab?x=%20");
  EXPECT_EQ(seen.body, "abc");
  EXPECT_EQ(seen.headers,
            (http::Headers{{"Host", "h:1"}, {"If-Match", "q"}, {"Content-Length", "3"}}));
}

TEST(HttpServer, KeepsConnectionsAlive) {
  auto server = HttpServer::Start([](const http::Request& request) {
                  return http::Response{.status = 200, .body = request.target};
                }).value();
  RawClient client(server->port());
  for (const std::string target : {"/1", "/2", "/3"}) {
    client.Write("GET " + target + " HTTP/1.1\r\n\r\n");
    EXPECT_THAT(client.ReadUntil(target), EndsWith(target));
  }
  EXPECT_EQ(server->connections_accepted(), 1);
  EXPECT_EQ(server->requests_received(), 3);
}

TEST(HttpServer, StreamsChunksAndKeepsTheConnection) {
  auto server = HttpServer::Start([](const http::Request&) {
                  Answer answer(http::Response{.status = 200});
                  answer.stream = [](StreamWriter& writer) {
                    writer.Write("hello");
                    EXPECT_FALSE(writer.closed());
                  };
                  return answer;
                }).value();
  RawClient client(server->port());
  for (int i = 0; i < 2; ++i) {
    client.Write("GET / HTTP/1.1\r\n\r\n");
    EXPECT_THAT(client.ReadUntil("0\r\n\r\n"), EndsWith("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"));
  }
}

TEST(HttpServer, LetsAnotherThreadWriteAndFinishAStream) {
  std::atomic<StreamWriter*> shared = nullptr;
  auto server = HttpServer::Start([&](const http::Request&) {
                  Answer answer(http::Response{.status = 200});
                  answer.stream = [&](StreamWriter& writer) {
                    shared = &writer;
                    shared.notify_all();
                    writer.WaitUntilClosed(absl::InfiniteDuration());
                  };
                  return answer;
                }).value();
  RawClient client(server->port());
  client.Write("GET / HTTP/1.1\r\n\r\n");
  shared.wait(nullptr);
  shared.load()->Write("late");
  EXPECT_THAT(client.ReadUntil("late\r\n"), EndsWith("4\r\nlate\r\n"));
  shared.load()->Finish();
  EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), "0\r\n\r\n");
}

TEST(HttpServer, NoticesThatAStreamsPeerLeft) {
  std::atomic<bool> left = false;
  auto server = HttpServer::Start([&](const http::Request&) {
                  Answer answer(http::Response{.status = 200});
                  answer.stream = [&](StreamWriter& writer) {
                    left = writer.WaitUntilClosed(absl::InfiniteDuration());
                    left.notify_all();
                  };
                  return answer;
                }).value();
  RawClient client(server->port());
  client.Write("GET / HTTP/1.1\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  client.Close();
  left.wait(false);
  EXPECT_TRUE(left);
}

TEST(HttpServer, StopEndsStreamsDelaysAndIdleConnections) {
  auto server = HttpServer::Start([](const http::Request& request) {
                  Answer answer(http::Response{.status = 200});
                  if (request.target == "/slow") answer.delay = absl::InfiniteDuration();
                  if (request.target == "/stream") {
                    answer.stream = [](StreamWriter& writer) {
                      writer.WaitUntilClosed(absl::InfiniteDuration());
                    };
                  }
                  return answer;
                }).value();
  RawClient idle(server->port());
  RawClient slow(server->port());
  RawClient stream(server->port());
  slow.Write("GET /slow HTTP/1.1\r\n\r\n");
  stream.Write("GET /stream HTTP/1.1\r\n\r\n");
  stream.ReadUntil("\r\n\r\n");
  server->Stop();
  EXPECT_EQ(idle.ReadAll(), "");
  EXPECT_EQ(slow.ReadAll(), "");
  EXPECT_EQ(stream.ReadAll(), "");
}

TEST(HttpServer, InjectsFaults) {
  auto server = HttpServer::Start([](const http::Request& request) {
                  Answer answer(http::Response{.status = 200, .body = "0123456789"});
                  if (request.target == "/lose") answer.fault = Answer::Fault::kLoseReply;
                  if (request.target == "/reset") answer.fault = Answer::Fault::kResetReply;
                  if (request.target == "/cut") answer.fault = Answer::Fault::kCutBody;
                  if (request.target == "/close") answer.fault = Answer::Fault::kCloseAfterward;
                  if (request.target == "/raw") answer.raw = "nonsense";
                  return answer;
                }).value();
  const auto ask = [&](const std::string& target) {
    RawClient client(server->port());
    client.Write("GET " + target + " HTTP/1.1\r\n\r\n");
    return client.ReadAll();
  };
  EXPECT_EQ(ask("/lose"), "");
  EXPECT_EQ(ask("/reset"), "");
  EXPECT_THAT(ask("/cut"), EndsWith("Content-Length: 10\r\n\r\n01234"));
  EXPECT_THAT(ask("/close"), EndsWith("0123456789"));
  EXPECT_EQ(ask("/raw"), "nonsense");
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto handler = [](const http::Request&) { return http::Response{.status = 200}; };
  auto first = HttpServer::Start(handler).value();
  const auto second = HttpServer::Start(handler, {.port = static_cast<uint16_t>(first->port())});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("Address already in use"));
}

TEST(HttpServer, ServesHundredsOfConnections) {
  auto server =
      HttpServer::Start([](const http::Request&) { return http::Response{.status = 204}; }).value();
  std::list<RawClient> clients;
  for (int i = 0; i < 300; ++i) {
    clients.emplace_back(server->port()).Write("GET / HTTP/1.1\r\n\r\n");
  }
  for (RawClient& client : clients) {
    EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 204 No Content\r\n\r\n");
  }
}

}  // namespace
}  // namespace sim

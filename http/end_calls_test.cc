#include <algorithm>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "http/cpprest_transport.h"
#include "sim/http_server.h"

namespace http {
namespace {

using sim::Answer;
using sim::HttpServer;

TEST(CpprestTransport, EndCallsEndsWhatHangsAndWhatComesLater) {
  absl::Notification arrived;
  auto server = HttpServer::Start([&](const Request&) {
                  if (!arrived.HasBeenNotified()) arrived.Notify();
                  Answer answer;
                  answer.delay = absl::Minutes(10);
                  return answer;
                }).value();
  auto transport = MakeCpprestTransport({.base_url = server->url()}).value();
  std::thread ender([&] {
    arrived.WaitForNotification();
    transport->EndCalls();
  });
  EXPECT_EQ(transport->Send({.method = "PUT", .target = "/", .body = "{}"}).status().code(),
            absl::StatusCode::kCancelled);
  ender.join();
  EXPECT_EQ(transport->Send({.method = "GET", .target = "/"}).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(server->requests_received(), 1);
}

// Ends the reading of a stream that comes in order, and says how much was read ahead.
class Follower : public StreamHandler {
 public:
  absl::Status OnHead(int, const Headers&) override { return absl::OkStatus(); }
  absl::Status OnData(absl::string_view bytes) override {
    most_ = std::max(most_, bytes.size());
    for (const char c : bytes) {
      if (c != static_cast<char>('a' + total_++ % 26)) return absl::DataLossError("out of order");
    }
    return absl::OkStatus();
  }
  size_t total() const { return total_; }
  size_t most() const { return most_; }

 private:
  size_t total_ = 0;
  size_t most_ = 0;
};

TEST(CpprestStream, IsReadAheadOfItsReaderOnlySoFar) {
  std::string piece(26 * 4096, ' ');
  for (size_t i = 0; i < piece.size(); ++i) piece[i] = static_cast<char>('a' + i % 26);
  constexpr size_t kPieces = 200;
  auto server = HttpServer::Start([&](const Request&) {
                  Answer answer(Response{.status = 200});
                  answer.stream = [&](sim::StreamWriter& writer) {
                    for (size_t i = 0; i < kPieces; ++i) writer.Write(piece);
                  };
                  return answer;
                }).value();
  auto transport = MakeCpprestTransport({.base_url = server->url()}).value();
  Follower follower;
  const absl::Status status =
      transport->Stream({.method = "GET", .target = "/"}, follower, nullptr);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(follower.total(), kPieces * piece.size());
  // A megabyte, and the piece that exceeds it.
  EXPECT_LE(follower.most(), (1u << 20) + piece.size());
}

}  // namespace
}  // namespace http

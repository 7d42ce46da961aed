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

}  // namespace
}  // namespace http

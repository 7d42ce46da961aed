#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "cmd/barrier_client.h"

namespace cmd {
namespace {

std::string Http(int status, absl::string_view body) {
  return absl::StrCat("HTTP/1.1 ", status, " X\r\ncontent-type: application/json\r\n",
                      "Content-Length: ", body.size(), "\r\n\r\n", body);
}

TEST(BarrierAnswer, TheBarriersOwnAnswersAreUnderstood) {
  const std::pair<const char*, BarrierVerdict> kEnds[] = {
      {"Drained", BarrierVerdict::kDrained},
      {"NotRegistered", BarrierVerdict::kDrained},
      {"LastBackend", BarrierVerdict::kReleased},
      {"DeadlineMissed", BarrierVerdict::kReleased},
  };
  for (const auto& [outcome, verdict] : kEnds) {
    const BarrierReply reply =
        ParseBarrierAnswer(Http(200, absl::StrCat("{\"outcome\":\"", outcome, "\"}")));
    EXPECT_EQ(reply.verdict, verdict) << outcome;
    EXPECT_EQ(reply.outcome, outcome);
  }
  EXPECT_EQ(ParseBarrierAnswer(Http(202, R"({"outcome":"Waiting","sets":[]})")).verdict,
            BarrierVerdict::kWait);
}

TEST(BarrierAnswer, WhatTheBarrierNeverSaysIsUseless) {
  const std::string whole = Http(200, R"({"outcome":"Drained"})");
  const std::string cases[] = {
      "",
      "HTTP/1.1 200 OK\r\n",
      "nonsense\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\n{\"outcome\":\"Drained\"}",  // nobody said that this is all
      whole.substr(0, whole.size() - 1),
      Http(200, "<html>Welcome to the hotel</html>"),
      Http(200, R"({"outcome":"Waiting"})"),
      Http(200, R"({"outcome":7})"),
      Http(200, "[]"),
      Http(202, R"({"outcome":"Drained"})"),
      Http(302, R"({"outcome":"Drained"})"),
      Http(404, R"({"outcome":"Drained"})"),
      Http(500, R"({"outcome":"Drained"})"),
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
  };
  for (const std::string& bytes : cases) {
    EXPECT_EQ(ParseBarrierAnswer(bytes).verdict, BarrierVerdict::kUseless) << bytes;
    EXPECT_FALSE(ParseBarrierAnswer(bytes).outcome.empty()) << bytes;
  }
}

TEST(HostPort, IsANameOrAnAddressWithAPort) {
  const auto name = ParseHostPort("barrier.drain.svc:8090");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->host, "barrier.drain.svc");
  EXPECT_EQ(name->port, 8090);
  EXPECT_EQ(ParseHostPort("[fd00::1]:80")->host, "fd00::1");
  for (const char* wrong :
       {"", "host", ":80", "host:", "host:0", "host:65536", "host:x", "[::1:80"}) {
    EXPECT_FALSE(ParseHostPort(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace cmd

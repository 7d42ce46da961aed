#include "probe/response_parser.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace probe {
namespace {

using ::testing::ElementsAre;
using State = ResponseParser::State;

// Fed in pieces of `step` bytes; the state after the last piece that was taken.
State FeedIn(size_t step, absl::string_view text, ResponseParser& parser, size_t& used) {
  parser.Reset();
  used = 0;
  State state = State::kMore;
  for (size_t at = 0; at < text.size() && state == State::kMore; at += step) {
    size_t taken = 0;
    state = parser.Feed(text.substr(at, step), taken);
    used += taken;
  }
  return state;
}

struct Case {
  const char* name;
  std::string text;
  State state;
  int status;
  bool keep_alive;
  size_t after = 0;  // bytes that do not belong to it
};

const Case kCases[] = {
    {"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", State::kDone, 200, true},
    {"no body", "HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n", State::kDone, 204, true},
    {"empty body", "HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", State::kDone, 200, true},
    {"chunked",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\na;x=y\r\n0123456789\r\n"
     "0\r\nTrailer: t\r\n\r\n",
     State::kDone, 200, true},
    {"interim",
     "HTTP/1.1 100 Continue\r\nContent-Length: 7\r\n\r\nHTTP/1.1 503 No\r\n"
     "Content-Length: 2\r\n\r\nno",
     State::kDone, 503, true},
    {"close", "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\nx", State::kDone,
     200, false},
    {"http 1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", State::kDone, 200, false},
    {"more than one", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP", State::kDone, 200, true,
     4},
    {"until close", "HTTP/1.1 200 OK\r\n\r\nhello", State::kMore, 200, false},
    {"half", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", State::kMore, 200, true},
};

TEST(ResponseParser, FindsTheEndWhereverTheBytesAreSplit) {
  for (const Case& one : kCases) {
    for (const size_t step : {1, 2, 3, 7, 1000}) {
      ResponseParser parser;
      size_t used = 0;
      EXPECT_EQ(FeedIn(step, one.text, parser, used), one.state) << one.name << " in " << step;
      EXPECT_EQ(parser.status(), one.status) << one.name;
      EXPECT_EQ(parser.keep_alive(), one.keep_alive) << one.name;
      if (step == 1000) {
        EXPECT_EQ(used, one.text.size() - one.after) << one.name;
      }
    }
  }
}

TEST(ResponseParser, KnowsAResponseThatEndsByClose) {
  ResponseParser parser;
  size_t used = 0;
  FeedIn(1000, "HTTP/1.1 200 OK\r\n\r\nhello", parser, used);
  EXPECT_TRUE(parser.EndsByClose());
  FeedIn(1000, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", parser, used);
  EXPECT_FALSE(parser.EndsByClose());
}

TEST(ResponseParser, RefusesWhatIsNotHttp) {
  for (const char* text :
       {"SSH-2.0-OpenSSH\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nnothing\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n"}) {
    for (const size_t step : {1, 1000}) {
      ResponseParser parser;
      size_t used = 0;
      EXPECT_EQ(FeedIn(step, text, parser, used), State::kMalformed) << text;
      EXPECT_FALSE(parser.error().empty());
    }
  }
}

TEST(ResponseParser, HoldsItsBounds) {
  const ResponseParser::Bounds bounds = {.head_bytes = 100, .body_bytes = 10};
  const std::string long_head = "HTTP/1.1 200 OK\r\nX: " + std::string(100, 'x') + "\r\n\r\n";
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  for (const std::string& text :
       {long_head, std::string("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"), chunked + "b\r\n",
        chunked + "9\r\n123456789\r\n2\r\n", chunked + std::string(101, '1'),
        chunked + "0\r\n" + std::string(101, 't'),
        std::string("HTTP/1.1 200 OK\r\n\r\n12345678901"),
        interim + interim + interim + interim + interim}) {
    for (const size_t step : {1, 1000}) {
      ResponseParser parser(bounds);
      size_t used = 0;
      EXPECT_EQ(FeedIn(step, text, parser, used), State::kMalformed) << text;
    }
  }
}

TEST(ResponseParser, KeepsCookiesWithoutTheirAttributes) {
  ResponseParser parser;
  size_t used = 0;
  FeedIn(1000,
         "HTTP/1.1 200 OK\r\nSet-Cookie: route=a; Path=/\r\nset-cookie: id=7\r\n"
         "Set-Cookie: nothing\r\nContent-Length: 0\r\n\r\n",
         parser, used);
  EXPECT_THAT(parser.cookies(), ElementsAre("route=a", "id=7"));
}

}  // namespace
}  // namespace probe

#include "probe/response_parser.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace probe {
namespace {

constexpr size_t kMaxCookies = 16;
constexpr size_t kMaxCookieBytes = 4096;
// "HTTP/1.1 200"
constexpr size_t kStatusEnd = 12;

bool HasToken(absl::string_view list, absl::string_view token) {
  for (absl::string_view item : absl::StrSplit(list, ',')) {
    if (absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(item), token)) return true;
  }
  return false;
}

}  // namespace

void ResponseParser::Reset() {
  phase_ = Phase::kHead;
  line_.clear();
  status_ = 0;
  keep_alive_ = true;
  chunked_ = false;
  content_length_ = -1;
  left_ = 0;
  head_bytes_ = 0;
  body_bytes_ = 0;
  cookies_.clear();
  error_ = "";
}

ResponseParser::State ResponseParser::Fail(const char* error) {
  error_ = error;
  return State::kMalformed;
}

ResponseParser::State ResponseParser::Feed(absl::string_view bytes, size_t& used) {
  const size_t all = bytes.size();
  State state = State::kMore;
  while (!bytes.empty() && state == State::kMore) {
    switch (phase_) {
      case Phase::kHead:
        state = TakeHead(bytes);
        break;
      case Phase::kLength:
      case Phase::kChunkData:
      case Phase::kUntilClose:
        state = TakeBody(bytes);
        break;
      case Phase::kChunkSize:
      case Phase::kChunkEnd:
      case Phase::kTrailer:
        state = TakeLine(bytes);
        break;
    }
  }
  used = all - bytes.size();
  return state;
}

ResponseParser::State ResponseParser::TakeHead(absl::string_view& bytes) {
  const size_t before = line_.size();
  // The end may be split between two reads.
  const size_t look_from = before < 3 ? 0 : before - 3;
  line_.append(bytes.data(), bytes.size());
  const size_t end = line_.find("\r\n\r\n", look_from);
  if (end == std::string::npos) {
    head_bytes_ += static_cast<int64_t>(bytes.size());
    bytes = {};
    if (head_bytes_ > bounds_.head_bytes) return Fail("the head is too large");
    return State::kMore;
  }
  const size_t taken = end + 4 - before;
  head_bytes_ += static_cast<int64_t>(taken);
  bytes.remove_prefix(taken);
  line_.resize(end + 2);
  if (head_bytes_ > bounds_.head_bytes) return Fail("the head is too large");
  const State state = ParseHead();
  line_.clear();
  return state;
}

ResponseParser::State ResponseParser::ParseHead() {
  absl::string_view head = line_;
  if (head.size() < kStatusEnd || !absl::StartsWith(head, "HTTP/1.") || head[8] != ' ' ||
      !absl::SimpleAtoi(head.substr(9, 3), &status_) || status_ < 100) {
    return Fail("the status line is not that of HTTP/1.1");
  }
  keep_alive_ = head[7] != '0';
  head.remove_prefix(head.find("\r\n") + 2);
  while (!head.empty()) {
    const size_t end = head.find("\r\n");
    const State state = ParseHeaderLine(head.substr(0, end));
    if (state != State::kMore) return state;
    head.remove_prefix(end + 2);
  }
  return BeginBody();
}

ResponseParser::State ResponseParser::ParseHeaderLine(absl::string_view line) {
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos || colon == 0) return Fail("a header has no name");
  const absl::string_view name = line.substr(0, colon);
  // By their length first: most headers are none of these.
  if (name.size() != 10 && name.size() != 14 && name.size() != 17) return State::kMore;
  const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
  if (absl::EqualsIgnoreCase(name, "content-length")) {
    int64_t length = 0;
    if (!absl::SimpleAtoi(value, &length) || length < 0 ||
        (content_length_ >= 0 && content_length_ != length)) {
      return Fail("Content-Length is not one number");
    }
    if (length > bounds_.body_bytes) return Fail("the body is too large");
    content_length_ = length;
  } else if (absl::EqualsIgnoreCase(name, "transfer-encoding")) {
    chunked_ = HasToken(value, "chunked");
  } else if (absl::EqualsIgnoreCase(name, "connection")) {
    if (HasToken(value, "close")) keep_alive_ = false;
    if (HasToken(value, "keep-alive")) keep_alive_ = true;
  } else if (absl::EqualsIgnoreCase(name, "set-cookie") && cookies_.size() < kMaxCookies) {
    const absl::string_view pair = absl::StripAsciiWhitespace(value.substr(0, value.find(';')));
    if (pair.size() <= kMaxCookieBytes && absl::StrContains(pair, '=')) {
      cookies_.emplace_back(pair);
    }
  }
  return State::kMore;
}

ResponseParser::State ResponseParser::BeginBody() {
  // An interim response: the real one follows.
  if (status_ < 200) {
    chunked_ = false;
    content_length_ = -1;
    return status_ == 101 ? Fail("the server switches protocols") : State::kMore;
  }
  if (status_ == 204 || status_ == 304) return State::kDone;
  if (chunked_) {
    phase_ = Phase::kChunkSize;
    return State::kMore;
  }
  if (content_length_ < 0) {
    phase_ = Phase::kUntilClose;
    return State::kMore;
  }
  left_ = content_length_;
  phase_ = Phase::kLength;
  return left_ == 0 ? State::kDone : State::kMore;
}

ResponseParser::State ResponseParser::TakeBody(absl::string_view& bytes) {
  const bool bounded = phase_ != Phase::kUntilClose;
  const size_t size =
      bounded ? static_cast<size_t>(std::min<int64_t>(left_, bytes.size())) : bytes.size();
  bytes.remove_prefix(size);
  body_bytes_ += static_cast<int64_t>(size);
  if (body_bytes_ > bounds_.body_bytes) return Fail("the body is too large");
  if (!bounded) return State::kMore;
  left_ -= static_cast<int64_t>(size);
  if (left_ > 0) return State::kMore;
  if (phase_ == Phase::kLength) return State::kDone;
  phase_ = Phase::kChunkEnd;
  return State::kMore;
}

ResponseParser::State ResponseParser::TakeLine(absl::string_view& bytes) {
  const size_t end = bytes.find('\n');
  const size_t size = end == absl::string_view::npos ? bytes.size() : end + 1;
  line_.append(bytes.data(), size);
  head_bytes_ += phase_ == Phase::kTrailer ? static_cast<int64_t>(size) : 0;
  bytes.remove_prefix(size);
  if (static_cast<int64_t>(line_.size()) > bounds_.head_bytes || head_bytes_ > bounds_.head_bytes) {
    return Fail("a line of the chunked body is too large");
  }
  if (end == absl::string_view::npos) return State::kMore;
  const std::string line(absl::StripTrailingAsciiWhitespace(line_));
  line_.clear();
  return OnLine(line);
}

ResponseParser::State ResponseParser::OnLine(absl::string_view line) {
  if (phase_ == Phase::kTrailer) return line.empty() ? State::kDone : State::kMore;
  if (phase_ == Phase::kChunkEnd) {
    if (!line.empty()) return Fail("a chunk does not end where it should");
    phase_ = Phase::kChunkSize;
    return State::kMore;
  }
  const absl::string_view size = absl::StripAsciiWhitespace(line.substr(0, line.find(';')));
  if (size.empty() || size.size() > 8 || !absl::SimpleHexAtoi(size, &left_) || left_ < 0) {
    return Fail("the size of a chunk is no hexadecimal number");
  }
  if (body_bytes_ + left_ > bounds_.body_bytes) return Fail("the body is too large");
  phase_ = left_ == 0 ? Phase::kTrailer : Phase::kChunkData;
  return State::kMore;
}

}  // namespace probe

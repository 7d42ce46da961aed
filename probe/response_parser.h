// Finds the end of an HTTP/1.1 response in bytes as they arrive, and looks at nothing
// that the probe has no use for. Beast's parser builds every header; this is what lets
// one core ask many thousand times a second.
#ifndef OCI_BACKEND_DRAIN_PROBE_RESPONSE_PARSER_H_
#define OCI_BACKEND_DRAIN_PROBE_RESPONSE_PARSER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace probe {

// Not thread-safe. Bodies are counted and not kept.
class ResponseParser {
 public:
  struct Bounds {
    int64_t head_bytes = 64 << 10;  // and of the trailer of a chunked body
    int64_t body_bytes = 16 << 20;
  };
  enum class State {
    kMore,       // the response goes on
    kDone,       // whole; bytes after it were not looked at
    kMalformed,  // not HTTP/1.x, or over a bound: error() says what
  };

  ResponseParser() : ResponseParser(Bounds()) {}
  explicit ResponseParser(Bounds bounds) : bounds_(bounds) {}

  // For the next response.
  void Reset();
  // Takes the next bytes. After kDone or kMalformed, Reset comes first. `used`: how many
  // bytes belonged to the response.
  State Feed(absl::string_view bytes, size_t& used);
  // The peer closed in an orderly way. True if that is how this response ends.
  bool EndsByClose() const { return phase_ == Phase::kUntilClose; }

  int status() const { return status_; }
  // Whether the connection may be used again after this response.
  bool keep_alive() const { return keep_alive_ && phase_ != Phase::kUntilClose; }
  int64_t bytes() const { return head_bytes_ + body_bytes_; }
  // "name=value" of each Set-Cookie, without attributes; at most 16 of 4096 bytes.
  const std::vector<std::string>& cookies() const { return cookies_; }
  absl::string_view error() const { return error_; }

 private:
  enum class Phase { kHead, kLength, kChunkSize, kChunkData, kChunkEnd, kTrailer, kUntilClose };

  State Fail(const char* error);
  // Each takes what it can of `bytes`, which is not empty.
  State TakeHead(absl::string_view& bytes);
  State TakeBody(absl::string_view& bytes);
  State TakeLine(absl::string_view& bytes);
  State ParseHead();
  State ParseHeaderLine(absl::string_view line);
  State BeginBody();
  State OnLine(absl::string_view line);

  Bounds bounds_;
  Phase phase_ = Phase::kHead;
  std::string line_;  // a head or a line of a chunked body that is not whole yet
  int status_ = 0;
  bool keep_alive_ = true;
  bool chunked_ = false;
  int64_t content_length_ = -1;  // -1: not told
  int64_t left_ = 0;             // of the body or of the chunk
  int64_t head_bytes_ = 0;
  int64_t body_bytes_ = 0;
  std::vector<std::string> cookies_;
  const char* error_ = "";
};

}  // namespace probe

#endif  // OCI_BACKEND_DRAIN_PROBE_RESPONSE_PARSER_H_

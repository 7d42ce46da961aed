// What a fake remembers of each request, and the faults a test makes it show.
#ifndef OCI_BACKEND_DRAIN_SIM_REQUEST_FAULTS_H_
#define OCI_BACKEND_DRAIN_SIM_REQUEST_FAULTS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "http/transport.h"

namespace sim {

struct RequestRecord {
  absl::Time time;
  std::string client;  // who sent it; empty if its signature was refused
  http::Request request;
  int status = 0;  // what was answered, or would have been had it not been lost
};

// What becomes of an answer on its way.
enum class Damage {
  kNone,
  kLoseReply,     // the request was carried out; the connection closes instead of an answer
  kCutBody,       // the connection breaks in the middle of the body
  kTruncateJson,  // half of the body, as if it were the whole
};

struct RequestFault {
  std::function<bool(const RequestRecord&)> matches = nullptr;  // empty: every request
  int skip = 0;   // so many matching ones go through first
  int times = 1;  // then so many show the fault
  // Given instead of carrying the request out.
  std::optional<http::Response> answer = std::nullopt;
  Damage damage = Damage::kNone;
  absl::Duration delay = absl::ZeroDuration();  // before the answer
};

// {"code":"...","message":"..."} with that status.
http::Response ErrorResponse(int status, const std::string& code);
// 429 TooManyRequests with Retry-After.
http::Response TooManyRequests(absl::Duration retry_after);
// What a proxy in between would say: HTML of at least that size.
http::Response HtmlError(int status, size_t bytes);

// Not thread-safe.
class RequestFaults {
 public:
  void Add(RequestFault fault) { faults_.push_back(std::move(fault)); }
  void Clear() { faults_.clear(); }
  // The fault that `request` is to show, counted down. nullopt: none.
  std::optional<RequestFault> Take(const RequestRecord& request);

 private:
  std::vector<RequestFault> faults_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_REQUEST_FAULTS_H_

// What a Pod asks the barrier: a Pod and how long, within bounds, or an error that
// says what is allowed; the answer is one whole HTTP message.
#include <string>

#include "absl/strings/match.h"
#include "controller/barrier_request.h"
#include "fuzz/fuzzer.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<controller::BarrierRequest> request =
      controller::ParseBarrierTarget(fuzz::TextOf(data, size));
  if (request.ok()) {
    fuzz::Require(
        request->hold >= absl::ZeroDuration() && request->hold <= controller::kLongestHold,
        "an answer is kept back within bounds");
    return 0;
  }
  fuzz::Require(absl::IsNotFound(request.status()) || absl::IsInvalidArgument(request.status()),
                "a question is asked of a path that there is, with parameters that are allowed");
  const std::string answer = controller::EncodeBarrierError(400, request.status().message());
  fuzz::Require(absl::StartsWith(answer, "HTTP/1.1 400") && answer.size() < 16'384,
                "a refusal is an answer with a bound");
  return 0;
}

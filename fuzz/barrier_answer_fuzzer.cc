// What answers drain-wait: only the barrier's own words end a wait.
#include "absl/strings/match.h"
#include "cmd/barrier_client.h"
#include "fuzz/fuzzer.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text = fuzz::TextOf(data, size);
  const cmd::BarrierReply reply = cmd::ParseBarrierAnswer(text);
  fuzz::Require(reply.outcome.size() < 4096, "an outcome has a bound");
  fuzz::Require(reply.verdict != cmd::BarrierVerdict::kDrained || absl::StrContains(text, "200"),
                "a wait ends by a success");
  (void)cmd::ParseHostPort(text);
  return 0;
}

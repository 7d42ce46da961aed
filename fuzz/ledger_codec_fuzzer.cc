// The ledger out of a ConfigMap: what was read is written and read again the same.
#include <string>

#include "controller/ledger_codec.h"
#include "fuzz/fuzzer.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<drain::Ledger> ledger = controller::DecodeLedger(fuzz::TextOf(data, size));
  if (!ledger.ok()) {
    fuzz::Require(ledger.status().code() == absl::StatusCode::kInvalidArgument ||
                      ledger.status().code() == absl::StatusCode::kFailedPrecondition,
                  "a ledger is a value, wrong, or of a newer version");
    return 0;
  }
  const absl::StatusOr<std::string> text = controller::EncodeLedger(*ledger);
  if (!text.ok()) {
    fuzz::Require(text.status().code() == absl::StatusCode::kResourceExhausted,
                  "a ledger is written unless it is too long");
    return 0;
  }
  const absl::StatusOr<drain::Ledger> again = controller::DecodeLedger(*text);
  fuzz::Require(again.ok() && *again == *ledger, "a ledger that was written is read the same");
  return 0;
}

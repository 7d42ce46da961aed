// What answers `oci-drain status`, and the paths of the controller's status pages.
#include "absl/strings/match.h"
#include "cmd/status_command.h"
#include "controller/pod_explanation.h"
#include "fuzz/fuzzer.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text = fuzz::TextOf(data, size);
  const auto shown = cmd::FormatStatus(text, cmd::StatusStyle::kPlain);
  if (shown.ok()) {
    fuzz::Require(!absl::StrContains(*shown, "\033"), "a terminal is given nothing to obey");
    (void)cmd::IsStatusGood(text);
  }
  const auto pod = controller::ParsePodName(text);
  if (pod.ok()) {
    fuzz::Require(!pod->ns.empty() && !pod->name.empty(), "a Pod has a namespace and a name");
  }
  return 0;
}

// The pages of the health port that show what the controller does.
#ifndef OCI_BACKEND_DRAIN_CMD_STATUS_PAGES_H_
#define OCI_BACKEND_DRAIN_CMD_STATUS_PAGES_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "controller/pod_explanation.h"
#include "health/http_server.h"
#include "health/status.h"
#include "health/vitals.h"

namespace cmd {

// Where the pages get what they show. Neither may wait.
struct StatusSources {
  std::function<health::Status()> status;
  std::function<absl::StatusOr<controller::PodExplanation>(const kube::ObjectKey& pod)> explain;
};

// For the thread of the probes alone.
class StatusPages {
 public:
  // However often somebody asks, the status is made once in this time.
  static constexpr absl::Duration kFresh = absl::Milliseconds(500);

  explicit StatusPages(StatusSources sources) : sources_(std::move(sources)) {}

  // /statusz, /statusz.json and /explainz/NAMESPACE/POD, with ?output=json; nothing: it is
  // no page of these. `now` is a moment of base::Clock::Monotonic().
  std::optional<health::HttpAnswer> Answer(absl::string_view target,
                                           const health::VitalsReport& vitals, absl::Duration now);

 private:
  const health::Status& Fresh(absl::Duration now);
  health::HttpAnswer Explain(absl::string_view pod, bool json) const;

  const StatusSources sources_;
  health::Status status_;
  absl::Duration made_at_ = -absl::InfiniteDuration();
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_STATUS_PAGES_H_

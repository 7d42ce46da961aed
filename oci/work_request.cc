#include "oci/work_request.h"

#include <algorithm>

namespace oci {

WorkRequestStep NextStep(const WorkRequestProgress& progress, const WorkRequestPolling& policy,
                         absl::Time now) {
  using Action = WorkRequestStep::Action;
  if (progress.state == WorkRequestState::kSucceeded) return {.action = Action::kDone, .at = now};
  if (progress.state == WorkRequestState::kFailed) return {.action = Action::kFailed, .at = now};
  const absl::Time bound = progress.accepted + policy.give_up_after;
  if (progress.last_look >= bound) return {.action = Action::kGiveUp, .at = now};
  const absl::Time next = std::max(progress.accepted, progress.last_look) + policy.interval;
  // The last look is at the bound, so that what ended in time is not given up.
  return {.action = Action::kPoll, .at = std::max(now, std::min(next, bound))};
}

}  // namespace oci

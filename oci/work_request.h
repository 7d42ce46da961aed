// Following a work request as a pure step: who waits, and on which clock, is the
// caller's affair.
#ifndef OCI_BACKEND_DRAIN_OCI_WORK_REQUEST_H_
#define OCI_BACKEND_DRAIN_OCI_WORK_REQUEST_H_

#include "absl/time/time.h"
#include "oci/types.h"

namespace oci {

struct WorkRequestPolling {
  absl::Duration interval = absl::Seconds(1);
  // After acceptance. Longer than a queue of writes of others takes.
  absl::Duration give_up_after = absl::Minutes(10);
};

// What is known of a work request.
struct WorkRequestProgress {
  // As of the last successful look; kAccepted before the first.
  WorkRequestState state = WorkRequestState::kAccepted;
  absl::Time accepted = absl::InfinitePast();  // when our write was answered
  // When it was last looked at, whether or not that succeeded.
  absl::Time last_look = absl::InfinitePast();
};

struct WorkRequestStep {
  enum class Action { kPoll, kDone, kFailed, kGiveUp };
  Action action = Action::kPoll;
  absl::Time at;  // of kPoll: when; not before `now`
};

// kDone and kFailed once the state says so, whatever the time; kGiveUp at
// accepted + give_up_after, after a look at or after that time; else kPoll.
//
//   WorkRequestStep step = NextStep(progress, policy, clock.Now());
//   if (step.action == kPoll) wait until step.at, GetWorkRequest, update progress
WorkRequestStep NextStep(const WorkRequestProgress& progress, const WorkRequestPolling& policy,
                         absl::Time now);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_WORK_REQUEST_H_

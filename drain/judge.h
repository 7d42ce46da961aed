// The drain rule, for one address at a time.
#ifndef OCI_BACKEND_DRAIN_DRAIN_JUDGE_H_
#define OCI_BACKEND_DRAIN_DRAIN_JUDGE_H_

#include <map>

#include "absl/time/time.h"
#include "drain/input.h"
#include "drain/plan.h"

namespace drain {

enum class Want { kKeep, kDrained, kUndrained };

// What the rule says about one ip:port, and the endpoint that decided.
// `endpoint` points into the SetInput.
struct Verdict {
  Rule rule = Rule::kNotOurs;
  Want want = Want::kKeep;
  const Endpoint* endpoint = nullptr;
  absl::Time deadline = absl::InfiniteFuture();
  absl::Time deleted_at = absl::InfinitePast();

  // A deletionTimestamp proves it, or what the Pod's own status says and its slice bears
  // out; other verdicts are counted by the brake.
  bool proven() const { return rule == Rule::kTerminating || rule == Rule::kLeaving; }
};

// The verdict on every address that an endpoint of the set names. Live wins,
// whatever else shares the address; an address with an endpoint that could not be
// resolved keeps its flag.
std::map<oci::BackendName, Verdict> JudgeSet(const SetInput& set);

// Whether a live GET of the endpoint's Pod would change what happens to its
// backend as read (null: the set does not hold it): the Pod is not cached under this UID,
// or it does not serve and metadata cannot say whether it is leaving. Of a Pod that the
// set does not hold only if it `had_served`: others may have added it since the read.
bool WantsLookup(const Endpoint& endpoint, const oci::Backend* backend, bool had_served);

// When the process of a draining Pod is expected to end: with
// backend-drain-serving that long after its deletion, else at SIGKILL.
absl::Time ExpectedEnd(const Verdict& verdict, absl::Duration serving);

// When the drain barrier lets a draining Pod go in any case: `shutdown` before its
// deadline, but not before its deletion.
absl::Time ReleaseAt(const Verdict& verdict, absl::Duration shutdown);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_JUDGE_H_

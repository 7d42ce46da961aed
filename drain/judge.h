// The drain rule, for one address at a time.
#ifndef OCI_BACKEND_DRAIN_DRAIN_JUDGE_H_
#define OCI_BACKEND_DRAIN_DRAIN_JUDGE_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
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

// Whether the drain rule applies to the set: its Service opted in and publishes Pods that
// end, and nobody else claims the set.
bool IsRuled(const Input& input, const SetInput& set);

// The verdict on every address that an endpoint of the set names. Live wins,
// whatever else shares the address; an address with an endpoint that could not be
// resolved keeps its flag. Points into the SetInput.
class SetVerdicts {
 public:
  // What Position() says of an address without a verdict.
  static constexpr int kNone = -1;

  SetVerdicts() = default;
  explicit SetVerdicts(const SetInput& set);

  // One for each address of a Pod, in the order in which endpoints first name them.
  const std::vector<Verdict>& all() const { return all_; }
  // The same in the order of the addresses' names.
  std::vector<const Verdict*> Sorted() const;

  // Null if no Pod's endpoint names the address.
  const Verdict* Find(absl::string_view name) const {
    const int position = Position(name);
    return position == kNone ? nullptr : &all_[static_cast<size_t>(position)];
  }
  // In all().
  int Position(absl::string_view name) const {
    const auto it = position_.find(name);
    return it == position_.end() ? kNone : it->second;
  }
  int PositionOfEndpoint(size_t endpoint) const { return of_endpoint_[endpoint]; }
  // Whether an endpoint has the address, of a Pod or not.
  bool IsNamed(absl::string_view name) const { return position_.contains(name); }

 private:
  std::vector<Verdict> all_;
  std::vector<int> of_endpoint_;
  absl::flat_hash_map<absl::string_view, int> position_;
};

// By the names of their addresses.
void SortByName(std::vector<const Verdict*>& verdicts);

// What the verdict says of the decision's Pod.
void NoteVerdict(const Verdict& verdict, Decision& decision);

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

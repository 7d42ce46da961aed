#include "sim/oracles_writes.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "drain/input.h"

namespace sim {
namespace {

// What was published so long ago may still be carried: the plan's view is older
// than the write's end.
constexpr absl::Duration kPublishedLately = absl::Minutes(3);
// A change of the annotation is known after so long.
constexpr absl::Duration kKnown = absl::Seconds(3);

bool IsOurs(const WriteRecord& write) { return write.client == VirtualWorld::kController; }

bool IsRestoration(const WriteRecord& write) {
  return absl::StartsWith(write.request_id, "oci-drain-restore-");
}

const TrueService* ServiceOf(const WriteRecord& write, const Truth& truth) {
  const int index = truth.ServiceOfSet(write.backend_set);
  return index < 0 ? nullptr : &truth.services()[index];
}

}  // namespace

void UntouchedOracle::OnFinished(const WriteRecord& write, const Truth& truth) {
  if (!IsOurs(write)) return;
  if (WentBehindForeign(write, truth)) {
    behind_.insert(write.backend_set);
    return;
  }
  if (behind_.count(write.backend_set) == 0 || !IsRestoration(write)) Check(write, truth);
  // One that failed has restored nothing: the next may.
  if (write.state == WorkState::kSucceeded) behind_.erase(write.backend_set);
}

void UntouchedOracle::Check(const WriteRecord& write, const Truth& truth) const {
  const WriteEffect& effect = write.effect;
  if (!effect.changed.empty()) return Fail(absl::StrCat("we changed ", effect.changed.front()));
  if (!effect.set_offline.empty() || !effect.set_online.empty()) {
    return Fail("we changed offline of a backend");
  }
  const TrueService* service = ServiceOf(write, truth);
  if (service == nullptr) return Fail(absl::StrCat("we wrote set ", write.backend_set));
  for (const std::string& backend : effect.added) {
    // `ever` has when something last changed, not that it is published still.
    if (service->published.count(backend) != 0) continue;
    const auto known = service->ever.find(backend);
    if (known == service->ever.end() || known->second + kPublishedLately < write.accepted) {
      return Fail(absl::StrCat("we added ", backend, ", which is no Pod of the Service"));
    }
  }
  for (const auto* changed : {&effect.removed, &effect.drained, &effect.undrained}) {
    for (const std::string& backend : *changed) {
      if (service->ever.count(backend) == 0) {
        return Fail(absl::StrCat("we changed ", backend, ", which never was a Pod's"));
      }
    }
  }
}

void OptInOracle::OnFinished(const WriteRecord& write, const Truth& truth) {
  const TrueService* service = ServiceOf(write, truth);
  if (!IsOurs(write) || service == nullptr || service->opted_in) return;
  // It may have opted out since, or we un-drain what we drained before.
  const absl::Time known = service->opted_since + kKnown + truth.LongestPass();
  if (known > write.accepted || truth.excused_until() > write.accepted) return;
  if (WentBehindForeign(write, truth)) return;
  if (!write.effect.drained.empty()) {
    return Fail(absl::StrCat("we drained ", write.effect.drained.front(), " without opt-in"));
  }
  // A restoration may put back what we took out before.
  const bool carries = !write.effect.added.empty() || !write.effect.removed.empty();
  if (carries && !IsRestoration(write) && !truth.scenario().carry_all) {
    Fail("we wrote membership without carry: all");
  }
}

void OperatorOracle::OnFinished(const WriteRecord& write, const Truth& truth) {
  const int index = truth.ServiceOfSet(write.backend_set);
  if (index < 0) return;
  for (const std::string& backend : write.effect.undrained) {
    const auto known = drains_.find({index, backend});
    if (known == drains_.end()) continue;
    const std::string uid = known->second;
    drains_.erase(known);
    const TruePod* pod = truth.services()[index].LiveAt(backend);
    if (!IsOurs(write) || WentBehindForeign(write, truth)) continue;
    if (pod != nullptr && pod->uid == uid) {
      Fail(absl::StrCat("we undid the operator's drain of ", Describe({index, backend})));
    }
  }
  for (const std::string& backend : write.effect.drained) {
    // An ingress controller that drains by itself is no operator: a queued drain of its own
    // can meet the next Pod at the address.
    const TruePod* pod = truth.services()[index].LiveAt(backend);
    const bool by_operator = !IsOurs(write) && write.client != VirtualWorld::kRival;
    if (by_operator && pod != nullptr) drains_[{index, backend}] = pod->uid;
  }
}

void OperatorOracle::OnStep(absl::Duration, const Truth& truth) {
  std::erase_if(drains_, [&](const auto& item) {
    const TruePod* pod = truth.services()[item.first.service].LiveAt(item.first.backend);
    return pod == nullptr || pod->uid != item.second;
  });
}

void GuardOracle::OnCall(const Call& call, const Truth&) {
  if (!IsOciWrite(call.kind)) return;
  if (call.if_match.empty()) return Fail("a write without if-match");
  if (call.if_match != etag_) Fail("a write with another ETag than that of the last read");
}

void GuardOracle::OnAnswer(const Call&, const absl::Status&, const oci::LoadBalancerRead* read,
                           const Truth&) {
  if (read != nullptr) etag_ = read->etag;
}

void GuardOracle::OnAccepted(const WriteRecord& write, const Truth&) {
  if (IsOurs(write) && write.if_match.empty()) Fail("an unguarded write was accepted");
}

void GuardOracle::OnStart(const Truth&) { etag_ = oci::Etag(); }

void OneWriteOracle::OnAccepted(const WriteRecord& write, const Truth& truth) {
  if (!IsOurs(write)) return;
  for (const WriteRecord* other : truth.queue()) {
    // One that does not end is given up.
    if (write.accepted - other->accepted > drain::Options().own_write_give_up) continue;
    if (other != &write && IsOurs(*other) && !truth.IsInherited(*other)) {
      Fail(absl::StrCat("a second write of ours in flight, to ", write.backend_set));
    }
  }
}

void LimitOracle::OnAnswer(const Call& call, const absl::Status& status,
                           const oci::LoadBalancerRead*, const Truth& truth) {
  if (!IsOciWrite(call.kind) || !absl::IsResourceExhausted(status)) return;
  // A foreign write that took backends out was applied since the read.
  const absl::Time pass = truth.world().pass_began();
  const auto& writes = truth.world().load_balancer().writes();
  const bool overtaken = std::any_of(writes.rbegin(), writes.rend(), [&](const WriteRecord& w) {
    return !IsOurs(w) && w.done() && w.finished > pass && !w.effect.removed.empty();
  });
  if (!overtaken) {
    Fail(absl::StrCat("a write of ours would have exceeded a limit: ", status.message()));
  }
}

}  // namespace sim

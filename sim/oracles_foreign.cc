#include "sim/oracles_foreign.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sim {
namespace {

constexpr absl::Duration kShutOut = absl::Seconds(70);
// Waiting for the neighbours until then leaves a drain in time: their write, or one
// that is under way, and ours, of ten seconds each at least.
constexpr absl::Duration kWriteInTime = absl::Seconds(30);
// So long a set has to wait before the controller can have seen it.
constexpr absl::Duration kKnown = absl::Seconds(5);

bool IsOurs(const WriteRecord& write) { return write.client == VirtualWorld::kController; }

// The set is looked at each second; a look is a list and a read.
absl::Duration Looks(const Truth& truth) {
  return absl::Seconds(1) + 2 * truth.scenario().max_oci_latency;
}

// When the last foreign write ahead of `write` was applied.
absl::Time LastForeignEnd(const WriteRecord& write, const Truth& truth) {
  absl::Time last = absl::InfinitePast();
  for (const WriteRecord& other : truth.world().load_balancer().writes()) {
    // What changed nothing leaves nothing to take back.
    if (IsOurs(other) || other.effect.empty()) continue;
    if (other.accepted <= write.accepted && other.finished <= write.finished) {
      last = std::max(last, other.finished);
    }
  }
  return last;
}

}  // namespace

void ConfirmationOracle::OnStart(const Truth& truth) {
  has_read_ = false;
  read_.clear();
  const auto ledger = truth.StoredLedger();
  if (ledger.ok()) before_ = *ledger;
}

void ConfirmationOracle::OnAnswer(const Call& call, const absl::Status& status,
                                  const oci::LoadBalancerRead* read, const Truth& truth) {
  if (read != nullptr) {
    has_read_ = true;
    read_.clear();
    for (const auto& [name, set] : read->load_balancer.backend_sets) {
      for (const oci::Backend& backend : set.backends) read_[{name, backend.name}] = backend.drain;
    }
  }
  if (call.kind != CallKind::kPutConfigMap || !status.ok()) return;
  const auto ledger = truth.StoredLedger();
  if (!ledger.ok()) return;
  const drain::Ledger before = std::exchange(before_, *ledger);
  for (const auto& [key, entry] : *ledger) {
    const auto old = before.find(key);
    const bool is_new =
        old == before.end() || !old->second.confirmed || old->second.pod_uid != entry.pod_uid;
    if (entry.confirmed && is_new && !truth.excused()) Check(key, truth);
  }
}

void ConfirmationOracle::Check(const drain::BackendKey& key, const Truth& truth) const {
  const std::string what =
      absl::StrCat(key.backend.value(), " of ", key.set.value(), " was confirmed ");
  if (!has_read_) Fail(absl::StrCat(what, "before anything was read"));
  const auto shown = read_.find(key);
  if (shown != read_.end() && !shown->second) Fail(absl::StrCat(what, "and read as not drained"));
  const absl::Time pass = truth.world().pass_began();
  for (const WriteRecord* write : truth.queue()) {
    if (write->accepted >= pass) continue;
    if (IsOurs(*write) && write->backend_set == key.set.value()) {
      Fail(absl::StrCat(what, "while our write to the set is unfinished"));
    }
    if (!IsOurs(*write) && TouchesBackends(write->type)) {
      Fail(absl::StrCat(what, "while a foreign ", write->type, " is unfinished"));
    }
  }
}

RestorationOracle::Debt RestorationOracle::DebtOf(const WriteRecord& write,
                                                  const TrueService& service) {
  Debt debt;
  debt.since = write.finished;
  debt.changed.insert(write.effect.changed.begin(), write.effect.changed.end());
  for (const std::string& backend : write.effect.removed) {
    if (service.ever.count(backend) == 0) debt.added.insert(backend);
  }
  for (const std::string& backend : write.effect.added) {
    if (service.ever.count(backend) == 0) debt.removed.insert(backend);
  }
  return debt;
}

void RestorationOracle::OnFinished(const WriteRecord& write, const Truth& truth) {
  const int index = truth.ServiceOfSet(write.backend_set);
  if (index < 0) {
    debts_.clear();
    return;
  }
  const auto owed = debts_.find(index);
  if (owed != debts_.end() && IsOurs(write) && write.accepted > owed->second.since) {
    const auto without = [](std::set<std::string> names, const std::vector<std::string>& done) {
      for (const std::string& name : done) names.erase(name);
      return names;
    };
    Debt& debt = owed->second;
    debt.changed = without(debt.changed, write.effect.changed);
    // What is not there any more has no settings to restore.
    for (const std::string& backend : write.effect.removed) {
      std::erase_if(debt.changed, [&](const std::string& path) {
        return absl::StrContains(path, absl::StrCat("[", backend, "]"));
      });
    }
    debt.added = without(debt.added, write.effect.added);
    debt.removed = without(debt.removed, write.effect.removed);
    if (write.state == WorkState::kSucceeded && !debt.empty() && !truth.excused()) {
      Fail(absl::StrCat("the write after one that took a foreign change back did not restore ",
                        write.backend_set));
    }
  }
  if (write.state != WorkState::kSucceeded) return;
  debts_.erase(index);
  // Who sent it has to remember what it took back.
  if (!IsOurs(write) || truth.IsOrphan(write) || !WentBehindForeign(write, truth)) return;
  // Only a look between the two shows what was taken back: reads have to work.
  const absl::Time last = LastForeignEnd(write, truth);
  if (last <= truth.DecidedAt(write)) return;
  if (truth.excused() || write.finished - last < Looks(truth)) return;
  Debt debt = DebtOf(write, truth.services()[index]);
  if (!debt.empty()) debts_[index] = std::move(debt);
}

void RestorationOracle::OnStep(absl::Duration since_last, const Truth& truth) {
  std::set<int> wrong;
  for (const auto& [index, debt] : debts_) wrong.insert(index);
  const bool counts = truth.idle() && !truth.excused() && truth.world().controller_runs();
  if (const auto late = unpaid_.Note(wrong, since_last, counts, truth.LongestPass());
      late.has_value()) {
    Fail(absl::StrCat("a foreign change to the set of web-", *late,
                      " that we took back is not restored"));
  }
}

void NeighbourOracle::OnStep(absl::Duration, const Truth& truth) {
  bool pending = false;
  for (const TrueService& service : truth.services()) {
    pending = pending || (!service.opted_in && service.MembershipPending());
  }
  if (!pending) pending_since_ = absl::InfiniteFuture();
  if (pending) pending_since_ = std::min(pending_since_, truth.now());
}

void NeighbourOracle::OnAccepted(const WriteRecord& write, const Truth& truth) {
  if (!IsOurs(write)) return;
  const auto last = last_write_.find(write.backend_set);
  const bool drains = absl::StartsWith(write.request_id, "oci-drain-drain-");
  if (last != last_write_.end() && drains && pending_since_ + kKnown < last->second &&
      write.accepted - last->second < kShutOut && !truth.excused() && !truth.scenario().carry_all) {
    soon_[write.work_request_id] = last->second;
  }
  last_write_[write.backend_set] = write.accepted;
}

void NeighbourOracle::OnFinished(const WriteRecord& write, const Truth& truth) {
  const auto found = soon_.find(write.work_request_id);
  const int index = truth.ServiceOfSet(write.backend_set);
  if (found == soon_.end() || index < 0 || write.effect.drained.empty()) return;
  absl::Time first = absl::InfiniteFuture();
  for (const std::string& backend : write.effect.drained) {
    const auto& published = truth.services()[index].published;
    const auto pods = published.find(backend);
    if (pods == published.end()) return;
    for (const TruePod& pod : pods->second) first = std::min(first, pod.deadline);
  }
  const absl::Duration write_in_time =
      std::max(kWriteInTime, 3 * truth.scenario().max_service_time) + truth.LongestPass();
  if (first == absl::InfiniteFuture() || first < found->second + kShutOut + write_in_time) return;
  Fail(absl::StrCat("a burst ", absl::FormatDuration(write.accepted - found->second),
                    " after the last one while a set that is not opted in waits"));
}

}  // namespace sim

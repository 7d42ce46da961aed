#include "drain/build.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "drain/membership.h"

namespace drain {
namespace {

Flip FlipOf(const SetDraft& set, const oci::BackendName& backend, oci::BackendFlags flags,
            const Verdict& verdict) {
  Flip flip;
  flip.key = set.Key(backend);
  flip.drain = flags.drain;
  flip.offline = flags.offline;
  flip.pod = verdict.endpoint->pod.name;
  flip.pod_uid = verdict.endpoint->uid;
  flip.deadline = verdict.deadline;
  flip.deleted_at = verdict.deleted_at;
  return flip;
}

// What is offline by somebody else stays so while it is drained.
oci::BackendFlags FlagsFor(const Wanted& wanted, const oci::Backend& base) {
  return {wanted.drain, wanted.drain && (wanted.offline || base.offline)};
}

// A drain is in the ledger before it is written.
void Enter(Draft& draft, const Flip& flip) {
  if (!flip.drain) return;
  LedgerEntry& entry = draft.plan.ledger[flip.key];
  if (entry.pod_uid != flip.pod_uid || entry.pod.empty()) {
    entry = LedgerEntry();
    entry.since = draft.in.now;
  }
  entry.pod = flip.pod;
  entry.pod_uid = flip.pod_uid;
  entry.deadline = flip.deadline;
  entry.deleted_at = flip.deleted_at;
  if (draft.in.now <= entry.deadline) entry.confirmed = false;
  entry.by_operator = false;
  entry.offline = entry.offline || flip.offline;
}

// Counts the wave that the write's new drains make, once.
void CountWave(Draft& draft, Write& write) {
  Memory& memory = draft.plan.memory;
  bool new_wave = false;
  for (const Flip& flip : write.flips) {
    if (!flip.drain) continue;
    const auto carried = memory.carried.find(flip.key);
    if (carried != memory.carried.end() && carried->second == flip.pod_uid) continue;
    write.carries_wave = true;
    const auto [counted, is_first] = memory.in_wave.try_emplace(flip.key, flip.pod_uid);
    new_wave = new_wave || is_first || counted->second != flip.pod_uid;
    counted->second = flip.pod_uid;
  }
  if (new_wave) ++memory.waves;
}

void Commit(Draft& draft, Write write) {
  for (const Flip& flip : write.flips) Enter(draft, flip);
  CountWave(draft, write);
  for (const oci::WorkRequest* work_request : draft.foreign) {
    write.behind.insert(work_request->id);
  }
  for (const SetDraft& other : draft.sets) {
    if (other.input->name == write.set) continue;
    const bool due = std::any_of(other.wanted.begin(), other.wanted.end(), [](const Wanted& w) {
      return w.hold == Hold::kNone || w.hold == Hold::kCoalescing;
    });
    if (due) write.burst.insert(other.input->name);
  }
  write.etag = draft.in.read->etag;
  draft.plan.write = std::move(write);
}

// The look is asked for once; if it failed, there is no write in this pass.
bool HaveFreshLook(Draft& draft) {
  if (draft.FreshLook()) return true;
  if (!draft.in.read_failed && !draft.in.work_requests_failed) {
    draft.plan.questions.read = true;
    draft.plan.questions.work_requests = true;
  }
  return false;
}

// We have taken the backend out since: it comes back as its Pod is now, which may be
// another one with the same address.
void KeepJudgement(const SetDraft& set, const oci::Backend& backend, Write& write) {
  const Verdict* found = set.verdicts.Find(backend.name.value());
  if (found == nullptr || found->want == Want::kKeep) return;
  const bool drain = found->want == Want::kDrained;
  const oci::BackendFlags flags{drain, drain && backend.offline};
  if (drain) write.flips.push_back(FlipOf(set, backend.name, {true, false}, *found));
  if (flags == oci::BackendFlags{backend.drain, backend.offline}) return;
  write.change.flips[backend.name] = flags;
}

// Flags of our Services' backends as they are now, on top of a foreign version.
void KeepFlags(const Draft& draft, const SetDraft& set, Write& write) {
  for (const oci::Backend& backend : write.base->backends) {
    const oci::Backend* read = set.FindBackend(backend.name.value());
    if (!IsOurs(draft, set, backend.name)) continue;
    if (read == nullptr) {
      KeepJudgement(set, backend, write);
      continue;
    }
    if (read->drain == backend.drain && read->offline == backend.offline) continue;
    write.change.flips[backend.name] = {read->drain, read->offline};
  }
}

// What we have taken out since the foreign write does not come back with its version,
// whatever is said of membership now: the Service may have opted out, Endpoints may not
// answer, and who else would take it out again.
void LeaveOutWhatLeft(const Draft& draft, const SetDraft& set, Write& write) {
  std::vector<oci::BackendName>& removals = write.change.removals;
  for (const oci::Backend& backend : write.base->backends) {
    const std::string& name = backend.name.value();
    if (set.FindBackend(name) != nullptr || set.verdicts.IsNamed(name)) continue;
    if (!IsOurs(draft, set, backend.name)) continue;
    if (std::find(removals.begin(), removals.end(), backend.name) != removals.end()) continue;
    removals.push_back(backend.name);
  }
}

void AddFlips(const SetDraft& set, Write& write) {
  const BackendIndex index(*write.base);
  for (const Wanted& wanted : set.wanted) {
    if (wanted.hold != Hold::kNone) continue;
    const oci::Backend* base = index.Find(wanted.backend->name.value());
    if (base == nullptr) continue;
    const oci::BackendFlags flags = FlagsFor(wanted, *base);
    write.flips.push_back(FlipOf(set, base->name, {wanted.drain, wanted.offline}, wanted.verdict));
    if (flags == oci::BackendFlags{base->drain, base->offline}) {
      write.change.flips.erase(base->name);
    } else {
      write.change.flips[base->name] = flags;
    }
  }
}

// Names the limit that is hit: a set may have room that its load balancer lacks, and its
// share of what is left there may be smaller still.
std::string LimitThatIsHit(const Draft& draft, const SetDraft& set, const oci::BackendSet& base,
                           const MembershipChange& membership) {
  const Options& options = draft.in.options;
  const int grows =
      static_cast<int>(membership.additions.size()) - static_cast<int>(membership.removals.size());
  const FreeOf free = FreeIn(draft, set, base);
  if (free.set <= grows) {
    const int most = LimitOf(options, *set.input);
    if (most == options.max_backends_per_set) {
      return absl::StrCat("the limit of ", options.max_backends_per_set,
                          " backends a set is reached");
    }
    return absl::StrCat("OCI has refused to take more than ", most);
  }
  const std::string all =
      absl::StrCat(options.max_backends_per_load_balancer, " backends a load balancer");
  if (free.load_balancer <= grows) return absl::StrCat("the limit of ", all, " is reached");
  return absl::StrCat("other backend sets need the ", free.load_balancer - grows,
                      " slots that are left of ", all);
}

void TellSlots(Draft& draft, const SetDraft& set, const oci::BackendSet& base,
               const MembershipChange& membership) {
  Notice notice;
  notice.kind = NoticeKind::kAdditionsWaitForSlots;
  notice.regarding = set.input->service;
  notice.key.set = set.input->name;
  notice.count = membership.without_slot;
  notice.detail = LimitThatIsHit(draft, set, base, membership);
  draft.TellOnce(absl::StrCat("slots|", set.input->name.value()), std::move(notice));
}

// With the brake engaged the write carries flips only.
void AddMembership(Draft& draft, const SetDraft& set, Write& write) {
  MembershipChange membership = ChangeOf(draft, set, *write.base);
  if (membership.empty_endpoints && !set.pending_removal.empty()) {
    TellBrake(draft, set, static_cast<int>(set.pending_removal.size()));
  }
  const int size = static_cast<int>(write.base->backends.size());
  const int unproven = membership.unproven_removals;
  if (size >= kBrakeFrom && unproven * 100 > draft.in.options.brake_percent * size) {
    TellBrake(draft, set, unproven);
    return;
  }
  for (const oci::BackendName& name : membership.removals) {
    write.change.flips.erase(name);
    std::erase_if(write.flips, [&](const Flip& flip) { return flip.key.backend == name; });
  }
  for (const oci::Backend& added : membership.additions) {
    if (!added.drain) continue;
    write.flips.push_back(
        FlipOf(set, added.name, {true, false}, *set.verdicts.Find(added.name.value())));
  }
  if (membership.without_slot > 0) TellSlots(draft, set, *write.base, membership);
  write.change.additions = std::move(membership.additions);
  write.change.removals = std::move(membership.removals);
}

void HoldDue(SetDraft& set, Hold hold, absl::Time until) {
  for (Wanted& wanted : set.wanted) {
    if (wanted.hold != Hold::kNone) continue;
    wanted.hold = hold;
    wanted.until = until;
  }
}

void HoldUntilNextLook(Draft& draft, SetDraft& set) {
  const absl::Time again = draft.in.now + draft.in.options.work_request_poll;
  HoldDue(set, Hold::kBackoff, again);
  draft.LookBy(again);
}

// Before our own last write, or shown to be old by a refusal: its ETag has gone.
bool IsReadOutdated(const Draft& draft) {
  return draft.in.read->at <= draft.plan.memory.last_write;
}

}  // namespace

void TellBrake(Draft& draft, const SetDraft& set, int count) {
  Notice notice;
  notice.kind = NoticeKind::kDrainBrakeEngaged;
  notice.regarding = set.input->service;
  notice.key.set = set.input->name;
  notice.count = count;
  draft.TellOnce(absl::StrCat("brake|", set.input->name.value()), std::move(notice));
}

bool BuildSingle(Draft& draft, SetDraft& set, WriteReason reason) {
  const auto due = [](const Wanted& w) { return w.hold == Hold::kNone; };
  const auto first =
      std::min_element(set.wanted.begin(), set.wanted.end(), [&](const Wanted& a, const Wanted& b) {
        if (due(a) != due(b)) return due(a);
        if (a.drain != b.drain) return !a.drain;
        return a.end < b.end;
      });
  if (first == set.wanted.end() || !due(*first)) return false;
  // Without a look at work requests ever, one could be running that we know nothing of. What
  // was running at the last look may be applied by now, and where the ETag does not move at
  // a write's end nothing would refuse what was read before.
  const bool outdated =
      !draft.in.work_requests.has_value() || !draft.foreign.empty() || IsReadOutdated(draft);
  if (outdated && !HaveFreshLook(draft)) {
    HoldUntilNextLook(draft, set);
    return true;
  }
  Write write;
  write.set = set.input->name;
  write.reason = reason;
  write.base = {draft.in.read->load_balancer, *set.read};
  write.change.flips[first->backend->name] = FlagsFor(*first, *first->backend);
  write.flips.push_back(
      FlipOf(set, first->backend->name, {first->drain, first->offline}, first->verdict));
  for (Wanted& wanted : set.wanted) {
    if (&wanted != &*first && due(wanted)) wanted.hold = Hold::kWriteInFlight;
  }
  Commit(draft, std::move(write));
  return true;
}

bool BuildWhole(Draft& draft, SetDraft& set, WriteReason reason) {
  if (!HaveFreshLook(draft)) {
    HoldUntilNextLook(draft, set);
    return true;
  }
  if (CarriesMembership(draft, set) && !set.input->membership.has_value()) {
    draft.plan.questions.memberships.insert(set.input->service.key);
    return true;
  }
  Write write;
  write.set = set.input->name;
  write.reason = reason;
  write.whole_set = true;
  const auto restoration = draft.plan.memory.restorations.find(write.set);
  const bool restores =
      reason == WriteReason::kRestore && restoration != draft.plan.memory.restorations.end();
  write.base = restores ? restoration->second.foreign
                        : base::Shared<oci::BackendSet>(draft.in.read->load_balancer, *set.read);
  if (restores) KeepFlags(draft, set, write);
  AddFlips(set, write);
  AddMembership(draft, set, write);
  if (restores) LeaveOutWhatLeft(draft, set, write);
  const bool must = restores || reason == WriteReason::kBehindForeign;
  if (write.change.empty() && !must) {
    // The watch is ahead of core Endpoints: NIC does not want it yet either.
    draft.LookBy(draft.in.now + draft.in.options.lookup_retry);
    return false;
  }
  if (restores) {
    Notice notice;
    notice.kind = NoticeKind::kForeignChangeRestored;
    notice.regarding = set.input->service;
    notice.key.set = set.input->name;
    draft.TellOnce(absl::StrCat("restored|", set.input->name.value()), std::move(notice));
  }
  Commit(draft, std::move(write));
  return true;
}

}  // namespace drain

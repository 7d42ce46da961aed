#include "drain/choose.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "drain/build.h"
#include "drain/membership.h"
#include "drain/timing.h"

namespace drain {
namespace {

// Single flips that may be sent beside foreign work requests of unknown content.
constexpr int kBesideForeign = 3;

struct Candidate {
  SetDraft* set = nullptr;
  WriteReason reason = WriteReason::kDrain;
  absl::Time due = absl::InfiniteFuture();
  Hold hold = Hold::kNone;
  absl::Time start_by = absl::InfiniteFuture();  // or it is late
  bool single = false;                           // only UpdateBackend will do
};

void HoldAll(SetDraft& set, Hold hold, absl::Time until) {
  for (Wanted& wanted : set.wanted) {
    if (wanted.hold != Hold::kNone) continue;
    wanted.hold = hold;
    wanted.until = until;
  }
}

bool HasDue(const SetDraft& set) {
  return std::any_of(set.wanted.begin(), set.wanted.end(),
                     [](const Wanted& wanted) { return wanted.hold == Hold::kNone; });
}

// The hold that stops every write of this pass.
std::optional<Hold> HoldOfPass(Draft& draft) {
  if (draft.plan.memory.own_write.has_value()) return Hold::kWriteInFlight;
  if (draft.plan.memory.lost_write.has_value()) return Hold::kWriteInFlight;
  if (draft.in.read->load_balancer->lifecycle_state != "ACTIVE") {
    Notice notice;
    notice.kind = NoticeKind::kLoadBalancerNotActive;
    notice.detail = draft.in.read->load_balancer->lifecycle_state;
    draft.TellOnce("inactive", std::move(notice));
    return Hold::kNotActive;
  }
  if (draft.in.now < draft.in.write_not_before) {
    draft.LookBy(draft.in.write_not_before);
    return Hold::kBackoff;
  }
  return std::nullopt;
}

void ApplyBrake(Draft& draft, SetDraft& set) {
  if (set.read == nullptr) return;
  const int size = static_cast<int>(set.read->backends.size());
  const auto unproven = std::count_if(set.wanted.begin(), set.wanted.end(), [](const Wanted& w) {
    return w.drain && !w.again && w.hold == Hold::kNone && !w.verdict.proven();
  });
  if (size < kBrakeFrom || unproven * 100 <= draft.in.options.brake_percent * size) return;
  for (Wanted& wanted : set.wanted) {
    if (wanted.drain && !wanted.verdict.proven()) wanted.hold = Hold::kBrake;
  }
  TellBrake(draft, set, static_cast<int>(unproven));
}

WriteReason ReasonOfFlips(const SetDraft& set) {
  bool fresh = false;
  for (const Wanted& wanted : set.wanted) {
    if (wanted.hold != Hold::kNone) continue;
    if (!wanted.drain) return WriteReason::kUndrain;
    fresh = fresh || !wanted.again;
  }
  return fresh ? WriteReason::kDrain : WriteReason::kReassert;
}

// The latest start that still has the earliest of the due drains in time, whatever its
// write has to wait for. One that is about to be late goes before all else.
absl::Time StartBy(const Draft& draft, const SetDraft& set) {
  absl::Time end = absl::InfiniteFuture();
  for (const Wanted& wanted : set.wanted) {
    if (wanted.hold != Hold::kNone || !wanted.drain) continue;
    // A Pod that leaves without a deadline goes first.
    const bool open = wanted.end == absl::InfiniteFuture();
    end = std::min(end, open ? absl::InfinitePast() : wanted.end);
  }
  const Memory& memory = draft.plan.memory;
  if (end - WorkRequestP99(memory) <= draft.in.now) return absl::InfinitePast();
  return end - LongestWrite(memory);
}

// When NIC, with a tick of 10 s and nobody in its way, would have written what is
// pending. What a neighbour only has to lose can wait as long as without carrying.
absl::Time ForeignTurn(const Draft& draft, const SetDraft& set) {
  const auto first = [&](const std::set<oci::BackendName>& names) {
    absl::Time time = absl::InfiniteFuture();
    for (const oci::BackendName& name : names) {
      time = std::min(time, draft.plan.memory.pending_since.at(set.Key(name)));
    }
    return time;
  };
  const absl::Duration tick = absl::Seconds(10);
  const absl::Duration patience = set.ruled ? tick : draft.in.options.shut_out;
  return std::min(first(set.pending_add) + tick, first(set.pending_removal) + patience);
}

bool Unanswered(const Draft& draft, const SetDraft& set) {
  return std::any_of(draft.foreign.begin(), draft.foreign.end(), [&](const oci::WorkRequest* w) {
    return draft.plan.memory.answered.count({set.input->name, w->id}) == 0;
  });
}

// While a foreign work request that can touch backends is unfinished.
std::optional<Candidate> BesideForeign(const Draft& draft, SetDraft& set) {
  Candidate candidate;
  candidate.set = &set;
  candidate.start_by = StartBy(draft, set);
  candidate.reason = WriteReason::kBehindForeign;
  if (draft.foreign_membership && !draft.stand_down && set.input->has_membership) {
    const bool at_stake = set.in_force || set.foreign_revives || HasDue(set);
    // What is due anyway takes back no foreign change a second time.
    if (draft.plan.memory.restorations.count(set.input->name) != 0) {
      candidate.reason = WriteReason::kRestore;
    }
    if (!set.ruled || !at_stake || !Unanswered(draft, set)) {
      return std::nullopt;
    }
    const Due due = WindowEnds(draft, set);
    candidate.due = HasDue(set) ? due.at : draft.in.now;
    candidate.hold = due.reason;
    return candidate;
  }
  if (!HasDue(set) || draft.plan.memory.beside_foreign >= kBesideForeign) return std::nullopt;
  const Due due = FlipsDue(draft, set);
  candidate.reason = ReasonOfFlips(set);
  candidate.due = due.at;
  candidate.hold = due.reason;
  candidate.single = true;
  return candidate;
}

std::optional<Candidate> Alone(const Draft& draft, SetDraft& set) {
  Candidate candidate;
  candidate.set = &set;
  if (draft.plan.memory.restorations.count(set.input->name) != 0) {
    candidate.reason = WriteReason::kRestore;
    candidate.due = draft.in.now;
    return candidate;
  }
  if (HasDue(set)) {
    const Due due = FlipsDue(draft, set);
    candidate.reason = ReasonOfFlips(set);
    candidate.due = due.at;
    candidate.hold = due.reason;
    candidate.start_by = StartBy(draft, set);
    return candidate;
  }
  const bool neighbour = !set.input->opted_in && draft.in.carry_all;
  if (!draft.in.options.carry_membership || !(set.ruled || neighbour)) return std::nullopt;
  const Due due = PendingDue(draft, set);
  if (due.at == absl::InfiniteFuture()) return std::nullopt;
  candidate.reason = set.ruled ? WriteReason::kRegister : WriteReason::kNeighbour;
  candidate.due = due.at;
  candidate.hold = due.reason;
  candidate.start_by = ForeignTurn(draft, set);
  return candidate;
}

std::vector<Candidate> Candidates(Draft& draft) {
  std::vector<Candidate> candidates;
  for (SetDraft& set : draft.sets) {
    if (set.read == nullptr || set.input->contested) continue;
    std::optional<Candidate> candidate =
        draft.foreign.empty() ? Alone(draft, set) : BesideForeign(draft, set);
    if (candidate.has_value()) {
      candidates.push_back(*candidate);
    } else {
      HoldAll(set, Hold::kForeignInFlight, absl::InfiniteFuture());
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     const bool undrain_a = a.reason == WriteReason::kUndrain;
                     const bool undrain_b = b.reason == WriteReason::kUndrain;
                     if (undrain_a != undrain_b) return undrain_a;
                     return a.start_by < b.start_by;
                   });
  return candidates;
}

// True if the write was built or a question for it was asked.
bool TryWrite(Draft& draft, const Candidate& candidate) {
  SetDraft& set = *candidate.set;
  const auto due = std::count_if(set.wanted.begin(), set.wanted.end(),
                                 [](const Wanted& w) { return w.hold == Hold::kNone; });
  const bool flips_only = candidate.reason == WriteReason::kDrain ||
                          candidate.reason == WriteReason::kUndrain ||
                          candidate.reason == WriteReason::kReassert;
  const WriteMode mode = draft.in.options.write_mode;
  const bool one = due == 1 && flips_only && mode != WriteMode::kBackendSet &&
                   (!set.pending() || !CarriesMembership(draft, set));
  const bool forced = candidate.single || (mode == WriteMode::kBackend && flips_only);
  return one || forced ? BuildSingle(draft, set, candidate.reason)
                       : BuildWhole(draft, set, candidate.reason);
}

}  // namespace

void ChooseWrite(Draft& draft) {
  for (SetDraft& set : draft.sets) ApplyBrake(draft, set);
  NoteDue(draft);
  const std::optional<Hold> hold = HoldOfPass(draft);
  if (hold.has_value()) {
    for (SetDraft& set : draft.sets) HoldAll(set, *hold, absl::InfiniteFuture());
    return;
  }
  bool chosen = false;
  absl::Time neighbour = absl::InfiniteFuture();  // when one that goes first is due
  for (const Candidate& candidate : Candidates(draft)) {
    if (candidate.due > draft.in.now) {
      if (candidate.reason == WriteReason::kNeighbour) {
        neighbour = std::min(neighbour, candidate.due);
      }
      HoldAll(*candidate.set, candidate.hold, candidate.due);
      draft.LookBy(candidate.due);
    } else if (chosen) {
      HoldAll(*candidate.set, Hold::kOtherSetFirst, absl::InfiniteFuture());
    } else if (candidate.reason == WriteReason::kDrain && candidate.start_by > neighbour) {
      HoldAll(*candidate.set, Hold::kOtherSetFirst, neighbour);
    } else {
      chosen = TryWrite(draft, candidate);
    }
  }
}

}  // namespace drain

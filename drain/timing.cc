#include "drain/timing.h"

#include <algorithm>

namespace drain {
namespace {

// first, last: when things fell due. Forever apart if there are none.
struct Span {
  absl::Time first = absl::InfiniteFuture();
  absl::Time last = absl::InfinitePast();

  void Add(absl::Time time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

absl::Time AfterWindow(const Options& options, const Span& span) {
  return std::min(span.last + options.coalesce_window, span.first + options.coalesce_at_most);
}

// Postponed for the neighbours, but never past `latest`.
Due Postponed(const Draft& draft, const SetDraft& set, Due due, absl::Time latest) {
  const Memory& memory = draft.plan.memory;
  if (memory.burst_sets.count(set.input->name) != 0 || !NeighboursWait(draft)) return due;
  const absl::Time quiet = memory.last_burst + draft.in.options.shut_out;
  const absl::Time at = std::min(quiet, latest);
  if (at > due.at) due = {at, Hold::kNeighbours};
  return due;
}

}  // namespace

void NoteDue(Draft& draft) {
  std::map<BackendKey, absl::Time> due;
  auto& before = draft.plan.memory.due_since;
  for (const SetDraft& set : draft.sets) {
    for (const Wanted& wanted : set.wanted) {
      if (wanted.hold != Hold::kNone) continue;
      const BackendKey key = set.Key(wanted.backend->name);
      const auto it = before.find(key);
      due[key] = it == before.end() ? draft.in.now : it->second;
    }
  }
  before = std::move(due);
}

bool NeighboursWait(const Draft& draft) {
  if (draft.in.carry_all) return false;
  return std::any_of(draft.sets.begin(), draft.sets.end(),
                     [](const SetDraft& set) { return !set.input->opted_in && set.pending(); });
}

absl::Duration LongestWrite(const Memory& memory) {
  return std::max(WorkRequestP99(memory) * 1.5, absl::Seconds(30));
}

namespace {

struct Flips {
  Span span;
  absl::Time end = absl::InfiniteFuture();  // of the first process
  bool undrain = false;
  bool leaving = false;  // one of them serves no more, and has no deadline

  // The latest start that has them in time if a write takes so long.
  absl::Time Latest(absl::Duration write) const { return std::max(span.first, end - write); }
};

Flips UnheldFlips(const Draft& draft, const SetDraft& set) {
  Flips flips;
  for (const Wanted& wanted : set.wanted) {
    if (wanted.hold != Hold::kNone) continue;
    flips.span.Add(draft.plan.memory.due_since.at(set.Key(wanted.backend->name)));
    flips.undrain = flips.undrain || !wanted.drain;
    flips.leaving = flips.leaving || (wanted.drain && wanted.end == absl::InfiniteFuture());
    if (wanted.drain) flips.end = std::min(flips.end, wanted.end);
  }
  return flips;
}

}  // namespace

Due WindowEnds(const Draft& draft, const SetDraft& set) {
  const Flips flips = UnheldFlips(draft, set);
  if (flips.span.first == absl::InfiniteFuture()) return {};
  return {std::min(AfterWindow(draft.in.options, flips.span),
                   flips.Latest(WorkRequestP99(draft.plan.memory))),
          Hold::kCoalescing};
}

Due FlipsDue(const Draft& draft, const SetDraft& set) {
  const Due due = WindowEnds(draft, set);
  const Flips flips = UnheldFlips(draft, set);
  if (due.at == absl::InfiniteFuture() || flips.undrain || flips.leaving) return due;
  return Postponed(draft, set, due, flips.Latest(LongestWrite(draft.plan.memory)));
}

namespace {

// When a neighbour that is carried goes out before the drains that are due, whose write
// would shut NIC out. A rollout makes Pods as it ends others: their addresses come a
// little later, and another write for them would cost a work request.
absl::Time AheadOfDrains(const Draft& draft, const SetDraft& set) {
  absl::Time first = absl::InfiniteFuture();
  if (set.ruled || set.pending_add.empty()) return first;
  for (const SetDraft& other : draft.sets) first = std::min(first, FlipsDue(draft, other).at);
  return first + draft.in.options.coalesce_at_most;
}

}  // namespace

Due PendingDue(const Draft& draft, const SetDraft& set) {
  const Memory& memory = draft.plan.memory;
  const bool shut_out = draft.in.now < memory.last_write + draft.in.options.shut_out;
  if (!shut_out && !set.in_force && !set.gate_waits) {
    return {AheadOfDrains(draft, set), Hold::kCoalescing};
  }
  Span span;
  const auto add = [&](const std::set<oci::BackendName>& names) {
    for (const oci::BackendName& name : names) {
      span.Add(memory.pending_since.at(set.Key(name)));
    }
  };
  add(set.pending_add);
  if (set.in_force || set.pending_routable || !set.ruled) add(set.pending_removal);
  if (span.first == absl::InfiniteFuture()) return {};
  const Due due{AfterWindow(draft.in.options, span), Hold::kCoalescing};
  return set.ruled ? Postponed(draft, set, due, absl::InfiniteFuture()) : due;
}

}  // namespace drain

#include "capacity/plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "capacity/share.h"

namespace capacity {
namespace {

// Told from so many percent of a limit on, and until it is below the second.
constexpr int kNearPercent = 90;
constexpr int kEndPercent = 85;

// Everything that is derived from an Input before slots are shared.
class Planner {
 public:
  explicit Planner(const Input& input) : in_(input) { plan_.sets.resize(in_.sets.size()); }

  Plan Run() && {
    Count();
    for (size_t i = 0; i < in_.sets.size(); ++i) SizeReserve(i);
    ShareFree();
    Withdraw();
    for (size_t i = 0; i < in_.sets.size(); ++i) FindAboutSet(i);
    FindAboutLoadBalancer();
    return std::move(plan_);
  }

 private:
  void Count() {
    plan_.in_use = std::max(0, in_.other_backends);
    for (const SetInput& set : in_.sets) {
      plan_.in_use += set.demand.held();
      pending_ += set.demand.pending;
    }
    plan_.free = std::max(0, in_.limits.backends_per_load_balancer - plan_.in_use);
  }

  int LimitOf(size_t i) const {
    return std::min(in_.limits.backends_per_set,
                    in_.sets[i].refused_beyond.value_or(in_.limits.backends_per_set));
  }

  // Slots that the set's own limit leaves.
  int FreeInSet(size_t i) const { return std::max(0, LimitOf(i) - in_.sets[i].demand.held()); }

  void SizeReserve(size_t i) {
    const SetInput& set = in_.sets[i];
    SetPlan& out = plan_.sets[i];
    const int steady = set.demand.steady();
    const Forecast* most = set.autoscaled != nullptr ? set.autoscaled.get() : set.forecast.get();
    out.forecast_peak = std::max(steady, most == nullptr ? 0 : most->peak);
    const annotations::Reserve reserve = set.reserve.value_or(in_.default_reserve);
    switch (reserve.kind) {
      case annotations::Reserve::Kind::kAuto:
        out.need = out.forecast_peak - steady;
        break;
      case annotations::Reserve::Kind::kBackends:
        out.need = reserve.value;
        break;
      case annotations::Reserve::Kind::kPercent:
        out.need = static_cast<int>((int64_t{steady} * reserve.value + 99) / 100);
        break;
    }
    out.need = std::max(0, out.need);
  }

  // The part of the reserve that no draining backend uses already.
  int Unused(size_t i) const {
    return std::max(0, plan_.sets[i].need - in_.sets[i].demand.draining);
  }

  // All that a set asks for, which is also its weight.
  int Asked(size_t i) const { return in_.sets[i].demand.pending + Unused(i); }

  std::vector<int> Share(const std::vector<int>& needs, int slots) const {
    std::vector<Claim> claims;
    claims.reserve(needs.size());
    for (size_t i = 0; i < needs.size(); ++i) {
      claims.push_back({needs[i], FreeInSet(i) - plan_.sets[i].additions, Asked(i)});
    }
    return ShareSlots(claims, slots);
  }

  // First each set's Pods that wait within its share of what is free, then the others
  // within what reserves leave idle: a slot kept from a Pod that exists would be
  // taken by the ingress controller ten seconds later. What is left is reserved.
  void ShareFree() {
    std::vector<int> needs;
    for (size_t i = 0; i < in_.sets.size(); ++i) {
      needs.push_back(Asked(i));
    }
    int left = plan_.free;
    const std::vector<int> shares = Share(needs, left);
    for (size_t i = 0; i < in_.sets.size(); ++i) {
      plan_.sets[i].additions = std::min(in_.sets[i].demand.pending, shares[i]);
    }
    left -= Additions();
    for (size_t i = 0; i < in_.sets.size(); ++i) {
      needs[i] = in_.sets[i].demand.pending - plan_.sets[i].additions;
    }
    const std::vector<int> borrowed = Share(needs, left);
    for (size_t i = 0; i < in_.sets.size(); ++i) plan_.sets[i].additions += borrowed[i];
    left = plan_.free - Additions();
    for (size_t i = 0; i < in_.sets.size(); ++i) needs[i] = Unused(i);
    const std::vector<int> reserved = Share(needs, left);
    for (size_t i = 0; i < in_.sets.size(); ++i) {
      SetPlan& set = plan_.sets[i];
      set.reserved = reserved[i];
      set.waiting = in_.sets[i].demand.pending - set.additions;
      set.free = std::min(FreeInSet(i), plan_.free);
    }
  }

  int Additions() const {
    int sum = 0;
    for (const SetPlan& set : plan_.sets) sum += set.additions;
    return sum;
  }

  struct Candidate {
    size_t set;
    const Drained* drained;
  };

  // Longest drained first; of equals in the order of sets and names.
  std::vector<Candidate> Candidates() const {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < in_.sets.size(); ++i) {
      for (const Drained& drained : in_.sets[i].drained) {
        if (!drained.withdrawn) candidates.push_back({i, &drained});
      }
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(a.drained->since, a.set, a.drained->backend) <
             std::tie(b.drained->since, b.set, b.drained->backend);
    });
    return candidates;
  }

  static int Withdrawn(const SetInput& set) {
    return static_cast<int>(
        std::count_if(set.drained.begin(), set.drained.end(),
                      [](const Drained& drained) { return drained.withdrawn; }));
  }

  // What is lacking in each set against its own limit, and in all against the load
  // balancer's, less what is being withdrawn already.
  void Withdraw() {
    std::vector<int> lack;
    int lack_in_all = -plan_.free;
    bool wanted = false;
    for (size_t i = 0; i < in_.sets.size(); ++i) {
      const SetInput& set = in_.sets[i];
      const int coming = set.demand.pending + std::max(0, set.expected);
      const int withdrawn = Withdrawn(set);
      lack.push_back(coming - FreeInSet(i) - withdrawn);
      lack_in_all += coming - withdrawn;
      wanted = wanted || lack.back() > 0;
    }
    if (!wanted && lack_in_all <= 0) return;
    const std::vector<Candidate> candidates = Candidates();
    // A set at its own limit is helped by its own backends only, so these first.
    for (const Candidate& candidate : candidates) {
      if (lack[candidate.set] <= 0 || !TryWithdraw(candidate)) continue;
      --lack[candidate.set];
      --lack_in_all;
    }
    for (const Candidate& candidate : candidates) {
      if (lack_in_all <= 0) break;
      if (Taken(candidate) || !TryWithdraw(candidate)) continue;
      --lack_in_all;
    }
  }

  bool Taken(const Candidate& candidate) const {
    const std::vector<Drained>& taken = plan_.sets[candidate.set].withdrawals;
    return std::any_of(taken.begin(), taken.end(), [&](const Drained& drained) {
      return drained.backend == candidate.drained->backend;
    });
  }

  bool TryWithdraw(const Candidate& candidate) {
    const SetInput& set = in_.sets[candidate.set];
    if (set.obstacle != Obstacle::kNone) {
      refused_.insert(candidate.set);
      return false;
    }
    const absl::Time from = candidate.drained->since + set.minimum;
    if (from > in_.now) {
      plan_.next_look = std::min(plan_.next_look, from);
      return false;
    }
    plan_.sets[candidate.set].withdrawals.push_back(*candidate.drained);
    return true;
  }

  bool Was(FindingKind kind, int set) const {
    return in_.raised.count({kind, set < 0 ? oci::BackendSetName() : in_.sets[set].name}) != 0;
  }

  // Nearly full, with hysteresis.
  bool Near(FindingKind kind, int set, int count, int most) const {
    const int percent = Was(kind, set) ? kEndPercent : kNearPercent;
    return int64_t{count} * 100 >= int64_t{most} * percent;
  }

  Finding About(FindingKind kind, size_t i, LimitKind limit) const {
    const SetInput& set = in_.sets[i];
    Finding finding;
    finding.kind = kind;
    finding.set = static_cast<int>(i);
    finding.limit = limit;
    const bool own = limit == LimitKind::kBackendSet;
    finding.most = own ? LimitOf(i) : in_.limits.backends_per_load_balancer;
    finding.in_use = own ? set.demand.held() : plan_.in_use;
    // Everything but this set's own Pods, of which all are in the forecast.
    const int others =
        own ? set.demand.foreign
            : plan_.in_use - set.demand.live - set.demand.draining + pending_ - set.demand.pending;
    finding.room = std::max(0, finding.most - others);
    finding.wanted = others;
    finding.waiting = plan_.sets[i].waiting;
    return finding;
  }

  void FindAboutSet(size_t i) {
    const SetInput& set = in_.sets[i];
    const SetPlan& out = plan_.sets[i];
    const bool exceeds = FindExceeding(i);
    FindBlocked(i);
    FindNear(i);
    if (refused_.count(i) != 0 && SomePodWaits()) {
      Finding finding = About(FindingKind::kWithdrawalRefused, i, TighterLimit(i));
      finding.obstacle = set.obstacle;
      plan_.findings.push_back(finding);
    }
    // An automatic reserve that is too large for the limit is the rollout itself.
    const annotations::Reserve reserve = set.reserve.value_or(in_.default_reserve);
    if (exceeds && reserve.kind == annotations::Reserve::Kind::kAuto) return;
    if (out.reserved >= Unused(i)) return;
    Finding finding = About(FindingKind::kReserveUnsatisfiable, i, TighterLimit(i));
    finding.wanted = Unused(i);
    finding.room = out.reserved;
    plan_.findings.push_back(finding);
  }

  bool SomePodWaits() const {
    return std::any_of(plan_.sets.begin(), plan_.sets.end(),
                       [](const SetPlan& set) { return set.waiting > 0; });
  }

  LimitKind TighterLimit(size_t i) const {
    return FreeInSet(i) <= plan_.free ? LimitKind::kBackendSet : LimitKind::kLoadBalancer;
  }

  bool FindExceeding(size_t i) {
    const Forecast* forecast = in_.sets[i].forecast.get();
    if (forecast == nullptr) return false;
    for (const LimitKind limit : {LimitKind::kBackendSet, LimitKind::kLoadBalancer}) {
      Finding finding = About(FindingKind::kRolloutWillExceedBackendLimit, i, limit);
      if (forecast->peak <= finding.room) continue;
      finding.wanted += forecast->peak;
      plan_.findings.push_back(finding);
      return true;
    }
    return false;
  }

  void FindBlocked(size_t i) {
    if (plan_.sets[i].waiting == 0) return;
    const LimitKind limit = TighterLimit(i);
    int draining = in_.sets[i].demand.draining;
    if (limit == LimitKind::kLoadBalancer) {
      draining = 0;
      for (const SetInput& set : in_.sets) draining += set.demand.draining;
    }
    if (draining > 0) return;
    Finding finding = About(FindingKind::kRolloutBlockedByBackendLimit, i, limit);
    finding.wanted = finding.in_use + finding.waiting;
    plan_.findings.push_back(finding);
  }

  void FindNear(size_t i) {
    const SetInput& set = in_.sets[i];
    Finding finding = About(FindingKind::kBackendSetLimitNear, i, LimitKind::kBackendSet);
    const int now = set.demand.held() + set.demand.pending;
    const int scaled = set.autoscaled == nullptr ? 0 : set.autoscaled->steady + set.demand.foreign;
    if (!Near(finding.kind, finding.set, now, finding.most) && scaled <= finding.most) return;
    finding.wanted = std::max(now, scaled);
    plan_.findings.push_back(finding);
  }

  void FindAboutLoadBalancer() {
    Finding finding;
    finding.kind = FindingKind::kBackendCapacityLow;
    finding.limit = LimitKind::kLoadBalancer;
    finding.most = in_.limits.backends_per_load_balancer;
    finding.in_use = plan_.in_use;
    finding.wanted = plan_.in_use + pending_;
    if (Near(finding.kind, -1, finding.wanted, finding.most)) {
      plan_.findings.push_back(finding);
      return;
    }
    finding.limit = LimitKind::kBackendSets;
    finding.most = in_.limits.backend_sets;
    finding.in_use = finding.wanted = static_cast<int>(in_.sets.size()) + in_.other_sets;
    if (finding.in_use >= finding.most) plan_.findings.push_back(finding);
  }

  const Input& in_;
  Plan plan_;
  int pending_ = 0;
  std::set<size_t> refused_;
};

}  // namespace

Plan MakePlan(const Input& input) { return Planner(input).Run(); }

std::set<FindingKey> KeysOf(const Input& input, const Plan& plan) {
  std::set<FindingKey> keys;
  for (const Finding& finding : plan.findings) {
    keys.emplace(finding.kind,
                 finding.set < 0 ? oci::BackendSetName() : input.sets[finding.set].name);
  }
  return keys;
}

std::string Name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kBackendCapacityLow:
      return "BackendCapacityLow";
    case FindingKind::kBackendSetLimitNear:
      return "BackendSetLimitNear";
    case FindingKind::kRolloutWillExceedBackendLimit:
      return "RolloutWillExceedBackendLimit";
    case FindingKind::kRolloutBlockedByBackendLimit:
      return "RolloutBlockedByBackendLimit";
    case FindingKind::kReserveUnsatisfiable:
      return "ReserveUnsatisfiable";
    case FindingKind::kWithdrawalRefused:
      break;
  }
  return "WithdrawalRefused";
}

}  // namespace capacity

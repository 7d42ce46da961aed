#include "drain/judge.h"

#include <algorithm>

namespace drain {
namespace {

Verdict Of(Rule rule, Want want, const Endpoint& endpoint) {
  Verdict verdict;
  verdict.rule = rule;
  verdict.want = want;
  verdict.endpoint = &endpoint;
  return verdict;
}

Verdict Terminating(const Endpoint& endpoint, absl::Time deletion, absl::Duration grace) {
  Verdict verdict = Of(Rule::kTerminating, Want::kDrained, endpoint);
  verdict.deadline = deletion;
  verdict.deleted_at = deletion - grace;
  return verdict;
}

bool SamePod(const Endpoint& endpoint, const std::string& uid) {
  return !uid.empty() && (endpoint.uid.empty() || endpoint.uid == uid);
}

bool Leaving(const Endpoint& endpoint) {
  const PodLookup& lookup = endpoint.lookup;
  return !endpoint.serving && lookup.state == LookupState::kFound &&
         SamePod(endpoint, lookup.uid) && (lookup.phase == "Failed" || lookup.disruption_target);
}

Verdict OfThisPod(const Endpoint& endpoint, absl::Time deletion, absl::Duration grace) {
  if (deletion != absl::InfiniteFuture()) return Terminating(endpoint, deletion, grace);
  if (Leaving(endpoint)) return Of(Rule::kLeaving, Want::kDrained, endpoint);
  return Of(Rule::kLive, Want::kUndrained, endpoint);
}

// The watch of Pods and the endpoint slices disagree: one of them is late.
Verdict OfUncached(const Endpoint& endpoint) {
  const PodLookup& lookup = endpoint.lookup;
  const bool found = lookup.state == LookupState::kFound;
  if (lookup.state == LookupState::kNotFound) return Of(Rule::kPodGone, Want::kDrained, endpoint);
  if (endpoint.terminating) {
    const bool dated = found && SamePod(endpoint, lookup.uid) &&
                       lookup.deletion_timestamp != absl::InfiniteFuture();
    return dated ? Terminating(endpoint, lookup.deletion_timestamp, lookup.deletion_grace)
                 : Of(Rule::kSliceTerminating, Want::kDrained, endpoint);
  }
  if (!found) return Of(Rule::kLookupFailed, Want::kKeep, endpoint);
  if (SamePod(endpoint, lookup.uid)) {
    return OfThisPod(endpoint, lookup.deletion_timestamp, lookup.deletion_grace);
  }
  if (lookup.pod_ips.empty()) return Of(Rule::kPodWithoutAddress, Want::kKeep, endpoint);
  const bool same_address =
      std::find(lookup.pod_ips.begin(), lookup.pod_ips.end(), endpoint.ip) != lookup.pod_ips.end();
  return same_address ? Of(Rule::kAddressReused, Want::kKeep, endpoint)
                      : Of(Rule::kPodReplaced, Want::kDrained, endpoint);
}

Verdict JudgeEndpoint(const Endpoint& endpoint) {
  if (SamePod(endpoint, endpoint.cached_uid)) {
    return OfThisPod(endpoint, endpoint.deletion_timestamp, endpoint.deletion_grace);
  }
  return OfUncached(endpoint);
}

// Smaller decides. A live Pod wins over all; then what cannot be resolved, which
// could be a live Pod; then proofs over inferences.
int Precedence(const Verdict& verdict) {
  if (verdict.want == Want::kUndrained) return 0;
  if (verdict.want == Want::kKeep) return 1;
  return verdict.proven() ? 2 : 3;
}

// Of two Pods that end at one address the later deadline counts.
bool Decides(const Verdict& candidate, const Verdict& current) {
  const int a = Precedence(candidate);
  const int b = Precedence(current);
  if (a != b) return a < b;
  if (candidate.deadline != current.deadline) return candidate.deadline > current.deadline;
  return candidate.endpoint->uid < current.endpoint->uid;
}

}  // namespace

bool IsRuled(const Input& input, const SetInput& set) {
  return set.opted_in && set.publishes_terminating && !set.contested && !input.options.release;
}

SetVerdicts::SetVerdicts(const SetInput& set) {
  const size_t count = set.endpoints.size();
  all_.reserve(count);
  of_endpoint_.reserve(count);
  position_.reserve(count);
  bool podless = false;
  for (const Endpoint& endpoint : set.endpoints) {
    int& position = position_.try_emplace(endpoint.backend.value(), kNone).first->second;
    if (endpoint.pod.name.empty()) {
      podless = true;
      of_endpoint_.push_back(kNone);
      continue;
    }
    const Verdict verdict = JudgeEndpoint(endpoint);
    if (position == kNone) {
      position = static_cast<int>(all_.size());
      all_.push_back(verdict);
    } else if (Verdict& current = all_[static_cast<size_t>(position)]; Decides(verdict, current)) {
      current = verdict;
    }
    of_endpoint_.push_back(position);
  }
  if (!podless) return;
  for (size_t i = 0; i < count; ++i) of_endpoint_[i] = Position(set.endpoints[i].backend.value());
}

std::vector<const Verdict*> SetVerdicts::Sorted() const {
  std::vector<const Verdict*> sorted;
  sorted.reserve(all_.size());
  for (const Verdict& verdict : all_) sorted.push_back(&verdict);
  SortByName(sorted);
  return sorted;
}

void SortByName(std::vector<const Verdict*>& verdicts) {
  std::sort(verdicts.begin(), verdicts.end(), [](const Verdict* a, const Verdict* b) {
    return a->endpoint->backend < b->endpoint->backend;
  });
}

void NoteVerdict(const Verdict& verdict, Decision& decision) {
  decision.rule = verdict.rule;
  decision.pod = verdict.endpoint->pod;
  decision.pod_uid = verdict.endpoint->uid;
  decision.deadline = verdict.deadline;
}

bool WantsLookup(const Endpoint& endpoint, const oci::Backend* backend, bool had_served) {
  if (endpoint.pod.name.empty()) return false;
  if (endpoint.lookup.state != LookupState::kNotAsked) return false;
  if (SamePod(endpoint, endpoint.cached_uid)) {
    return (backend != nullptr || had_served) && !endpoint.serving &&
           endpoint.deletion_timestamp == absl::InfiniteFuture();
  }
  return backend != nullptr && !endpoint.terminating;
}

absl::Time ExpectedEnd(const Verdict& verdict, absl::Duration serving) {
  if (serving > absl::ZeroDuration() && verdict.deleted_at != absl::InfinitePast()) {
    return std::min(verdict.deadline, verdict.deleted_at + serving);
  }
  return verdict.deadline;
}

absl::Time ReleaseAt(const Verdict& verdict, absl::Duration shutdown) {
  return std::max(verdict.deadline - shutdown, verdict.deleted_at);
}

}  // namespace drain

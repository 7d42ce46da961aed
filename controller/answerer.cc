#include "controller/answerer.h"

#include <utility>

#include "controller/collector.h"
#include "controller/mapping.h"

namespace controller {
namespace {

// Live GETs of Pods in one pass; the rest keep their flags and are asked for in
// the next one, so that a mass start cannot hold up a drain.
constexpr int kLookupsPerPass = 16;

}  // namespace

absl::Status Answerer::Answer(const drain::Questions& questions, const TopologyView& view,
                              LbState& state, drain::Input& input) {
  const absl::Status status = AskOci(questions, state, input);
  for (const kube::ObjectKey& pod : questions.pods) {
    if (state.lookups_this_pass++ < kLookupsPerPass) {
      AskPod(pod, state, input);
      continue;
    }
    for (drain::SetInput& set : input.sets) {
      for (drain::Endpoint& endpoint : set.endpoints) {
        if (endpoint.pod == pod) endpoint.lookup.state = drain::LookupState::kNoAnswer;
      }
    }
  }
  for (const kube::ObjectKey& service : questions.memberships) {
    AskMembership(service, view, input);
  }
  for (const drain::BackendKey& key : questions.health) AskHealth(key, input);
  for (const oci::BackendSetName& set : questions.set_health) AskSetHealth(set, input);
  return status;
}

absl::Status Answerer::AskOci(const drain::Questions& questions, LbState& state,
                              drain::Input& input) {
  absl::Status first;
  if (questions.own_work_request) first.Update(AskOwnWorkRequest(state, input));
  if (questions.work_requests) first.Update(AskWorkRequests(state, input));
  const oci::Etag before = state.read.has_value() ? state.read->etag : oci::Etag();
  if (questions.read) first.Update(AskLoadBalancer(state, input));
  if (first.ok() && questions.work_requests && questions.read && state.read->etag != before) {
    first.Update(AskForLatest(state, input));
  }
  return first;
}

// Somebody has written since the read before. Between the list and the read, too,
// perhaps:
// 1. we list, and nothing is unfinished;
// 2. a foreign write is accepted, which moves the ETag;
// 3. we read that ETag with the state before the write;
// 4. the write is applied, which need not move the ETag again;
// 5. our whole-set write is accepted on that ETag and takes the foreign one back.
// So what has come since the list counts as unfinished in this pass.
absl::Status Answerer::AskForLatest(LbState& state, drain::Input& input) {
  edges_.budget.Spend();
  const absl::StatusOr<std::vector<oci::WorkRequest>> latest =
      edges_.oci.ListWorkRequests(input.load_balancer);
  if (!latest.ok()) {
    input.work_requests_failed = true;
    return latest.status();
  }
  std::vector<oci::WorkRequest>& all = input.work_requests->all;
  for (oci::WorkRequest request : *latest) {
    const bool listed = state.listed.count(request.id) != 0;
    if (listed) continue;
    if (request.finished()) request.state = oci::WorkRequestState::kInProgress;
    all.push_back(std::move(request));
  }
  state.work_requests = input.work_requests;
  return absl::OkStatus();
}

absl::Status Answerer::AskOwnWorkRequest(LbState& state, drain::Input& input) {
  const oci::WorkRequestId& id = state.memory.own_write->work_request;
  edges_.budget.Spend();
  absl::StatusOr<oci::WorkRequest> answer = edges_.oci.GetWorkRequest(id);
  state.own_work_request_polled_at = edges_.clock.Now();
  if (absl::IsNotFound(answer.status())) {
    // OCI has forgotten it: it is over, and the read that follows tells how.
    oci::WorkRequest gone;
    gone.id = id;
    gone.state = oci::WorkRequestState::kFailed;
    gone.message = "OCI does not know this work request any more";
    answer = gone;
  }
  if (!answer.ok()) {
    input.own_work_request_failed = true;
    return answer.status();
  }
  input.own_work_request = *std::move(answer);
  return absl::OkStatus();
}

absl::Status Answerer::AskWorkRequests(LbState& state, drain::Input& input) {
  edges_.budget.Spend();
  const absl::Time at = edges_.clock.Now();
  absl::StatusOr<std::vector<oci::WorkRequest>> list =
      edges_.oci.ListWorkRequests(input.load_balancer);
  if (!list.ok()) {
    input.work_requests_failed = true;
    return list.status();
  }
  state.listed.clear();
  for (const oci::WorkRequest& request : *list) state.listed.insert(request.id);
  // OCI lists those of the past too, a thousand perhaps.
  std::erase_if(*list, [](const oci::WorkRequest& request) { return request.finished(); });
  input.work_requests = drain::WorkRequests{*std::move(list), at, true};
  state.work_requests = input.work_requests;
  return absl::OkStatus();
}

absl::Status Answerer::AskLoadBalancer(LbState& state, drain::Input& input) {
  edges_.budget.Spend();
  const absl::Time at = edges_.clock.Now();
  absl::StatusOr<oci::LoadBalancerRead> read = edges_.oci.GetLoadBalancer(input.load_balancer);
  if (!read.ok()) {
    input.read_failed = true;
    return read.status();
  }
  input.read = drain::Read{std::move(read->load_balancer), std::move(read->etag), at, true};
  state.read = input.read;
  return absl::OkStatus();
}

void Answerer::AskPod(const kube::ObjectKey& pod, LbState& state, drain::Input& input) {
  const absl::StatusOr<kube::PodDetails> details = edges_.kube.GetPod(pod);
  drain::PodLookup lookup;
  if (details.ok()) {
    lookup = LookupFrom(*details);
    state.pods[details->uid] = {details->resource_version, lookup};
  } else {
    lookup.state = absl::IsNotFound(details.status()) ? drain::LookupState::kNotFound
                                                      : drain::LookupState::kNoAnswer;
  }
  for (drain::SetInput& set : input.sets) {
    for (drain::Endpoint& endpoint : set.endpoints) {
      if (endpoint.pod == pod && endpoint.lookup.state == drain::LookupState::kNotAsked) {
        endpoint.lookup = lookup;
      }
    }
  }
}

void Answerer::AskMembership(const kube::ObjectKey& service, const TopologyView& view,
                             drain::Input& input) {
  const absl::StatusOr<kube::Endpoints> endpoints = edges_.kube.GetEndpoints(service);
  const auto& mapped = view.mapping.load_balancers.at(input.load_balancer);
  for (drain::SetInput& set : input.sets) {
    if (set.service.key != service) continue;
    set.membership = drain::Membership();
    const auto ports = mapped.sets.find(set.name);
    if (!endpoints.ok() || endpoints->truncated || ports == mapped.sets.end()) continue;
    if (ports->second.ports.size() != 1) continue;
    const int port = ResolveTargetPort(ports->second.ports.front(), *endpoints);
    if (port <= 0) continue;
    set.membership->answered = true;
    for (const kube::EndpointsSubset& subset : endpoints->subsets) {
      for (const kube::EndpointsAddress& address : subset.addresses) {
        if (address.target_kind != "Pod") continue;
        set.membership->members.push_back(
            {oci::MakeBackendName(address.ip, port), address.ip, port});
      }
    }
  }
}

void Answerer::AskHealth(const drain::BackendKey& key, drain::Input& input) {
  edges_.budget.Spend();
  const absl::StatusOr<oci::BackendHealth> health =
      edges_.oci.GetBackendHealth(input.load_balancer, key.set, key.backend);
  drain::HealthAnswer& answer = input.health[key];
  answer.answered = health.ok();
  if (health.ok()) answer.health = *health;
}

void Answerer::AskSetHealth(const oci::BackendSetName& set, drain::Input& input) {
  edges_.budget.Spend();
  const absl::StatusOr<oci::BackendSetHealth> health =
      edges_.oci.GetBackendSetHealth(input.load_balancer, set);
  drain::SetHealthAnswer& answer = input.set_health[set];
  answer.answered = health.ok();
  if (health.ok()) answer.health = *health;
}

}  // namespace controller

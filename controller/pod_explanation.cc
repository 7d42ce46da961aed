#include "controller/pod_explanation.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "drain/explain.h"

namespace controller {
namespace {

constexpr size_t kMaxServicesNamed = 20;

template <typename Items, typename Matches>
auto FindIn(const Items& items, const Matches& matches)
    -> std::optional<typename Items::value_type> {
  const auto found = std::find_if(items.begin(), items.end(), matches);
  if (found == items.end()) return std::nullopt;
  return *found;
}

std::string WhyUntouched(const drain::Input& input, const drain::SetInput& set) {
  if (set.contested) return "several Services map to this backend set: neither is drained";
  if (!set.opted_in) {
    return absl::StrCat("Service ", set.service.key.ToString(),
                        " does not opt in; annotate it with "
                        "oci-native-ingress.oraclecloud.com/backend-draining: \"true\"");
  }
  if (!set.publishes_terminating) {
    return absl::StrCat("Service ", set.service.key.ToString(),
                        " does not publish terminating Pods; set "
                        "spec.publishNotReadyAddresses: true");
  }
  if (input.paused) return "an IngressClass of this load balancer says backend-drain-paused";
  return "";
}

std::string InSet(const drain::Input& input, const drain::BackendKey& key) {
  if (!input.read.has_value()) return "not known: the load balancer was not read";
  const auto& sets = input.read->load_balancer->backend_sets;
  const auto set = sets.find(key.set);
  if (set == sets.end()) return "the load balancer has no such backend set";
  for (const oci::Backend& backend : set->second.backends) {
    if (backend.name != key.backend) continue;
    return absl::StrCat("in the set, ", backend.drain ? "drained" : "routable",
                        backend.offline ? ", offline" : "", backend.backup ? ", backup" : "");
  }
  return "not in the set";
}

// Backends by which a set knows the Pod.
std::set<oci::BackendName> BackendsOf(const Preview& pass,
                                      const std::vector<drain::Decision>& decisions,
                                      const drain::SetInput& set, const kube::ObjectKey& pod) {
  std::set<oci::BackendName> backends;
  for (const drain::Endpoint& endpoint : set.endpoints) {
    if (endpoint.pod == pod) backends.insert(endpoint.backend);
  }
  for (const drain::Decision& decision : decisions) {
    if (decision.key.set == set.name && decision.pod == pod) backends.insert(decision.key.backend);
  }
  for (const auto& [key, entry] : pass.plan.ledger) {
    if (key.set == set.name && set.service.key.ns == pod.ns && entry.pod == pod.name) {
      backends.insert(key.backend);
    }
  }
  return backends;
}

SetExplanation ExplainSet(const Preview& pass, const drain::SetInput& set,
                          const oci::BackendName& backend, const kube::ObjectKey& pod) {
  const drain::Input& input = pass.input;
  SetExplanation out;
  out.load_balancer = input.load_balancer;
  out.key = {set.name, backend};
  out.service = set.service.key;
  out.at = input.now;
  if (input.read.has_value()) {
    out.load_balancer_name = input.read->load_balancer->display_name;
    out.read_at = input.read->at;
  }
  out.untouched = WhyUntouched(input, set);
  out.in_set = InSet(input, out.key);
  const auto is_it = [&](const auto& item) { return item.key == out.key; };
  out.endpoint = FindIn(set.endpoints, [&](const drain::Endpoint& endpoint) {
    return endpoint.backend == backend && endpoint.pod == pod;
  });
  out.progress = FindIn(pass.plan.acknowledgements, is_it);
  out.gate = FindIn(pass.plan.gates, is_it);
  const auto entry = pass.plan.ledger.find(out.key);
  if (entry != pass.plan.ledger.end()) out.ledger = entry->second;
  return out;
}

}  // namespace

void ExplainPod(const Preview& pass, PodExplanation& explanation) {
  const std::vector<drain::Decision> decisions = drain::AllDecisions(pass.input, pass.plan);
  for (const drain::SetInput& set : pass.input.sets) {
    for (const oci::BackendName& backend : BackendsOf(pass, decisions, set, explanation.pod)) {
      SetExplanation& out =
          explanation.sets.emplace_back(ExplainSet(pass, set, backend, explanation.pod));
      out.decision = FindIn(decisions, [&](const auto& item) { return item.key == out.key; });
    }
  }
}

absl::Status NoSetKnows(const kube::ObjectKey& pod, const std::vector<const Preview*>& passes) {
  std::set<std::string> services;
  for (const Preview* pass : passes) {
    for (const drain::SetInput& set : pass->input.sets) {
      if (set.service.key.ns != pod.ns) continue;
      services.insert(absl::StrCat(set.service.key.name, set.opted_in ? "" : " (not opted in)"));
    }
  }
  std::string known = absl::StrCat("no Service of namespace ", pod.ns, " leads to a backend set");
  if (!services.empty()) {
    const auto end = std::next(services.begin(),
                               static_cast<long>(std::min(services.size(), kMaxServicesNamed)));
    known = absl::StrCat("Services of its namespace that lead to one: ",
                         absl::StrJoin(services.begin(), end, ", "));
    if (services.size() > kMaxServicesNamed) {
      absl::StrAppend(&known, " and ", services.size() - kMaxServicesNamed, " more");
    }
  }
  return absl::NotFoundError(
      absl::StrCat("Pod ", pod.ToString(), ": no backend set knows it; ", known,
                   ". Check its name, that such a Service selects it, and that an Ingress of this "
                   "controller's class leads to the Service"));
}

absl::StatusOr<kube::ObjectKey> ParsePodName(absl::string_view text) {
  const size_t slash = text.find('/');
  const bool whole = slash != absl::string_view::npos && slash > 0 && slash + 1 < text.size() &&
                     text.find('/', slash + 1) == absl::string_view::npos && text.size() <= 400;
  if (!whole) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text.substr(0, 400), "\": expected NAMESPACE/NAME of a Pod"));
  }
  return kube::ObjectKey{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

}  // namespace controller

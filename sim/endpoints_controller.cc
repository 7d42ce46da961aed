#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/endpoints_controllers.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_validation.h"
#include "sim/workload_controllers.h"

namespace sim {
namespace {

constexpr char kOverCapacity[] = "endpoints.kubernetes.io/over-capacity";
constexpr char kTriggerTime[] = "endpoints.kubernetes.io/last-change-trigger-time";

JsonTree AddressOf(const JsonTree& pod) {
  return JsonTree::Object{{"ip", pod["status"]["podIP"]},
                          {"nodeName", pod["spec"]["nodeName"]},
                          {"targetRef", JsonTree::Object{{"kind", "Pod"},
                                                         {"namespace", NamespaceOf(pod)},
                                                         {"name", NameOf(pod)},
                                                         {"uid", UidOf(pod)}}}};
}

struct Subset {
  JsonTree::Array ready;
  JsonTree::Array not_ready;
};

JsonTree SubsetJson(const std::vector<ResolvedPort>& ports, Subset subset) {
  const auto by_ip = [](const JsonTree& a, const JsonTree& b) {
    return a["ip"].AsString() < b["ip"].AsString();
  };
  JsonTree out = JsonTree::Object{};
  for (auto& [name, addresses] :
       {std::pair<const char*, JsonTree::Array*>{"addresses", &subset.ready},
        std::pair<const char*, JsonTree::Array*>{"notReadyAddresses", &subset.not_ready}}) {
    std::stable_sort(addresses->begin(), addresses->end(), by_ip);
    if (!addresses->empty()) out.Set(name, *addresses);
  }
  JsonTree list = JsonTree::Array{};
  for (const ResolvedPort& port : ports) {
    JsonTree entry = JsonTree::Object{};
    if (!port.name.empty()) entry.Set("name", port.name);
    entry.Set("port", port.port);
    entry.Set("protocol", port.protocol);
    list.Append(entry);
  }
  out.Set("ports", list);
  return out;
}

}  // namespace

std::vector<ResolvedPort> ResolvePorts(const JsonTree& service, const JsonTree& pod) {
  std::vector<ResolvedPort> out;
  for (const JsonTree& port : service["spec"]["ports"].items()) {
    ResolvedPort resolved{port["name"].AsString(), port["protocol"].AsString(),
                          static_cast<int>(port["targetPort"].AsInt())};
    if (port["targetPort"].is_string()) {
      for (const JsonTree& container : pod["spec"]["containers"].items()) {
        for (const JsonTree& named : container["ports"].items()) {
          if (named["name"] == port["targetPort"] && named["protocol"] == port["protocol"]) {
            resolved.port = static_cast<int>(named["containerPort"].AsInt());
          }
        }
      }
    }
    if (resolved.port != 0) out.push_back(std::move(resolved));
  }
  return out;
}

bool IsEndpoint(const JsonTree& pod, bool include_terminating) {
  return !IsPodTerminal(pod) && !pod["status"]["podIP"].AsString().empty() &&
         (include_terminating || !IsTerminating(pod));
}

bool LaggingServices::IsDue(const std::string& key, absl::Time now) {
  const auto [it, is_new] = due_.try_emplace(key, now);
  if (is_new) {
    it->second += lag_min_ + (lag_max_ - lag_min_) * random_.Fraction();
  }
  return it->second <= now;
}

void LaggingServices::KeepOnly(const std::vector<KubeObject>& services) {
  std::set<std::string> keys;
  for (const KubeObject& service : services) keys.insert(StoreKey(*service));
  std::erase_if(due_, [&](const auto& entry) { return !keys.contains(entry.first); });
}

absl::Time LaggingServices::NextDue() const {
  absl::Time due = absl::InfiniteFuture();
  for (const auto& [key, time] : due_) due = std::min(due, time);
  return due;
}

EndpointsController::EndpointsController(KubeObjects& objects, const EndpointsOptions& options)
    : objects_(objects),
      max_addresses_(options.max_addresses),
      lagging_(options.endpoints_lag_min, options.endpoints_lag_max, options.seed + 1) {}

void EndpointsController::Step(absl::Time now) {
  const KubeStore& store = objects_.store();
  const std::vector<KubeObject> services = store.List(resources::Services(), "");
  lagging_.KeepOnly(services);
  for (const KubeObject& service : services) {
    if ((*service)["spec"]["selector"].members().empty()) continue;
    Sync(*service, store.List(resources::Pods(), NamespaceOf(*service)), now);
  }
  for (const KubeObject& endpoints : store.List(resources::Endpoints(), "")) {
    const KubeObjectRef service{&resources::Services(), NamespaceOf(*endpoints),
                                NameOf(*endpoints)};
    if (store.Find(service) == nullptr) {
      objects_.Delete(RefOf(resources::Endpoints(), *endpoints), {}, now);
    }
  }
}

void EndpointsController::Sync(const JsonTree& service, const std::vector<KubeObject>& pods,
                               absl::Time now) {
  const bool publish = service["spec"]["publishNotReadyAddresses"].AsBool();
  std::map<std::vector<ResolvedPort>, Subset> subsets;
  size_t addresses = 0;
  bool truncated = false;
  for (const KubeObject& pod : pods) {
    if (!SelectsLabels(service["spec"]["selector"], (*pod)["metadata"]["labels"]) ||
        !IsEndpoint(*pod, publish)) {
      continue;
    }
    const std::vector<ResolvedPort> ports = ResolvePorts(service, *pod);
    if (ports.empty()) continue;
    if (addresses == max_addresses_) {
      truncated = true;
      break;
    }
    ++addresses;
    Subset& subset = subsets[ports];
    (publish || IsPodReady(*pod) ? subset.ready : subset.not_ready).push_back(AddressOf(*pod));
  }
  JsonTree list = JsonTree::Array{};
  for (auto& [ports, subset] : subsets) list.Append(SubsetJson(ports, std::move(subset)));

  const std::string key = StoreKey(service);
  const KubeObjectRef ref{&resources::Endpoints(), NamespaceOf(service), NameOf(service)};
  const KubeObject before = objects_.store().Find(ref);
  if (before != nullptr && (*before)["subsets"].items() == list.items()) {
    return lagging_.Settle(key);
  }
  if (!lagging_.IsDue(key, now)) return;
  const auto change = [&](JsonTree& endpoints) {
    JsonTree& metadata = endpoints.Child("metadata");
    metadata.Child("labels").Set("endpoints.kubernetes.io/managed-by", "endpoint-controller");
    JsonTree& annotations = metadata.Child("annotations");
    annotations.Set(kTriggerTime, KubeTime(now));
    annotations.Erase(kOverCapacity);
    if (truncated) annotations.Set(kOverCapacity, "truncated");
    endpoints.Erase("subsets");
    if (!list.items().empty()) endpoints.Set("subsets", list);
  };
  if (before != nullptr) {
    objects_.Modify(ref, {kControllerManager, now}, change);
  } else {
    JsonTree endpoints = JsonTree::Object{{"metadata", JsonTree::Object{{"name", ref.name}}}};
    change(endpoints);
    objects_.Create(resources::Endpoints(), ref.ns, endpoints, {kControllerManager, now});
  }
  lagging_.Settle(key);
}

}  // namespace sim

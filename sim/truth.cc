#include "sim/truth.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "controller/ledger_codec.h"
#include "controller/ledger_store.h"
#include "sim/kube_fields_of.h"
#include "sim/load_balancer_document.h"
#include "sim/scenario_cluster.h"

namespace sim {
namespace {

constexpr char kDraining[] = "oci-native-ingress.oraclecloud.com/backend-draining";
constexpr char kServiceName[] = "kubernetes.io/service-name";

bool IsTrue(const rapidjson::Value& backend, const char* member) {
  const rapidjson::Value* value = base::FindMember(backend, member);
  return value != nullptr && value->IsTrue();
}

// No deletionTimestamp, not ended, not about to be shut down with its node.
bool IsLive(const JsonTree& pod) {
  return IsPodActive(pod) && !IsConditionTrue(pod, "DisruptionTarget");
}

absl::Time DeadlineOf(const JsonTree& pod) {
  return IsTerminating(pod) ? ParseKubeTime(pod["metadata"]["deletionTimestamp"])
                            : absl::InfiniteFuture();
}

}  // namespace

bool TouchesBackends(const std::string& type) { return !absl::EndsWith(type, "Listener"); }

const TruePod* TrueService::LiveAt(const std::string& backend) const {
  const auto found = published.find(backend);
  if (found == published.end()) return nullptr;
  for (const TruePod& pod : found->second) {
    if (pod.live) return &pod;
  }
  return nullptr;
}

bool TrueService::MembershipPending() const {
  for (const auto& [backend, pods] : published) {
    if (backends.count(backend) == 0) return true;
  }
  return std::any_of(backends.begin(), backends.end(), [&](const auto& item) {
    return ever.count(item.first) != 0 && published.count(item.first) == 0;
  });
}

Truth::Truth(VirtualWorld& world, const Scenario& scenario)
    : world_(world), scenario_(scenario), now_(world.now()), services_(scenario.services.size()) {}

int Truth::ServiceOfSet(const std::string& set) const {
  for (size_t i = 0; i < services_.size(); ++i) {
    if (ScenarioSet(static_cast<int>(i)) == set) return static_cast<int>(i);
  }
  return -1;
}

absl::Time Truth::DecidedAt(const WriteRecord& write) const {
  const auto known = decided_.find(write.work_request_id);
  return known == decided_.end() ? write.accepted : known->second;
}

void Truth::OnAccepted(const WriteRecord& write) {
  if (write.client != VirtualWorld::kController) return;
  decided_[write.work_request_id] = world_.in_pass() ? world_.pass_began() : write.accepted;
  last_own_ = write.work_request_id;
  orphans_.insert(last_own_);
  drained_by_others_.clear();
  for (size_t i = 0; i < services_.size(); ++i) {
    for (const auto& [name, backend] : services_[i].backends) {
      if (backend.drain && backend.drained_by != VirtualWorld::kController) {
        drained_by_others_[{static_cast<int>(i), name}] = backend.drained_by;
      }
    }
  }
}

void Truth::OnAnswered() { orphans_.erase(last_own_); }

void Truth::OnStart() {
  for (const WriteRecord* write : queue_) {
    if (write->client != VirtualWorld::kController) continue;
    orphans_.insert(write->work_request_id);
    inherited_.insert(write->work_request_id);
  }
}

void Truth::OnFinished(const WriteRecord& write) {
  ReadLoadBalancer();
  for (TrueService& service : services_) {
    for (const std::string& backend : write.effect.drained) {
      const auto found = service.backends.find(backend);
      const bool here =
          write.backend_set.empty() ||
          ServiceOfSet(write.backend_set) == static_cast<int>(&service - services_.data());
      if (found == service.backends.end() || !here) continue;
      const auto other =
          drained_by_others_.find({static_cast<int>(&service - services_.data()), backend});
      const bool again =
          write.client == VirtualWorld::kController && other != drained_by_others_.end();
      found->second.drained_by = again ? other->second : write.client;
    }
  }
}

void Truth::Refresh() {
  now_ = world_.now();
  ReadLoadBalancer();
  const KubeStore& store = world_.api_server().store();
  const int64_t services =
      store.Changes(resources::Services()) + store.Changes(resources::Deployments());
  if (std::exchange(services_version_, services) != services) ReadServices();
  const int64_t pods =
      store.Changes(resources::Pods()) + store.Changes(resources::EndpointSlices());
  if (std::exchange(pods_version_, pods) != pods) ReadPods();
  const auto& writes = world_.load_balancer().writes();
  for (; queued_ < writes.size(); ++queued_) queue_.push_back(&writes[queued_]);
  std::erase_if(queue_, [](const WriteRecord* write) { return write->done(); });
}

absl::StatusOr<drain::Ledger> Truth::StoredLedger() const {
  static const KubeResource* const config_maps = FindKubeKind("v1", "ConfigMap");
  const KubeObject stored = world_.api_server().store().Find(
      {config_maps, "oci-backend-drain", controller::LedgerName(oci::Ocid(kScenarioOcid))});
  if (stored == nullptr) return drain::Ledger();
  return controller::DecodeLedger((*stored)["data"]["ledger"].AsString());
}

void Truth::ReadLoadBalancer() {
  const int64_t version = world_.load_balancer().StateVersion(kScenarioOcid);
  if (std::exchange(lb_version_, version) == version) return;
  const rapidjson::Value* lb = world_.load_balancer().Applied(kScenarioOcid);
  if (lb == nullptr) return;
  for (size_t i = 0; i < services_.size(); ++i) {
    std::map<std::string, TrueBackend> before = std::move(services_[i].backends);
    services_[i].backends.clear();
    const rapidjson::Value* set = FindBackendSet(*lb, ScenarioSet(static_cast<int>(i)));
    if (set == nullptr) continue;
    for (const rapidjson::Value& value : (*set)["backends"].GetArray()) {
      const std::string name(base::StringOf(value["name"]));
      TrueBackend backend{IsTrue(value, "drain"), IsTrue(value, "offline")};
      const auto old = before.find(name);
      backend.since = old == before.end() ? world_.now() : old->second.since;
      if (backend.drain && old != before.end()) backend.drained_by = old->second.drained_by;
      services_[i].backends[name] = std::move(backend);
    }
  }
}

void Truth::ReadServices() {
  const KubeStore& store = world_.api_server().store();
  for (size_t i = 0; i < services_.size(); ++i) {
    const std::string name = ScenarioService(static_cast<int>(i));
    TrueService& service = services_[i];
    const KubeObject object = store.Find({&resources::Services(), kScenarioNamespace, name});
    const KubeObject deployment = store.Find({&resources::Deployments(), kScenarioNamespace, name});
    const bool opted_in =
        object != nullptr && (*object)["metadata"]["annotations"][kDraining].AsString() == "true";
    if (service.opted_in != opted_in) service.opted_since = now_;
    service.opted_in = opted_in;
    if (deployment == nullptr) continue;
    service.wanted = static_cast<int>((*deployment)["spec"]["replicas"].AsInt(1));
    service.max_unavailable = scenario_.services[i].max_unavailable;
  }
}

void Truth::ReadPods() {
  const KubeStore& store = world_.api_server().store();
  std::map<std::string, KubeObject> pods;
  for (const KubeObject& pod : store.List(resources::Pods(), kScenarioNamespace)) {
    pods[UidOf(*pod)] = pod;
  }
  std::vector<std::map<std::string, std::vector<TruePod>>> before(services_.size());
  for (size_t i = 0; i < services_.size(); ++i) services_[i].published.swap(before[i]);
  for (const KubeObject& slice : store.List(resources::EndpointSlices(), kScenarioNamespace)) {
    const std::string& owner = (*slice)["metadata"]["labels"][kServiceName].AsString();
    size_t i = 0;
    while (i < services_.size() && ScenarioService(static_cast<int>(i)) != owner) ++i;
    if (i == services_.size() || (*slice)["ports"].items().empty()) continue;
    for (const JsonTree& endpoint : (*slice)["endpoints"].items()) {
      const std::string backend =
          absl::StrCat(endpoint["addresses"].items().front().AsString(), ":", kScenarioPort);
      TruePod pod{.uid = endpoint["targetRef"]["uid"].AsString(), .known_since = now_};
      const auto object = pods.find(pod.uid);
      pod.live = object != pods.end() && IsLive(*object->second);
      if (object != pods.end()) pod.deadline = DeadlineOf(*object->second);
      for (const TruePod& old : before[i][backend]) {
        if (old.uid == pod.uid && old.live == pod.live) pod.known_since = old.known_since;
      }
      services_[i].published[backend].push_back(std::move(pod));
      services_[i].ever[backend] = now_;
    }
    // Those that have just left were published until now.
    for (const auto& [backend, old] : before[i]) services_[i].ever[backend] = now_;
  }
}

}  // namespace sim

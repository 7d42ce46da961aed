#include "sim/demo_recorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/json.h"
#include "sim/json_tree.h"
#include "sim/load_balancer_document.h"

namespace sim {
namespace {

using Tone = DemoEvent::Tone;

constexpr char kCluster[] = "cluster";
constexpr char kLoadBalancer[] = "load balancer";

std::map<std::string, bool> BackendsOf(const rapidjson::Value& applied, const std::string& set) {
  std::map<std::string, bool> backends;
  const rapidjson::Value* found = FindBackendSet(applied, set);
  const rapidjson::Value* list = found == nullptr ? nullptr : base::FindMember(*found, "backends");
  if (list == nullptr || !list->IsArray()) return backends;
  for (const rapidjson::Value& backend : list->GetArray()) {
    backends[base::ReadString(backend, "name").value_or("")] =
        base::ReadBool(backend, "drain").value_or(false);
  }
  return backends;
}

// "web-5d9c7b6f4-abcde" as "web-abcde": the middle is the same for all of them.
std::string ShortName(const std::string& pod) {
  const size_t first = pod.find('-');
  const size_t last = pod.rfind('-');
  return first == last ? pod : absl::StrCat(pod.substr(0, first), pod.substr(last));
}

// What a whole-set body makes of the state: "drain 3, add 3, remove 1".
std::string DescribeBody(const JsonTree& body, const std::map<std::string, bool>& before) {
  int drain = 0;
  int undrain = 0;
  int add = 0;
  int kept = 0;
  for (const JsonTree& backend : body["backends"].items()) {
    const auto found =
        before.find(absl::StrCat(backend["ipAddress"].AsString(), ":", backend["port"].AsInt()));
    const bool drained = found != before.end() && found->second;
    if (found == before.end()) {
      ++add;
    } else {
      ++kept;
    }
    if (backend["drain"].AsBool() && !drained) ++drain;
    if (!backend["drain"].AsBool() && drained) ++undrain;
  }
  std::vector<std::string> parts;
  const auto part = [&parts](const char* verb, int count) {
    if (count > 0) parts.push_back(absl::StrCat(verb, " ", count));
  };
  part("drain", drain);
  part("UNDRAIN", undrain);
  part("add", add);
  part("remove", static_cast<int>(before.size()) - kept);
  return parts.empty() ? "no change" : absl::StrJoin(parts, ", ");
}

}  // namespace

DemoRecorder::DemoRecorder(std::vector<DemoService> services) : services_(std::move(services)) {}

const DemoService* DemoRecorder::ServiceOf(absl::string_view pod) const {
  for (const DemoService& service : services_) {
    if (absl::StartsWith(pod, service.deployment + "-")) return &service;
  }
  return nullptr;
}

void DemoRecorder::Trigger(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  trigger_ = now;
  items_.clear();
}

void DemoRecorder::Say(Item item) { items_.push_back(std::move(item)); }

void DemoRecorder::DescribeEnd(Item& item) const {
  const PodTimes& pod = pods_.at(item.ended_uid).times;
  item.text = "ended";
  const DemoService* service = ServiceOf(pod.name);
  const auto states = states_.find(service->backend_set);
  if (states == states_.end()) return;
  switch (BackendAt(states->second, pod.backend, item.time)) {
    case BackendState::kAbsent:
      item.text = "ended, out of the set by then";
      item.tone = Tone::kGood;
      break;
    case BackendState::kDrained:
      item.text = "ended, drained by then";
      item.tone = Tone::kGood;
      break;
    case BackendState::kRoutable:
      item.text = "ended, STILL ROUTABLE";
      item.tone = Tone::kBad;
      break;
  }
}

void DemoRecorder::OnPodEvent(const PodEvent& event) {
  const DemoService* service = ServiceOf(event.name);
  if (service == nullptr) return;
  absl::MutexLock lock(&mutex_);
  ++pod_events_;
  Tracked& pod = pods_[event.uid];
  pod.times.name = event.name;
  pod.times.uid = event.uid;
  const auto say = [&](std::string text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Say({event.time, kCluster, std::move(text), ShortName(event.name)});
  };
  switch (event.kind) {
    case PodEvent::Kind::kCreated:
      pod.times.created = event.time;
      say("created");
      break;
    case PodEvent::Kind::kRunning:
      pod.times.running = event.time;
      pod.times.backend = absl::StrCat(event.ip, ":", service->port);
      break;
    case PodEvent::Kind::kReady:
      pod.ready = true;
      break;
    case PodEvent::Kind::kNotReady:
      pod.ready = false;
      break;
    case PodEvent::Kind::kDeleted:
      pod.times.deleted = event.time;
      say("deleted");
      break;
    case PodEvent::Kind::kProcessEnded:
      pod.times.ended = event.time;
      Say({.time = event.time,
           .actor = kCluster,
           .text = "",
           .object = ShortName(event.name),
           .ended_uid = event.uid});
      break;
    case PodEvent::Kind::kRemoved:
      pod.times.removed = event.time;
      break;
  }
}

std::string DemoRecorder::AskedFor(const RequestRecord& record) const {
  for (const auto& [set, states] : states_) {
    if (states.empty() || !absl::StrContains(record.request.target, set)) continue;
    if (absl::StrContains(record.request.target, "/backends/")) return "drain 1";
    const auto body = JsonTree::Parse(record.request.body, "body");
    if (!body.ok()) return "something that is not JSON";
    const std::string what = DescribeBody(*body, states.back().drained_by_backend);
    if (services_.size() == 1) return what;
    for (const DemoService& service : services_) {
      if (service.backend_set == set) return absl::StrCat(service.deployment, ": ", what);
    }
  }
  return "another set";
}

void DemoRecorder::OnRequest(const RequestRecord& record) {
  if (record.request.method != "PUT") return;
  absl::MutexLock lock(&mutex_);
  if (record.status == 204 || record.status == 200) {
    Say({record.time, record.client, absl::StrCat("asks: ", AskedFor(record))});
  } else {
    Say({record.time, record.client,
         record.status == 412 ? "is refused with 412: what it read is out of date"
                              : absl::StrCat("is refused with ", record.status)});
  }
}

std::string DemoRecorder::PodOf(const std::string& backend) const {
  for (const auto& [uid, pod] : pods_) {
    if (pod.times.backend == backend) return ShortName(pod.times.name);
  }
  return backend;
}

std::string DemoRecorder::PodsOf(const std::vector<std::string>& backends) const {
  std::vector<std::string> pods;
  pods.reserve(backends.size());
  for (const std::string& backend : backends) pods.push_back(PodOf(backend));
  return absl::StrJoin(pods, " ");
}

void DemoRecorder::AddStates(const rapidjson::Value& applied, const AppliedState& origin) {
  for (const DemoService& service : services_) {
    std::vector<AppliedState>& states = states_[service.backend_set];
    AppliedState state = origin;
    state.drained_by_backend = BackendsOf(applied, service.backend_set);
    if (states.empty() || states.back().drained_by_backend != state.drained_by_backend) {
      states.push_back(std::move(state));
    }
  }
}

void DemoRecorder::OnStart(const rapidjson::Value& applied, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  AddStates(applied, {.time = now, .drained_by_backend = {}});
}

void DemoRecorder::OnWriteFinished(const WriteRecord& record, const rapidjson::Value& applied) {
  absl::MutexLock lock(&mutex_);
  AddStates(applied, {.time = record.finished,
                      .drained_by_backend = {},
                      .by_rival = record.client == kDemoRival,
                      .accepted = record.accepted});
  std::vector<std::string> parts;
  const auto part =
      [&](const char* what, const std::vector<std::string>& backends)
          ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
            if (backends.empty()) return;
            parts.push_back(absl::StrCat(what, " ", backends.size(), " (", PodsOf(backends), ")"));
          };
  part("drained", record.effect.drained);
  part("UNDRAINED", record.effect.undrained);
  part("routed", record.effect.added);
  part("removed", record.effect.removed);
  std::string text = record.state == WorkState::kFailed
                         ? absl::StrCat("failed: ", record.error_message)
                     : parts.empty() ? "changed nothing"
                                     : absl::StrJoin(parts, ", ");
  Say({record.finished, kLoadBalancer,
       absl::StrFormat("%s's write, asked for %.1f s ago: %s", record.client,
                       absl::ToDoubleSeconds(record.finished - record.accepted), text),
       "", record.effect.undrained.empty() ? Tone::kGood : Tone::kBad});
}

void DemoRecorder::OnConfirmed(const std::vector<std::string>& uids, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  for (const std::string& uid : uids) {
    if (!confirmed_.emplace(uid, now).second) continue;
    const auto pod = pods_.find(uid);
    Say({now, kDemoController, "has confirmed the drain of",
         pod == pods_.end() ? uid : ShortName(pod->second.times.name), Tone::kGood});
  }
}

bool DemoRecorder::Serves(const std::string& ip, int port) const {
  const std::string backend = absl::StrCat(ip, ":", port);
  absl::MutexLock lock(&mutex_);
  return std::any_of(pods_.begin(), pods_.end(), [&](const auto& entry) {
    const PodTimes& pod = entry.second.times;
    return pod.backend == backend && entry.second.ready && pod.ended == absl::InfiniteFuture();
  });
}

std::vector<std::string> DemoRecorder::ReadyBackends(const DemoService& service) const {
  std::vector<std::string> backends;
  absl::MutexLock lock(&mutex_);
  for (const auto& [uid, pod] : pods_) {
    const DemoService* own = ServiceOf(pod.times.name);
    if (pod.ready && own != nullptr && own->deployment == service.deployment) {
      backends.push_back(pod.times.backend);
    }
  }
  return backends;
}

int64_t DemoRecorder::pod_events() const {
  absl::MutexLock lock(&mutex_);
  return pod_events_;
}

ServiceHistory DemoRecorder::History(const DemoService& service, absl::Time end) const {
  absl::MutexLock lock(&mutex_);
  ServiceHistory history{.trigger = trigger_, .end = end};
  for (const auto& [uid, pod] : pods_) {
    const DemoService* own = ServiceOf(pod.times.name);
    if (own != nullptr && own->deployment == service.deployment) history.pods.push_back(pod.times);
  }
  const auto states = states_.find(service.backend_set);
  if (states != states_.end()) history.states = states->second;
  history.confirmed = confirmed_;
  return history;
}

std::vector<DemoRecorder::Item> DemoRecorder::TakeItems(absl::Time until) {
  absl::MutexLock lock(&mutex_);
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.time < b.time; });
  const auto later = std::find_if(items_.begin(), items_.end(),
                                  [until](const Item& item) { return item.time >= until; });
  std::vector<Item> items(items_.begin(), later);
  items_.erase(items_.begin(), later);
  for (Item& item : items) {
    if (!item.ended_uid.empty()) DescribeEnd(item);
  }
  return items;
}

std::vector<DemoEvent> DemoRecorder::TakeEvents(absl::Time until) {
  const std::vector<Item> items = TakeItems(until);
  std::vector<DemoEvent> events;
  for (size_t i = 0; i < items.size();) {
    size_t end = i + 1;
    std::string text = items[i].text;
    if (!items[i].object.empty()) {
      absl::StrAppend(&text, ": ", items[i].object);
      while (end < items.size() && items[end].actor == items[i].actor &&
             items[end].text == items[i].text) {
        absl::StrAppend(&text, " ", items[end++].object);
      }
      if (end - i > 1) absl::StrAppend(&text, " (", end - i, ")");
    }
    events.push_back({items[i].time, items[i].actor, std::move(text), items[i].tone});
    i = end;
  }
  return events;
}

}  // namespace sim

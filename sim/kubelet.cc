#include "sim/kubelet.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "sim/kube_fields_of.h"
#include "sim/kubelet_status.h"

namespace sim {
namespace {

constexpr char kManager[] = "kubelet";
// A process whose Pod object is gone gets this long.
constexpr absl::Duration kGoneGrace = absl::Seconds(1);

std::string NodeName(int index) { return absl::StrCat("node-", index + 1); }

std::string NodeIp(absl::string_view node) {
  int number = 0;
  absl::ConsumePrefix(&node, "node-");
  if (!absl::SimpleAtoi(node, &number)) number = 250;
  return absl::StrCat("10.0.0.", number);
}

}  // namespace

absl::string_view PodEventName(PodEvent::Kind kind) {
  switch (kind) {
    case PodEvent::Kind::kCreated:
      return "created";
    case PodEvent::Kind::kRunning:
      return "running";
    case PodEvent::Kind::kReady:
      return "ready";
    case PodEvent::Kind::kNotReady:
      return "not ready";
    case PodEvent::Kind::kDeleted:
      return "deleted";
    case PodEvent::Kind::kProcessEnded:
      return "process ended";
    case PodEvent::Kind::kRemoved:
      return "removed";
  }
  return "";
}

Kubelet::Kubelet(KubeObjects& objects, KubeletOptions options)
    : objects_(objects), options_(std::move(options)) {}

void Kubelet::Step(absl::Time now) {
  std::set<std::string> there;
  for (const KubeObject& pod : objects_.store().List(resources::Pods(), "")) {
    there.insert(UidOf(*pod));
    Container& container = Track(*pod, now);
    if ((*pod)["spec"]["nodeName"].is_null()) {
      if (!IsTerminating(*pod)) Schedule(*pod, now);
      continue;
    }
    const std::string& version = (*pod)["metadata"]["resourceVersion"].AsString();
    if (container.seen_version != version || container.due <= now) {
      container.seen_version = version;
      Advance(*pod, now, container);
      container.due = DueOf(container, now);
    }
  }
  StepGone(there, now);
}

absl::Time Kubelet::NextDue() const {
  absl::Time due = absl::InfiniteFuture();
  for (const auto& [uid, container] : containers_) due = std::min(due, container.due);
  return due;
}

void Kubelet::Schedule(const JsonTree& pod, absl::Time now) {
  for (int tries = 0; tries < options_.nodes; ++tries) {
    const std::string node = NodeName(next_node_++ % options_.nodes);
    if (down_.contains(node)) continue;
    objects_.Modify(RefOf(resources::Pods(), pod), {"kube-scheduler", now},
                    [&](JsonTree& object) { object.Child("spec").Set("nodeName", node); });
    return;
  }
}

Kubelet::Container& Kubelet::Track(const JsonTree& pod, absl::Time now) {
  const auto [it, is_new] = containers_.try_emplace(UidOf(pod));
  Container& container = it->second;
  if (is_new) {
    container.uid = UidOf(pod);
    container.ns = NamespaceOf(pod);
    container.name = NameOf(pod);
    container.starts = now + options_.startup;
    container.ready =
        now + std::max(options_.startup,
                       SecondsAnnotation(pod, "sim/ready-after-seconds", options_.ready_after));
    container.due = absl::InfiniteFuture();
    Log(PodEvent::Kind::kCreated, now, container);
  }
  return container;
}

void Kubelet::Advance(const JsonTree& pod, absl::Time now, Container& container) {
  container.node = pod["spec"]["nodeName"].AsString();
  if (IsTerminating(pod)) {
    Terminate(pod, absl::Seconds(pod["metadata"]["deletionGracePeriodSeconds"].AsInt()), now,
              container);
  }
  if (!container.started.has_value() && !container.ended.has_value() && container.starts <= now) {
    Start(pod, now, container);
  }
  if (!container.ended.has_value() && container.ends <= now) End(now, container);
  WriteStatus(pod, now, container);
  if (IsTerminating(pod) && container.ended.has_value() &&
      *container.ended + options_.removal <= now) {
    // Finalizers may keep the object.
    objects_.Delete(RefOf(resources::Pods(), pod), {.grace_seconds = 0, .uid = container.uid}, now);
  }
}

void Kubelet::Terminate(const JsonTree& pod, absl::Duration grace, absl::Time now,
                        Container& container) {
  if (grace >= container.grace) return;
  container.grace = grace;
  if (!container.terminating) {
    container.terminating = true;
    Log(PodEvent::Kind::kDeleted, now, container);
    container.shutdown = SecondsAnnotation(pod, "sim/shutdown-seconds", options_.shutdown);
    container.in_hook =
        hooks_ != nullptr && container.started.has_value() && hooks_->Begin(pod, now);
    const absl::Duration pre_stop = container.in_hook ? absl::InfiniteDuration() : PreStopOf(pod);
    container.sigterm = now + pre_stop;
    container.ends = now + pre_stop + container.shutdown;
    // It never ran, or waits for a restart: nothing to end.
    if (!container.started.has_value()) container.ends = now;
  }
  container.sigterm = std::min(container.sigterm, now + grace);
  if (container.ends > now + grace) {
    container.ends = now + grace;
    container.killed = true;
  }
}

void Kubelet::EndPreStop(const std::string& uid, absl::Time now) {
  const auto found = containers_.find(uid);
  if (found == containers_.end() || !std::exchange(found->second.in_hook, false)) return;
  Container& container = found->second;
  container.sigterm = std::min(container.sigterm, now);
  if (now + container.shutdown < container.ends) {
    container.ends = now + container.shutdown;
    container.killed = false;
  }
  container.due = now;
}

void Kubelet::Start(const JsonTree& pod, absl::Time now, Container& container) {
  if (container.ip.empty()) AllotAddresses(pod, container);
  if (container.restarts == 0) container.first_start = now;
  container.started = now;
  for (const std::string* ip : {&container.ip, &container.ip6}) {
    if (!ip->empty()) lives_[*ip].push_back({container.uid, PortsOf(pod), now});
  }
  Log(PodEvent::Kind::kRunning, now, container);
}

void Kubelet::End(absl::Time now, Container& container) {
  if (std::exchange(container.in_hook, false)) hooks_->OnCutOff(container.uid, now);
  for (const std::string* ip : {&container.ip, &container.ip6}) {
    for (ProcessLife& life : lives_[*ip]) {
      if (life.uid == container.uid && life.to == absl::InfiniteFuture()) life.to = now;
    }
  }
  const bool ran = container.started.has_value();
  container.started.reset();
  if (container.terminating) {
    container.ended = now;
    FreeAddress(IpReuse::kAfterProcessEnd, container);
  }
  if (ran) Log(PodEvent::Kind::kProcessEnded, now, container);
}

bool Kubelet::ProbePasses(const JsonTree& pod, absl::Time now, const Container& container) const {
  if (!container.started.has_value()) return false;
  const std::string& unready = pod["metadata"]["annotations"]["sim/unready-at"].AsString();
  if (container.terminating && unready == "deletion") return false;
  if (container.sigterm <= now && unready == "sigterm") return false;
  // A node that shuts down stops probing and says not ready.
  if (container.node_shutdown) return false;
  return container.forced_ready.value_or(container.ready <= now);
}

void Kubelet::WriteStatus(const JsonTree& pod, absl::Time now, Container& container) {
  using Phase = PodProcessState::Phase;
  PodProcessState state;
  if (container.ended.has_value()) {
    state.phase = Phase::kEnded;
  } else if (container.started.has_value()) {
    state.phase = Phase::kRunning;
  } else {
    state.phase = container.restarts > 0 ? Phase::kBackOff : Phase::kWaiting;
  }
  state.host_ip = NodeIp(container.node);
  state.ip = container.ip;
  state.ip6 = container.ip6;
  state.started = container.started.value_or(container.first_start);
  state.probe_passes = ProbePasses(pod, now, container);
  state.killed = container.killed;
  state.node_shutdown = container.node_shutdown;
  state.restarts = container.restarts;
  const KubeResult result = objects_.Modify(
      RefOf(resources::Pods(), pod), {kManager, now, "status"},
      [&](JsonTree& object) { object.Set("status", PodStatusOf(object, state, now)); });
  if (!result.ok()) return;
  container.seen_version = (*result.object)["metadata"]["resourceVersion"].AsString();
  const bool ready = IsPodReady(*result.object);
  if (ready != container.was_ready) {
    Log(ready ? PodEvent::Kind::kReady : PodEvent::Kind::kNotReady, now, container);
    container.was_ready = ready;
  }
}

absl::Time Kubelet::DueOf(const Container& container, absl::Time now) const {
  absl::Time due = absl::InfiniteFuture();
  const auto consider = [&](absl::Time time) {
    if (time > now) due = std::min(due, time);
  };
  if (container.ended.has_value()) {
    if (container.terminating && !container.node_shutdown) {
      consider(*container.ended + options_.removal);
    }
    return due;
  }
  if (!container.started.has_value()) consider(container.starts);
  if (container.started.has_value()) consider(container.ready);
  consider(container.sigterm);
  consider(container.ends);
  return due;
}

void Kubelet::StepGone(const std::set<std::string>& there, absl::Time now) {
  for (auto it = containers_.begin(); it != containers_.end();) {
    Container& container = it->second;
    if (there.contains(container.uid)) {
      ++it;
      continue;
    }
    if (!std::exchange(container.removed, true)) {
      Log(PodEvent::Kind::kRemoved, now, container);
      container.terminating = true;
      container.ends = std::min(container.ends, now + kGoneGrace);
    }
    if (container.started.has_value() && container.ends <= now) End(now, container);
    container.due = container.ends;
    if (container.started.has_value()) {
      ++it;
      continue;
    }
    FreeAddress(IpReuse::kAfterRemoval, container);
    it = containers_.erase(it);
  }
}

bool Kubelet::ProcessRunning(const std::string& ip, int port, absl::Time when) const {
  const auto found = lives_.find(ip);
  if (found == lives_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const ProcessLife& life) {
    return life.from <= when && when < life.to && (life.ports.empty() || life.ports.contains(port));
  });
}

absl::Status Kubelet::Crash(const std::string& ns, const std::string& name, absl::Time now) {
  Container* container = Find(ns, name);
  if (container == nullptr) return absl::NotFoundError(absl::StrCat("no Pod ", ns, "/", name));
  if (!container->started.has_value()) return absl::OkStatus();
  End(now, *container);
  container->due = now;
  if (container->terminating) return absl::OkStatus();
  ++container->restarts;
  container->starts = now + options_.crash_backoff;
  container->ready =
      container->starts + std::max(absl::ZeroDuration(), options_.ready_after - options_.startup);
  return absl::OkStatus();
}

absl::Status Kubelet::ForceReadiness(const std::string& ns, const std::string& name,
                                     std::optional<bool> ready) {
  Container* container = Find(ns, name);
  if (container == nullptr) return absl::NotFoundError(absl::StrCat("no Pod ", ns, "/", name));
  container->forced_ready = ready;
  container->due = absl::InfinitePast();
  return absl::OkStatus();
}

void Kubelet::ShutDownNode(const std::string& node, absl::Duration grace, absl::Time now) {
  down_.insert(node);
  for (const KubeObject& pod : objects_.store().List(resources::Pods(), "")) {
    const auto found = containers_.find(UidOf(*pod));
    if (found == containers_.end() || (*pod)["spec"]["nodeName"].AsString() != node) continue;
    Container& container = found->second;
    if (container.ended.has_value()) continue;
    container.node_shutdown = true;
    const absl::Duration own =
        absl::Seconds((*pod)["spec"]["terminationGracePeriodSeconds"].AsInt());
    Terminate(*pod, std::min(grace, own), now, container);
    container.due = now;
  }
}

void Kubelet::Log(PodEvent::Kind kind, absl::Time now, const Container& container) {
  log_.push_back({now, kind, container.ns, container.name, container.uid, container.ip});
  if (callback_) callback_(log_.back());
}

void Kubelet::AllotAddresses(const JsonTree& pod, Container& container) {
  if (pod["spec"]["hostNetwork"].AsBool()) {
    container.ip = NodeIp(container.node);
    return;
  }
  if (free_ips_.empty()) {
    const int number = next_ip_++;
    container.ip = absl::StrCat("10.244.", 1 + number / 250 % 250, ".", 2 + number % 250);
  } else {
    container.ip = free_ips_.back();
    free_ips_.pop_back();
  }
  if (options_.dual_stack) {
    container.ip6 = absl::StrCat("fd00:10:244::", absl::Hex(++next_ip6_));
  }
}

void Kubelet::FreeAddress(IpReuse when, const Container& container) {
  if (options_.ip_reuse != when || container.ip.empty() || container.ip == NodeIp(container.node)) {
    return;
  }
  free_ips_.push_back(container.ip);
}

Kubelet::Container* Kubelet::Find(const std::string& ns, const std::string& name) {
  const KubeObject pod = objects_.store().Find({&resources::Pods(), ns, name});
  const auto found = pod == nullptr ? containers_.end() : containers_.find(UidOf(*pod));
  return found == containers_.end() ? nullptr : &found->second;
}

}  // namespace sim

#include "sim/lab/pods.h"

#include <csignal>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sim/kube_fields_of.h"
#include "sim/program.h"

namespace sim {
namespace {

constexpr absl::Duration kKillAfter = absl::Seconds(1);
constexpr absl::string_view kListening = "listening on port ";
constexpr int kAddressesOfANetwork = 250 * 250;

}  // namespace

void Pods::SetPreStop(std::vector<std::string> pre_stop) {
  std::lock_guard<std::mutex> lock(mutex_);
  pre_stop_ = std::move(pre_stop);
}

void Pods::Mark(probe::MarkKind kind, absl::Time now, const Pod& pod) {
  marks_.push_back({now, kind, pod.name});
}

void Pods::OnPodEvent(const PodEvent& event) {
  std::lock_guard<std::mutex> lock(mutex_);
  Pod& pod = pods_[event.uid];
  pod.uid = event.uid;
  pod.ns = event.ns;
  pod.name = event.name;
  switch (event.kind) {
    case PodEvent::Kind::kRunning:
      pod.ip = event.ip;
      pod.wants_start = true;
      uid_of_ip_[event.ip] = event.uid;
      break;
    case PodEvent::Kind::kReady:
      Mark(probe::MarkKind::kReady, event.time, pod);
      break;
    case PodEvent::Kind::kNotReady:
      Mark(probe::MarkKind::kEndpointWithdrawn, event.time, pod);
      break;
    case PodEvent::Kind::kDeleted:
      Mark(probe::MarkKind::kDeleted, event.time, pod);
      break;
    case PodEvent::Kind::kProcessEnded:
      pod.kill_at = event.time + kKillAfter;
      break;
    case PodEvent::Kind::kCreated:
    case PodEvent::Kind::kRemoved:
      break;
  }
}

bool Pods::Begin(const JsonTree& pod, absl::Time) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pods_.find(UidOf(pod));
  if (found == pods_.end()) return false;
  found->second.wants_hook = true;
  return true;
}

void Pods::OnCutOff(const std::string& uid, absl::Time now) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pods_.find(uid);
  if (found != pods_.end()) found->second.kill_at = now;
}

absl::Status Pods::Start(Pod& pod) {
  pod.wants_start = false;
  const int number = next_address_++ % kAddressesOfANetwork;
  pod.address =
      absl::StrCat("127.", options_.network, ".", number / 250 + 1, ".", number % 250 + 2);
  pod.log = absl::StrCat(options_.folder, "/", pod.name, ".log");
  auto process =
      ChildProcess::Start({options_.server, "--address=" + pod.address, "--mode=" + options_.mode,
                           "--shutdown=" + absl::FormatDuration(options_.shutdown)},
                          pod.log);
  if (!process.ok()) return process.status();
  pod.process = *std::move(process);
  return absl::OkStatus();
}

absl::Status Pods::BeginHook(Pod& pod) {
  pod.wants_hook = false;
  pod.in_hook = true;
  if (pre_stop_.empty()) return absl::OkStatus();
  std::vector<std::string> arguments = {"/usr/bin/env", "POD_NAMESPACE=" + pod.ns,
                                        "POD_NAME=" + pod.name, "POD_UID=" + pod.uid};
  arguments.insert(arguments.end(), pre_stop_.begin(), pre_stop_.end());
  auto hook =
      ChildProcess::Start(arguments, absl::StrCat(options_.folder, "/", pod.name, ".hook.log"));
  if (!hook.ok()) return hook.status();
  pod.hook = *std::move(hook);
  return absl::OkStatus();
}

// Its port is in its output once it listens.
void Pods::LookForPort(Pod& pod) {
  const auto log = ReadFile(pod.log);
  if (!log.ok()) return;
  const size_t at = absl::string_view(*log).find(kListening);
  const size_t end = log->find('\n', at);
  int port = 0;
  if (at == std::string::npos || end == std::string::npos) return;
  const size_t begin = at + kListening.size();
  if (absl::SimpleAtoi(log->substr(begin, end - begin), &port)) {
    pod.endpoint = absl::StrCat(pod.address, ":", port);
  }
}

absl::Status Pods::ActOn(Pod& pod, absl::Time now, std::vector<std::string>& ended_hooks) {
  absl::Status status;
  if (pod.wants_start) status.Update(Start(pod));
  if (pod.process != nullptr && pod.endpoint.empty()) LookForPort(pod);
  if (pod.wants_hook) status.Update(BeginHook(pod));
  if (pod.in_hook && (pod.hook == nullptr || !pod.hook->running())) {
    pod.in_hook = false;
    if (pod.process != nullptr) pod.process->Signal(SIGTERM);
    Mark(probe::MarkKind::kSigterm, now, pod);
    ended_hooks.push_back(pod.uid);
  }
  if (pod.process == nullptr || pod.ended) return status;
  if (pod.kill_at <= now && pod.process->running()) {
    pod.process->Signal(SIGKILL);
    ++killed_;
    pod.kill_at = absl::InfiniteFuture();
  }
  if (!pod.process->running()) {
    pod.ended = true;
    Mark(probe::MarkKind::kExit, now, pod);
  }
  return status;
}

absl::StatusOr<std::vector<std::string>> Pods::Act(absl::Time now) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> ended_hooks;
  absl::Status status;
  for (auto& [uid, pod] : pods_) status.Update(ActOn(pod, now, ended_hooks));
  if (!status.ok()) return status;
  return ended_hooks;
}

void Pods::Stop() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [uid, pod] : pods_) {
    for (ChildProcess* process : {pod.hook.get(), pod.process.get()}) {
      if (process != nullptr) process->Signal(SIGKILL);
    }
    pod.hook.reset();
    pod.process.reset();
  }
}

const Pods::Pod* Pods::Find(const std::string& pod_ip) const {
  const auto uid = uid_of_ip_.find(pod_ip);
  return uid == uid_of_ip_.end() ? nullptr : &pods_.at(uid->second);
}

std::string Pods::EndpointOf(const std::string& pod_ip) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Pod* pod = Find(pod_ip);
  return pod == nullptr ? "" : pod->endpoint;
}

std::string Pods::NameOf(const std::string& pod_ip) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Pod* pod = Find(pod_ip);
  return pod == nullptr ? "" : pod->name;
}

bool Pods::Serves(const std::string& pod_ip) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Pod* pod = Find(pod_ip);
  return pod != nullptr && !pod->endpoint.empty() && !pod->ended;
}

bool Pods::AllServe() const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [uid, pod] : pods_) {
    if (pod.endpoint.empty()) return false;
  }
  return true;
}

std::vector<probe::Mark> Pods::TakeMarks() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(marks_, {});
}

int Pods::killed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return killed_;
}

}  // namespace sim

#include "sim/kubelet_status.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/kube_fields_of.h"
#include "sim/kube_objects.h"

namespace sim {
namespace {

using Phase = PodProcessState::Phase;

const char* PhaseName(const PodProcessState& state) {
  if (state.phase == Phase::kWaiting) return "Pending";
  if (state.phase != Phase::kEnded) return "Running";
  return state.killed || state.node_shutdown ? "Failed" : "Succeeded";
}

JsonTree ContainerState(const PodProcessState& state, absl::Time now) {
  switch (state.phase) {
    case Phase::kWaiting:
      return JsonTree::Object{{"waiting", JsonTree::Object{{"reason", "ContainerCreating"}}}};
    case Phase::kRunning:
      return JsonTree::Object{
          {"running", JsonTree::Object{{"startedAt", KubeTime(state.started)}}}};
    case Phase::kBackOff:
      return JsonTree::Object{{"waiting", JsonTree::Object{{"reason", "CrashLoopBackOff"}}}};
    case Phase::kEnded:
      break;
  }
  return JsonTree::Object{
      {"terminated", JsonTree::Object{{"exitCode", state.killed ? 137 : 0},
                                      {"reason", state.killed ? "Error" : "Completed"},
                                      {"startedAt", KubeTime(state.started)},
                                      {"finishedAt", KubeTime(now)}}}};
}

JsonTree ContainerStatuses(const JsonTree& pod, const PodProcessState& state, absl::Time now) {
  JsonTree statuses = JsonTree::Array{};
  const JsonTree::Array& before = pod["status"]["containerStatuses"].items();
  const JsonTree::Array& containers = pod["spec"]["containers"].items();
  for (size_t i = 0; i < containers.size(); ++i) {
    JsonTree current = ContainerState(state, now);
    // The moment of the end does not move.
    if (state.phase == Phase::kEnded && i < before.size() && before[i]["state"].Has("terminated")) {
      current = before[i]["state"];
    }
    const std::string& image = containers[i]["image"].AsString();
    statuses.Append(
        JsonTree::Object{{"name", containers[i]["name"]},
                         {"state", current},
                         {"lastState", JsonTree::Object{}},
                         {"ready", state.probe_passes},
                         {"restartCount", state.restarts},
                         {"image", image},
                         {"imageID", state.phase == Phase::kWaiting ? "" : "sha256:" + image},
                         {"started", state.phase == Phase::kRunning}});
  }
  return statuses;
}

bool GatesAreTrue(const JsonTree& pod) {
  const JsonTree::Array& gates = pod["spec"]["readinessGates"].items();
  return std::all_of(gates.begin(), gates.end(), [&](const JsonTree& gate) {
    return IsConditionTrue(pod, gate["conditionType"].AsString());
  });
}

JsonTree Conditions(const JsonTree& pod, const PodProcessState& state, absl::Time now) {
  JsonTree conditions = pod["status"]["conditions"];
  const std::string time = KubeTime(now);
  const bool has_network = !state.ip.empty() && state.phase != Phase::kEnded;
  const bool ended = state.phase == Phase::kEnded;
  const char* not_ready = ended ? "PodCompleted" : "ContainersNotReady";
  const bool gates = GatesAreTrue(pod);
  const char* ready_reason = state.probe_passes ? "ReadinessGatesNotReady" : not_ready;
  const bool ready = state.probe_passes && gates;
  SetCondition("PodReadyToStartContainers", has_network, "", time, conditions);
  SetCondition("Initialized", true, ended ? "PodCompleted" : "", time, conditions);
  SetCondition("Ready", ready, ready ? "" : ready_reason, time, conditions);
  SetCondition("ContainersReady", state.probe_passes, state.probe_passes ? "" : not_ready, time,
               conditions);
  SetCondition("PodScheduled", true, "", time, conditions);
  if (state.node_shutdown) {
    SetCondition("DisruptionTarget", true, "TerminationByKubelet", time, conditions);
  }
  return conditions;
}

// "sleep 25", "/bin/sleep 25", "sh -c 'sleep 25'": the number after the word.
absl::Duration SleepIn(const JsonTree& command) {
  std::string text;
  for (const JsonTree& word : command.items()) absl::StrAppend(&text, word.AsString(), " ");
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" ;&\n"), absl::SkipEmpty());
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    double seconds = 0;
    const absl::string_view program = words[i].substr(words[i].rfind('/') + 1);
    if (program == "sleep" && absl::SimpleAtod(words[i + 1], &seconds)) {
      return absl::Seconds(seconds);
    }
  }
  return absl::ZeroDuration();
}

}  // namespace

JsonTree PodStatusOf(const JsonTree& pod, const PodProcessState& state, absl::Time now) {
  JsonTree status = pod["status"];
  status.Set("phase", PhaseName(state));
  status.Set("conditions", Conditions(pod, state, now));
  if (state.phase == Phase::kEnded && state.node_shutdown) {
    status.Set("reason", "Terminated");
    status.Set("message", "Pod was terminated in response to imminent node shutdown.");
  }
  status.Set("hostIP", state.host_ip);
  status.Set("hostIPs", JsonTree::Array{JsonTree::Object{{"ip", state.host_ip}}});
  if (!state.ip.empty()) {
    status.Set("podIP", state.ip);
    JsonTree ips = JsonTree::Array{JsonTree::Object{{"ip", state.ip}}};
    if (!state.ip6.empty()) ips.Append(JsonTree::Object{{"ip", state.ip6}});
    status.Set("podIPs", ips);
  }
  status.SetIfMissing("startTime", KubeTime(now));
  status.Set("containerStatuses", ContainerStatuses(pod, state, now));
  return status;
}

absl::Duration PreStopOf(const JsonTree& pod) {
  absl::Duration longest = absl::ZeroDuration();
  for (const JsonTree& container : pod["spec"]["containers"].items()) {
    const JsonTree& hook = container["lifecycle"]["preStop"];
    longest = std::max({longest, absl::Seconds(hook["sleep"]["seconds"].AsInt()),
                        SleepIn(hook["exec"]["command"])});
  }
  return longest;
}

std::set<int> PortsOf(const JsonTree& pod) {
  std::set<int> ports;
  for (const JsonTree& container : pod["spec"]["containers"].items()) {
    for (const JsonTree& port : container["ports"].items()) {
      ports.insert(static_cast<int>(port["containerPort"].AsInt()));
    }
  }
  return ports;
}

absl::Duration SecondsAnnotation(const JsonTree& pod, absl::string_view name,
                                 absl::Duration otherwise) {
  double seconds = 0;
  const std::string& text = pod["metadata"]["annotations"][name].AsString();
  return absl::SimpleAtod(text, &seconds) && seconds >= 0 ? absl::Seconds(seconds) : otherwise;
}

}  // namespace sim

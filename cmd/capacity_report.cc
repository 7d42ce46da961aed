#include "cmd/capacity_report.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "capacity/memo.h"

namespace cmd {
namespace {

std::string NameOf(const kube::Workload& workload) {
  return absl::StrCat(workload.kind, " ", workload.key.ToString());
}

class Reporter {
 public:
  explicit Reporter(const CapacityQuestion& question) : question_(question) {
    report_.limits = question.limits;
  }

  CapacityReport Run() && {
    for (const std::string& name : question_.manifests.unforeseen) {
      Note(name, ": no forecast for this kind; count its Pods in --in-use");
    }
    AddWorkloads();
    AddAutoscalers();
    for (CapacityReport::Workload& workload : report_.workloads) Estimate(workload);
    AddSets();
    Judge();
    Advise();
    return std::move(report_);
  }

 private:
  template <typename... Parts>
  void Note(const Parts&... parts) {
    report_.notes.push_back(absl::StrCat(parts...));
  }

  void AddWorkloads() {
    for (const kube::ManifestWorkload& from : question_.manifests.workloads) {
      CapacityReport::Workload workload;
      workload.kind = from.workload.kind;
      workload.key = from.workload.key;
      workload.replicas = from.workload.replicas;
      report_.workloads.push_back(std::move(workload));
    }
  }

  void AddAutoscalers() {
    for (const kube::HorizontalPodAutoscaler& autoscaler : question_.manifests.autoscalers) {
      const std::string name = absl::StrCat("HorizontalPodAutoscaler ", autoscaler.key.ToString());
      if (autoscaler.target_name.empty()) {
        Note(name, ": has no scaleTargetRef, so it is ignored; name what it scales");
        continue;
      }
      bool found = false;
      for (CapacityReport::Workload& workload : report_.workloads) {
        if (workload.kind != autoscaler.target_kind ||
            workload.key != kube::ObjectKey{autoscaler.key.ns, autoscaler.target_name}) {
          continue;
        }
        workload.autoscaler_maximum =
            std::max(workload.autoscaler_maximum, autoscaler.max_replicas);
        found = true;
      }
      if (found) continue;
      Note(name, ": scales ", autoscaler.target_kind, " ", autoscaler.target_name,
           ", which is not among these manifests");
    }
  }

  void Estimate(CapacityReport::Workload& workload) {
    const kube::Workload& spec = SpecOf(workload);
    workload.rollout = capacity::RolloutOf(
        spec, std::max(workload.replicas, workload.autoscaler_maximum), question_.times);
    workload.peak = memo_.Of({workload.rollout})->peak;
    workload.gated = workload.rollout.gated;
    if (workload.rollout.style == capacity::Style::kNone) {
      Note(NameOf(spec), ": updateStrategy OnDelete replaces nothing by itself");
    }
    if (workload.rollout.replicas > capacity::kMaxReplicas) {
      Note(NameOf(spec), ": more than ", capacity::kMaxReplicas,
           " replicas are not simulated; its peak is an upper bound");
    }
  }

  const kube::Workload& SpecOf(const CapacityReport::Workload& workload) const {
    return question_.manifests.workloads[&workload - report_.workloads.data()].workload;
  }

  // Indexes of the workloads whose Pods the Service selects.
  std::vector<int> SelectedBy(const kube::Service& service) const {
    std::vector<int> selected;
    for (size_t i = 0; i < question_.manifests.workloads.size(); ++i) {
      const kube::ManifestWorkload& workload = question_.manifests.workloads[i];
      if (workload.workload.key.ns != service.key.ns || service.selector.empty()) continue;
      const bool all =
          std::all_of(service.selector.begin(), service.selector.end(), [&](const auto& label) {
            const auto it = workload.pod_labels.find(label.first);
            return it != workload.pod_labels.end() && it->second == label.second;
          });
      if (all) selected.push_back(static_cast<int>(i));
    }
    return selected;
  }

  // The ports of a Service that Ingresses route to, as text; one empty text if
  // there are no Ingresses.
  std::set<std::string> PortsOf(const kube::Service& service) const {
    if (question_.manifests.ingresses.empty()) return {""};
    std::set<std::string> ports;
    const auto add = [&](const kube::Ingress& ingress, const kube::IngressBackend& backend) {
      if (ingress.key.ns != service.key.ns || backend.service != service.key.name) return;
      ports.insert(backend.port_number > 0 ? absl::StrCat(backend.port_number) : backend.port_name);
    };
    for (const kube::Ingress& ingress : question_.manifests.ingresses) {
      for (const kube::IngressBackend& path : ingress.paths) add(ingress, path);
      if (ingress.default_backend.has_value()) add(ingress, *ingress.default_backend);
    }
    return ports;
  }

  void AddSet(const std::string& name, const std::vector<int>& workloads) {
    std::vector<capacity::Rollout> rollouts;
    for (const int index : workloads) rollouts.push_back(report_.workloads[index].rollout);
    CapacityReport::Set set;
    set.name = name;
    set.workloads = workloads;
    set.forecast = *memo_.Of(rollouts);
    report_.sets.push_back(std::move(set));
  }

  void AddSets() {
    std::set<int> behind_service;
    for (const kube::Service& service : question_.manifests.services) {
      const std::string name = absl::StrCat("Service ", service.key.ToString());
      const std::vector<int> workloads = SelectedBy(service);
      behind_service.insert(workloads.begin(), workloads.end());
      const std::set<std::string> ports = PortsOf(service);
      if (ports.empty()) Note(name, ": no Ingress of these manifests routes to it");
      if (workloads.empty()) {
        Note(name, ": selects no Pods of these manifests, so it has no backends here");
        continue;
      }
      for (const std::string& port : ports) {
        AddSet(port.empty() ? name : absl::StrCat(name, " port ", port), workloads);
      }
    }
    for (size_t i = 0; i < report_.workloads.size(); ++i) {
      const std::string name = NameOf(question_.manifests.workloads[i].workload);
      if (question_.manifests.services.empty()) {
        AddSet(name, {static_cast<int>(i)});
      } else if (behind_service.count(static_cast<int>(i)) == 0) {
        Note(name, ": no Service of these manifests selects its Pods, so they are no backends");
      }
    }
  }

  void Judge() {
    std::vector<const capacity::Forecast*> forecasts;
    for (CapacityReport::Set& set : report_.sets) {
      set.fits = set.forecast.peak <= question_.limits.backends_per_set;
      report_.fits = report_.fits && set.fits;
      forecasts.push_back(&set.forecast);
    }
    report_.together = capacity::Together(forecasts);
    int64_t sum = 0;
    for (const CapacityReport::Set& set : report_.sets) {
      for (const int index : set.workloads) sum += report_.workloads[index].replicas;
    }
    const int now = static_cast<int>(std::min<int64_t>(sum, capacity::kMostTogether));
    if (question_.in_use.has_value() && *question_.in_use < now) {
      Note("--in_use=", *question_.in_use, " is less than the ", now,
           " backends of these manifests: it is taken that nothing else is there");
    }
    report_.others = std::clamp(question_.in_use.value_or(now) - now, 0, capacity::kMostTogether);
    report_.fits = report_.fits && report_.others + report_.together.peak <=
                                       question_.limits.backends_per_load_balancer;
  }

  // Slots for the Pods of one workload, with everything else at its peak.
  int RoomFor(int index) const {
    const int peak = report_.workloads[index].peak;
    int room = question_.limits.backends_per_load_balancer;
    int sets = 0;
    for (const CapacityReport::Set& set : report_.sets) {
      if (std::find(set.workloads.begin(), set.workloads.end(), index) == set.workloads.end()) {
        continue;
      }
      ++sets;
      room = std::min(room, question_.limits.backends_per_set - (set.forecast.peak - peak));
    }
    if (sets == 0) return room;
    const int64_t rest = int64_t{report_.others} + report_.together.peak - int64_t{sets} * peak;
    const int64_t share = (question_.limits.backends_per_load_balancer - rest) / sets;
    return static_cast<int>(std::clamp<int64_t>(share, -capacity::kMostTogether, room));
  }

  void Advise() {
    if (report_.fits) return;
    for (size_t i = 0; i < report_.workloads.size(); ++i) {
      CapacityReport::Workload& workload = report_.workloads[i];
      workload.advice = capacity::Advise(SpecOf(workload), workload.rollout.replicas,
                                         question_.times, RoomFor(static_cast<int>(i)));
    }
  }

  const CapacityQuestion& question_;
  CapacityReport report_;
  capacity::ForecastMemo memo_;
};

}  // namespace

absl::StatusOr<CapacityReport> MakeCapacityReport(const CapacityQuestion& question) {
  if (question.manifests.workloads.empty()) {
    return absl::InvalidArgumentError(
        "there is no Deployment or StatefulSet in the manifests, so nothing to forecast");
  }
  return Reporter(question).Run();
}

}  // namespace cmd

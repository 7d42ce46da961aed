#include "controller/reporter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "drain/explain.h"
#include "glog/logging.h"

namespace controller {
namespace {

constexpr char kAction[] = "Drain";

kube::ObjectReference ClassReference(const MappedClass& item) {
  return {"networking.k8s.io/v1", "IngressClass", {"", item.name}, item.uid};
}

}  // namespace

void Reporter::Tell(const kube::ObjectReference& regarding, const News& news) {
  LOG(INFO) << "event " << (news.warning ? "Warning " : "Normal ") << news.reason << " on "
            << regarding.kind << " " << regarding.key.ToString() << ": " << news.note;
  recorder_.Record({regarding, news.warning ? "Warning" : "Normal", news.reason, kAction, news.note,
                    news.subject},
                   clock_.Now());
}

void Reporter::TellNotices(const drain::Plan& plan, const TopologyView& view,
                           const oci::Ocid& load_balancer) {
  for (const drain::Notice& notice : plan.notices) {
    if (notice.kind == drain::NoticeKind::kBackendDrained) {
      metrics_.CountDrain(notice.took, notice.slack);
    } else if (notice.kind == drain::NoticeKind::kDrainDeadlineMissed) {
      metrics_.CountMissedDeadline();
    }
    const std::string note = drain::Describe(notice, load_balancer);
    if (notice.regarding.kind.empty()) {
      TellLoadBalancer(drain::ReasonOf(notice.kind), note, view, load_balancer);
    } else {
      Tell(
          notice.regarding,
          {drain::IsWarning(notice.kind), std::string(drain::ReasonOf(notice.kind)), note,
           absl::StrCat(notice.key.set.value(), "/", notice.key.backend.value(), "/", notice.pod)});
    }
  }
}

void Reporter::TellDraining(const drain::Write& write, const drain::Input& input, bool dry_run) {
  if (write.reason == drain::WriteReason::kReassert && !dry_run) {
    metrics_.CountTakenBack(
        static_cast<int>(std::count_if(write.flips.begin(), write.flips.end(),
                                       [](const drain::Flip& flip) { return flip.drain; })));
  }
  if (!write.carries_wave) return;
  const absl::string_view what =
      dry_run ? " would be drained (dry run: nothing is written)" : " is being drained";
  for (const drain::Flip& flip : write.flips) {
    if (!flip.drain) continue;
    for (const drain::SetInput& set : input.sets) {
      if (set.name != write.set) continue;
      Tell(set.service,
           {false, "BackendDraining",
            absl::StrCat("Pod ", flip.pod, ": backend ", flip.key.backend.value(),
                         " of backend set ", write.set.value(), " of load balancer ",
                         input.load_balancer.value(), what),
            absl::StrCat(write.set.value(), "/", flip.key.backend.value(), "/", flip.pod)});
    }
  }
}

void Reporter::TellBadAnnotation(const BadAnnotation& bad) {
  Tell(bad.object, {true, "InvalidAnnotation", bad.what, bad.what});
}

void Reporter::TellMappingProblem(const MappingProblem& problem) {
  Tell(problem.regarding, {true, "NotMapped", problem.text, problem.text});
}

void Reporter::TellLoadBalancer(absl::string_view reason, absl::string_view note,
                                const TopologyView& view, const oci::Ocid& load_balancer) {
  TellClasses({true, std::string(reason), std::string(note), load_balancer.value()}, view,
              load_balancer);
}

void Reporter::TellClasses(const News& news, const TopologyView& view,
                           const oci::Ocid& load_balancer) {
  const auto mapped = view.mapping.load_balancers.find(load_balancer);
  if (mapped == view.mapping.load_balancers.end()) return;
  for (const MappedClass& item : mapped->second.classes) Tell(ClassReference(item), news);
}

}  // namespace controller

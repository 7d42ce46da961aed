#include "controller/plan_json.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json_object.h"
#include "drain/explain.h"

namespace controller {
namespace {

using base::JsonArray;
using base::JsonObject;

std::string QuestionsJson(const drain::Questions& questions) {
  if (questions.empty()) return "null";
  const auto key = [](const kube::ObjectKey& k) { return base::QuoteJson(k.ToString()); };
  return JsonObject()
      .Flag("load_balancer", questions.read)
      .Flag("work_requests", questions.work_requests)
      .Flag("own_work_request", questions.own_work_request)
      .Raw("pods", JsonArray(questions.pods, key))
      .Raw("endpoints", JsonArray(questions.memberships, key))
      .Raw("health", JsonArray(questions.health,
                               [](const drain::BackendKey& k) {
                                 return JsonObject()
                                     .Text("set", k.set.value())
                                     .Text("backend", k.backend.value())
                                     .Json();
                               }))
      .Raw("set_health",
           JsonArray(questions.set_health,
                     [](const oci::BackendSetName& name) { return base::QuoteJson(name.value()); }))
      .Json();
}

std::string WriteJson(const drain::Write& write) {
  const auto name = [](const auto& value) { return base::QuoteJson(value.value()); };
  const auto flip = [](const auto& item) {
    return JsonObject()
        .Text("backend", item.first.value())
        .Flag("drain", item.second.drain)
        .Flag("offline", item.second.offline)
        .Json();
  };
  const auto addition = [](const oci::Backend& backend) {
    return JsonObject().Text("backend", backend.name.value()).Flag("drain", backend.drain).Json();
  };
  return JsonObject()
      .Text("set", write.set.value())
      .Text("call", write.whole_set ? "UpdateBackendSet" : "UpdateBackend")
      .Text("reason", drain::Name(write.reason))
      .Text("if_match", write.etag.value())
      .Raw("flips", JsonArray(write.change.flips, flip))
      .Raw("additions", JsonArray(write.change.additions, addition))
      .Raw("removals", JsonArray(write.change.removals, name))
      .Raw("behind", JsonArray(write.behind, name))
      .Json();
}

std::string FlipJson(const drain::Flip& flip) {
  return JsonObject()
      .Text("set", flip.key.set.value())
      .Text("backend", flip.key.backend.value())
      .Flag("drain", flip.drain)
      .Text("pod", flip.pod)
      .Text("pod_uid", flip.pod_uid)
      .Time("deadline", flip.deadline)
      .Json();
}

std::string DecisionJson(const drain::Decision& decision) {
  return JsonObject()
      .Text("set", decision.key.set.value())
      .Text("backend", decision.key.backend.value())
      .Text("pod", decision.pod.ToString())
      .Text("pod_uid", decision.pod_uid)
      .Text("rule", drain::Name(decision.rule))
      .Flag("in_set", decision.in_set)
      .Flag("drained", decision.drained)
      .Flag("want_drained", decision.want_drained)
      .Text("hold", drain::Name(decision.hold))
      .Time("until", decision.until)
      .Time("deadline", decision.deadline)
      .Json();
}

std::string AcknowledgementJson(const drain::Acknowledgement& acknowledgement) {
  return JsonObject()
      .Text("set", acknowledgement.key.set.value())
      .Text("backend", acknowledgement.key.backend.value())
      .Text("pod", acknowledgement.pod.ToString())
      .Text("pod_uid", acknowledgement.pod_uid)
      .Text("progress", drain::Name(acknowledgement.progress))
      .Time("deadline", acknowledgement.deadline)
      .Time("release_at", acknowledgement.release_at)
      .Json();
}

std::string GateJson(const drain::GateDecision& gate) {
  return JsonObject()
      .Text("set", gate.key.set.value())
      .Text("backend", gate.key.backend.value())
      .Text("pod", gate.pod.ToString())
      .Text("pod_uid", gate.pod_uid)
      .Text("progress", drain::ReasonOf(gate.progress))
      .Json();
}

std::string NoticeJson(const drain::Notice& notice, const oci::Ocid& load_balancer) {
  return JsonObject()
      .Text("reason", drain::ReasonOf(notice.kind))
      .Text("type", drain::IsWarning(notice.kind) ? "Warning" : "Normal")
      .Text("regarding",
            notice.regarding.kind.empty()
                ? ""
                : absl::StrCat(notice.regarding.kind, " ", notice.regarding.key.ToString()))
      .Text("note", drain::Describe(notice, load_balancer))
      .Json();
}

}  // namespace

std::string PlanToJson(const drain::Input& input, const drain::Plan& plan) {
  const std::vector<drain::Flip> flips =
      plan.write.has_value() ? plan.write->flips : std::vector<drain::Flip>();
  return JsonObject()
      .Text("load_balancer", input.load_balancer.value())
      .Time("now", input.now)
      .Raw("questions", QuestionsJson(plan.questions))
      .Raw("write", plan.write.has_value() ? WriteJson(*plan.write) : "null")
      .Raw("flips", JsonArray(flips, FlipJson))
      .Raw("decisions", JsonArray(drain::AllDecisions(input, plan), DecisionJson))
      .Raw("acknowledgements", JsonArray(plan.acknowledgements, AcknowledgementJson))
      .Raw("gates", JsonArray(plan.gates, GateJson))
      .Raw("notices", JsonArray(plan.notices,
                                [&](const drain::Notice& notice) {
                                  return NoticeJson(notice, input.load_balancer);
                                }))
      .Time("next_look", plan.questions.empty() ? plan.next_look : input.now)
      .Json();
}

}  // namespace controller

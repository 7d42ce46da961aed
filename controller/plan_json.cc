#include "controller/plan_json.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "drain/explain.h"

namespace controller {
namespace {

class Object {
 public:
  Object& Raw(absl::string_view name, absl::string_view json) {
    absl::StrAppend(&text_, text_.empty() ? "" : ",", base::QuoteJson(name), ":", json);
    return *this;
  }
  Object& Text(absl::string_view name, absl::string_view value) {
    return Raw(name, base::QuoteJson(value));
  }
  Object& Flag(absl::string_view name, bool value) { return Raw(name, value ? "true" : "false"); }
  Object& Time(absl::string_view name, absl::Time time) {
    if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return Raw(name, "null");
    return Text(name, base::FormatTime(time));
  }
  std::string Json() const { return absl::StrCat("{", text_, "}"); }

 private:
  std::string text_;
};

template <typename Elements, typename ToJson>
std::string Array(const Elements& elements, const ToJson& to_json) {
  return absl::StrCat(
      "[",
      absl::StrJoin(elements, ",",
                    [&](std::string* out, const auto& element) { out->append(to_json(element)); }),
      "]");
}

std::string QuestionsJson(const drain::Questions& questions) {
  if (questions.empty()) return "null";
  const auto key = [](const kube::ObjectKey& k) { return base::QuoteJson(k.ToString()); };
  return Object()
      .Flag("load_balancer", questions.read)
      .Flag("work_requests", questions.work_requests)
      .Flag("own_work_request", questions.own_work_request)
      .Raw("pods", Array(questions.pods, key))
      .Raw("endpoints", Array(questions.memberships, key))
      .Raw("health", Array(questions.health,
                           [](const drain::BackendKey& k) {
                             return Object()
                                 .Text("set", k.set.value())
                                 .Text("backend", k.backend.value())
                                 .Json();
                           }))
      .Json();
}

std::string WriteJson(const drain::Write& write) {
  const auto name = [](const auto& value) { return base::QuoteJson(value.value()); };
  const auto flip = [](const auto& item) {
    return Object()
        .Text("backend", item.first.value())
        .Flag("drain", item.second.drain)
        .Flag("offline", item.second.offline)
        .Json();
  };
  const auto addition = [](const oci::Backend& backend) {
    return Object().Text("backend", backend.name.value()).Flag("drain", backend.drain).Json();
  };
  return Object()
      .Text("set", write.set.value())
      .Text("call", write.whole_set ? "UpdateBackendSet" : "UpdateBackend")
      .Text("reason", drain::Name(write.reason))
      .Text("if_match", write.etag.value())
      .Raw("flips", Array(write.change.flips, flip))
      .Raw("additions", Array(write.change.additions, addition))
      .Raw("removals", Array(write.change.removals, name))
      .Raw("behind", Array(write.behind, name))
      .Json();
}

std::string FlipJson(const drain::Flip& flip) {
  return Object()
      .Text("set", flip.key.set.value())
      .Text("backend", flip.key.backend.value())
      .Flag("drain", flip.drain)
      .Text("pod", flip.pod)
      .Text("pod_uid", flip.pod_uid)
      .Time("deadline", flip.deadline)
      .Json();
}

std::string DecisionJson(const drain::Decision& decision) {
  return Object()
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

std::string NoticeJson(const drain::Notice& notice, const oci::Ocid& load_balancer) {
  return Object()
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
  return Object()
      .Text("load_balancer", input.load_balancer.value())
      .Time("now", input.now)
      .Raw("questions", QuestionsJson(plan.questions))
      .Raw("write", plan.write.has_value() ? WriteJson(*plan.write) : "null")
      .Raw("flips", Array(flips, FlipJson))
      .Raw("decisions", Array(plan.decisions, DecisionJson))
      .Raw("notices", Array(plan.notices,
                            [&](const drain::Notice& notice) {
                              return NoticeJson(notice, input.load_balancer);
                            }))
      .Time("next_look", plan.questions.empty() ? plan.next_look : input.now)
      .Json();
}

}  // namespace controller

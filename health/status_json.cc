#include "health/status_json.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/json_object.h"

namespace health {
namespace {

using base::JsonArray;
using base::JsonObject;

std::string Seconds(absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  return std::isfinite(seconds) ? absl::StrFormat("%.3f", seconds) : "null";
}

std::string SetJson(const SetSlots& set) {
  return JsonObject()
      .Text("backend_set", set.backend_set)
      .Text("service", set.service)
      .Count("limit", set.limit)
      .Count("live", set.live)
      .Count("draining", set.draining)
      .Count("foreign", set.foreign)
      .Count("waiting", set.waiting)
      .Count("reserved", set.reserved)
      .Count("free", set.free)
      .Json();
}

std::string LoadBalancerJson(const LoadBalancerStatus& item) {
  return JsonObject()
      .Text("id", item.id)
      .Text("name", item.name)
      .Raw("ingress_classes",
           JsonArray(item.classes, [](const std::string& name) { return base::QuoteJson(name); }))
      .Text("state", item.state)
      .Flag("paused", item.paused)
      .Text("trouble", item.trouble)
      .Time("read_at", item.read_at)
      .Time("next_look", item.next_look)
      .Count("limit", item.slots.limit)
      .Count("in_use", item.slots.in_use)
      .Raw("sets", JsonArray(item.sets.items, SetJson))
      .Count("more_sets", static_cast<int64_t>(item.sets.more))
      .Json();
}

absl::string_view Name(DrainState state) {
  switch (state) {
    case DrainState::kWaits:
      return "waits";
    case DrainState::kWritten:
      return "written";
    case DrainState::kConfirmed:
      return "confirmed";
  }
  return "unknown";
}

std::string DrainJson(const DrainStatus& drain, absl::Time now) {
  return JsonObject()
      .Text("load_balancer", drain.load_balancer)
      .Text("backend_set", drain.backend_set)
      .Text("backend", drain.backend)
      .Text("pod", drain.pod)
      .Text("state", Name(drain.state))
      .Text("reason", drain.reason)
      .Time("until", drain.until)
      .Time("deadline", drain.deadline)
      .Time("confirmed_at", drain.confirmed_at)
      .Raw("slack_seconds", Seconds(drain.Slack(now)))
      .Json();
}

std::string DecisionJson(const DecisionStatus& decision) {
  return JsonObject()
      .Time("at", decision.at)
      .Text("load_balancer", decision.load_balancer)
      .Text("backend_set", decision.backend_set)
      .Text("backend", decision.backend)
      .Text("pod", decision.pod)
      .Text("action", decision.action)
      .Text("reason", decision.reason)
      .Flag("warning", decision.warning)
      .Json();
}

std::string WorkRequestJson(const WorkRequestStatus& request, absl::Time now) {
  return JsonObject()
      .Text("id", request.id)
      .Text("load_balancer", request.load_balancer)
      .Text("backend_set", request.backend_set)
      .Text("what", request.what)
      .Flag("ours", request.ours)
      .Text("state", request.state)
      .Time("accepted", request.accepted)
      .Time("finished", request.finished)
      .Raw("took_seconds", Seconds(std::min(request.finished, now) - request.accepted))
      .Text("error", request.error)
      .Json();
}

std::string LoopJson(const LoopReport& loop) {
  return JsonObject()
      .Text("name", loop.name)
      .Raw("age_seconds", Seconds(loop.age))
      .Flag("stuck", loop.stuck)
      .Json();
}

std::string HealthJson(const VitalsReport& vitals) {
  const size_t shown = std::min(vitals.loops.size(), kMaxShownLoops);
  const std::vector<LoopReport> loops(vitals.loops.begin(),
                                      vitals.loops.begin() + static_cast<long>(shown));
  return JsonObject()
      .Flag("live", !vitals.wedged)
      .Flag("ready", vitals.ready)
      .Text("wedge", vitals.wedge)
      .Raw("parts", JsonArray(vitals.parts,
                              [](const PartReport& part) {
                                return JsonObject()
                                    .Text("name", part.name)
                                    .Flag("ok", part.ok)
                                    .Text("note", part.note)
                                    .Json();
                              }))
      .Raw("loops", JsonArray(loops, LoopJson))
      .Count("more_loops", static_cast<int64_t>(vitals.loops.size() - shown))
      .Json();
}

}  // namespace

std::string StatusToJson(const Status& status, const VitalsReport& vitals) {
  const absl::Time now = status.at;
  const std::string json =
      JsonObject()
          .Count("schema", kStatusSchema)
          .Time("at", now)
          .Text("version", status.version)
          .Time("started", status.started)
          .Flag("dry_run", status.dry_run)
          .Raw("leader", JsonObject()
                             .Flag("elects", status.elects)
                             .Flag("leads", status.leads)
                             .Text("identity", status.identity)
                             .Text("holder", status.leader)
                             .Count("terms", status.terms)
                             .Json())
          .Raw("health", HealthJson(vitals))
          .Count("queue", status.queue)
          .Raw("load_balancers", JsonArray(status.load_balancers.items, LoadBalancerJson))
          .Count("more_load_balancers", static_cast<int64_t>(status.load_balancers.more))
          .Raw("drains", JsonArray(status.drains.items,
                                   [&](const auto& item) { return DrainJson(item, now); }))
          .Count("more_drains", static_cast<int64_t>(status.drains.more))
          .Raw("work_requests",
               JsonArray(status.work_requests.items,
                         [&](const auto& item) { return WorkRequestJson(item, now); }))
          .Count("more_work_requests", static_cast<int64_t>(status.work_requests.more))
          .Raw("decisions", JsonArray(status.decisions.items, DecisionJson))
          .Count("more_decisions", static_cast<int64_t>(status.decisions.more))
          .Json();
  // They stand within strings only, wherever somebody puts the text.
  return absl::StrCat(
      absl::StrReplaceAll(json, {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}}), "\n");
}

}  // namespace health

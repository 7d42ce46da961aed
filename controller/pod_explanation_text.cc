// The words and the JSON of an explanation.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json_object.h"
#include "controller/pod_explanation.h"
#include "drain/explain.h"

namespace controller {
namespace {

using base::JsonArray;
using base::JsonObject;

constexpr size_t kLabel = 14;

std::string Clock(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

// "2026-11-30T12:00:00Z, in 44s".
std::string Moment(absl::Time time, absl::Time now) {
  if (time == absl::InfiniteFuture()) return "never";
  if (time == absl::InfinitePast()) return "not known";
  const absl::Duration away = absl::Trunc(absl::AbsDuration(time - now), absl::Milliseconds(100));
  if (away == absl::ZeroDuration()) return absl::StrCat(Clock(time), ", now");
  return absl::StrCat(Clock(time), time >= now ? ", in " : ", ", absl::FormatDuration(away),
                      time >= now ? "" : " ago");
}

// Its number among the rules for backends of a Service that opted in; "-": none of them.
absl::string_view NumberOf(drain::Rule rule) {
  switch (rule) {
    case drain::Rule::kLive:
      return "1";
    case drain::Rule::kTerminating:
    case drain::Rule::kSliceTerminating:
      return "2";
    case drain::Rule::kPodGone:
    case drain::Rule::kPodReplaced:
    case drain::Rule::kAddressReused:
    case drain::Rule::kPodWithoutAddress:
    case drain::Rule::kLookupFailed:
      return "3";
    case drain::Rule::kLeaving:
      return "4";
    case drain::Rule::kNotOurs:
    case drain::Rule::kPortMismatch:
      return "5";
    case drain::Rule::kWithdrawn:
      return "-";
  }
  return "-";
}

std::string Wants(const drain::Decision& decision) {
  if (!decision.in_set) return "it is not in the set";
  if (decision.want_offline) return "set offline";
  if (decision.want_drained == decision.drained) {
    return decision.drained ? "stays drained" : "stays as it is";
  }
  return decision.want_drained ? "drain" : "un-drain";
}

std::string Lookup(const drain::PodLookup& lookup) {
  switch (lookup.state) {
    case drain::LookupState::kNotAsked:
      return "not asked: the watches tell enough";
    case drain::LookupState::kNotFound:
      return "404, no such Pod";
    case drain::LookupState::kNoAnswer:
      return "no answer";
    case drain::LookupState::kFound:
      break;
  }
  return absl::StrCat(
      "UID ", lookup.uid, ", phase ", lookup.phase,
      lookup.disruption_target ? ", DisruptionTarget" : "", ", addresses ",
      absl::StrJoin(lookup.pod_ips, " "),
      lookup.gated ? (lookup.gate_true ? ", readiness gate True" : ", readiness gate not True")
                   : "");
}

std::string Slice(const drain::Endpoint& endpoint) {
  return absl::StrCat("UID ", endpoint.uid, endpoint.serving ? ", serving" : ", not serving",
                      endpoint.terminating ? ", terminating" : "");
}

std::string Watch(const drain::Endpoint& endpoint, absl::Time now) {
  if (endpoint.cached_uid.empty()) return "no Pod of that name";
  std::string text = absl::StrCat("UID ", endpoint.cached_uid);
  if (endpoint.deletion_timestamp == absl::InfiniteFuture()) return text + ", not being deleted";
  return absl::StrCat(text, ", SIGKILL ", Moment(endpoint.deletion_timestamp, now), ", grace ",
                      absl::FormatDuration(endpoint.deletion_grace));
}

std::string Entry(const drain::LedgerEntry& entry, absl::Time now) {
  return absl::StrCat(entry.by_operator ? "drained by an operator" : "drained by this project",
                      ", entered ", Moment(entry.since, now),
                      entry.confirmed ? ", confirmed" : ", not confirmed",
                      entry.offline ? ", offline" : "", ", of Pod UID ",
                      entry.pod_uid.empty() ? "unknown" : entry.pod_uid);
}

void Line(std::string& text, absl::string_view name, absl::string_view value) {
  absl::StrAppend(&text, "  ", name,
                  std::string(name.size() < kLabel ? kLabel - name.size() : 1, ' '), value, "\n");
}

void DescribeDecision(const drain::Decision& decision, absl::Time now, std::string& text) {
  Line(text, "rule", absl::StrCat(NumberOf(decision.rule), ", ", drain::Sentence(decision.rule)));
  Line(text, "decision", Wants(decision));
  if (decision.hold != drain::Hold::kNone) {
    Line(text, "waits",
         absl::StrCat(drain::Sentence(decision.hold),
                      decision.until == absl::InfiniteFuture()
                          ? ""
                          : absl::StrCat("; at the latest until ", Moment(decision.until, now))));
  }
  if (decision.deadline != absl::InfiniteFuture()) {
    Line(text, "deadline", Moment(decision.deadline, now));
  }
}

std::string DescribeSet(const SetExplanation& set) {
  std::string text = absl::StrCat("\nbackend set ", set.key.set.value(), " of Service ",
                                  set.service.ToString(), "\n");
  Line(text, "load balancer",
       absl::StrCat(set.load_balancer.value(), set.load_balancer_name.empty() ? "" : ", ",
                    set.load_balancer_name));
  Line(text, "backend",
       absl::StrCat(set.key.backend.value(), ": ", set.in_set,
                    set.read_at == absl::InfinitePast()
                        ? ""
                        : absl::StrCat(" (read ", Moment(set.read_at, set.at), ")")));
  if (!set.untouched.empty()) Line(text, "untouched", set.untouched);
  if (set.decision.has_value()) {
    DescribeDecision(*set.decision, set.at, text);
  } else if (set.untouched.empty()) {
    Line(text, "decision", "none yet: the plan asks for facts first, see oci-drain plan");
  }
  if (set.endpoint.has_value()) {
    Line(text, "slice", Slice(*set.endpoint));
    Line(text, "watch", Watch(*set.endpoint, set.at));
    Line(text, "live GET", Lookup(set.endpoint->lookup));
  } else {
    Line(text, "slice", "the Service publishes no such address of this Pod");
  }
  if (set.ledger.has_value()) Line(text, "ledger", Entry(*set.ledger, set.at));
  if (set.progress.has_value()) {
    const absl::Time release = set.progress->release_at;
    Line(text, "barrier",
         absl::StrCat(drain::Name(set.progress->progress),
                      release == absl::InfiniteFuture()
                          ? ""
                          : absl::StrCat(", let go at the latest ", Moment(release, set.at))));
  }
  if (set.gate.has_value()) Line(text, "gate", drain::ReasonOf(set.gate->progress));
  return text;
}

std::string DecisionJson(const drain::Decision& decision) {
  return JsonObject()
      .Text("rule", drain::Name(decision.rule))
      .Text("rule_number", NumberOf(decision.rule))
      .Text("why", drain::Sentence(decision.rule))
      .Text("wants", Wants(decision))
      .Text("hold", drain::Name(decision.hold))
      .Time("hold_until", decision.until)
      .Time("deadline", decision.deadline)
      .Json();
}

std::string EndpointJson(const drain::Endpoint& endpoint, absl::Time now) {
  return JsonObject()
      .Text("uid", endpoint.uid)
      .Flag("serving", endpoint.serving)
      .Flag("terminating", endpoint.terminating)
      .Text("cached_uid", endpoint.cached_uid)
      .Time("deletion_timestamp", endpoint.deletion_timestamp)
      .Text("watch", Watch(endpoint, now))
      .Text("live_get", Lookup(endpoint.lookup))
      .Json();
}

std::string SetJson(const SetExplanation& set) {
  const auto or_null = [](const auto& value, const auto& to_json) {
    return value.has_value() ? to_json(*value) : std::string("null");
  };
  return JsonObject()
      .Text("load_balancer", set.load_balancer.value())
      .Text("backend_set", set.key.set.value())
      .Text("service", set.service.ToString())
      .Text("backend", set.key.backend.value())
      .Time("at", set.at)
      .Time("read_at", set.read_at)
      .Text("in_set", set.in_set)
      .Text("untouched", set.untouched)
      .Raw("decision", or_null(set.decision, DecisionJson))
      .Raw("endpoint",
           or_null(set.endpoint,
                   [&](const auto& endpoint) { return EndpointJson(endpoint, set.at); }))
      .Raw("ledger", or_null(set.ledger,
                             [](const drain::LedgerEntry& entry) {
                               return JsonObject()
                                   .Time("since", entry.since)
                                   .Flag("confirmed", entry.confirmed)
                                   .Flag("offline", entry.offline)
                                   .Flag("by_operator", entry.by_operator)
                                   .Text("pod_uid", entry.pod_uid)
                                   .Json();
                             }))
      .Raw("progress", or_null(set.progress,
                               [](const drain::Acknowledgement& progress) {
                                 return base::QuoteJson(drain::Name(progress.progress));
                               }))
      .Raw("gate", or_null(set.gate,
                           [](const drain::GateDecision& gate) {
                             return base::QuoteJson(drain::ReasonOf(gate.progress));
                           }))
      .Json();
}

std::string EventJson(const health::DecisionStatus& decision) {
  return JsonObject()
      .Time("at", decision.at)
      .Text("backend_set", decision.backend_set)
      .Text("backend", decision.backend)
      .Text("action", decision.action)
      .Text("reason", decision.reason)
      .Json();
}

}  // namespace

std::string FormatExplanation(const PodExplanation& explanation) {
  std::string text = absl::StrCat("Pod ", explanation.pod.ToString(), "\n");
  if (!explanation.sets.empty()) Line(text, "as of", Clock(explanation.sets.front().at));
  for (const SetExplanation& set : explanation.sets) text += DescribeSet(set);
  if (!explanation.has_history) return text;
  absl::StrAppend(&text, "\nwhat was decided and written since this controller leads\n");
  if (explanation.history.empty()) absl::StrAppend(&text, "  nothing\n");
  for (const health::DecisionStatus& event : explanation.history) {
    absl::StrAppend(&text, "  ", Clock(event.at), " ", event.action, " ", event.backend,
                    event.backend_set.empty() ? "" : " in ", event.backend_set, ": ", event.reason,
                    "\n");
  }
  return text;
}

std::string ExplanationToJson(const PodExplanation& explanation) {
  return absl::StrCat(
      JsonObject()
          .Text("pod", explanation.pod.ToString())
          .Raw("sets", JsonArray(explanation.sets, SetJson))
          .Raw("history",
               explanation.has_history ? JsonArray(explanation.history, EventJson) : "null")
          .Json(),
      "\n");
}

}  // namespace controller

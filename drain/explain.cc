#include "drain/explain.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "drain/judge.h"

namespace drain {
namespace {

// "in 45s", "3s ago": relative, so that two runs of one case read the same.
std::string Relative(absl::Time time, absl::Time now) {
  if (time == absl::InfiniteFuture()) return "never";
  if (time == absl::InfinitePast()) return "since ever";
  if (time >= now) return absl::StrCat("in ", absl::FormatDuration(time - now));
  return absl::StrCat(absl::FormatDuration(now - time), " ago");
}

std::string ExplainDecision(const Decision& decision, absl::Time now) {
  std::string line = absl::StrCat("  ", decision.key.backend.value());
  if (!decision.pod.name.empty()) absl::StrAppend(&line, " ", decision.pod.ToString());
  absl::StrAppend(&line, decision.in_set ? (decision.drained ? " [drained]" : " [routable]")
                                         : " [not in the set]");
  absl::StrAppend(&line, ": ", Sentence(decision.rule));
  if (decision.deadline != absl::InfiniteFuture()) {
    absl::StrAppend(&line, " (SIGKILL ", Relative(decision.deadline, now), ")");
  }
  if (decision.in_set && decision.want_drained != decision.drained) {
    absl::StrAppend(&line, " -> ", decision.want_drained ? "drain" : "un-drain");
  }
  if (decision.want_offline) absl::StrAppend(&line, " -> offline");
  if (const absl::string_view why = Sentence(decision.hold); !why.empty()) {
    absl::StrAppend(&line, "; ", why);
    if (decision.until != absl::InfiniteFuture()) {
      absl::StrAppend(&line, ", until ", Relative(decision.until, now));
    }
  }
  return absl::StrCat(line, "\n");
}

// The decision that changes nothing.
Decision AtRest(const BackendKey& key, const Verdict& verdict) {
  Decision decision;
  decision.key = key;
  decision.in_set = true;
  NoteVerdict(verdict, decision);
  return decision;
}

std::string ExplainQuestions(const Questions& questions) {
  std::string text;
  if (questions.own_work_request) absl::StrAppend(&text, "ask: our work request\n");
  if (questions.work_requests) absl::StrAppend(&text, "ask: work requests\n");
  if (questions.read) absl::StrAppend(&text, "ask: load balancer\n");
  for (const auto& pod : questions.pods) absl::StrAppend(&text, "ask: Pod ", pod.ToString(), "\n");
  for (const auto& service : questions.memberships) {
    absl::StrAppend(&text, "ask: Endpoints ", service.ToString(), "\n");
  }
  for (const auto& key : questions.health) {
    absl::StrAppend(&text, "ask: health of ", key.backend.value(), " in ", key.set.value(), "\n");
  }
  for (const auto& name : questions.set_health) {
    absl::StrAppend(&text, "ask: health of backend set ", name.value(), "\n");
  }
  return text;
}

std::string ExplainWrite(const Write& write, absl::Time now) {
  std::string text = absl::StrCat("write ", write.set.value(), ": ",
                                  write.whole_set ? "UpdateBackendSet" : "UpdateBackend", ", ",
                                  Name(write.reason), ", if-match ", write.etag.value(), "\n");
  if (write.reason == WriteReason::kRestore) {
    absl::StrAppend(&text, "  the set as the foreign write left it, but for\n");
  } else if (write.change.empty()) {
    absl::StrAppend(&text, "  the set as read\n");
  }
  for (const auto& [name, flags] : write.change.flips) {
    absl::StrAppend(&text, "  ", name.value(), " drain=", flags.drain ? "true" : "false",
                    flags.offline ? " offline=true" : "", "\n");
  }
  for (const oci::Backend& backend : write.change.additions) {
    absl::StrAppend(&text, "  add ", backend.name.value(), backend.drain ? " drain=true" : "",
                    "\n");
  }
  for (const oci::BackendName& name : write.change.removals) {
    absl::StrAppend(&text, "  leave out ", name.value(), "\n");
  }
  for (const oci::WorkRequestId& id : write.behind) {
    absl::StrAppend(&text, "  behind ", id.value(), "\n");
  }
  for (const Flip& flip : write.flips) {
    if (flip.deadline == absl::InfiniteFuture()) continue;
    absl::StrAppend(&text, "  ", flip.pod, " ends ", Relative(flip.deadline, now), "\n");
  }
  return text;
}

std::string ExplainLedger(const Ledger& before, const Ledger& after) {
  std::string text;
  for (const auto& [key, entry] : after) {
    const auto old = before.find(key);
    if (old != before.end() && old->second == entry) continue;
    absl::StrAppend(&text, "ledger ", key.set.value(), " ", key.backend.value(), ": Pod ",
                    entry.pod, entry.by_operator ? ", by an operator" : "",
                    entry.offline ? ", offline" : "", entry.confirmed ? ", confirmed" : "", "\n");
  }
  for (const auto& [key, entry] : before) {
    if (after.count(key) == 0) {
      absl::StrAppend(&text, "ledger ", key.set.value(), " ", key.backend.value(), ": closed\n");
    }
  }
  return text;
}

std::string ExplainAcknowledgement(const Acknowledgement& acknowledgement, absl::Time now) {
  std::string line = absl::StrCat(
      "acknowledge ",
      acknowledgement.pod.name.empty() ? acknowledgement.pod_uid : acknowledgement.pod.ToString(),
      " in ", acknowledgement.key.set.value(), ": ", Name(acknowledgement.progress));
  if (acknowledgement.release_at != absl::InfiniteFuture()) {
    absl::StrAppend(&line, ", let go ", Relative(acknowledgement.release_at, now));
  }
  return absl::StrCat(line, "\n");
}

}  // namespace

absl::string_view Sentence(Rule rule) {
  switch (rule) {
    case Rule::kNotOurs:
      return "no endpoint has this address: not ours";
    case Rule::kLive:
      return "its Pod is live";
    case Rule::kTerminating:
      return "its Pod is terminating";
    case Rule::kSliceTerminating:
      return "the endpoint slice says terminating and its Pod is not cached";
    case Rule::kPodGone:
      return "its Pod is gone";
    case Rule::kPodReplaced:
      return "the Pod's name belongs to another Pod with another address";
    case Rule::kAddressReused:
      return "another Pod of this name has this address: flag kept, looked at again";
    case Rule::kPodWithoutAddress:
      return "another Pod of this name has no address yet: flag kept, looked at again";
    case Rule::kLookupFailed:
      return "its Pod could not be looked up: flag kept, looked at again";
    case Rule::kLeaving:
      return "its Pod is leaving (Failed or DisruptionTarget)";
    case Rule::kPortMismatch:
      return "its address is a Pod's but no endpoint slice has the port: untouched";
    case Rule::kWithdrawn:
      return "its Pod is published no more";
  }
  return "unknown";
}

absl::string_view Sentence(Hold hold) {
  switch (hold) {
    case Hold::kNone:
      return "";
    case Hold::kCoalescing:
      return "waits for others that fall due";
    case Hold::kLastServing:
      return "last serving backend of its workload, waits for a healthy replacement";
    case Hold::kServingFloor:
      return "still serves, waits for healthy replacements";
    case Hold::kWriteInFlight:
      return "waits for the write in flight";
    case Hold::kForeignInFlight:
      return "waits for a foreign work request";
    case Hold::kNeighbours:
      return "waits so that the ingress controller can serve other Services";
    case Hold::kOtherSetFirst:
      return "another backend set is written first";
    case Hold::kBackoff:
      return "waits after an error or for the rate limit";
    case Hold::kBrake:
      return "drain brake engaged";
    case Hold::kStandDown:
      return "the ingress controller drains by itself";
    case Hold::kNotActive:
      return "the load balancer is not ACTIVE";
  }
  return "unknown";
}

absl::string_view Name(Rule rule) {
  switch (rule) {
    case Rule::kNotOurs:
      return "not_ours";
    case Rule::kLive:
      return "live";
    case Rule::kTerminating:
      return "terminating";
    case Rule::kSliceTerminating:
      return "slice_terminating";
    case Rule::kPodGone:
      return "pod_gone";
    case Rule::kPodReplaced:
      return "pod_replaced";
    case Rule::kAddressReused:
      return "address_reused";
    case Rule::kPodWithoutAddress:
      return "pod_without_address";
    case Rule::kLookupFailed:
      return "lookup_failed";
    case Rule::kLeaving:
      return "leaving";
    case Rule::kPortMismatch:
      return "port_mismatch";
    case Rule::kWithdrawn:
      return "withdrawn";
  }
  return "unknown";
}

absl::string_view Name(Hold hold) {
  switch (hold) {
    case Hold::kNone:
      return "none";
    case Hold::kCoalescing:
      return "coalescing";
    case Hold::kLastServing:
      return "last_serving";
    case Hold::kServingFloor:
      return "serving_floor";
    case Hold::kWriteInFlight:
      return "write_in_flight";
    case Hold::kForeignInFlight:
      return "foreign_in_flight";
    case Hold::kNeighbours:
      return "neighbours";
    case Hold::kOtherSetFirst:
      return "other_set_first";
    case Hold::kBackoff:
      return "backoff";
    case Hold::kBrake:
      return "brake";
    case Hold::kStandDown:
      return "stand_down";
    case Hold::kNotActive:
      return "not_active";
  }
  return "unknown";
}

absl::string_view Name(WriteReason reason) {
  switch (reason) {
    case WriteReason::kUndrain:
      return "undrain";
    case WriteReason::kDrain:
      return "drain";
    case WriteReason::kBehindForeign:
      return "behind_foreign";
    case WriteReason::kReassert:
      return "reassert";
    case WriteReason::kRestore:
      return "restore";
    case WriteReason::kRegister:
      return "register";
    case WriteReason::kNeighbour:
      return "neighbour";
  }
  return "unknown";
}

absl::string_view Name(DrainProgress progress) {
  switch (progress) {
    case DrainProgress::kWaiting:
      return "waiting";
    case DrainProgress::kHeldBack:
      return "held_back";
    case DrainProgress::kDrained:
      return "drained";
    case DrainProgress::kNotRegistered:
      return "not_registered";
  }
  return "unknown";
}

absl::string_view ReasonOf(GateProgress progress) {
  switch (progress) {
    case GateProgress::kReady:
      return "Registered";
    case GateProgress::kNotRegistered:
      return "NotRegistered";
    case GateProgress::kDrained:
      return "Drained";
    case GateProgress::kRegistering:
      return "Registering";
    case GateProgress::kNotHealthy:
      return "NotHealthy";
    case GateProgress::kDrainsFirst:
      return "DrainsFirst";
    case GateProgress::kFailSafe:
      return "FailSafe";
    case GateProgress::kNoSlot:
      return "NoSlot";
  }
  return "Unknown";
}

std::vector<Decision> AllDecisions(const Input& input, const Plan& plan) {
  if (!plan.questions.empty() || input.paused || !input.read.has_value()) return plan.decisions;
  std::vector<Decision> all;
  auto next = plan.decisions.begin();
  for (const SetInput& set : input.sets) {
    const auto read = input.read->load_balancer->backend_sets.find(set.name);
    const bool named = next != plan.decisions.end() && next->key.set == set.name;
    if (read == input.read->load_balancer->backend_sets.end()) continue;
    if (!IsRuled(input, set) && !named) continue;
    const SetVerdicts verdicts(set);
    for (const oci::Backend& backend : read->second.backends) {
      const BackendKey key{set.name, backend.name};
      if (next != plan.decisions.end() && next->key == key) {
        all.push_back(*next++);
      } else if (const Verdict* verdict = verdicts.Find(backend.name.value())) {
        all.push_back(AtRest(key, *verdict));
      }
    }
    while (next != plan.decisions.end() && next->key.set == set.name) all.push_back(*next++);
  }
  all.insert(all.end(), next, plan.decisions.end());
  return all;
}

std::string Summary(const Plan& plan) {
  if (!plan.write.has_value()) return "no write";
  const Write& write = *plan.write;
  const auto drains = std::count_if(write.flips.begin(), write.flips.end(),
                                    [](const Flip& flip) { return flip.drain; });
  return absl::StrCat("write ", write.set.value(), " ", Name(write.reason), " ",
                      write.whole_set ? "UpdateBackendSet" : "UpdateBackend", ": ", drains,
                      " drains, ", static_cast<long>(write.flips.size()) - drains, " un-drains, ",
                      write.change.additions.size(), " additions, ", write.change.removals.size(),
                      " left out");
}

std::string Explain(const Input& input, const Plan& plan) {
  std::string text = absl::StrCat("load balancer ", input.load_balancer.value(),
                                  input.paused ? " (paused)" : "", "\n");
  absl::StrAppend(&text, ExplainQuestions(plan.questions));
  oci::BackendSetName set;
  for (const Decision& decision : AllDecisions(input, plan)) {
    if (decision.key.set != set) absl::StrAppend(&text, "set ", decision.key.set.value(), "\n");
    set = decision.key.set;
    absl::StrAppend(&text, ExplainDecision(decision, input.now));
  }
  if (plan.write.has_value()) {
    absl::StrAppend(&text, ExplainWrite(*plan.write, input.now));
  } else if (plan.questions.empty()) {
    absl::StrAppend(&text, "no write\n");
  }
  absl::StrAppend(&text, ExplainLedger(input.ledger, plan.ledger));
  for (const Acknowledgement& acknowledgement : plan.acknowledgements) {
    if (!input.options.acknowledge_all && input.waiters.count(acknowledgement.pod_uid) == 0) {
      continue;
    }
    absl::StrAppend(&text, ExplainAcknowledgement(acknowledgement, input.now));
  }
  for (const GateDecision& gate : plan.gates) {
    absl::StrAppend(&text, "gate ", gate.pod.ToString(), " in ", gate.key.set.value(), ": ",
                    ReasonOf(gate.progress), "\n");
  }
  for (const Notice& notice : plan.notices) {
    absl::StrAppend(&text, IsWarning(notice.kind) ? "warning " : "normal ", ReasonOf(notice.kind));
    if (!notice.regarding.kind.empty()) {
      absl::StrAppend(&text, " on ", notice.regarding.kind, " ", notice.regarding.key.ToString());
    }
    absl::StrAppend(&text, ": ", Describe(notice, input.load_balancer), "\n");
  }
  if (plan.questions.empty()) {
    absl::StrAppend(&text, "next look ", Relative(plan.next_look, input.now), "\n");
  }
  return text;
}

}  // namespace drain

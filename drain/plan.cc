#include "drain/plan.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "drain/acknowledge.h"
#include "drain/choose.h"
#include "drain/draft.h"
#include "drain/foreign.h"
#include "drain/gate.h"
#include "drain/hold.h"
#include "drain/membership.h"
#include "drain/observe.h"
#include "drain/timing.h"

namespace drain {
namespace {

// Backends of node ports belong to nodes, not to Pods.
constexpr int kFirstNodePort = 30000;
constexpr int kLastNodePort = 32767;

Notice About(NoticeKind kind, const SetInput& set) {
  Notice notice;
  notice.kind = kind;
  notice.regarding = set.service;
  notice.key.set = set.name;
  return notice;
}

std::string Once(absl::string_view what, const SetInput& set) {
  return absl::StrCat(what, "|", set.name.value(), "|", set.service.key.ToString());
}

void TellAboutBackends(Draft& draft, const SetDraft& set) {
  const SetInput& input = *set.input;
  bool all_nodes = !set.read->backends.empty() && !input.endpoints.empty();
  for (size_t i = 0; i < set.verdict_of.size(); ++i) {
    const oci::Backend& backend = set.read->backends[i];
    const bool known = set.verdict_of[i] != nullptr;
    const bool node_port = backend.port >= kFirstNodePort && backend.port <= kLastNodePort;
    all_nodes = all_nodes && node_port && !known;
    if (!known && set.verdicts.IsNamed(backend.name.value())) {
      Notice notice = About(NoticeKind::kEndpointWithoutPod, input);
      notice.key.backend = backend.name;
      draft.TellOnce(absl::StrCat(Once("podless", input), "|", backend.name.value()),
                     std::move(notice));
      continue;
    }
    if (known || !set.pod_ips.contains(backend.ip_address)) continue;
    Notice notice = About(NoticeKind::kPortMismatch, input);
    notice.key.backend = backend.name;
    draft.TellOnce(absl::StrCat(Once("port", input), "|", backend.name.value()), std::move(notice));
  }
  if (all_nodes) {
    draft.TellOnce(Once("nodes", input), About(NoticeKind::kNodeBackendsNotDrained, input));
  }
}

// What stands between an annotation and a drain, said once.
void TellObstacles(Draft& draft) {
  for (const SetDraft& set : draft.sets) {
    const SetInput& input = *set.input;
    if (!input.opted_in) continue;
    if (input.contested) {
      draft.TellOnce(Once("contested", input), About(NoticeKind::kBackendSetContested, input));
      continue;
    }
    if (!input.publishes_terminating) {
      draft.TellOnce(Once("publish", input),
                     About(NoticeKind::kServiceNotPublishingTerminatingPods, input));
      continue;
    }
    if (!draft.in.read.has_value()) continue;
    if (set.read == nullptr) {
      draft.TellOnce(Once("missing", input), About(NoticeKind::kBackendSetMissing, input));
      continue;
    }
    if (set.read->health_checker_protocol == "TCP") {
      draft.TellOnce(Once("tcp", input), About(NoticeKind::kHealthCheckCannotSeeReadiness, input));
    }
    if (set.read->has_session_persistence && !input.sticky_cutoff.has_value()) {
      draft.TellOnce(Once("sticky", input), About(NoticeKind::kStickySetWithoutCutoff, input));
    }
    TellAboutBackends(draft, set);
  }
}

void TellState(Draft& draft) {
  const Input& in = draft.in;
  if (in.now - in.ledger_failing_since >= in.options.ledger_patience) {
    Notice notice;
    notice.kind = NoticeKind::kLedgerUnavailable;
    draft.TellOnce("ledger", std::move(notice));
  }
  if (draft.stand_down) {
    Notice notice;
    notice.kind = NoticeKind::kIngressControllerDrains;
    draft.TellOnce("standdown", std::move(notice));
  }
  const bool shut_out = in.now < draft.plan.memory.last_write + in.options.shut_out;
  if (!shut_out || in.carry_all) return;
  std::vector<std::string> waiting;
  for (const SetDraft& set : draft.sets) {
    if (!set.input->opted_in && set.pending()) {
      waiting.push_back(set.input->service.key.ToString());
    }
  }
  if (waiting.empty()) return;
  Notice notice;
  notice.kind = NoticeKind::kSharedLoadBalancerDelaysOthers;
  notice.count = static_cast<int>(waiting.size());
  notice.detail = absl::StrJoin(waiting, ", ");
  const std::string once = absl::StrCat("neighbours|", notice.detail);
  draft.TellOnce(once, std::move(notice));
}

bool HoldsPods(const Draft& draft, const SetDraft& set) {
  const std::vector<oci::Backend>& backends = set.read->backends;
  return backends.empty() ||
         std::any_of(backends.begin(), backends.end(),
                     [&](const oci::Backend& backend) { return IsOurs(draft, set, backend.name); });
}

bool HoldsAddress(const SetDraft& set, absl::string_view ip) {
  const std::vector<oci::Backend>& backends = set.read->backends;
  return std::any_of(backends.begin(), backends.end(),
                     [&](const oci::Backend& backend) { return backend.ip_address == ip; });
}

// The ingress controller adds what is published: the backend of an ending Pod would
// come in routable. Sets that hold nodes, or Pods under another port, are not filled
// so.
bool MayComeRoutable(const Draft& draft, const SetDraft& set) {
  if (!set.ruled || set.read == nullptr || set.pending_add.empty()) return false;
  if (!HoldsPods(draft, set)) return false;
  const auto may_come = [&](const oci::BackendName& name) {
    const Verdict* found = set.verdicts.Find(name.value());
    if (found == nullptr) return false;
    const Verdict& verdict = *found;
    // A Pod that leaves without a deadline stays published for as long as it likes.
    const absl::Time until =
        std::min(verdict.deadline,
                 draft.plan.memory.pending_since.at(set.Key(name)) + draft.in.options.force_after);
    return verdict.want == Want::kDrained && draft.in.now < until &&
           !HoldsAddress(set, verdict.endpoint->ip);
  };
  return std::any_of(set.pending_add.begin(), set.pending_add.end(), may_come);
}

bool Active(const Draft& draft) {
  if (draft.plan.memory.own_write.has_value() || draft.settled) return true;
  if (draft.plan.memory.lost_write.has_value()) return true;
  if (draft.awaits_look) return true;
  if (!draft.plan.memory.restorations.empty()) return true;
  return std::any_of(draft.sets.begin(), draft.sets.end(), [&](const SetDraft& set) {
    return set.in_force || set.foreign_revives || !set.wanted.empty() ||
           MayComeRoutable(draft, set);
  });
}

// Looks at the load balancer when it is time: often while something is in
// motion, once a minute otherwise.
void AskForLook(Draft& draft) {
  const Input& in = draft.in;
  Questions& questions = draft.plan.questions;
  const bool failed = in.read_failed || in.work_requests_failed;
  if (!in.read.has_value()) {
    questions.read = questions.work_requests = !failed;
    draft.LookBy(in.now + in.options.active_poll);
    return;
  }
  const auto& own = draft.plan.memory.own_write;
  const bool active = Active(draft);
  absl::Duration interval = active ? in.options.active_poll : in.options.idle_poll;
  if (own.has_value() && !own->behind.empty()) interval = in.options.work_request_poll;
  const bool due = in.now >= in.read->at + interval || draft.settled;
  const bool had = in.read->this_pass && (in.work_requests_failed || draft.FreshLook() || !active);
  if (due && !failed && !had) {
    questions.read = true;
    questions.work_requests = active;
  }
  if (in.read->this_pass && draft.unsettled && !draft.FreshLook() && !failed) {
    questions.read = questions.work_requests = true;
  }
  draft.LookBy((failed ? in.now : std::max(in.read->at, in.now - interval)) + interval);
}

// What AllDecisions adds again: nothing changes for them.
bool IsAtRest(const oci::Backend& backend, const Verdict* verdict) {
  return verdict != nullptr && verdict->rule == Rule::kLive && !backend.drain;
}

void DecideBackend(Draft& draft, const SetDraft& set, size_t position, const Wanted* wanted) {
  const oci::Backend& backend = set.read->backends[position];
  const Verdict* verdict = set.verdict_of[position];
  if (wanted == nullptr && IsAtRest(backend, verdict)) return;
  Decision& decision = draft.plan.decisions.emplace_back();
  decision.key = set.Key(backend.name);
  decision.in_set = true;
  decision.drained = decision.want_drained = backend.drain;
  if (verdict != nullptr) {
    NoteVerdict(*verdict, decision);
  } else if (set.pod_ips.contains(backend.ip_address)) {
    decision.rule = Rule::kPortMismatch;
  } else if (IsOurs(draft, set, backend.name)) {
    decision.rule = Rule::kWithdrawn;
  }
  if (wanted == nullptr) return;
  decision.want_drained = wanted->drain;
  decision.want_offline = wanted->offline && !backend.offline;
  decision.hold = wanted->hold;
  decision.until = wanted->until;
}

void Decide(Draft& draft, const SetDraft& set) {
  std::vector<const Wanted*> wanted(set.verdict_of.size());
  for (const Wanted& item : set.wanted) {
    wanted[static_cast<size_t>(item.backend - set.read->backends.data())] = &item;
  }
  for (size_t i = 0; i < wanted.size(); ++i) DecideBackend(draft, set, i, wanted[i]);
  for (const oci::BackendName& name : set.pending_add) {
    Decision decision;
    decision.key = set.Key(name);
    if (const Verdict* verdict = set.verdicts.Find(name.value()); verdict != nullptr) {
      NoteVerdict(*verdict, decision);
      decision.want_drained = verdict->want == Want::kDrained;
    }
    draft.plan.decisions.push_back(std::move(decision));
  }
}

// What is remembered of flips goes with their ledger entries.
void ForgetFlips(Draft& draft) {
  const auto gone = [&](const auto& item) { return draft.plan.ledger.count(item.first) == 0; };
  std::erase_if(draft.plan.memory.in_wave, gone);
  std::erase_if(draft.plan.memory.carried, gone);
  if (!draft.in.work_requests.has_value()) return;
  std::erase_if(draft.plan.memory.answered, [&](const auto& item) {
    return std::none_of(draft.foreign.begin(), draft.foreign.end(),
                        [&](const oci::WorkRequest* w) { return w->id == item.second; });
  });
}

oci::BackendSet Applied(const Write& write) {
  oci::BackendSet set = *write.base;
  std::erase_if(set.backends, [&](const oci::Backend& backend) {
    return std::find(write.change.removals.begin(), write.change.removals.end(), backend.name) !=
           write.change.removals.end();
  });
  for (oci::Backend& backend : set.backends) {
    const auto flip = write.change.flips.find(backend.name);
    if (flip == write.change.flips.end()) continue;
    backend.drain = flip->second.drain;
    backend.offline = flip->second.offline;
  }
  set.backends.insert(set.backends.end(), write.change.additions.begin(),
                      write.change.additions.end());
  return set;
}

}  // namespace

Plan MakePlan(const Input& input) {
  Draft draft(input);
  if (input.paused) {
    draft.LookBy(input.now + input.options.idle_poll);
    return std::move(draft.plan);
  }
  SettleOwnWrite(draft);
  ClassifyForeign(draft);
  JudgeSets(draft);
  ObserveWaiters(draft);
  if (input.read.has_value()) {
    ObserveRead(draft);
    ObserveMembership(draft);
    ObserveRestorations(draft);
    ObserveAbsence(draft);
    ObserveGates(draft);
    HoldDrains(draft);
  }
  AskForLook(draft);
  if (draft.plan.questions.empty() && input.read.has_value()) ChooseWrite(draft);
  if (!draft.plan.questions.empty()) return std::move(draft.plan);
  draft.plan.at_rest = input.read.has_value() && !Active(draft);
  TellObstacles(draft);
  TellState(draft);
  WarnOfMisses(draft);
  DecideGates(draft);
  if (input.read.has_value()) Acknowledge(draft);
  for (const SetDraft& set : draft.sets) {
    if (set.read != nullptr && (set.ruled || !set.wanted.empty())) Decide(draft, set);
  }
  ForgetFlips(draft);
  draft.plan.memory.told = std::move(draft.raised);
  return std::move(draft.plan);
}

Memory Accepted(const Plan& plan, const oci::WorkRequestId& work_request, absl::Time now) {
  Memory memory = plan.memory;
  const Write& write = *plan.write;
  OwnWrite own;
  own.work_request = work_request;
  own.set = write.set;
  own.reason = write.reason;
  own.accepted_at = now;
  own.behind = write.behind;
  if (write.whole_set) {
    own.sent = Applied(write);
  } else {
    own.sent_backend = *FindBackend(*write.base, write.change.flips.begin()->first);
  }
  memory.own_write = std::move(own);
  if (write.reason == WriteReason::kRestore) {
    const auto restoration = memory.restorations.find(write.set);
    if (restoration != memory.restorations.end()) restoration->second.restored_by = work_request;
  }
  memory.last_write = now;
  if (memory.burst_sets.erase(write.set) == 0) {
    memory.last_burst = now;
    memory.burst_sets = write.burst;
  }
  for (const Flip& flip : write.flips) {
    memory.due_since.erase(flip.key);
    if (flip.drain) memory.carried[flip.key] = flip.pod_uid;
  }
  if (write.whole_set) {
    for (const oci::WorkRequestId& id : write.behind) memory.answered.insert({write.set, id});
  } else if (!write.behind.empty()) {
    ++memory.beside_foreign;
  }
  return memory;
}

Memory Lost(const Plan& plan, absl::Time now) {
  Memory memory = plan.memory;
  memory.lost_write = LostWrite{plan.write->whole_set, now, plan.write->behind};
  // If it was accepted the ingress controller is shut out by it.
  memory.last_write = now;
  return memory;
}

}  // namespace drain

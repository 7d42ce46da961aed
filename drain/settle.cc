#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "drain/look.h"
#include "drain/observe.h"
#include "oci/work_request.h"

namespace drain {
namespace {

constexpr size_t kServiceTimesKept = 50;

// Work requests of these types cannot change a backend; every other type, also
// one unknown, counts as if it could.
constexpr absl::string_view kHarmlessTypes[] = {
    "CreateListener",    "UpdateListener",      "DeleteListener",      "CreateCertificate",
    "DeleteCertificate", "CreateRoutingPolicy", "UpdateRoutingPolicy", "DeleteRoutingPolicy",
    "CreateRuleSet",     "UpdateRuleSet",       "DeleteRuleSet",       "CreateHostname",
    "UpdateHostname",    "DeleteHostname",
};

bool Harmless(const oci::WorkRequest& work_request) {
  return std::find(std::begin(kHarmlessTypes), std::end(kHarmlessTypes), work_request.type) !=
         std::end(kHarmlessTypes);
}

// Somebody else's, unfinished, and it could change a backend.
bool IsForeign(const Input& in, const oci::WorkRequest& work_request) {
  if (work_request.finished() || Harmless(work_request)) return false;
  const std::optional<OwnWrite>& own = in.memory.own_write;
  return !own.has_value() || own->work_request != work_request.id;
}

kube::ObjectReference ServiceOf(const Draft& draft, const oci::BackendSetName& name) {
  for (const SetInput& set : draft.in.sets) {
    if (set.name == name) return set.service;
  }
  return {};
}

void TellFailed(Draft& draft, std::string detail) {
  Notice notice;
  notice.kind = NoticeKind::kWorkRequestFailed;
  notice.key.set = draft.plan.memory.own_write->set;
  notice.regarding = ServiceOf(draft, notice.key.set);
  notice.detail = std::move(detail);
  draft.plan.notices.push_back(std::move(notice));
}

// Paid, whatever the next look shows: what differs then is somebody's newer change.
void EndRestoration(Memory& memory) {
  const auto restoration = memory.restorations.find(memory.own_write->set);
  if (restoration == memory.restorations.end()) return;
  if (restoration->second.restored_by == memory.own_write->work_request) {
    memory.restorations.erase(restoration);
  }
}

void Finish(Draft& draft, const oci::WorkRequest& answer) {
  Memory& memory = draft.plan.memory;
  const OwnWrite& own = *memory.own_write;
  if (answer.state == oci::WorkRequestState::kFailed) {
    TellFailed(draft, answer.error_details.empty() ? answer.message : answer.error_details);
    // What it was to drain never was drained: the next write is the first again.
    std::erase_if(memory.carried, [&](const auto& item) {
      const auto entry = draft.plan.ledger.find(item.first);
      return item.first.set == own.set &&
             (entry == draft.plan.ledger.end() || !entry->second.confirmed);
    });
  } else {
    EndRestoration(memory);
    const absl::Time finished = std::min(answer.time_finished, draft.in.now);
    memory.service_times.push_back(std::max(finished - own.accepted_at, absl::ZeroDuration()));
    if (memory.service_times.size() > kServiceTimesKept) {
      memory.service_times.erase(memory.service_times.begin());
    }
  }
  memory.own_write.reset();
  draft.settled = true;
}

// Whatever it still does then is seen in the list of work requests, as foreign.
void GiveUp(Draft& draft) {
  TellFailed(draft, absl::StrCat("work request ", draft.plan.memory.own_write->work_request.value(),
                                 " has not ended within ",
                                 absl::FormatDuration(draft.in.options.own_write_give_up),
                                 "; the load balancer is read and planned for anew"));
  draft.plan.memory.own_write.reset();
  draft.settled = true;
}

// The list shows a write that was accepted without our knowing as a foreign one; to
// answer that with another write, whose answer is lost too, would never end.
void SettleLostWrite(Draft& draft) {
  std::optional<LostWrite>& lost = draft.plan.memory.lost_write;
  if (!lost.has_value()) return;
  const bool given_up = draft.in.now - lost->sent_at >= draft.in.options.own_write_give_up;
  const bool listed = draft.in.work_requests->this_pass;
  const absl::string_view type = lost->whole_set ? "UpdateBackendSet" : "UpdateBackend";
  const bool may_run = std::any_of(
      draft.foreign.begin(), draft.foreign.end(),
      [&](const oci::WorkRequest* w) { return w->type == type && lost->behind.count(w->id) == 0; });
  if (given_up || (listed && !may_run)) lost.reset();
}

// Where the ETag moves only when a write is applied, a foreign one can be accepted
// between our read and our write, and be ahead of ours without our knowing.
void NoteAhead(Draft& draft) {
  std::optional<OwnWrite>& own = draft.plan.memory.own_write;
  if (!own.has_value()) return;
  const std::vector<oci::WorkRequest>& all = draft.in.work_requests->all;
  const auto ours = std::find_if(
      all.begin(), all.end(), [&](const oci::WorkRequest& w) { return w.id == own->work_request; });
  if (ours == all.end()) return;
  for (const oci::WorkRequest* foreign : draft.foreign) {
    if (foreign->time_accepted <= ours->time_accepted) own->behind.insert(foreign->id);
  }
}

}  // namespace

const oci::Backend* FindBackend(const oci::BackendSet& set, const oci::BackendName& name) {
  const auto it = std::find_if(set.backends.begin(), set.backends.end(),
                               [&](const oci::Backend& backend) { return backend.name == name; });
  return it == set.backends.end() ? nullptr : &*it;
}

BackendIndex::BackendIndex(const oci::BackendSet& set) {
  by_name_.reserve(set.backends.size());
  for (const oci::Backend& backend : set.backends) {
    by_name_.try_emplace(backend.name.value(), &backend);
  }
}

const oci::Backend* BackendIndex::Find(absl::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

absl::Duration WorkRequestP99(const Memory& memory) {
  if (memory.service_times.empty()) return absl::Seconds(20);
  // Of at most 50 samples the largest is the 99th percentile.
  return *std::max_element(memory.service_times.begin(), memory.service_times.end());
}

void SettleOwnWrite(Draft& draft) {
  const Input& in = draft.in;
  if (!in.memory.own_write.has_value()) return;
  const bool looked = in.own_work_request.has_value() || in.own_work_request_failed;
  oci::WorkRequestProgress progress;
  if (in.own_work_request.has_value()) progress.state = in.own_work_request->state;
  progress.accepted = in.memory.own_write->accepted_at;
  progress.last_look = looked ? in.now : in.own_work_request_polled_at;
  const oci::WorkRequestStep step =
      oci::NextStep(progress, {in.options.work_request_poll, in.options.own_write_give_up}, in.now);
  switch (step.action) {
    case oci::WorkRequestStep::Action::kDone:
    case oci::WorkRequestStep::Action::kFailed:
      Finish(draft, *in.own_work_request);
      break;
    case oci::WorkRequestStep::Action::kGiveUp:
      GiveUp(draft);
      break;
    case oci::WorkRequestStep::Action::kPoll:
      if (step.at <= in.now) draft.plan.questions.own_work_request = true;
      draft.LookBy(step.at);
      break;
  }
}

Look LastLook(const Input& input) {
  Look look;
  if (!input.read.has_value() || !input.work_requests.has_value()) return look;
  const std::vector<oci::WorkRequest>& all = input.work_requests->all;
  look.at = std::min(input.read->at, input.work_requests->at);
  look.quiet = std::none_of(all.begin(), all.end(), [&](const oci::WorkRequest& work_request) {
    return IsForeign(input, work_request);
  });
  return look;
}

void ClassifyForeign(Draft& draft) {
  const Input& in = draft.in;
  if (!in.work_requests.has_value()) return;
  draft.foreign_membership = in.now - in.last_ingress_change >= in.options.foreign_quiet &&
                             in.options.membership_behind_foreign;
  for (const oci::WorkRequest& work_request : in.work_requests->all) {
    if (!IsForeign(in, work_request)) continue;
    draft.foreign.push_back(&work_request);
    if (work_request.type != "UpdateBackendSet") draft.foreign_membership = false;
  }
  if (draft.foreign.empty()) {
    draft.foreign_membership = false;
    draft.plan.memory.beside_foreign = 0;
  }
  NoteAhead(draft);
  SettleLostWrite(draft);
}

}  // namespace drain

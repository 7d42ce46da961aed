#include <algorithm>

#include "drain/observe.h"

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

void Finish(Draft& draft, const oci::WorkRequest& answer) {
  Memory& memory = draft.plan.memory;
  const OwnWrite& own = *memory.own_write;
  if (answer.state == oci::WorkRequestState::kFailed) {
    Notice notice;
    notice.kind = NoticeKind::kWorkRequestFailed;
    notice.key.set = own.set;
    notice.detail = answer.error_details.empty() ? answer.message : answer.error_details;
    for (const SetInput& set : draft.in.sets) {
      if (set.name == own.set) notice.regarding = set.service;
    }
    draft.plan.notices.push_back(std::move(notice));
    // What it was to drain never was drained: the next write is the first again.
    std::erase_if(memory.carried, [&](const auto& item) {
      const auto entry = draft.plan.ledger.find(item.first);
      return item.first.set == own.set &&
             (entry == draft.plan.ledger.end() || !entry->second.confirmed);
    });
  } else {
    const absl::Time finished = std::min(answer.time_finished, draft.in.now);
    memory.service_times.push_back(std::max(finished - own.accepted_at, absl::ZeroDuration()));
    if (memory.service_times.size() > kServiceTimesKept) {
      memory.service_times.erase(memory.service_times.begin());
    }
  }
  memory.own_write.reset();
  draft.settled = true;
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
  if (in.own_work_request.has_value() && in.own_work_request->finished()) {
    Finish(draft, *in.own_work_request);
    return;
  }
  const absl::Time next_poll = in.own_work_request_polled_at + in.options.work_request_poll;
  const bool answered = in.own_work_request.has_value() || in.own_work_request_failed;
  if (!answered && in.now >= next_poll) draft.plan.questions.own_work_request = true;
  draft.LookBy(answered ? in.now + in.options.work_request_poll : next_poll);
}

void ClassifyForeign(Draft& draft) {
  const Input& in = draft.in;
  if (!in.work_requests.has_value()) return;
  const auto& own = in.memory.own_write;
  draft.foreign_membership = in.now - in.last_ingress_change >= in.options.foreign_quiet &&
                             in.options.membership_behind_foreign;
  for (const oci::WorkRequest& work_request : in.work_requests->all) {
    if (work_request.finished() || Harmless(work_request)) continue;
    if (own.has_value() && own->work_request == work_request.id) continue;
    draft.foreign.push_back(&work_request);
    if (work_request.type != "UpdateBackendSet") draft.foreign_membership = false;
  }
  if (draft.foreign.empty()) {
    draft.foreign_membership = false;
    draft.plan.memory.beside_foreign = 0;
  }
}

}  // namespace drain

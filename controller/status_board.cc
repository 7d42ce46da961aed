#include "controller/status_board.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "drain/explain.h"

namespace controller {
namespace {

using health::DecisionStatus;
using health::DrainState;
using health::DrainStatus;
using health::ShownText;
using health::WorkRequestStatus;

std::string NameOf(const kube::ObjectKey& pod) { return pod.name.empty() ? "" : pod.ToString(); }

const drain::SetInput* FindSet(const drain::Input& input, const oci::BackendSetName& name) {
  for (const drain::SetInput& set : input.sets) {
    if (set.name == name) return &set;
  }
  return nullptr;
}

// A Pod of the set's Service by its name alone.
std::string PodOf(const drain::Input& input, const oci::BackendSetName& set,
                  const std::string& name) {
  const drain::SetInput* found = FindSet(input, set);
  if (name.empty() || found == nullptr) return name;
  return absl::StrCat(found->service.key.ns, "/", name);
}

std::string Call(const drain::Write& write) {
  return absl::StrCat(write.whole_set ? "UpdateBackendSet" : "UpdateBackend", ", ",
                      drain::Name(write.reason));
}

// Holds that pass with the next write say nothing about the Pod.
bool IsWorthTelling(drain::Hold hold) {
  return hold != drain::Hold::kNone && hold != drain::Hold::kCoalescing &&
         hold != drain::Hold::kWriteInFlight && hold != drain::Hold::kOtherSetFirst;
}

bool IsKept(drain::Rule rule) {
  return rule == drain::Rule::kAddressReused || rule == drain::Rule::kPodWithoutAddress ||
         rule == drain::Rule::kLookupFailed || rule == drain::Rule::kPortMismatch;
}

// What is to be said of a decision beside what is written; empty: nothing.
std::pair<std::string, std::string> Saying(const drain::Decision& decision) {
  const bool due = decision.in_set && decision.want_drained != decision.drained;
  if ((due || decision.want_offline) && IsWorthTelling(decision.hold)) {
    return {"wait",
            absl::StrCat(drain::Sentence(decision.rule), "; ", drain::Sentence(decision.hold))};
  }
  if (IsKept(decision.rule)) return {"keep", std::string(drain::Sentence(decision.rule))};
  return {};
}

DrainStatus DrainOf(const drain::Decision& decision, const PassReport& report) {
  const drain::Input& input = report.preview.input;
  DrainStatus drain;
  drain.load_balancer = input.load_balancer.value();
  drain.backend_set = decision.key.set.value();
  drain.backend = decision.key.backend.value();
  drain.pod = ShownText(NameOf(decision.pod));
  drain.deadline = decision.deadline;
  drain.reason = std::string(drain::Sentence(decision.rule));
  const auto entry = report.preview.plan.ledger.find(decision.key);
  const bool confirmed = entry != report.preview.plan.ledger.end() && entry->second.confirmed;
  const auto carried = report.memory.carried.find(decision.key);
  const bool written =
      carried != report.memory.carried.end() && carried->second == decision.pod_uid;
  if (decision.drained && confirmed) {
    drain.state = DrainState::kConfirmed;
    const auto since = report.confirmed_at.find(decision.key);
    if (since != report.confirmed_at.end()) drain.confirmed_at = since->second;
  } else if (decision.drained || written) {
    drain.state = DrainState::kWritten;
    absl::StrAppend(&drain.reason, decision.drained ? "; a read shows it, not confirmed yet"
                                                    : "; the write was accepted");
  } else if (decision.hold != drain::Hold::kNone) {
    absl::StrAppend(&drain.reason, "; ", drain::Sentence(decision.hold));
    drain.until = decision.until;
  }
  return drain;
}

std::vector<DrainStatus> DrainsOf(const PassReport& report) {
  std::vector<DrainStatus> drains;
  for (const drain::Decision& decision : report.preview.plan.decisions) {
    if (!decision.in_set || !decision.want_drained) continue;
    drains.push_back(DrainOf(decision, report));
  }
  return drains;
}

WorkRequestStatus OursOf(const drain::OwnWrite& write, const oci::Ocid& load_balancer) {
  WorkRequestStatus request;
  request.id = ShownText(write.work_request.value());
  request.load_balancer = load_balancer.value();
  request.backend_set = write.set.value();
  request.what = absl::StrCat(write.sent.has_value() ? "UpdateBackendSet, " : "UpdateBackend, ",
                              drain::Name(write.reason));
  request.ours = true;
  request.state = "in progress";
  request.accepted = write.accepted_at;
  return request;
}

// Under way: ours first.
std::vector<WorkRequestStatus> WorkRequestsOf(const PassReport& report) {
  const drain::Input& input = report.preview.input;
  std::vector<WorkRequestStatus> requests;
  oci::WorkRequestId own;
  if (report.memory.own_write.has_value()) {
    own = report.memory.own_write->work_request;
    requests.push_back(OursOf(*report.memory.own_write, input.load_balancer));
  }
  if (!input.work_requests.has_value()) return requests;
  for (const oci::WorkRequest& request : input.work_requests->all) {
    if (request.finished() || request.id == own) continue;
    WorkRequestStatus& foreign = requests.emplace_back();
    foreign.id = ShownText(request.id.value());
    foreign.load_balancer = input.load_balancer.value();
    foreign.what = request.type.empty() ? "of unknown type" : ShownText(request.type);
    foreign.state = request.state == oci::WorkRequestState::kAccepted ? "accepted" : "in progress";
    foreign.accepted = request.time_accepted;
  }
  return requests;
}

// The one of ours that this pass found to have ended.
std::optional<WorkRequestStatus> EndedIn(const PassReport& report) {
  const drain::Input& input = report.preview.input;
  if (!input.own_work_request.has_value() || !input.own_work_request->finished() ||
      !input.memory.own_write.has_value()) {
    return std::nullopt;
  }
  const oci::WorkRequest& ended = *input.own_work_request;
  WorkRequestStatus request = OursOf(*input.memory.own_write, input.load_balancer);
  const bool succeeded = ended.state == oci::WorkRequestState::kSucceeded;
  request.state = succeeded ? "succeeded" : "failed";
  request.finished = std::min(ended.time_finished, input.now);
  if (!succeeded) {
    request.error = ShownText(ended.error_details.empty() ? ended.message : ended.error_details);
  }
  return request;
}

// The write of the pass, backend by backend.
class WriteNews {
 public:
  explicit WriteNews(const PassReport& report)
      : report_(report), write_(*report.preview.plan.write) {
    if (report.dry_run) {
      outcome_ = "not sent: dry run";
    } else if (report.written->ok()) {
      outcome_ = absl::StrCat("accepted as work request ",
                              report.memory.own_write.has_value()
                                  ? report.memory.own_write->work_request.value()
                                  : std::string("unknown"));
    } else {
      outcome_ = absl::StrCat("refused: ", report.written->message());
    }
  }

  std::vector<DecisionStatus> Make() {
    for (const drain::Flip& flip : write_.flips) {
      Add(flip.offline ? "offline"
          : flip.drain ? "drain"
                       : "un-drain",
          flip.key.backend.value(), PodOf(report_.preview.input, write_.set, flip.pod));
    }
    for (const oci::Backend& backend : write_.change.additions) {
      if (!backend.drain) Add("register", backend.name.value(), "");
    }
    for (const oci::BackendName& name : write_.change.removals) Add("leave out", name.value(), "");
    if (news_.empty()) Add(std::string(drain::Name(write_.reason)), "", "");
    return std::move(news_);
  }

 private:
  void Add(const std::string& action, const std::string& backend, const std::string& pod) {
    DecisionStatus& news = news_.emplace_back();
    news.at = report_.preview.input.now;
    news.load_balancer = report_.preview.input.load_balancer.value();
    news.backend_set = write_.set.value();
    news.backend = backend;
    news.pod = ShownText(pod);
    news.action = report_.dry_run ? absl::StrCat("would ", action) : action;
    news.reason = ShownText(absl::StrCat(Call(write_), ": ", outcome_));
    news.warning = !report_.dry_run && !report_.written->ok();
  }

  const PassReport& report_;
  const drain::Write& write_;
  std::string outcome_;
  std::vector<DecisionStatus> news_;
};

std::string NoticeName(const drain::Notice& notice) {
  return absl::StrCat(drain::ReasonOf(notice.kind), "|", notice.key.set.value(), "|",
                      notice.key.backend.value(), "|", notice.pod, "|", notice.detail);
}

DecisionStatus NoticeNews(const drain::Notice& notice, const drain::Input& input) {
  DecisionStatus news;
  news.at = input.now;
  news.load_balancer = input.load_balancer.value();
  news.backend_set = notice.key.set.value();
  news.backend = notice.key.backend.value();
  news.pod = ShownText(PodOf(input, notice.key.set, notice.pod));
  news.action = std::string(drain::ReasonOf(notice.kind));
  news.reason = ShownText(drain::Describe(notice, input.load_balancer));
  news.warning = drain::IsWarning(notice.kind);
  return news;
}

health::LoadBalancerStatus LoadBalancerOf(const PassReport& report) {
  const drain::Input& input = report.preview.input;
  health::LoadBalancerStatus shown;
  shown.id = input.load_balancer.value();
  shown.paused = input.paused;
  shown.next_look = report.next_look;
  shown.slots = report.slots;
  if (!report.read.ok()) shown.trouble = ShownText(std::string(report.read.message()));
  if (!input.read.has_value()) return shown;
  shown.name = ShownText(input.read->load_balancer->display_name);
  shown.state = ShownText(input.read->load_balancer->lifecycle_state);
  shown.read_at = input.read->at;
  return shown;
}

template <typename T>
void Keep(std::deque<T>& past, T item, size_t most) {
  past.push_back(std::move(item));
  if (past.size() > most) past.pop_front();
}

}  // namespace

StatusBoard::Record StatusBoard::MakeRecord(PassReport& report) {
  Record record;
  record.load_balancer = LoadBalancerOf(report);
  record.drains = DrainsOf(report);
  record.work_requests = WorkRequestsOf(report);
  for (const drain::Decision& decision : report.preview.plan.decisions) {
    auto [action, reason] = Saying(decision);
    if (!action.empty()) record.said[decision.key] = {action, reason, decision.pod_uid};
  }
  for (const drain::Notice& notice : report.preview.plan.notices) {
    record.notices.push_back(NoticeName(notice));
  }
  return record;
}

std::vector<DecisionStatus> StatusBoard::News(const PassReport& report, const Record& record,
                                              const Record* before) {
  const drain::Input& input = report.preview.input;
  const drain::Plan& plan = report.preview.plan;
  std::vector<DecisionStatus> news;
  for (const drain::Decision& decision : plan.decisions) {
    const auto said = record.said.find(decision.key);
    if (said == record.said.end()) continue;
    if (before != nullptr) {
      const auto last = before->said.find(decision.key);
      if (last != before->said.end() && last->second == said->second) continue;
    }
    DecisionStatus& item = news.emplace_back();
    item.at = input.now;
    item.load_balancer = input.load_balancer.value();
    item.backend_set = decision.key.set.value();
    item.backend = decision.key.backend.value();
    item.pod = ShownText(NameOf(decision.pod));
    item.action = said->second[0];
    item.reason = said->second[1];
  }
  for (size_t i = 0; i < plan.notices.size(); ++i) {
    const bool is_new =
        before == nullptr || std::find(before->notices.begin(), before->notices.end(),
                                       record.notices[i]) == before->notices.end();
    if (is_new) news.push_back(NoticeNews(plan.notices[i], input));
  }
  if (plan.write.has_value() && (report.dry_run || report.written.has_value())) {
    for (DecisionStatus& item : WriteNews(report).Make()) news.push_back(std::move(item));
  }
  return news;
}

void StatusBoard::Report(PassReport report) {
  const oci::Ocid key = report.preview.input.load_balancer;
  auto record = std::make_shared<Record>(MakeRecord(report));
  std::shared_ptr<const Record> before;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(key);
    if (found != records_.end()) before = found->second;
  }
  std::vector<DecisionStatus> news = News(report, *record, before.get());
  std::optional<WorkRequestStatus> ended = EndedIn(report);
  record->pass = PackedPass(std::move(report.preview));
  absl::MutexLock lock(&mutex_);
  records_[key] = std::move(record);
  for (DecisionStatus& item : news) Keep(decisions_, std::move(item), kMaxDecisions);
  if (ended.has_value()) Keep(ended_, *std::move(ended), health::kMaxShownWorkRequests);
}

void StatusBoard::SetTopology(std::shared_ptr<const TopologyView> view) {
  absl::MutexLock lock(&mutex_);
  view_ = std::move(view);
}

void StatusBoard::Forget(const oci::Ocid& load_balancer) {
  std::shared_ptr<const Record> last;  // destroyed without the lock
  absl::MutexLock lock(&mutex_);
  const auto found = records_.find(load_balancer);
  if (found == records_.end()) return;
  last = std::move(found->second);
  records_.erase(found);
}

namespace {

bool IsBusy(const health::SetSlots& set) { return set.draining > 0 || set.waiting > 0; }

// Puts load balancers and their drains into a status, as far as there is room.
class Picture {
 public:
  explicit Picture(health::Status& status) : status_(status) {}

  void AddLoadBalancer(health::LoadBalancerStatus shown, const MappedLoadBalancer* mapped) {
    if (status_.load_balancers.items.size() >= health::kMaxShownLoadBalancers) {
      ++status_.load_balancers.more;
      return;
    }
    if (mapped != nullptr) {
      for (const MappedClass& item : mapped->classes) shown.classes.push_back(item.name);
    }
    std::vector<health::SetSlots> sets = std::move(shown.slots.sets);
    shown.slots.sets.clear();
    // Where not all have room, those with drains come first.
    if (sets.size() > room_) std::stable_partition(sets.begin(), sets.end(), IsBusy);
    for (health::SetSlots& set : sets) shown.sets.Add(std::move(set), room_);
    room_ -= shown.sets.items.size();
    status_.load_balancers.items.push_back(std::move(shown));
  }

  void AddDrains(std::vector<DrainStatus> drains) {
    std::stable_sort(drains.begin(), drains.end(), [](const DrainStatus& a, const DrainStatus& b) {
      const bool a_done = a.state == DrainState::kConfirmed;
      const bool b_done = b.state == DrainState::kConfirmed;
      return a_done != b_done ? b_done : a.deadline < b.deadline;
    });
    for (DrainStatus& drain : drains) status_.drains.Add(std::move(drain), health::kMaxShownDrains);
  }

 private:
  health::Status& status_;
  size_t room_ = health::kMaxShownSets;  // for sets
};

const MappedLoadBalancer* FindMapped(const TopologyView* view, const oci::Ocid& key) {
  if (view == nullptr) return nullptr;
  const auto found = view->mapping.load_balancers.find(key);
  return found == view->mapping.load_balancers.end() ? nullptr : &found->second;
}

}  // namespace

health::Status StatusBoard::Show(absl::Time now) const {
  std::shared_ptr<const TopologyView> view;
  std::map<oci::Ocid, std::shared_ptr<const Record>> records;
  std::vector<WorkRequestStatus> ended;
  health::Status status;
  status.at = now;
  {
    absl::MutexLock lock(&mutex_);
    view = view_;
    records = records_;
    ended.assign(ended_.rbegin(), ended_.rend());
    const size_t shown = std::min(decisions_.size(), health::kMaxShownDecisions);
    status.decisions.items.assign(decisions_.rbegin(),
                                  decisions_.rbegin() + static_cast<long>(shown));
    status.decisions.more = decisions_.size() - shown;
  }
  Picture picture(status);
  std::vector<DrainStatus> drains;
  for (const auto& [key, record] : records) {
    picture.AddLoadBalancer(record->load_balancer, FindMapped(view.get(), key));
    drains.insert(drains.end(), record->drains.begin(), record->drains.end());
    for (const WorkRequestStatus& request : record->work_requests) {
      status.work_requests.Add(request, health::kMaxShownWorkRequests);
    }
  }
  if (view != nullptr) {
    for (const auto& [key, mapped] : view->mapping.load_balancers) {
      if (records.count(key) != 0) continue;
      health::LoadBalancerStatus unseen;
      unseen.id = key.value();
      picture.AddLoadBalancer(std::move(unseen), &mapped);
    }
  }
  picture.AddDrains(std::move(drains));
  for (WorkRequestStatus& request : ended) {
    status.work_requests.Add(std::move(request), health::kMaxShownWorkRequests);
  }
  return status;
}

absl::StatusOr<PodExplanation> StatusBoard::Explain(const kube::ObjectKey& pod,
                                                    absl::Time now) const {
  std::vector<std::shared_ptr<const Record>> records;
  PodExplanation explanation;
  explanation.pod = pod;
  explanation.has_history = true;
  const std::string name = pod.ToString();
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, record] : records_) records.push_back(record);
    for (const DecisionStatus& decision : decisions_) {
      if (decision.pod == name) explanation.history.push_back(decision);
    }
  }
  std::vector<Preview> unpacked;
  unpacked.reserve(records.size());
  std::vector<const Preview*> passes;
  for (const auto& record : records) {
    passes.push_back(&unpacked.emplace_back(record->pass.Unpack()));
    ExplainPod(unpacked.back(), explanation);
  }
  if (explanation.sets.empty() && explanation.history.empty()) return NoSetKnows(pod, passes);
  for (SetExplanation& set : explanation.sets) set.at = std::min(set.at, now);
  return explanation;
}

}  // namespace controller

#include "controller/drain_board.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace controller {
namespace {

// Where no Service says how long its application shuts down.
constexpr absl::Duration kDefaultShutdown = absl::Seconds(30);

// A watch that is late, a load balancer that was not passed: looked at again.
constexpr absl::Duration kLookAgain = absl::Seconds(1);

bool Same(const std::vector<drain::Acknowledgement>& a,
          const std::vector<drain::Acknowledgement>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const drain::Acknowledgement& x, const drain::Acknowledgement& y) {
                      return x.key == y.key && x.progress == y.progress &&
                             x.release_at == y.release_at;
                    });
}

bool LetsGo(drain::DrainProgress progress) {
  return progress == drain::DrainProgress::kDrained ||
         progress == drain::DrainProgress::kNotRegistered;
}

template <typename Predicate>
bool AnySet(const DrainAnswer& answer, const Predicate& predicate) {
  return std::any_of(answer.sets.begin(), answer.sets.end(),
                     [&](const DrainAnswer::Set& set) { return predicate(set.progress); });
}

DrainOutcome OutcomeOf(const DrainAnswer& answer, bool all_spoke, bool time_is_up) {
  const bool held = AnySet(answer, [](drain::DrainProgress progress) {
    return progress == drain::DrainProgress::kHeldBack;
  });
  const bool waits = AnySet(answer, [](drain::DrainProgress p) { return !LetsGo(p); });
  if (all_spoke && !waits) {
    const bool drained = AnySet(answer, [](drain::DrainProgress progress) {
      return progress == drain::DrainProgress::kDrained;
    });
    return drained ? DrainOutcome::kDrained : DrainOutcome::kNotRegistered;
  }
  if (!time_is_up) return DrainOutcome::kWaiting;
  return held ? DrainOutcome::kLastBackend : DrainOutcome::kDeadlineMissed;
}

}  // namespace

absl::string_view Name(DrainOutcome outcome) {
  switch (outcome) {
    case DrainOutcome::kUnknownPod:
      return "Unknown";
    case DrainOutcome::kWaiting:
      return "Waiting";
    case DrainOutcome::kDrained:
      return "Drained";
    case DrainOutcome::kNotRegistered:
      return "NotRegistered";
    case DrainOutcome::kLastBackend:
      return "LastBackend";
    case DrainOutcome::kDeadlineMissed:
      return "DeadlineMissed";
  }
  return "Unknown";
}

DrainBoard::DrainBoard(Cluster cluster) : cluster_(std::move(cluster)) {}

void DrainBoard::Report(const drain::Input& input, const drain::Plan& plan) {
  absl::flat_hash_map<std::string, std::vector<drain::Acknowledgement>> pods;
  for (const drain::Acknowledgement& acknowledgement : plan.acknowledgements) {
    pods[acknowledgement.pod_uid].push_back(acknowledgement);
  }
  const bool complete = input.read.has_value() && !input.paused && plan.questions.empty();
  absl::MutexLock lock(&mutex_);
  LoadBalancerReport& report = reports_[input.load_balancer];
  const absl::Time before = report.at;
  const absl::Time look_before = report.look.at;
  report.pods.swap(pods);
  report.at = complete ? input.now : absl::InfinitePast();
  report.look = complete ? drain::LastLook(input) : drain::Look();
  for (const auto& [uid, waiting] : waiting_) {
    const bool news = (before < waiting.ending_since && waiting.ending_since <= report.at) ||
                      !Same(pods[uid], report.pods[uid]);
    for (const auto& [id, waiter] : waiting.waiters) {
      const bool looked = look_before < waiter.look_since && waiter.look_since <= report.look.at;
      if (news || looked) waiter.changed();
    }
  }
}

void DrainBoard::Forget(const oci::Ocid& load_balancer) {
  absl::MutexLock lock(&mutex_);
  reports_.erase(load_balancer);
  looks_wanted_.erase(load_balancer);
}

std::set<std::string> DrainBoard::Waiters(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  absl::erase_if(waiting_, [&](const auto& item) {
    return item.second.waiters.empty() && item.second.left_at + kAbsence <= now;
  });
  std::set<std::string> uids;
  for (const auto& [uid, waiting] : waiting_) uids.insert(uid);
  return uids;
}

absl::StatusOr<int64_t> DrainBoard::Join(const PodId& pod, std::function<void()> changed,
                                         absl::Time look_since) {
  absl::MutexLock lock(&mutex_);
  if (uid_of_.size() >= kMaxWaiters) {
    return absl::ResourceExhaustedError(absl::StrCat(kMaxWaiters, " Pods are waiting"));
  }
  const int64_t waiter = next_waiter_++;
  uid_of_[waiter] = pod.uid;
  waiting_[pod.uid].waiters[waiter] = {std::move(changed), look_since};
  return waiter;
}

void DrainBoard::Leave(int64_t waiter, bool let_go, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  const auto uid = uid_of_.find(waiter);
  if (uid == uid_of_.end()) return;
  Waiting& waiting = waiting_[uid->second];
  waiting.waiters.erase(waiter);
  waiting.left_at = let_go ? absl::InfinitePast() : now;
  if (let_go && waiting.waiters.empty()) waiting_.erase(uid->second);
  uid_of_.erase(uid);
}

bool DrainBoard::NoteLook(const std::string& uid, bool ending, absl::Time now,
                          absl::Time* ending_since) {
  const auto it = waiting_.find(uid);
  if (it == waiting_.end()) return false;
  Waiting& waiting = it->second;
  const bool news = ending && waiting.ending_since == absl::InfiniteFuture();
  if (news) waiting.ending_since = now;
  *ending_since = waiting.ending_since;
  return !std::exchange(waiting.asked, true) || news;
}

DrainBoard::Gathered DrainBoard::Gather(const std::string& uid,
                                        const std::set<oci::Ocid>& load_balancers,
                                        absl::Time ending_since, absl::Time look_since,
                                        DrainAnswer& answer) {
  Gathered gathered;
  gathered.all_spoke = ending_since != absl::InfiniteFuture();
  const auto note_look = [&](const oci::Ocid& load_balancer,
                             const drain::Look& look) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    gathered.quiet = gathered.quiet && look.quiet;
    if (look.at >= look_since) return;
    gathered.looked = false;
    absl::Time& wanted = looks_wanted_.try_emplace(load_balancer, look_since).first->second;
    wanted = std::max(wanted, look_since);
  };
  for (const auto& [load_balancer, report] : reports_) {
    const auto pod = report.pods.find(uid);
    const bool speaks = pod != report.pods.end() && !pod->second.empty();
    const bool concerned = load_balancers.count(load_balancer) != 0;
    if (speaks || concerned) note_look(load_balancer, report.look);
    if (!speaks) {
      if (concerned && report.at < ending_since) gathered.all_spoke = false;
      continue;
    }
    for (const drain::Acknowledgement& acknowledgement : pod->second) {
      answer.sets.push_back({load_balancer, acknowledgement.key, acknowledgement.progress});
      gathered.release_at = std::min(gathered.release_at, acknowledgement.release_at);
    }
  }
  for (const oci::Ocid& load_balancer : load_balancers) {
    if (reports_.count(load_balancer) != 0) continue;
    gathered.all_spoke = false;
    note_look(load_balancer, drain::Look());
  }
  return gathered;
}

absl::Time DrainBoard::LookDue(const oci::Ocid& load_balancer, absl::Duration pause) {
  absl::MutexLock lock(&mutex_);
  const auto wanted = looks_wanted_.find(load_balancer);
  if (wanted == looks_wanted_.end()) return absl::InfiniteFuture();
  const auto report = reports_.find(load_balancer);
  if (report == reports_.end()) return absl::InfinitePast();
  const absl::Time last = report->second.look.at;
  return last < wanted->second ? last + pause : absl::InfiniteFuture();
}

DrainAnswer DrainBoard::Look(const PodId& pod, absl::Time now, absl::Time look_since) {
  DrainAnswer answer;
  const std::optional<kube::PodMetadata> metadata = cluster_.find_pod(pod.key);
  if (!metadata.has_value() || metadata->uid != pod.uid) return answer;
  const std::set<oci::Ocid> load_balancers = cluster_.load_balancers_of(pod.key);
  bool ask = false;
  {
    absl::MutexLock lock(&mutex_);
    // Of a Pod without a waiter: about then, since its deletion asks for passes.
    absl::Time ending_since = metadata->deletion_timestamp - metadata->deletion_grace;
    ask = NoteLook(pod.uid, metadata->deleted(), now, &ending_since);
    const Gathered gathered = Gather(pod.uid, load_balancers, ending_since, look_since, answer);
    ask = ask || !gathered.looked;
    absl::Time release_at = gathered.release_at;
    if (release_at == absl::InfiniteFuture()) {
      // The Service may want less than the default: where that is more than half of the
      // grace period, a plan gets half of it to say so.
      release_at =
          metadata->deletion_timestamp - std::min(kDefaultShutdown, metadata->deletion_grace / 2);
    }
    // A Pod that leaves without a deletion is known by its acknowledgements.
    const bool spoke = metadata->deleted() ? gathered.all_spoke : !answer.sets.empty();
    const bool confirms = look_since != absl::InfinitePast();
    const bool proven = !confirms || (gathered.looked && gathered.quiet);
    answer.outcome = OutcomeOf(answer, spoke, now >= release_at);
    if (!proven && now < release_at) answer.outcome = DrainOutcome::kWaiting;
    if (answer.outcome == DrainOutcome::kWaiting) {
      answer.refused = confirms && spoke && gathered.looked;
      const bool told = spoke && gathered.looked;
      answer.look_again = told ? release_at : std::min(release_at, now + kLookAgain);
    }
  }
  if (ask) {
    for (const oci::Ocid& load_balancer : load_balancers) cluster_.ask_for_pass(load_balancer);
  }
  return answer;
}

}  // namespace controller

#include "controller/reconciler.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/backoff.h"
#include "controller/notices.h"
#include "drain/check.h"
#include "drain/explain.h"
#include "glog/logging.h"
#include "oci/http_status.h"

namespace controller {
namespace {

// A plan asks at most: our work request, a look, Pods, a look again, membership,
// health. Twice that is a bug.
constexpr int kMaxRounds = 12;

constexpr absl::Duration kSyncPoll = absl::Milliseconds(100);
constexpr absl::Duration kFlagsOnly = absl::Minutes(10);
// Failures that pass by themselves are not worth an Event until they have lasted so long.
constexpr absl::Duration kReadPatience = absl::Seconds(30);
constexpr base::BackoffPolicy kConflict{absl::Milliseconds(100), absl::Seconds(2)};
constexpr base::BackoffPolicy kBusy{absl::Milliseconds(500), absl::Seconds(5)};
constexpr base::BackoffPolicy kTrouble{absl::Milliseconds(200), absl::Seconds(10)};
constexpr base::BackoffPolicy kHopeless{absl::Seconds(10), absl::Seconds(60)};

// What was read may be old: the next pass reads before it decides.
void DistrustRead(LbState& state) {
  if (state.read.has_value()) state.read->at = absl::InfinitePast();
}

// The body of a whole set is refused as such: whatever it is, flags alone still go.
bool IsRefusedSet(const drain::Write& write, const absl::Status& status) {
  return write.whole_set && (absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status));
}

// The call may have been made, or is to be made again: nothing that users can mend.
bool IsPassing(const absl::Status& status) {
  return absl::IsAborted(status) || absl::IsUnavailable(status) || absl::IsCancelled(status) ||
         absl::IsDeadlineExceeded(status) || absl::IsFailedPrecondition(status);
}

void PrunePods(const drain::Input& input, LbState& state) {
  if (state.pods.empty()) return;
  std::set<std::string> needed;
  for (const drain::SetInput& set : input.sets) {
    for (const drain::Endpoint& endpoint : set.endpoints) needed.insert(endpoint.cached_uid);
  }
  std::erase_if(state.pods, [&](const auto& item) { return needed.count(item.first) == 0; });
}

}  // namespace

Reconciler::Reconciler(const Parts& parts, const Edges& edges, const Settings& settings,
                       uint64_t seed)
    : parts_(parts),
      edges_(edges),
      settings_(settings),
      ledgers_(edges.kube, settings.ns),
      collector_(parts.store, settings),
      answerer_(edges),
      executor_(edges, ledgers_, settings, seed),
      capacity_({parts.store, parts.reporter}, edges, settings),
      random_(seed + 1) {}

LbState& Reconciler::StateOf(const oci::Ocid& load_balancer) {
  absl::MutexLock lock(&mutex_);
  std::unique_ptr<LbState>& state = states_[load_balancer];
  if (state == nullptr) state = std::make_unique<LbState>();
  return *state;
}

LbState& Reconciler::StateForPass(const oci::Ocid& load_balancer) {
  LbState& state = StateOf(load_balancer);
  absl::MutexLock lock(&mutex_);
  if (state.term != term_) {
    state = LbState();
    state.term = term_;
  }
  return state;
}

void Reconciler::BeginTerm() {
  absl::MutexLock lock(&mutex_);
  ++term_;
}

absl::Time Reconciler::Pass(const oci::Ocid& load_balancer) {
  const std::shared_ptr<const TopologyView> view = parts_.topology.View();
  if (view->mapping.load_balancers.count(load_balancer) == 0) return absl::InfiniteFuture();
  const absl::Status synced = collector_.Synced(*view, load_balancer);
  if (!synced.ok()) return edges_.clock.Now() + kSyncPoll;
  LbState& state = StateForPass(load_balancer);
  if (edges_.clock.Now() < state.read_not_before) return state.read_not_before;
  // Without it the pass goes on: what has its address drained stays as it is.
  ledgers_.Load(load_balancer, state, edges_.clock.Now()).IgnoreError();

  absl::Status read_status;
  Preview preview = PlanFor(*view, load_balancer, state, &read_status);
  const absl::Status sound = drain::CheckPlan(preview.input, preview.plan);
  if (!sound.ok()) {
    LOG(ERROR) << "not carried out: " << sound << "\n"
               << drain::Explain(preview.input, preview.plan);
    return edges_.clock.Now() + preview.input.options.idle_poll;
  }
  parts_.board.Report(preview.input, preview.plan);
  if (!settings_.dry_run) parts_.conditions.Report(preview.input, preview.plan);
  LogPlan(preview.input, preview.plan, settings_.dry_run, state);
  LogUnresolved(preview.plan, state);
  parts_.reporter.TellNotices(preview.plan, *view, load_balancer);
  if (settings_.dry_run) TellDryRun(preview, state);
  const Executor::Outcome outcome = executor_.Run(preview.input, preview.plan, state);
  state.at_rest = preview.plan.at_rest && read_status.ok();
  PrunePods(preview.input, state);
  absl::Time next = AfterWrite(*view, preview, state, outcome);
  next = std::min(next, capacity_.Run(*view, {preview.input, state.ledger, state.memory}, state));
  next = std::min(next, LookDue(preview.input));
  next = AfterRead(*view, load_balancer, state, read_status, next);
  TellStatus(std::move(preview), state, outcome, read_status, next);
  return next;
}

void Reconciler::TellStatus(Preview preview, const LbState& state, const Executor::Outcome& outcome,
                            const absl::Status& read, absl::Time next) {
  if (parts_.status == nullptr) return;
  PassReport report{.preview = std::move(preview),
                    .memory = state.memory,
                    .dry_run = settings_.dry_run,
                    .read = read,
                    .slots = state.capacity.slots,
                    .confirmed_at = state.capacity.confirmed_at,
                    .next_look = next};
  if (outcome.accepted || !outcome.status.ok()) report.written = outcome.status;
  parts_.status->Report(std::move(report));
}

Reconciler::Preview Reconciler::PlanFor(const TopologyView& view, const oci::Ocid& load_balancer,
                                        LbState& state, absl::Status* oci_status) {
  Preview preview;
  state.lookups_this_pass = 0;
  preview.input = collector_.Collect(view, load_balancer, state, edges_.clock.Now());
  capacity_.Bound(preview.input, state);
  preview.input.waiters = parts_.board.Waiters(preview.input.now);
  if (LookDue(preview.input) <= preview.input.now) {
    drain::Questions look;
    look.read = look.work_requests = true;
    oci_status->Update(answerer_.Answer(look, view, state, preview.input));
  }
  preview.plan = drain::MakePlan(preview.input);
  for (int round = 0; !preview.plan.questions.empty(); ++round) {
    CHECK_LT(round, kMaxRounds) << "a question is asked again and again:\n"
                                << drain::Explain(preview.input, preview.plan);
    oci_status->Update(answerer_.Answer(preview.plan.questions, view, state, preview.input));
    if (preview.plan.questions.own_work_request) NoteWorkRequest(view, preview.input, state);
    capacity_.Bound(preview.input, state);
    preview.plan = drain::MakePlan(preview.input);
  }
  return preview;
}

// When a look is due for Pods that ask whether they are still drained. One serves all who
// have asked before it; those who ask after it wait for as long as between two polls.
absl::Time Reconciler::LookDue(const drain::Input& input) {
  if (input.paused) return absl::InfiniteFuture();
  return parts_.board.LookDue(input.load_balancer, input.options.work_request_poll);
}

// Once a failure is planned again at once; from the second in a row the cause is
// not passing, and each attempt moves the ETag under the ingress controller.
void Reconciler::NoteWorkRequest(const TopologyView& view, drain::Input& input, LbState& state) {
  const std::optional<oci::WorkRequest>& ended = input.own_work_request;
  if (!ended.has_value() || !ended->finished()) return;
  const absl::Time until = std::min(ended->time_finished, edges_.clock.Now());
  parts_.reporter.metrics().CountWorkRequest(
      ended->state == oci::WorkRequestState::kSucceeded,
      std::max(until - input.memory.own_write->accepted_at, absl::ZeroDuration()));
  if (ended->state == oci::WorkRequestState::kSucceeded) {
    state.work_failures_in_row = 0;
    return;
  }
  const std::string why = ended->error_details.empty() ? ended->message : ended->error_details;
  const bool limit = IsBackendLimit(why);
  const absl::Time now = edges_.clock.Now();
  const oci::BackendSetName set = input.memory.own_write->set;
  if (limit) capacity_.TellRefusal(view, input, set, why);
  const bool news = limit && CapacityKeeper::NoteRefusal(input, set, now + kFlagsOnly, state);
  if (++state.work_failures_in_row < 2 && (!limit || news)) return;
  // What cannot be applied may be the membership, at a limit that is not known here.
  if (input.memory.own_write->sent.has_value()) {
    state.flags_only_until = now + kFlagsOnly;
    input.options.carry_membership = input.options.membership_behind_foreign = false;
  }
  if (state.work_failures_in_row < 2) return;
  absl::MutexLock lock(&mutex_);
  state.write_not_before =
      now + base::FullJitter(kTrouble, state.work_failures_in_row - 1, random_);
  input.write_not_before = state.write_not_before;
}

bool Reconciler::AtRest(const oci::Ocid& load_balancer) { return StateOf(load_balancer).at_rest; }

absl::StatusOr<Reconciler::Preview> Reconciler::MakePreview(const oci::Ocid& load_balancer) {
  const std::shared_ptr<const TopologyView> view = parts_.topology.View();
  if (view->mapping.load_balancers.count(load_balancer) == 0) {
    return absl::NotFoundError(
        absl::StrCat("no IngressClass names load balancer ", load_balancer.value()));
  }
  const absl::Status synced = collector_.Synced(*view, load_balancer);
  if (!synced.ok()) return synced;
  LbState& state = StateOf(load_balancer);
  absl::Status status = ledgers_.Load(load_balancer, state, edges_.clock.Now());
  if (!status.ok()) return status;
  Preview preview = PlanFor(*view, load_balancer, state, &status);
  if (!status.ok()) return status;
  return preview;
}

absl::StatusOr<CapacityKeeper::Preview> Reconciler::MakeCapacityPreview(
    const oci::Ocid& load_balancer) {
  const absl::StatusOr<Preview> preview = MakePreview(load_balancer);
  if (!preview.ok()) return preview.status();
  return capacity_.MakePreview({preview->input, preview->plan.ledger, preview->plan.memory},
                               StateOf(load_balancer));
}

void Reconciler::TellDryRun(const Preview& preview, LbState& state) {
  const std::vector<drain::Decision> decisions = drain::AllDecisions(preview.input, preview.plan);
  std::erase_if(state.told_dry, [&](const auto& told) {
    return std::none_of(decisions.begin(), decisions.end(), [&](const drain::Decision& decision) {
      return decision.key == told.first && decision.pod_uid == told.second;
    });
  });
  if (!preview.plan.write.has_value()) return;
  drain::Write news = *preview.plan.write;
  std::erase_if(news.flips, [&](const drain::Flip& flip) {
    std::string& told = state.told_dry[flip.key];
    return std::exchange(told, flip.pod_uid) == flip.pod_uid;
  });
  parts_.reporter.TellDraining(news, preview.input, /*dry_run=*/true);
}

absl::Duration Reconciler::Backoff(const absl::Status& status, int failures) {
  absl::MutexLock lock(&mutex_);
  switch (status.code()) {
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDeadlineExceeded:
      // 409: the load balancer is not ready for any write.
      if (oci::HttpStatusOf(status) == 409) return base::FullJitter(kBusy, failures, random_);
      // Read and plan again at once; from the third in a row somebody is faster.
      return failures < 3 ? absl::ZeroDuration()
                          : base::FullJitter(kConflict, failures - 2, random_);
    case absl::StatusCode::kNotFound:
      return failures < 3 ? absl::ZeroDuration() : base::FullJitter(kTrouble, failures, random_);
    case absl::StatusCode::kFailedPrecondition:
      return base::FullJitter(kBusy, failures, random_);
    case absl::StatusCode::kUnavailable:
      return std::max(base::FullJitter(kTrouble, failures, random_),
                      oci::RetryAfterOf(status).value_or(absl::ZeroDuration()));
    default:
      return base::FullJitter(kHopeless, failures, random_) + absl::Seconds(1);
  }
}

absl::Duration Reconciler::ReadBackoff(const absl::Status& status, int failures) {
  // An answer that was cut or garbled on its way is no reason to stay away.
  const bool garbled = absl::IsInvalidArgument(status) && oci::HttpStatusOf(status) == 0;
  const absl::Duration wait =
      Backoff(garbled ? absl::UnavailableError(status.message()) : status, failures);
  return std::max(wait, absl::Milliseconds(200));
}

absl::Time Reconciler::AfterWrite(const TopologyView& view, const Preview& preview, LbState& state,
                                  const Executor::Outcome& outcome) {
  const absl::Time now = edges_.clock.Now();
  const oci::Ocid& load_balancer = preview.input.load_balancer;
  if (outcome.accepted) {
    state.aborted_in_row = state.failures_in_row = 0;
    state.write_not_before = absl::InfinitePast();
    LogAccepted(*preview.plan.write, state.memory);
    parts_.reporter.TellDraining(*preview.plan.write, preview.input, /*dry_run=*/false);
    return now + preview.input.options.work_request_poll;
  }
  if (outcome.ledger_first && outcome.status.ok()) {
    const absl::Time patience_ends =
        state.ledger_failing_since + preview.input.options.ledger_patience;
    const absl::Time retry = patience_ends > now ? std::min(state.ledger_not_before, patience_ends)
                                                 : state.ledger_not_before;
    return std::min(retry, preview.plan.next_look);
  }
  if (outcome.status.ok()) return preview.plan.next_look;
  DistrustRead(state);
  const drain::Write& write = *preview.plan.write;
  int& failures = absl::IsAborted(outcome.status) ? state.aborted_in_row : state.failures_in_row;
  absl::Duration wait = Backoff(outcome.status, ++failures);
  const bool limit = IsBackendLimit(outcome.status.message()) && !write.change.additions.empty();
  if (limit && CapacityKeeper::NoteRefusal(preview.input, write.set, now + kFlagsOnly, state)) {
    if (failures == 1) wait = absl::ZeroDuration();
  } else if (IsRefusedSet(write, outcome.status)) {
    state.flags_only_until = now + kFlagsOnly;
    if (absl::IsInvalidArgument(outcome.status)) state.single_writes_until = now + kFlagsOnly;
    if (failures == 1) wait = absl::ZeroDuration();
  }
  LogRefused(write, outcome.status, wait);
  if (IsBackendLimit(outcome.status.message())) {
    capacity_.TellRefusal(view, preview.input, write.set, outcome.status.message());
  }
  if (!IsPassing(outcome.status)) {
    parts_.reporter.TellLoadBalancer(
        "WriteRefused", DescribeRefusal(write, load_balancer, outcome.status), view, load_balancer);
  }
  state.write_not_before = now + wait;
  return state.write_not_before;
}

absl::Time Reconciler::AfterRead(const TopologyView& view, const oci::Ocid& load_balancer,
                                 LbState& state, const absl::Status& status, absl::Time next) {
  if (status.ok()) {
    state.read_failures_in_row = 0;
    state.read_failing_since = absl::InfiniteFuture();
    return next;
  }
  const absl::Time now = edges_.clock.Now();
  state.read_failing_since = std::min(state.read_failing_since, now);
  LOG(WARNING) << "load balancer " << load_balancer
               << " not read: " << status.ToString(absl::StatusToStringMode::kWithNoExtraData);
  if (absl::IsNotFound(status)) {
    parts_.reporter.TellLoadBalancer("LoadBalancerNotFound", DescribeUnread(load_balancer, status),
                                     view, load_balancer);
  } else if (!IsPassing(status) || now - state.read_failing_since >= kReadPatience) {
    parts_.reporter.TellLoadBalancer("LoadBalancerNotReadable",
                                     DescribeUnread(load_balancer, status), view, load_balancer);
  }
  state.read_not_before = now + ReadBackoff(status, ++state.read_failures_in_row);
  return state.read_not_before;
}

}  // namespace controller

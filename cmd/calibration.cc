#include "cmd/calibration.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/capacity_keeper.h"
#include "oci/http_status.h"

namespace cmd {
namespace {

constexpr int kTokenLength = 32;
// Addresses for documentation (RFC 5737), which nobody has.
constexpr char kNobody[] = "192.0.2.1";
constexpr int kFirstPort = 10'000;

absl::Status StateError(absl::string_view what) {
  return absl::FailedPreconditionError(std::string(what));
}

// What the ingress controller calls its sets: it would write to them at the
// same time.
bool IsIngressControllers(absl::string_view set) {
  if (set == "default_ingress") return true;
  return set.size() == 18 && absl::StartsWith(set, "bs_") &&
         std::all_of(set.begin() + 3, set.end(), absl::ascii_isxdigit);
}

const oci::Backend* Find(const oci::BackendSet& set, const oci::BackendName& name) {
  const auto found =
      std::find_if(set.backends.begin(), set.backends.end(),
                   [&](const oci::Backend& backend) { return backend.name == name; });
  return found == set.backends.end() ? nullptr : &*found;
}

std::string FlagsOf(const oci::Backend& backend) {
  return absl::StrCat("drain=", backend.drain ? "true" : "false",
                      ", offline=", backend.offline ? "true" : "false");
}

bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsAborted(status) || absl::IsFailedPrecondition(status);
}

}  // namespace

Calibrator::Calibrator(oci::LoadBalancerApi& api, base::Clock& clock, CalibrationOptions options,
                       CalibrationHooks hooks, uint64_t seed)
    : api_(api),
      clock_(clock),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      random_(seed) {}

absl::Status Calibrator::Read() {
  auto read = api_.GetLoadBalancer(options_.load_balancer);
  if (!read.ok()) return read.status();
  if (read->load_balancer.backend_sets.count(options_.set) == 0) {
    std::string names;
    for (const auto& [name, set] : read->load_balancer.backend_sets) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", name.value());
    }
    return absl::NotFoundError(absl::StrCat("load balancer ", options_.load_balancer.value(),
                                            " has no backend set ", options_.set.value(),
                                            "; there are: ", names.empty() ? "none" : names));
  }
  read_ = *std::move(read);
  return absl::OkStatus();
}

absl::Status Calibrator::Check() {
  const std::string& set = options_.set.value();
  if (IsIngressControllers(set)) {
    return StateError(absl::StrCat("backend set ", set,
                                   " is an ingress controller's, which would write to it at the "
                                   "same time; make a load balancer with a set of your own"));
  }
  if (absl::Status status = Read(); !status.ok()) return status;
  const std::string& state = read_.load_balancer.lifecycle_state;
  if (state != "ACTIVE") {
    return StateError(absl::StrCat("load balancer ", options_.load_balancer.value(), " is ", state,
                                   "; wait until it is ACTIVE"));
  }
  if (Set().backends.empty()) {
    return StateError(absl::StrCat("backend set ", set, " has no backend; add one that answers"));
  }
  const auto work_requests = api_.ListWorkRequests(options_.load_balancer);
  if (!work_requests.ok()) return work_requests.status();
  for (const oci::WorkRequest& work_request : *work_requests) {
    if (work_request.finished()) continue;
    return StateError(absl::StrCat("work request ", work_request.id.value(), " (",
                                   work_request.type,
                                   ") is not done: somebody else writes to this load balancer; "
                                   "take one that nobody uses"));
  }
  original_ = Set();
  result_.backends = static_cast<int>(original_.backends.size());
  return absl::OkStatus();
}

Calibration Calibrator::Run() {
  result_.ended = Measure();
  Restore();
  return result_;
}

absl::Status Calibrator::Measure() {
  for (const auto measure : {&Calibrator::MeasureBackendWrites, &Calibrator::MeasureSetWrites,
                             &Calibrator::TrySecondWrite, &Calibrator::MeasureTraffic,
                             &Calibrator::MeasureOffline, &Calibrator::MeasureLimit}) {
    if (absl::Status status = (this->*measure)(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Calibrator::GoOn() const {
  if (restoring_ || !hooks_.is_over || !hooks_.is_over()) return absl::OkStatus();
  return absl::CancelledError("interrupted");
}

void Calibrator::Step(absl::string_view what) const {
  if (hooks_.step) hooks_.step(what);
}

const oci::BackendSet& Calibrator::Set() const {
  return read_.load_balancer.backend_sets.at(options_.set);
}

const oci::Backend& Calibrator::Probed() const {
  const oci::Backend* found = Find(Set(), original_.backends.front().name);
  return found == nullptr ? original_.backends.front() : *found;
}

oci::WriteGuard Calibrator::Guard(const oci::Etag& etag) {
  return {etag, oci::RetryToken(random_.Token(kTokenLength)), ""};
}

absl::StatusOr<oci::WorkRequestId> Calibrator::WriteDrain(bool drain) {
  if (absl::Status status = GoOn(); !status.ok()) return status;
  auto id = api_.UpdateBackend(options_.load_balancer, options_.set, Probed(),
                               {drain, Probed().offline}, Guard(read_.etag));
  if (id.ok()) unfinished_.push_back(*id);
  return id;
}

absl::StatusOr<oci::WorkRequestId> Calibrator::WriteSet(const oci::BackendSetChange& change) {
  if (absl::Status status = GoOn(); !status.ok()) return status;
  auto id = api_.UpdateBackendSet(options_.load_balancer, Set(), change, Guard(read_.etag));
  if (id.ok()) unfinished_.push_back(*id);
  return id;
}

absl::StatusOr<oci::WorkRequest> Calibrator::AwaitEnd(const oci::WorkRequestId& id) {
  const absl::Time until = clock_.Now() + options_.patience;
  for (;;) {
    const auto work_request = api_.GetWorkRequest(id);
    if (work_request.ok() && work_request->finished()) {
      std::erase(unfinished_, id);
      return work_request;
    }
    if (!work_request.ok() && !MayPass(work_request.status())) return work_request.status();
    if (absl::Status status = GoOn(); !status.ok()) return status;
    if (clock_.Now() >= until) {
      return absl::DeadlineExceededError(
          absl::StrCat("work request ", id.value(), " is not done after ",
                       absl::FormatDuration(options_.patience), work_request.ok() ? "" : ": ",
                       work_request.status().message()));
    }
    clock_.SleepFor(options_.poll);
  }
}

absl::StatusOr<Calibrator::Seen> Calibrator::Follow(const oci::WorkRequestId& id,
                                                    std::optional<bool> drain) {
  const absl::Time accepted = clock_.Now();
  Seen seen;
  seen.before = read_.etag;
  if (absl::Status status = Read(); !status.ok()) return status;
  seen.during = read_.etag;
  seen.shows_new = drain.has_value() && Probed().drain == *drain;
  // Only if it is not done after the read, the read was before its end.
  const auto state = api_.GetWorkRequest(id);
  seen.meanwhile = state.ok() && !state->finished();
  auto done = AwaitEnd(id);
  if (!done.ok()) return done.status();
  seen.done = *std::move(done);
  seen.took = seen.done.time_finished - seen.done.time_accepted;
  if (seen.took < absl::ZeroDuration() || seen.took == absl::InfiniteDuration()) {
    seen.took = clock_.Now() - accepted;
  }
  if (absl::Status status = Read(); !status.ok()) return status;
  seen.after = read_.etag;
  return seen;
}

void Calibrator::Learn(const Seen& seen) {
  if (!seen.meanwhile) return;
  const bool first = seen.during != seen.before;
  const bool second = seen.after != seen.during;
  const EtagMoves moves = first && second ? EtagMoves::kBoth
                          : first         ? EtagMoves::kAtAcceptance
                          : second        ? EtagMoves::kAtCompletion
                                          : EtagMoves::kNever;
  etag_disagrees_ =
      etag_disagrees_ || (result_.etag != EtagMoves::kUnknown && result_.etag != moves);
  result_.etag = etag_disagrees_ ? EtagMoves::kUnknown : moves;
  const ShownMeanwhile shown =
      seen.shows_new ? ShownMeanwhile::kNewState : ShownMeanwhile::kOldState;
  shown_disagrees_ =
      shown_disagrees_ || (result_.shown != ShownMeanwhile::kUnknown && result_.shown != shown);
  result_.shown = shown_disagrees_ ? ShownMeanwhile::kUnknown : shown;
}

absl::Status Calibrator::MeasureBackendWrites() {
  Step("UpdateBackend: its time, the ETag, and what a read shows meanwhile");
  const bool was = Probed().drain;
  const oci::Etag first = read_.etag;
  for (int i = 0; i < 2 * options_.samples; ++i) {
    const bool drain = i % 2 == 0 ? !was : was;
    const auto id = WriteDrain(drain);
    if (!id.ok()) return id.status();
    const auto seen = Follow(*id, drain);
    if (!seen.ok()) return seen.status();
    if (seen->done.state != oci::WorkRequestState::kSucceeded) {
      return StateError(absl::StrCat("UpdateBackend failed: ", seen->done.error_details));
    }
    Learn(*seen);
    result_.backend_times.push_back(seen->took);
  }
  return TryOldEtag(first);
}

// An ETag of before the first write, which must not be taken any more.
absl::Status Calibrator::TryOldEtag(const oci::Etag& old_etag) {
  if (old_etag == read_.etag) return absl::OkStatus();
  Step("a write with an old ETag");
  if (absl::Status status = GoOn(); !status.ok()) return status;
  // It changes nothing even if it is taken.
  const auto id = api_.UpdateBackend(options_.load_balancer, options_.set, Probed(),
                                     {Probed().drain, Probed().offline}, Guard(old_etag));
  if (id.ok()) {
    unfinished_.push_back(*id);
    result_.old_etag_refused = false;
    return Follow(*id, std::nullopt).status();
  }
  result_.old_etag_error = std::string(id.status().message());
  if (oci::HttpStatusOf(id.status()) != 412 && !absl::IsAborted(id.status())) return id.status();
  result_.old_etag_refused = true;
  return absl::OkStatus();
}

absl::Status Calibrator::MeasureSetWrites() {
  Step("UpdateBackendSet: its time");
  const bool was = Probed().drain;
  for (int i = 0; i < 2 * options_.samples; ++i) {
    const bool drain = i % 2 == 0 ? !was : was;
    oci::BackendSetChange change;
    change.flips[Probed().name] = {drain, Probed().offline};
    const auto id = WriteSet(change);
    if (!id.ok()) return id.status();
    const auto seen = Follow(*id, drain);
    if (!seen.ok()) return seen.status();
    if (seen->done.state != oci::WorkRequestState::kSucceeded) {
      return StateError(absl::StrCat("UpdateBackendSet failed: ", seen->done.error_details));
    }
    Learn(*seen);
    result_.set_times.push_back(seen->took);
  }
  return absl::OkStatus();
}

absl::Status Calibrator::TrySecondWrite() {
  Step("a second write while one is not done");
  const bool was = Probed().drain;
  const auto first = WriteDrain(!was);
  if (!first.ok()) return first.status();
  if (absl::Status status = Read(); !status.ok()) return status;
  const auto second = WriteDrain(was);
  const auto state = api_.GetWorkRequest(*first);
  const bool meanwhile = state.ok() && !state->finished();
  if (!second.ok()) {
    const bool refused =
        absl::IsFailedPrecondition(second.status()) || oci::HttpStatusOf(second.status()) == 409;
    if (!refused) return second.status();
    result_.second = SecondWrite::kRefused;
    result_.second_error = std::string(second.status().message());
  } else if (meanwhile) {
    result_.second = SecondWrite::kQueued;
  }
  if (const auto done = AwaitEnd(*first); !done.ok()) return done.status();
  if (second.ok()) {
    if (const auto done = AwaitEnd(*second); !done.ok()) return done.status();
    return Read();
  }
  if (absl::Status status = Read(); !status.ok()) return status;
  const auto back = WriteDrain(was);
  if (!back.ok()) return back.status();
  return Follow(*back, was).status();
}

absl::Status Calibrator::MeasureTraffic() {
  if (!hooks_.traffic) return absl::OkStatus();
  Step("requests without a write");
  auto control = hooks_.traffic([] {});
  if (!control.ok()) return control.status();
  result_.control = *control;
  // What fails by itself tells nothing of a write.
  if (control->failed > 0 || control->requests == 0) return absl::OkStatus();
  Step("requests during a whole-set write that changes nothing");
  absl::Status written;
  auto figures = hooks_.traffic([&] {
    const auto id = WriteSet({});
    written = id.ok() ? Follow(*id, std::nullopt).status() : id.status();
  });
  if (!written.ok()) return written;
  if (!figures.ok()) return figures.status();
  result_.whole_set = *figures;
  return absl::OkStatus();
}

absl::Status Calibrator::MeasureOffline() {
  if (!result_.control.has_value() || result_.control->failed > 0 || !result_.whole_set) {
    return absl::OkStatus();
  }
  Step("requests while every backend of the set goes offline");
  oci::BackendSetChange change;
  for (const oci::Backend& backend : Set().backends) {
    change.flips[backend.name] = {backend.drain, true};
  }
  absl::Status written;
  auto figures = hooks_.traffic([&] {
    const auto id = WriteSet(change);
    written = id.ok() ? Follow(*id, std::nullopt).status() : id.status();
  });
  if (!written.ok()) return written;
  if (!figures.ok()) return figures.status();
  result_.offline = *figures;
  const auto back = WriteSet(WayBack());
  if (!back.ok()) return back.status();
  return Follow(*back, std::nullopt).status();
}

absl::StatusOr<bool> Calibrator::Takes(int backends) {
  Step(absl::StrCat("whether the set takes ", backends, " backends"));
  oci::BackendSetChange change;
  const int missing = backends - static_cast<int>(Set().backends.size());
  for (int i = 0; i < missing; ++i) {
    oci::Backend backend;
    backend.ip_address = kNobody;
    backend.port = kFirstPort + i;
    backend.name = oci::MakeBackendName(backend.ip_address, backend.port);
    own_.insert(backend.name);
    change.additions.push_back(std::move(backend));
  }
  LimitFigures& figures = *result_.limit;
  const auto refused = [&](bool at_once, std::string error) -> absl::StatusOr<bool> {
    if (!controller::IsBackendLimit(error)) {
      return StateError(absl::StrCat("the set does not take ", backends,
                                     " backends, and not for their number: ", error));
    }
    figures.at_once = at_once;
    figures.error = std::move(error);
    return false;
  };
  const auto id = WriteSet(change);
  if (!id.ok()) {
    const bool answered =
        absl::IsResourceExhausted(id.status()) || absl::IsInvalidArgument(id.status());
    if (!answered) return id.status();
    return refused(true, std::string(id.status().message()));
  }
  const auto seen = Follow(*id, std::nullopt);
  if (!seen.ok()) return seen.status();
  if (seen->done.state != oci::WorkRequestState::kSucceeded) {
    const oci::WorkRequest& done = seen->done;
    return refused(false, done.error_details.empty() ? done.message : done.error_details);
  }
  figures.most = backends;
  if (absl::Status status = RemoveOwn(); !status.ok()) return status;
  return true;
}

absl::Status Calibrator::RemoveOwn() {
  const auto id = WriteSet(WayBack());
  if (!id.ok()) return id.status();
  return Follow(*id, std::nullopt).status();
}

// One above the guess first, then the guess itself: mostly that is all. Else
// the number lies between what the set has and the guess, and is looked for by
// halves.
absl::Status Calibrator::MeasureLimit() {
  if (!options_.limits) return absl::OkStatus();
  result_.limit.emplace();
  int taken = static_cast<int>(Set().backends.size());
  result_.limit->most = taken;
  int refused = std::max(options_.limit_guess, taken) + 1;
  auto takes = Takes(refused);
  if (!takes.ok() || *takes) return takes.status();
  for (int next = refused - 1; refused - taken > 1; next = taken + (refused - taken) / 2) {
    takes = Takes(next);
    if (!takes.ok()) return takes.status();
    (*takes ? taken : refused) = next;
  }
  result_.limit->most = taken;
  result_.limit->is_limit = true;
  return absl::OkStatus();
}

oci::BackendSetChange Calibrator::WayBack() const {
  oci::BackendSetChange change;
  for (const oci::Backend& now : Set().backends) {
    const oci::Backend* then = Find(original_, now.name);
    if (then != nullptr && (then->drain != now.drain || then->offline != now.offline)) {
      change.flips[now.name] = {then->drain, then->offline};
    }
    if (then == nullptr && own_.count(now.name) != 0) change.removals.push_back(now.name);
  }
  return change;
}

// OK: the set is as it was, and nothing of ours is under way.
absl::Status Calibrator::TryRestore() {
  while (!unfinished_.empty()) {
    const auto done = AwaitEnd(unfinished_.front());
    if (!done.ok()) return done.status();
  }
  // A write whose answer was lost is known here alone.
  const auto work_requests = api_.ListWorkRequests(options_.load_balancer);
  if (!work_requests.ok()) return work_requests.status();
  for (const oci::WorkRequest& work_request : *work_requests) {
    if (work_request.finished()) continue;
    return absl::UnavailableError(
        absl::StrCat("work request ", work_request.id.value(), " is not done"));
  }
  if (absl::Status status = Read(); !status.ok()) return status;
  const oci::BackendSetChange change = WayBack();
  if (change.empty()) return absl::OkStatus();
  const auto id = WriteSet(change);
  return id.ok() ? absl::UnavailableError("to be read back") : id.status();
}

void Calibrator::Restore() {
  Step("that the set is as it was");
  restoring_ = true;
  const absl::Time until = clock_.Now() + options_.patience;
  absl::Status status;
  for (;;) {
    status = TryRestore();
    if (status.ok() || !MayPass(status) || clock_.Now() >= until) break;
    clock_.SleepFor(options_.poll);
  }
  if (status.ok()) {
    for (const oci::Backend& then : original_.backends) {
      if (Find(Set(), then.name) != nullptr) continue;
      result_.left_behind.push_back(
          absl::StrCat("backend ", then.name.value(), " is gone, and not by us"));
    }
    return;
  }
  const oci::BackendSetChange change = WayBack();
  for (const auto& [name, flags] : change.flips) {
    const oci::Backend* now = Find(Set(), name);
    const oci::Backend* then = Find(original_, name);
    result_.left_behind.push_back(absl::StrCat("backend ", name.value(), " has ", FlagsOf(*now),
                                               " and had ", FlagsOf(*then)));
  }
  if (!change.removals.empty()) {
    result_.left_behind.push_back(absl::StrCat(change.removals.size(), " backends of ", kNobody,
                                               " that were added, from ",
                                               change.removals.front().value(), " on"));
  }
  result_.left_behind.push_back(
      absl::StrCat("set ", options_.set.value(), " of ", options_.load_balancer.value(),
                   " could not be put back, as last read: ", status.message()));
}

}  // namespace cmd

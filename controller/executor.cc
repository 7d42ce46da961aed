#include "controller/executor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "drain/explain.h"
#include "oci/http_status.h"

namespace controller {
namespace {

constexpr int kTokenLength = 32;

// Nothing is drained that is not written: no deadline is missed by it.
void ForgetUnwritten(const drain::Input& input, const drain::Plan& plan, LbState& state) {
  if (!plan.write.has_value()) return;
  for (const drain::Flip& flip : plan.write->flips) {
    const auto before = input.ledger.find(flip.key);
    if (before == input.ledger.end()) {
      state.ledger.erase(flip.key);
    } else {
      state.ledger[flip.key] = before->second;
    }
  }
}

// Nothing came back, or what comes from a gateway as easily as from the API: the
// write may have been accepted.
bool MayBeAccepted(const absl::Status& status) {
  const int answer = oci::HttpStatusOf(status);
  const bool on_its_way = absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status);
  return answer >= 500 || (answer == 0 && on_its_way);
}

}  // namespace

Executor::Executor(const Edges& edges, LedgerStore& ledgers, const Settings& settings,
                   uint64_t seed)
    : edges_(edges), ledgers_(ledgers), settings_(settings), random_(seed) {}

Executor::Outcome Executor::Run(const drain::Input& input, const drain::Plan& plan,
                                LbState& state) {
  Outcome outcome;
  state.memory = plan.memory;
  state.ledger = plan.ledger;
  if (settings_.dry_run) {
    ForgetUnwritten(input, plan, state);
    return outcome;
  }
  const absl::Status saved =
      ledgers_.Save(input.load_balancer, plan.ledger, state, edges_.clock.Now());
  if (!saved.ok()) {
    const absl::Duration failing = edges_.clock.Now() - state.ledger_failing_since;
    outcome.ledger_first = true;
    if (failing < input.options.ledger_patience) return outcome;
  }
  if (!plan.write.has_value()) return outcome;
  const absl::StatusOr<oci::WorkRequestId> accepted = Send(input.load_balancer, *plan.write);
  const absl::Time now = edges_.clock.Now();
  if (!accepted.ok()) {
    outcome.status = accepted.status();
    if (MayBeAccepted(outcome.status)) state.memory = drain::Lost(plan, now);
    return outcome;
  }
  outcome.accepted = true;
  state.memory = drain::Accepted(plan, *accepted, now);
  state.own_work_request_polled_at = now;
  return outcome;
}

oci::WriteGuard Executor::GuardFor(const drain::Write& write) {
  absl::MutexLock lock(&mutex_);
  return {write.etag, oci::RetryToken(random_.Token(kTokenLength)),
          absl::StrCat("oci-drain-", drain::Name(write.reason), "-", random_.Token(12))};
}

absl::StatusOr<oci::WorkRequestId> Executor::Send(const oci::Ocid& load_balancer,
                                                  const drain::Write& write) {
  const oci::WriteGuard guard = GuardFor(write);
  edges_.budget.Spend();
  if (write.whole_set) {
    return edges_.oci.UpdateBackendSet(load_balancer, *write.base, write.change, guard);
  }
  const auto& [name, flags] = *write.change.flips.begin();
  for (const oci::Backend& backend : write.base->backends) {
    if (backend.name == name) {
      return edges_.oci.UpdateBackend(load_balancer, write.set, backend, flags, guard);
    }
  }
  return absl::InternalError(absl::StrCat("backend ", name.value(), " is not in the set read"));
}

}  // namespace controller

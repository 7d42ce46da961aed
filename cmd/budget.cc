#include "cmd/budget.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cmd {
namespace {

// L, P, q, G, C and the load balancer's health check of the formula.
constexpr absl::Duration kSeenAndSent = absl::Milliseconds(1300);
constexpr absl::Duration kEndSeen = absl::Seconds(1);
constexpr int kQueuedBefore = 1;
constexpr absl::Duration kLinger = absl::Seconds(2);
constexpr absl::Duration kAskedAgain = absl::Seconds(3);
constexpr absl::Duration kHealthCheck = absl::Seconds(15);

absl::Duration WholeSeconds(absl::Duration duration) {
  return absl::Ceil(duration, absl::Seconds(1));
}

}  // namespace

WorkRequestTimes MeasureWorkRequests(const std::vector<oci::WorkRequest>& all) {
  std::vector<absl::Duration> took;
  for (const oci::WorkRequest& work_request : all) {
    if (work_request.state != oci::WorkRequestState::kSucceeded) continue;
    const absl::Duration duration = work_request.time_finished - work_request.time_accepted;
    if (duration > absl::ZeroDuration() && duration < absl::InfiniteDuration()) {
      took.push_back(duration);
    }
  }
  if (took.empty()) return {};
  std::sort(took.begin(), took.end());
  return {static_cast<int>(took.size()), took[took.size() / 2], took.back()};
}

LifecycleBudget ComputeBudget(const WorkRequestTimes& times, absl::Duration startup,
                              absl::Duration shutdown) {
  const absl::Duration work_requests = times.longest * (kQueuedBefore + 1);
  LifecycleBudget budget;
  budget.drain = kSeenAndSent + work_requests + kEndSeen;
  budget.replacement = startup + work_requests + kHealthCheck;
  budget.grace = WholeSeconds(budget.replacement + budget.drain + kAskedAgain + kLinger + shutdown);
  budget.wait = budget.grace - shutdown - kLinger;
  return budget;
}

std::string DescribeBudget(const LifecycleBudget& budget) {
  const int64_t sleep = absl::ToInt64Seconds(WholeSeconds(budget.drain));
  return absl::StrCat(
      "    a drain takes ", absl::FormatDuration(budget.drain), ", a replacement ",
      absl::FormatDuration(budget.replacement), ": terminationGracePeriodSeconds ",
      absl::ToInt64Seconds(budget.grace),
      " or more\n    preStop: drain-wait --timeout=", absl::FormatDuration(budget.wait),
      " --linger=2s, or without the barrier sleep ", sleep, "\n");
}

}  // namespace cmd

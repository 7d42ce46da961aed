#include "controller/rollout_times.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace controller {
namespace {

constexpr size_t kFewest = 3;
// More workloads than this on one load balancer: the samples begin anew.
constexpr size_t kMaxWorkloads = 1024;

void Add(std::deque<absl::Duration>& samples, absl::Duration sample) {
  samples.push_back(sample);
  if (samples.size() > RolloutTimes::kSamples) samples.pop_front();
}

// In whole seconds, so that a forecast stays good for a while.
std::optional<absl::Duration> Median(const std::deque<absl::Duration>& samples) {
  if (samples.size() < kFewest) return std::nullopt;
  std::vector<absl::Duration> sorted(samples.begin(), samples.end());
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  return absl::Ceil(sorted[sorted.size() / 2], absl::Seconds(1));
}

}  // namespace

void RolloutTimes::ObserveEndpoint(const drain::Input& input, const drain::Endpoint& endpoint) {
  if (endpoint.workload < 0 || endpoint.cached_uid != endpoint.uid) return;
  const auto [it, is_new] = pods_.try_emplace(endpoint.uid);
  PodTimes& pod = it->second;
  pod.seen = true;
  const std::string& workload = input.workloads[endpoint.workload].reference.uid;
  if (pod.workload != workload) pod.workload = workload;
  // What the first pass finds began at a moment that nobody saw.
  if (is_new && begun_ && !endpoint.serving) pod.first_seen = input.now;
  if (endpoint.serving && pod.first_seen != absl::InfinitePast()) {
    const absl::Duration address = capacity::Times().address;
    Add(samples_[pod.workload].startup, input.now - pod.first_seen + address);
    pod.first_seen = absl::InfinitePast();
  }
  if (endpoint.deletion_timestamp != absl::InfiniteFuture()) {
    pod.deleted_at = endpoint.deletion_timestamp - endpoint.deletion_grace;
  }
}

void RolloutTimes::Observe(const drain::Input& input, const std::set<std::string>& withdrawn) {
  if (samples_.size() > kMaxWorkloads) samples_.clear();
  for (auto& [uid, pod] : pods_) pod.seen = false;
  for (const drain::SetInput& set : input.sets) {
    for (const drain::Endpoint& endpoint : set.endpoints) ObserveEndpoint(input, endpoint);
  }
  begun_ = true;
  std::vector<std::string> gone;
  for (const auto& [uid, pod] : pods_) {
    if (!pod.seen) gone.push_back(uid);
  }
  // Which samples are kept is to be the same in every run.
  std::sort(gone.begin(), gone.end());
  for (const std::string& uid : gone) {
    const auto pod = pods_.find(uid);
    if (pod->second.deleted_at != absl::InfiniteFuture() && withdrawn.count(uid) == 0) {
      Add(samples_[pod->second.workload].termination, input.now - pod->second.deleted_at);
    }
    pods_.erase(pod);
  }
}

capacity::Times RolloutTimes::Of(const std::string& workload_uid,
                                 const drain::Memory& memory) const {
  capacity::Times times;
  if (!memory.service_times.empty()) {
    absl::Duration sum = absl::ZeroDuration();
    for (const absl::Duration time : memory.service_times) sum += time;
    const absl::Duration mean = sum / static_cast<double>(memory.service_times.size());
    times.registration = times.drained = absl::Ceil(1.5 * mean, absl::Seconds(1));
  }
  const auto known = samples_.find(workload_uid);
  if (known == samples_.end()) return times;
  times.startup = Median(known->second.startup).value_or(times.startup);
  times.termination = Median(known->second.termination);
  return times;
}

}  // namespace controller

#include "health/prometheus_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace health {
namespace {

using prometheus::ClientMetric;
using prometheus::Histogram;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::array<const char*, 6> kTargets = {"update_backend", "update_backend_set", "ledger",
                                                 "pod_condition",  "pod_label",          "event"};
constexpr std::array<const char*, 8> kResults = {
    "accepted", "precondition_failed", "conflict", "throttled",
    "refused",  "unavailable",         "unknown",  "fenced"};

const Histogram::BucketBoundaries kDrainBuckets = {0.1, 0.25, 0.5, 1,  2,  3,  5,
                                                   7.5, 10,   15,  20, 30, 60, 120};
const Histogram::BucketBoundaries kSlackBuckets = {-30, -10, -5, -1, 0,  1,  2,
                                                   5,   10,  20, 30, 60, 120};
const Histogram::BucketBoundaries kWorkBuckets = {1, 2, 4, 6, 8, 10, 12, 14, 17, 20, 30, 60, 120};

ClientMetric Sample(double value, std::vector<ClientMetric::Label> labels) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  return metric;
}

MetricFamily Gauges(const char* name, const char* help) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = MetricType::Gauge;
  return family;
}

void Add(SetSlots& sum, const SetSlots& set) {
  sum.live += set.live;
  sum.draining += set.draining;
  sum.foreign += set.foreign;
  sum.waiting += set.waiting;
  sum.reserved += set.reserved;
  sum.free += set.free;
}

void AddSlots(const std::string& load_balancer, const SetSlots& set, MetricFamily& family) {
  const std::pair<const char*, int> states[] = {
      {"live", set.live},       {"draining", set.draining}, {"foreign", set.foreign},
      {"waiting", set.waiting}, {"reserved", set.reserved}, {"free", set.free}};
  for (const auto& [state, count] : states) {
    family.metric.push_back(Sample(
        count,
        {{"load_balancer", load_balancer}, {"backend_set", set.backend_set}, {"state", state}}));
  }
}

MetricFamily SlotFamily() {
  return Gauges("oci_drain_backend_slots",
                "Backends of a set by state, Pods that wait for a slot, and slots that are "
                "reserved or free.");
}

// Without what stands before the first series.
std::string LinesOf(const std::string& load_balancer, const std::vector<SetSlots>& sets) {
  MetricFamily family = SlotFamily();
  const size_t head = prometheus::TextSerializer().Serialize({family}).size();
  for (const SetSlots& set : sets) AddSlots(load_balancer, set, family);
  return prometheus::TextSerializer().Serialize({family}).substr(head);
}

template <typename Family>
prometheus::Counter& Plain(Family& family) {
  return family.Add({});
}

}  // namespace

class PrometheusMetrics::Impl {
 public:
  Impl() {
    for (const char* target : kTargets) {
      auto& results = writes_.emplace_back();
      for (const char* result : kResults) {
        results.push_back(&write_family_.Add({{"target", target}, {"result", result}}));
      }
    }
  }

  std::string Render(const VitalsReport& report) const {
    std::vector<MetricFamily> families = registry_.Collect();
    families.push_back(Loops(report));
    absl::MutexLock lock(&mutex_);
    families.push_back(Caches());
    families.push_back(SlotFamily());  // the last: its series follow
    std::string text = prometheus::TextSerializer().Serialize(families);
    for (const auto& [load_balancer, slots] : slots_) text += slots.lines;
    return text;
  }

  void SetSlots(const std::string& load_balancer, const std::vector<health::SetSlots>& sets) {
    absl::MutexLock lock(&mutex_);
    const auto known = slots_.find(load_balancer);
    if (known != slots_.end()) {
      shown_sets_ -= known->second.sets;
      slots_.erase(known);
    }
    if (sets.empty() || slots_.size() >= kMaxLoadBalancers) return;
    std::vector<health::SetSlots> shown;
    health::SetSlots other;
    other.backend_set = "other";
    for (const health::SetSlots& set : sets) {
      if (shown_sets_ + shown.size() < kMaxSets) {
        shown.push_back(set);
      } else {
        Add(other, set);
      }
    }
    if (shown.size() < sets.size()) shown.push_back(other);
    shown_sets_ += shown.size();
    slots_[load_balancer] = {shown.size(), LinesOf(load_balancer, shown)};
  }

  void SetCaches(const std::vector<CacheAge>& ages) {
    absl::MutexLock lock(&mutex_);
    caches_.assign(ages.begin(),
                   ages.begin() + static_cast<std::ptrdiff_t>(std::min(ages.size(), kMaxWatches)));
  }

  prometheus::Counter& Write(WriteTarget target, WriteResult result) {
    return *writes_[static_cast<size_t>(target)][static_cast<size_t>(result)];
  }

 private:
  static MetricFamily Loops(const VitalsReport& report) {
    MetricFamily family = Gauges("oci_drain_loop_age_seconds",
                                 "Time since the loop ticked, declared waits excepted.");
    for (const LoopReport& loop : report.loops) {
      if (family.metric.size() >= kMaxLoops) break;
      family.metric.push_back(Sample(absl::ToDoubleSeconds(loop.age), {{"loop", loop.name}}));
    }
    return family;
  }
  MetricFamily Caches() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    MetricFamily family =
        Gauges("oci_drain_cache_age_seconds", "Time since the API server was heard on a watch.");
    for (const CacheAge& cache : caches_) {
      family.metric.push_back(Sample(absl::ToDoubleSeconds(cache.age), {{"watch", cache.watch}}));
    }
    return family;
  }

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& write_family_ =
      prometheus::BuildCounter()
          .Name("oci_drain_writes_total")
          .Help("Writes by what they were for and what came of them.")
          .Register(registry_);
  prometheus::Family<prometheus::Counter>& work_family_ =
      prometheus::BuildCounter()
          .Name("oci_drain_work_requests_total")
          .Help("Work requests of our writes that have ended.")
          .Register(registry_);

 public:
  Histogram& latency = prometheus::BuildHistogram()
                           .Name("oci_drain_latency_seconds")
                           .Help("From the deletion of a Pod to its confirmed drain.")
                           .Register(registry_)
                           .Add({}, kDrainBuckets);
  Histogram& slack = prometheus::BuildHistogram()
                         .Name("oci_drain_slack_seconds")
                         .Help("From the confirmed drain of a Pod to its deadline.")
                         .Register(registry_)
                         .Add({}, kSlackBuckets);
  Histogram& service_time = prometheus::BuildHistogram()
                                .Name("oci_drain_work_request_seconds")
                                .Help("From a write's acceptance to the end of its work request.")
                                .Register(registry_)
                                .Add({}, kWorkBuckets);
  prometheus::Counter& missed =
      Plain(prometheus::BuildCounter()
                .Name("oci_drain_deadlines_missed_total")
                .Help("Backends, once for each Pod, that were drained too late.")
                .Register(registry_));
  prometheus::Counter& taken_back =
      Plain(prometheus::BuildCounter()
                .Name("oci_drain_taken_back_total")
                .Help("Drains in force that somebody else's write cleared.")
                .Register(registry_));
  prometheus::Counter& work_succeeded = work_family_.Add({{"result", "succeeded"}});
  prometheus::Counter& work_failed = work_family_.Add({{"result", "failed"}});
  prometheus::Gauge& queue = prometheus::BuildGauge()
                                 .Name("oci_drain_queue_depth")
                                 .Help("Load balancers that wait for their next pass.")
                                 .Register(registry_)
                                 .Add({});
  prometheus::Gauge& leader = prometheus::BuildGauge()
                                  .Name("oci_drain_leader")
                                  .Help("1 while this replica may write.")
                                  .Register(registry_)
                                  .Add({});

 private:
  std::vector<std::vector<prometheus::Counter*>> writes_;
  mutable absl::Mutex mutex_;
  // Of a load balancer: how many sets are shown, and their series as they are rendered,
  // made when they change and not each time that somebody asks.
  struct Slots {
    size_t sets = 0;
    std::string lines;
  };
  std::map<std::string, Slots> slots_ ABSL_GUARDED_BY(mutex_);
  size_t shown_sets_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<CacheAge> caches_ ABSL_GUARDED_BY(mutex_);
};

PrometheusMetrics::PrometheusMetrics() : impl_(std::make_unique<Impl>()) {}
PrometheusMetrics::~PrometheusMetrics() = default;

void PrometheusMetrics::CountDrain(absl::Duration latency, absl::Duration slack) {
  impl_->latency.Observe(absl::ToDoubleSeconds(latency));
  if (slack != absl::InfiniteDuration()) impl_->slack.Observe(absl::ToDoubleSeconds(slack));
}

void PrometheusMetrics::CountMissedDeadline() { impl_->missed.Increment(); }
void PrometheusMetrics::CountTakenBack(int drains) { impl_->taken_back.Increment(drains); }

void PrometheusMetrics::CountWrite(WriteTarget target, WriteResult result) {
  impl_->Write(target, result).Increment();
}

void PrometheusMetrics::CountWorkRequest(bool succeeded, absl::Duration service_time) {
  (succeeded ? impl_->work_succeeded : impl_->work_failed).Increment();
  impl_->service_time.Observe(absl::ToDoubleSeconds(service_time));
}

void PrometheusMetrics::SetSlotsOf(const std::string& load_balancer,
                                   const std::vector<SetSlots>& sets) {
  impl_->SetSlots(load_balancer, sets);
}

void PrometheusMetrics::SetCacheAges(const std::vector<CacheAge>& ages) { impl_->SetCaches(ages); }
void PrometheusMetrics::SetQueueDepth(int load_balancers) { impl_->queue.Set(load_balancers); }
void PrometheusMetrics::SetLeader(bool leads) { impl_->leader.Set(leads ? 1 : 0); }

std::string PrometheusMetrics::Render(const VitalsReport& report) const {
  return impl_->Render(report);
}

}  // namespace health

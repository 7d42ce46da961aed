// Metrics in the text format of Prometheus.
#ifndef OCI_BACKEND_DRAIN_HEALTH_PROMETHEUS_METRICS_H_
#define OCI_BACKEND_DRAIN_HEALTH_PROMETHEUS_METRICS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "health/metrics.h"
#include "health/vitals.h"

namespace health {

// docs/health.md lists the names. The number of time series has a bound whatever the
// cluster holds: of more backend sets than kMaxSets the rest is shown as one set
// "other" for each load balancer, of more load balancers than kMaxLoadBalancers
// nothing is shown.
class PrometheusMetrics final : public Metrics {
 public:
  static constexpr size_t kMaxSets = 2000;
  static constexpr size_t kMaxLoadBalancers = 1000;
  static constexpr size_t kMaxWatches = 100;
  static constexpr size_t kMaxLoops = 200;

  PrometheusMetrics();
  ~PrometheusMetrics() override;

  void CountDrain(absl::Duration latency, absl::Duration slack) override;
  void CountMissedDeadline() override;
  void CountTakenBack(int drains) override;
  void CountWrite(WriteTarget target, WriteResult result) override;
  void CountWorkRequest(bool succeeded, absl::Duration service_time) override;
  void SetSlotsOf(const std::string& load_balancer, const std::vector<SetSlots>& sets) override;
  void SetCacheAges(const std::vector<CacheAge>& ages) override;
  void SetQueueDepth(int load_balancers) override;
  void SetLeader(bool leads) override;

  // All of it, and the loops of the report.
  std::string Render(const VitalsReport& report) const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_PROMETHEUS_METRICS_H_

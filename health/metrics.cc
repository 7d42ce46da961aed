#include "health/metrics.h"

namespace health {
namespace {

class Nothing final : public Metrics {
 public:
  void CountDrain(absl::Duration, absl::Duration) override {}
  void CountMissedDeadline() override {}
  void CountTakenBack(int) override {}
  void CountWrite(WriteTarget, WriteResult) override {}
  void CountWorkRequest(bool, absl::Duration) override {}
  void SetSlotsOf(const std::string&, const std::vector<SetSlots>&) override {}
  void SetCacheAges(const std::vector<CacheAge>&) override {}
  void SetQueueDepth(int) override {}
  void SetLeader(bool) override {}
};

}  // namespace

Metrics& NoMetrics() {
  static Nothing* const nothing = new Nothing;
  return *nothing;
}

}  // namespace health

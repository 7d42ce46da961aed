#include "health/prometheus_metrics.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace health {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t SeriesOf(const std::string& text) {
  size_t series = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] != '#') ++series;
  }
  return series;
}

// Everything that can be recorded, once.
void Fill(PrometheusMetrics& metrics) {
  metrics.CountDrain(absl::Seconds(8), absl::Seconds(12));
  metrics.CountMissedDeadline();
  metrics.CountTakenBack(2);
  metrics.CountWrite(WriteTarget::kUpdateBackendSet, WriteResult::kPreconditionFailed);
  metrics.CountWorkRequest(true, absl::Seconds(9));
  SetSlots set;
  set.backend_set = "bs_0123456789abcde";
  set.live = 10;
  set.draining = 3;
  set.free = 499;
  metrics.SetSlotsOf("ocid1.loadbalancer.oc1..a", {set});
  metrics.SetCacheAges({{"pods in namespace shop", absl::Seconds(30)}});
  metrics.SetQueueDepth(4);
  metrics.SetLeader(true);
}

VitalsReport Report() {
  VitalsReport report;
  report.loops = {{"worker-0", absl::Milliseconds(500), false}};
  return report;
}

TEST(PrometheusMetrics, ShowsWhatWasRecorded) {
  PrometheusMetrics metrics;
  Fill(metrics);
  const std::string text = metrics.Render(Report());
  for (const char* line : {
           "oci_drain_latency_seconds_bucket{le=\"10\"} 1",
           "oci_drain_latency_seconds_bucket{le=\"7.5\"} 0",
           "oci_drain_slack_seconds_sum 12",
           "oci_drain_deadlines_missed_total 1",
           "oci_drain_taken_back_total 2",
           "oci_drain_writes_total{result=\"precondition_failed\",target=\"update_backend_set\"} 1",
           "oci_drain_work_requests_total{result=\"succeeded\"} 1",
           "oci_drain_work_request_seconds_count 1",
           "backend_set=\"bs_0123456789abcde\",state=\"draining\"} 3",
           "oci_drain_cache_age_seconds{watch=\"pods in namespace shop\"} 30",
           "oci_drain_queue_depth 4",
           "oci_drain_leader 1",
           "oci_drain_loop_age_seconds{loop=\"worker-0\"} 0.5",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(PrometheusMetrics, ADrainWithoutADeadlineHasNoSlack) {
  PrometheusMetrics metrics;
  metrics.CountDrain(absl::Seconds(1), absl::InfiniteDuration());
  EXPECT_THAT(metrics.Render({}), HasSubstr("oci_drain_slack_seconds_count 0"));
}

TEST(PrometheusMetrics, AreCleanByPromtool) {
  if (std::system("command -v promtool > /dev/null") != 0) {
    GTEST_SKIP() << "promtool is not there (Debian package prometheus)";
  }
  PrometheusMetrics metrics;
  Fill(metrics);
  const std::string file = testing::TempDir() + "/metrics.txt";
  std::ofstream(file) << metrics.Render(Report());
  const std::string said = testing::TempDir() + "/promtool.txt";
  EXPECT_EQ(
      std::system(absl::StrCat("promtool check metrics < ", file, " > ", said, " 2>&1").c_str()),
      0);
  std::string words;
  std::getline(std::ifstream(said), words, '\0');
  EXPECT_EQ(words, "");
}

TEST(PrometheusMetrics, HaveABoundWhateverTheClusterHolds) {
  PrometheusMetrics metrics;
  VitalsReport report;
  for (int i = 0; i < 10'000; ++i) {
    SetSlots set;
    set.backend_set = absl::StrCat("bs_", i);
    set.live = 1;
    metrics.SetSlotsOf(absl::StrCat("ocid1.loadbalancer.oc1..", i / 16), {set, set});
    report.loops.push_back({absl::StrCat("watch ", i), absl::ZeroDuration(), false});
  }
  std::vector<SetSlots> many(10'000);
  for (SetSlots& set : many) set.live = 1;
  metrics.SetSlotsOf("ocid1.loadbalancer.oc1..many", many);
  metrics.SetCacheAges(std::vector<Metrics::CacheAge>(10'000));
  const std::string text = metrics.Render(report);
  EXPECT_LT(SeriesOf(text), 20'000u);
  EXPECT_THAT(text, HasSubstr("backend_set=\"other\",state=\"live\"} "));
}

TEST(PrometheusMetrics, ALoadBalancerThatIsGoneMakesRoom) {
  PrometheusMetrics metrics;
  const std::vector<SetSlots> all(PrometheusMetrics::kMaxSets);
  metrics.SetSlotsOf("first", all);
  metrics.SetSlotsOf("second", {SetSlots{"bs_a"}});
  EXPECT_THAT(metrics.Render({}), Not(HasSubstr("bs_a")));
  metrics.SetSlotsOf("first", {});
  metrics.SetSlotsOf("second", {SetSlots{"bs_a"}});
  EXPECT_THAT(metrics.Render({}), HasSubstr("bs_a"));
  EXPECT_THAT(metrics.Render({}), Not(HasSubstr("first")));
}

}  // namespace
}  // namespace health

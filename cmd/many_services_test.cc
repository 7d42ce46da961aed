// The controller's metrics and status keep their bounds whatever the cluster holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/barrier_peer_for_test.h"
#include "sim/child_process.h"
#include "sim/controller_world.h"
#include "sim/program.h"

namespace {

// Beyond the bound of 2,000 sets in any case.
#ifdef NDEBUG
constexpr int kServices = 10'000;
#else
constexpr int kServices = 3'000;
#endif
constexpr int kNamespaces = 100;
// A load balancer has at most 16 sets.
constexpr int kServicesOfOne = 16;
constexpr size_t kBalancers = (kServices + kServicesOfOne - 1) / kServicesOfOne;
// PrometheusMetrics: 2,000 sets with 6 states each, 200 loops, 100 watches, histograms and
// counters; and one set "other" for each of 625 load balancers.
constexpr size_t kMostSeries = 2'000 * 6 + 700 * 6 + 600;

size_t SeriesOf(const std::string& text) {
  size_t series = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "oci_drain_")) ++series;
  }
  return series;
}

// There are no Pods: nobody has to move anything.
sim::ControllerWorldOptions StillWorld() {
  sim::ControllerWorldOptions options;
  options.cluster.controllers_run = false;
  return options;
}

// How many load balancers have a series.
size_t BalancersIn(const std::string& text) {
  const std::string label = "load_balancer=\"";
  std::set<std::string> balancers;
  for (size_t at = text.find(label); at != std::string::npos; at = text.find(label, at + 1)) {
    const size_t from = at + label.size();
    balancers.insert(text.substr(from, text.find('"', from) - from));
  }
  return balancers.size();
}

class ManyServices : public testing::Test {
 protected:
  ManyServices() : log_(absl::StrCat(testing::TempDir(), "/controller.log")), world_(StillWorld()) {
    for (int first = 0; first < kServices; first += kServicesOfOne) {
      const std::string number = absl::StrCat(first / kServicesOfOne);
      std::vector<sim::WorldService> services;
      for (int i = first; i < std::min(kServices, first + kServicesOfOne); ++i) {
        services.push_back(world_.AddService({.ns = absl::StrCat("shop-", i % kNamespaces),
                                              .name = absl::StrCat("web-", i),
                                              .pods = 0,
                                              .ingress_class = absl::StrCat("class-", number)}));
      }
      const std::string ocid = absl::StrCat("ocid1.loadbalancer.oc1.iad.", number);
      world_.AddClass(absl::StrCat("class-", number), ocid);
      world_.AddLoadBalancer(ocid, services);
    }
  }

  void StartController() {
    std::vector<std::string> command = {"cmd/oci-drain-controller"};
    for (const std::string& flag : world_.ProgramFlags()) command.push_back(flag);
    for (const char* flag : {"--health_port=0", "--barrier_port=0", "--health_address=127.0.0.1",
                             "--oci_qps=100000", "--oci_burst=100000"}) {
      command.emplace_back(flag);
    }
    auto started = sim::ChildProcess::Start(command, log_);
    ASSERT_TRUE(started.ok()) << started.status();
    controller_ = *std::move(started);
    const auto knows_port = [&] {
      const std::string log = sim::ReadFile(log_).value_or("");
      const size_t at = log.find("probes on port ");
      return at != std::string::npos &&
             absl::SimpleAtoi(log.substr(at + 15, log.find(',', at) - at - 15), &port_);
    };
    ASSERT_TRUE(world_.Await("the health port", knows_port));
  }

  std::string Get(const std::string& target) const {
    return controller::Peer(port_, absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n"))
        .ReadAll();
  }

  const std::string log_;
  sim::ControllerWorld world_;
  std::unique_ptr<sim::ChildProcess> controller_;
  int port_ = 0;
};

TEST_F(ManyServices, AreBeyondTheBoundsOfMetricsAndStatus) {
  StartController();
  // Each load balancer shows at least its sum.
  ASSERT_TRUE(world_.Await("every load balancer was looked at",
                           [&] { return BalancersIn(Get("/metrics")) == kBalancers; }))
      << BalancersIn(Get("/metrics")) << sim::ReadFile(log_).value_or("").substr(0, 3000);
  const std::string metrics = Get("/metrics");
  EXPECT_LT(SeriesOf(metrics), kMostSeries);
  EXPECT_GT(SeriesOf(metrics), size_t{2'000} * 6) << "as many as are allowed are there";
  EXPECT_TRUE(absl::StrContains(metrics, "backend_set=\"other\""));
  const std::string status = Get("/statusz.json");
  EXPECT_TRUE(absl::StrContains(status, absl::StrCat("\"more_load_balancers\":", kBalancers - 100)))
      << status.substr(0, 500);
  EXPECT_FALSE(absl::StrContains(sim::ReadFile(log_).value_or(""), "is stuck"));
  EXPECT_LT(status.size(), size_t{2} << 20);
}

}  // namespace

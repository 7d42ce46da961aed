#include "controller/pod_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "annotations/table.h"
#include "sim/call_gate.h"
#include "sim/fake_api_server.h"
#include "sim/in_memory_kube_api.h"
#include "sim/json_tree.h"
#include "sim/virtual_clock.h"

namespace controller {
namespace {

using ::drain::GateProgress;
using sim::JsonTree;

const oci::Ocid kFirst("lb-a");
const oci::Ocid kSecond("lb-b");

// Lets something happen once, between what a call does and its answer.
class MeanwhileGate final : public sim::CallGate {
 public:
  explicit MeanwhileGate(std::function<void()> act) : act_(std::move(act)) {}

  sim::CallFate OnCall(const sim::Call&) override { return {}; }
  void OnAnswer(const sim::Call&, const absl::Status&, const oci::LoadBalancerRead*) override {
    if (act_ != nullptr) std::exchange(act_, nullptr)();
  }
  bool ended() const override { return false; }

 private:
  std::function<void()> act_;
};

// One Pod on an API server that keeps field ownership as a real one does.
class PodConditionsTest : public testing::Test {
 protected:
  PodConditionsTest() : api_(server_, clock_) {
    pod_.key = {"default", "web-0"};
    MakePod();
  }

  void MakePod() {
    Send("POST", "/api/v1/namespaces/default/pods",
         R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0"},)"
         R"("spec":{"nodeName":"n","containers":[{"name":"c","image":"x"}]}})",
         "application/json");
    pod_.uid = Pod()["metadata"]["uid"].AsString();
  }

  JsonTree Send(const std::string& method, const std::string& target, const std::string& body,
                const std::string& type) {
    const http::Response response = server_
                                        .Handle({.method = method,
                                                 .target = target,
                                                 .headers = {{"Content-Type", type}},
                                                 .body = body},
                                                clock_.Now())
                                        .response;
    return *JsonTree::Parse(response.body, target);
  }

  JsonTree Pod() { return Send("GET", "/api/v1/namespaces/default/pods/web-0", "", ""); }

  // The condition of that type; null if the Pod has none.
  JsonTree Condition(absl::string_view type) {
    const JsonTree pod = Pod();
    for (const JsonTree& condition : pod["status"]["conditions"].items()) {
      if (condition["type"].AsString() == type) return condition;
    }
    return JsonTree();
  }

  void Report(const oci::Ocid& load_balancer, std::optional<GateProgress> gate,
              std::optional<drain::DrainProgress> drain = std::nullopt) {
    drain::Input input;
    input.now = clock_.Now();
    input.load_balancer = load_balancer;
    input.read.emplace();
    drain::Plan plan;
    const drain::BackendKey key{oci::BackendSetName("bs"), oci::BackendName("10.0.0.1:80")};
    if (gate.has_value()) plan.gates.push_back({key, pod_.key, pod_.uid, *gate});
    if (drain.has_value()) {
      drain::Acknowledgement acknowledgement;
      acknowledgement.key = key;
      acknowledgement.pod = pod_.key;
      acknowledgement.pod_uid = pod_.uid;
      acknowledgement.progress = *drain;
      acknowledgement.release_at = release_at_;
      plan.acknowledgements.push_back(acknowledgement);
    }
    board_.Report(input, plan);
    conditions_.Report(input, plan);
  }

  // A pass ends while the first write is under way: it has been done, and is not answered.
  void WriteAllDuring(std::function<void()> pass) {
    MeanwhileGate gate(std::move(pass));
    const std::unique_ptr<kube::KubeApi> api = sim::GateCalls(api_, gate, clock_);
    while (conditions_.WriteOne(*api, clock_.Now())) {
    }
  }

  void WriteAll() {
    while (conditions_.WriteOne(api_, clock_.Now())) {
    }
  }

  sim::VirtualClock clock_{absl::FromUnixSeconds(1'796'007'884)};
  sim::FakeApiServer server_;
  sim::InMemoryKubeApi api_;
  kube::PodMetadata pod_;
  absl::Time release_at_ = absl::InfiniteFuture();
  std::set<oci::Ocid> load_balancers_{kFirst};
  DrainBoard board_{{[this](const kube::ObjectKey&) { return std::optional(pod_); },
                     [this](const kube::ObjectKey&) { return load_balancers_; },
                     [](const oci::Ocid&) {}}};
  PodConditions conditions_{
      board_, [this](const kube::ObjectKey&) { return load_balancers_; }, {true, true}};
};

TEST_F(PodConditionsTest, AGateIsFalseWithAReasonUntilEverySetIsReady) {
  load_balancers_.insert(kSecond);
  Report(kFirst, GateProgress::kReady);
  WriteAll();
  EXPECT_TRUE(Condition(annotations::kReadyCondition).is_null()) << "the other has not spoken";
  Report(kSecond, GateProgress::kNotHealthy);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "False");
  EXPECT_EQ(Condition(annotations::kReadyCondition)["reason"].AsString(), "NotHealthy");
  Report(kSecond, GateProgress::kReady);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "True");
  EXPECT_EQ(Condition(annotations::kReadyCondition)["reason"].AsString(), "Registered");
}

TEST_F(PodConditionsTest, AGateThatWasTrueIsNeverFalse) {
  Report(kFirst, GateProgress::kReady);
  WriteAll();
  Report(kFirst, GateProgress::kNotHealthy);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "True");
}

TEST_F(PodConditionsTest, AGateWhoseTrueIsUnderWayIsNeverFalse) {
  Report(kFirst, GateProgress::kNotHealthy);
  WriteAll();
  Report(kFirst, GateProgress::kReady);
  WriteAllDuring([&] { Report(kFirst, GateProgress::kDrainsFirst); });
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "True");
  Report(kFirst, GateProgress::kDrainsFirst);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "True");
}

// What is written is known, whatever was wanted meanwhile: else the last would not be
// written, since it had been before.
TEST_F(PodConditionsTest, WhatWasWantedWhileAWriteWasUnderWayIsWritten) {
  const drain::DrainProgress waiting = drain::DrainProgress::kWaiting;
  const drain::DrainProgress drained = drain::DrainProgress::kDrained;
  pod_.deletion_timestamp = clock_.Now() + absl::Hours(1);
  Report(kFirst, std::nullopt, drained);
  WriteAll();
  ASSERT_EQ(Condition(annotations::kDrainedCondition)["status"].AsString(), "True");
  release_at_ = clock_.Now();
  Report(kFirst, std::nullopt, waiting);
  WriteAllDuring([&] { Report(kFirst, std::nullopt, drained); });
  EXPECT_EQ(Condition(annotations::kDrainedCondition)["status"].AsString(), "True");
}

TEST_F(PodConditionsTest, AConditionThatIsForgottenWhileItIsWrittenIsKnownAllTheSame) {
  Report(kFirst, GateProgress::kReady);
  WriteAllDuring([&] { conditions_.ForgetWanted(); });
  Report(kFirst, GateProgress::kNotHealthy);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "True");
}

TEST_F(PodConditionsTest, TheFailSafeCountsAsReady) {
  Report(kFirst, GateProgress::kFailSafe);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "True");
  EXPECT_EQ(Condition(annotations::kReadyCondition)["reason"].AsString(), "FailSafe");
}

TEST_F(PodConditionsTest, NothingIsWrittenTwiceAndTheTransitionIsOfTheStatus) {
  Report(kFirst, GateProgress::kNotRegistered);
  WriteAll();
  const std::string since =
      Condition(annotations::kReadyCondition)["lastTransitionTime"].AsString();
  const std::string version = Pod()["metadata"]["resourceVersion"].AsString();
  clock_.SleepFor(absl::Seconds(5));
  Report(kFirst, GateProgress::kNotRegistered);
  EXPECT_EQ(conditions_.NextDue(), absl::InfiniteFuture());
  EXPECT_FALSE(conditions_.WriteOne(api_, clock_.Now()));
  EXPECT_EQ(Pod()["metadata"]["resourceVersion"].AsString(), version);
  Report(kFirst, GateProgress::kNotHealthy);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kReadyCondition)["reason"].AsString(), "NotHealthy");
  EXPECT_EQ(Condition(annotations::kReadyCondition)["lastTransitionTime"].AsString(), since);
}

TEST_F(PodConditionsTest, TheTwoConditionsDoNotTakeEachOtherAway) {
  Report(kFirst, GateProgress::kReady);
  WriteAll();
  pod_.deletion_timestamp = clock_.Now() + absl::Minutes(1);
  Report(kFirst, std::nullopt, drain::DrainProgress::kWaiting);
  EXPECT_FALSE(conditions_.WriteOne(api_, clock_.Now())) << "there is nothing to say yet";
  Report(kFirst, std::nullopt, drain::DrainProgress::kDrained);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kDrainedCondition)["status"].AsString(), "True");
  EXPECT_EQ(Condition(annotations::kDrainedCondition)["reason"].AsString(), "Drained");
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "True");
}

TEST_F(PodConditionsTest, ALoadBalancerWithoutASetOfThePodNeedOnlyHavePassedSinceItsDeletion) {
  load_balancers_.insert(kSecond);
  Report(kSecond, std::nullopt);
  clock_.SleepFor(absl::Seconds(1));
  pod_.deletion_timestamp = clock_.Now() + absl::Minutes(1);
  pod_.deletion_grace = absl::Minutes(1);
  Report(kFirst, std::nullopt, drain::DrainProgress::kDrained);
  EXPECT_FALSE(conditions_.WriteOne(api_, clock_.Now()));
  Report(kSecond, std::nullopt);
  clock_.SleepFor(absl::Seconds(5));
  Report(kFirst, std::nullopt, drain::DrainProgress::kDrained);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kDrainedCondition)["status"].AsString(), "True");
}

TEST_F(PodConditionsTest, WhenTimeIsUpTheConditionIsFalseWithTheReason) {
  pod_.deletion_timestamp = clock_.Now() + absl::Minutes(1);
  release_at_ = clock_.Now();
  Report(kFirst, std::nullopt, drain::DrainProgress::kHeldBack);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kDrainedCondition)["status"].AsString(), "False");
  EXPECT_EQ(Condition(annotations::kDrainedCondition)["reason"].AsString(), "LastBackend");
}

TEST_F(PodConditionsTest, AnotherPodOfThatNameIsNotTouched) {
  Report(kFirst, GateProgress::kReady);
  Send("DELETE", "/api/v1/namespaces/default/pods/web-0", R"({"gracePeriodSeconds":0})",
       "application/json");
  MakePod();
  WriteAll();
  EXPECT_TRUE(Condition(annotations::kReadyCondition).is_null());
  EXPECT_EQ(conditions_.NextDue(), absl::InfiniteFuture());
}

TEST_F(PodConditionsTest, ARefusedWriteIsTriedAgainLater) {
  server_.Forbid({.verb = "patch", .resource = "pods/status"});
  Report(kFirst, GateProgress::kReady);
  EXPECT_TRUE(conditions_.WriteOne(api_, clock_.Now()));
  EXPECT_EQ(conditions_.NextDue(), clock_.Now() + absl::Seconds(1));
  clock_.SleepFor(absl::Seconds(1));
  EXPECT_TRUE(conditions_.WriteOne(api_, clock_.Now()));
  EXPECT_EQ(conditions_.NextDue(), clock_.Now() + absl::Seconds(2));
  server_.PermitAll();
  clock_.SleepFor(absl::Seconds(2));
  WriteAll();
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "True");
}

TEST_F(PodConditionsTest, ALoadBalancerThatIsNotOursAnyMoreIsForgotten) {
  Report(kSecond, GateProgress::kNotRegistered);
  Report(kFirst, GateProgress::kReady);
  conditions_.Forget(kSecond);
  Report(kFirst, GateProgress::kReady);
  WriteAll();
  EXPECT_EQ(Condition(annotations::kReadyCondition)["status"].AsString(), "True");
}

}  // namespace
}  // namespace controller

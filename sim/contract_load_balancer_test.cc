// What LoadBalancerApi promises, tried on the fake in memory and on the same fake
// through HTTP, signatures and the REST client. The load balancer is the recorded one.
#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "oci/http_status.h"
#include "sim/contract.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

const oci::Ocid kLoadBalancer("ocid1.loadbalancer.oc1.iad.aaaa");
const oci::BackendSetName kSet("bs_f151df96ee98ff0");
const oci::BackendName kFirst("10.0.0.3:8080");
const oci::BackendName kThird("10.0.0.5:8080");
constexpr oci::BackendFlags kDrained = {.drain = true, .offline = false};

struct NamedDoor {
  const char* name;
  std::unique_ptr<LoadBalancerDoor> (*make)();
};

class LoadBalancerContract : public ::testing::TestWithParam<NamedDoor> {
 protected:
  oci::LoadBalancerApi& api() { return door_->api(); }

  oci::LoadBalancerRead Read() {
    auto read = api().GetLoadBalancer(kLoadBalancer);
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() ? *std::move(read) : oci::LoadBalancerRead();
  }

  static const oci::BackendSet& SetOf(const oci::LoadBalancerRead& read) {
    return read.load_balancer.backend_sets.at(kSet);
  }

  // nullptr if the set does not hold it.
  static const oci::Backend* Find(const oci::LoadBalancerRead& read, const oci::BackendName& name) {
    const auto& backends = SetOf(read).backends;
    const auto it = std::find_if(backends.begin(), backends.end(),
                                 [&](const oci::Backend& backend) { return backend.name == name; });
    return it == backends.end() ? nullptr : &*it;
  }

  oci::WriteGuard GuardOf(const oci::LoadBalancerRead& read) {
    ++tokens_;
    return {.if_match = read.etag,
            .retry_token = oci::RetryToken("token-" + std::to_string(tokens_)),
            .request_id = "request"};
  }

  absl::StatusOr<oci::WorkRequestId> Drain(const oci::LoadBalancerRead& read,
                                           const oci::WriteGuard& guard) {
    return api().UpdateBackend(kLoadBalancer, kSet, *Find(read, kFirst), kDrained, guard);
  }

  void Edit(const FakeLoadBalancer::Edit& edit) {
    door_->With([&](FakeLoadBalancer& fake) {
      const absl::Status edited = fake.EditNow(kLoadBalancer.value(), edit, door_->Now());
      EXPECT_TRUE(edited.ok()) << edited;
    });
  }

  size_t Writes() {
    size_t count = 0;
    door_->With([&](FakeLoadBalancer& fake) { count = fake.writes().size(); });
    return count;
  }

  const std::unique_ptr<LoadBalancerDoor> door_ = GetParam().make();
  int tokens_ = 0;
};

TEST_P(LoadBalancerContract, AReadIsOneViewWithItsEtag) {
  const oci::LoadBalancerRead read = Read();
  EXPECT_EQ(read.load_balancer.id, kLoadBalancer);
  EXPECT_EQ(read.load_balancer.lifecycle_state, "ACTIVE");
  EXPECT_FALSE(read.etag.empty());
  ASSERT_EQ(SetOf(read).backends.size(), 3u);
  EXPECT_EQ(SetOf(read).policy, "LEAST_CONNECTIONS");
  EXPECT_THAT(SetOf(read).document, HasSubstr("futureSetting"));
  EXPECT_EQ(Read().etag, read.etag) << "a read changes nothing";
}

TEST_P(LoadBalancerContract, WhatIsNotThereIsNotFound) {
  const oci::Ocid other("ocid1.loadbalancer.oc1.iad.none");
  EXPECT_TRUE(absl::IsNotFound(api().GetLoadBalancer(other).status()));
  EXPECT_TRUE(absl::IsNotFound(
      api().GetWorkRequest(oci::WorkRequestId("ocid1.loadbalancerworkrequest.x")).status()));
  EXPECT_TRUE(absl::IsNotFound(
      api().GetBackendHealth(kLoadBalancer, kSet, oci::BackendName("10.9.9.9:1")).status()));
  const oci::LoadBalancerRead read = Read();
  oci::Backend gone = *Find(read, kFirst);
  gone.name = oci::BackendName("10.9.9.9:8080");
  const absl::Status status =
      api().UpdateBackend(kLoadBalancer, kSet, gone, kDrained, GuardOf(read)).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
}

TEST_P(LoadBalancerContract, AWriteIsAcceptedFirstAndDoneWhenItsWorkRequestHasSucceeded) {
  const oci::LoadBalancerRead before = Read();
  const auto accepted = Drain(before, GuardOf(before));
  ASSERT_TRUE(accepted.ok()) << accepted.status();
  EXPECT_FALSE(Find(Read(), kFirst)->drain) << "204 is not drained";
  EXPECT_FALSE(api().GetWorkRequest(*accepted)->finished());
  const auto running = api().ListWorkRequests(kLoadBalancer);
  ASSERT_TRUE(running.ok() && running->size() == 1) << running.status();
  EXPECT_EQ(running->front().id, *accepted);
  EXPECT_EQ(running->front().type, "UpdateBackend");

  door_->Pass(absl::Seconds(11));
  const auto done = api().GetWorkRequest(*accepted);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->state, oci::WorkRequestState::kSucceeded);
  EXPECT_EQ(done->time_finished - done->time_accepted, absl::Seconds(10));
  const oci::LoadBalancerRead after = Read();
  EXPECT_NE(after.etag, before.etag);
  EXPECT_TRUE(Find(after, kFirst)->drain);
  EXPECT_EQ(Find(after, kFirst)->settings, Find(before, kFirst)->settings);
  EXPECT_EQ(SetOf(after).settings, SetOf(before).settings);
}

TEST_P(LoadBalancerContract, AStaleEtagIsAbortedAndNothingIsWritten) {
  const oci::LoadBalancerRead read = Read();
  Edit([](rapidjson::Document& document) {
    document["displayName"].SetString("renamed");
    return ApiError();
  });
  const absl::Status status = Drain(read, GuardOf(read)).status();
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_EQ(oci::HttpStatusOf(status), 412);
  EXPECT_EQ(Writes(), 0u);
}

TEST_P(LoadBalancerContract, AWriteWithoutGuardIsRefusedBeforeItIsSent) {
  const oci::LoadBalancerRead read = Read();
  oci::WriteGuard guard = GuardOf(read);
  guard.if_match = oci::Etag();
  EXPECT_TRUE(absl::IsInvalidArgument(Drain(read, guard).status()));
  guard = GuardOf(read);
  guard.retry_token = oci::RetryToken();
  EXPECT_TRUE(absl::IsInvalidArgument(Drain(read, guard).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      api().UpdateBackendSet(kLoadBalancer, SetOf(read), {}, guard).status()));
  EXPECT_EQ(Writes(), 0u);
}

TEST_P(LoadBalancerContract, TheSameWriteWithTheSameTokenIsOneWrite) {
  const oci::LoadBalancerRead read = Read();
  const oci::WriteGuard guard = GuardOf(read);
  const auto first = Drain(read, guard);
  const auto again = Drain(read, guard);
  ASSERT_TRUE(first.ok() && again.ok()) << again.status();
  EXPECT_EQ(*again, *first);
  EXPECT_EQ(Writes(), 1u);
}

TEST_P(LoadBalancerContract, AWholeSetIsWrittenWithItsChangeAndNothingElse) {
  const oci::LoadBalancerRead before = Read();
  oci::BackendSetChange change;
  change.flips[kFirst] = kDrained;
  change.removals = {kThird};
  oci::Backend added;
  added.ip_address = "10.0.0.9";
  added.port = 8080;
  added.name = oci::MakeBackendName(added.ip_address, added.port);
  change.additions = {added};
  const auto accepted =
      api().UpdateBackendSet(kLoadBalancer, SetOf(before), change, GuardOf(before));
  ASSERT_TRUE(accepted.ok()) << accepted.status();
  door_->Pass(absl::Seconds(11));
  const oci::LoadBalancerRead after = Read();
  EXPECT_EQ(SetOf(after).settings, SetOf(before).settings);
  EXPECT_TRUE(Find(after, kFirst)->drain);
  EXPECT_EQ(Find(after, kThird), nullptr);
  ASSERT_NE(Find(after, added.name), nullptr);
  EXPECT_EQ(Find(after, added.name)->weight, 1);
  const oci::BackendName second("10.0.0.4:8080");
  EXPECT_EQ(Find(after, second)->document, Find(before, second)->document);
}

TEST_P(LoadBalancerContract, AChangeThatDoesNotFitTheSetIsInvalid) {
  const oci::LoadBalancerRead read = Read();
  oci::BackendSetChange change;
  change.removals = {oci::BackendName("10.9.9.9:1")};
  const absl::Status status =
      api().UpdateBackendSet(kLoadBalancer, SetOf(read), change, GuardOf(read)).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(Writes(), 0u);
}

TEST_P(LoadBalancerContract, MoreBackendsThanTheLimitAreResourceExhausted) {
  door_->With([](FakeLoadBalancer& fake) { fake.options().max_backends_per_set = 3; });
  const oci::LoadBalancerRead read = Read();
  oci::BackendSetChange change;
  oci::Backend added;
  added.ip_address = "10.0.0.9";
  added.port = 8080;
  added.name = oci::MakeBackendName(added.ip_address, added.port);
  change.additions = {added};
  const absl::Status status =
      api().UpdateBackendSet(kLoadBalancer, SetOf(read), change, GuardOf(read)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

TEST_P(LoadBalancerContract, AWorkRequestThatFailedSaysWhyAndChangesNothing) {
  door_->With([](FakeLoadBalancer& fake) {
    fake.AddWorkFault({.code = "BAD_INPUT", .message = "no such thing"});
  });
  const oci::LoadBalancerRead read = Read();
  const auto accepted = Drain(read, GuardOf(read));
  ASSERT_TRUE(accepted.ok()) << accepted.status();
  door_->Pass(absl::Seconds(11));
  const auto ended = api().GetWorkRequest(*accepted);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->state, oci::WorkRequestState::kFailed);
  EXPECT_EQ(ended->error_details, "BAD_INPUT: no such thing");
  EXPECT_FALSE(Find(Read(), kFirst)->drain);
}

TEST_P(LoadBalancerContract, AWriteDuringAnotherWaitsWhereTheServerDoesNotQueue) {
  door_->With(
      [](FakeLoadBalancer& fake) { fake.options().concurrent_writes = ConcurrentWrites::kRefuse; });
  const oci::LoadBalancerRead first = Read();
  ASSERT_TRUE(Drain(first, GuardOf(first)).ok());
  const oci::LoadBalancerRead second = Read();
  const absl::Status status = Drain(second, GuardOf(second)).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status) || absl::IsAborted(status)) << status;
  EXPECT_EQ(oci::HttpStatusOf(status), 409);
  EXPECT_EQ(Writes(), 1u);
}

TEST_P(LoadBalancerContract, WorkRequestsAreListedNewestFirst) {
  for (int i = 0; i < 3; ++i) {
    const oci::LoadBalancerRead read = Read();
    ASSERT_TRUE(Drain(read, GuardOf(read)).ok());
    door_->Pass(absl::Seconds(12));
  }
  const auto list = api().ListWorkRequests(kLoadBalancer);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 3u);
  EXPECT_GT((*list)[0].time_accepted, (*list)[1].time_accepted);
  EXPECT_GT((*list)[1].time_accepted, (*list)[2].time_accepted);
}

TEST_P(LoadBalancerContract, TheHealthOfASetThatNoListenerUsesIsUnknown) {
  door_->Pass(absl::Minutes(1));
  const auto health = api().GetBackendHealth(kLoadBalancer, kSet, kFirst);
  ASSERT_TRUE(health.ok()) << health.status();
  EXPECT_EQ(health->status, oci::HealthStatus::kUnknown);
  EXPECT_EQ(health->checked_at, absl::InfinitePast());
}

TEST_P(LoadBalancerContract, HealthIsToldByChecksThatHaveATime) {
  Edit([](rapidjson::Document& document) {
    document["listeners"]["route_80"]["defaultBackendSetName"].SetString("bs_f151df96ee98ff0");
    return ApiError();
  });
  door_->With([](FakeLoadBalancer& fake) {
    fake.FixHealth(kLoadBalancer.value(), kSet.value(), kFirst.value(), Health::kCritical);
  });
  door_->Pass(absl::Minutes(1));
  const auto health = api().GetBackendHealth(kLoadBalancer, kSet, kFirst);
  ASSERT_TRUE(health.ok()) << health.status();
  EXPECT_EQ(health->status, oci::HealthStatus::kCritical);
  EXPECT_GT(health->checked_at, door_->Now() - absl::Minutes(1));
  const auto of_set = api().GetBackendSetHealth(kLoadBalancer, kSet);
  ASSERT_TRUE(of_set.ok()) << of_set.status();
  EXPECT_EQ(of_set->total_backend_count, 3);
  EXPECT_THAT(of_set->critical, ::testing::ElementsAre(kFirst));
}

INSTANTIATE_TEST_SUITE_P(Doors, LoadBalancerContract,
                         ::testing::Values(NamedDoor{"InMemory", MakeInMemoryLoadBalancerDoor},
                                           NamedDoor{"Http", MakeHttpLoadBalancerDoor}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sim

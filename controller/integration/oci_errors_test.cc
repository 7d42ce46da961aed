// What the controller makes of a load balancer's API that refuses, fails, or
// loses its answers.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/controller_world.h"
#include "sim/load_balancer_document.h"

namespace integration {
namespace {

using sim::ControllerWorld;
using sim::Damage;
using sim::JsonTree;
using sim::kWorldClass;
using sim::kWorldLoadBalancer;
using sim::RequestFault;
using sim::RequestRecord;
using sim::WorldCall;
using sim::WorldService;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kOtherLoadBalancer[] = "ocid1.loadbalancer.oc1.iad.bbbb";

bool IsWrite(const RequestRecord& record) { return record.request.method == "PUT"; }

bool IsWholeSetWrite(const RequestRecord& record) {
  return IsWrite(record) && !absl::StrContains(record.request.target, "/backends/");
}

bool IsRead(const RequestRecord& record) {
  return record.request.method == "GET" &&
         absl::EndsWith(record.request.target, kWorldLoadBalancer);
}

RequestFault Answer(bool (*matches)(const RequestRecord&), http::Response answer, int times = 1) {
  RequestFault fault;
  fault.matches = matches;
  fault.times = times;
  fault.answer = std::move(answer);
  return fault;
}

class OciErrors : public ::testing::Test {
 protected:
  void Start() {
    world_.AddClass(kWorldClass, kWorldLoadBalancer);
    web_ = world_.AddService({.name = "web", .pods = 4});
    world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
    world_.StartController();
    ASSERT_TRUE(world_.AwaitLooks(2));
  }

  void Fault(RequestFault fault) {
    world_.oci().With(
        [&](auto&, sim::FakeLoadBalancerHttp& http) { http.faults().Add(std::move(fault)); });
  }

  // Somebody else changes the Pod's backend when our write has come and before it is
  // looked at: after the read that it rests on, however slow the machine is.
  void EditAtFirstWrite(const std::string& pod,
                        const std::function<void(rapidjson::Value&)>& change) {
    const std::string backend = world_.BackendOf(web_, pod);
    world_.oci().With([&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp& http) {
      RequestFault fault;
      fault.matches = [&core, change, backend, set = web_.backend_set(),
                       done = false](const RequestRecord& record) mutable {
        if (done || !IsWrite(record)) return false;
        done = true;
        const auto edit = [&](rapidjson::Document& lb) {
          change(*sim::FindBackend(*sim::FindBackendSet(lb, set), backend));
          return sim::ApiError();
        };
        EXPECT_EQ(core.EditNow(kWorldLoadBalancer, edit, record.time), absl::OkStatus());
        return false;
      };
      http.faults().Add(std::move(fault));
    });
  }

  std::vector<int> WriteStatuses() {
    std::vector<int> statuses;
    for (const WorldCall& write : world_.OciWrites()) statuses.push_back(write.status);
    return statuses;
  }

  ControllerWorld world_;
  WorldService web_;
};

TEST_F(OciErrors, AForeignWriteBetweenReadAndWriteKeepsItsWeight) {
  Start();
  EditAtFirstWrite("web-1", [](rapidjson::Value& backend) { backend["weight"] = 7; });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  EXPECT_EQ(WriteStatuses(), (std::vector<int>{412, 204}));
  EXPECT_EQ(world_.Backend(kWorldLoadBalancer, web_.backend_set(), world_.BackendOf(web_, "web-1"))
                ->weight,
            7);
  const std::vector<WorldCall> writes = world_.OciWrites();
  EXPECT_NE(writes[0].retry_token, writes[1].retry_token) << "another decision, another token";
}

TEST_F(OciErrors, AForeignWriterThatIsAlwaysFasterDoesNotStarveUs) {
  Start();
  int foreign = 0;
  RequestFault faster;
  faster.times = 0;
  world_.oci().With([&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp& http) {
    // Moves the ETag between the read of each of the first writes and the write.
    faster.matches = [&](const RequestRecord& record) {
      if (IsWrite(record) && ++foreign <= 6) {
        EXPECT_TRUE(core.EditNow(
                            kWorldLoadBalancer, [](auto&) { return sim::ApiError(); }, record.time)
                        .ok());
      }
      return false;
    };
    faster.times = 1;
    http.faults().Add(faster);
  });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  EXPECT_EQ(WriteStatuses(), (std::vector<int>{412, 412, 412, 412, 412, 412, 204}));
  const std::vector<WorldCall> writes = world_.OciWrites();
  EXPECT_LT(writes.back().time - writes.front().time, absl::Seconds(20));
}

TEST_F(OciErrors, ALostReplyIsReadNotRepeatedAndNotCalledARefusal) {
  Start();
  RequestFault lost;
  lost.matches = IsWrite;
  lost.damage = Damage::kLoseReply;
  Fault(lost);
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(), SizeIs(1));
  world_.AwaitEvent("BackendDrained", "web");
  EXPECT_THAT(world_.Events("WriteRefused"), IsEmpty());
}

TEST_F(OciErrors, AfterOurOwnWriteNothingIsWrittenOnAReadFromBeforeIt) {
  Start();
  RequestFault lost = Answer(IsRead, sim::ErrorResponse(500, "InternalServerError"), 1'000'000);
  world_.oci().With([&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp& http) {
    // From the moment of the write on, the load balancer cannot be read.
    core.options().min_service_time = core.options().max_service_time = absl::Milliseconds(30);
    lost.matches = [&core](const RequestRecord& record) {
      return IsRead(record) && !core.writes().empty();
    };
    http.faults().Add(lost);
  });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  ASSERT_TRUE(world_.AwaitLooks(4));
  EXPECT_THAT(world_.OciWrites(), SizeIs(1));
}

TEST_F(OciErrors, ALoadBalancerThatIsBusyIsWaitedFor) {
  Start();
  Fault(Answer(IsWrite, sim::ErrorResponse(409, "IncorrectState"), 2));
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  EXPECT_EQ(WriteStatuses(), (std::vector<int>{409, 409, 204}));
  EXPECT_THAT(world_.Events("WriteRefused"), IsEmpty());
}

TEST_F(OciErrors, AConflictWithARunningWriteIsWaitedFor) {
  Start();
  Fault(Answer(IsWrite, sim::ErrorResponse(409, "Conflict"), 2));
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  EXPECT_EQ(WriteStatuses(), (std::vector<int>{409, 409, 204}));
}

TEST_F(OciErrors, RetryAfterIsHonouredByWrites) {
  Start();
  Fault(Answer(IsWrite, sim::TooManyRequests(absl::Seconds(2))));
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  const std::vector<WorldCall> writes = world_.OciWrites();
  ASSERT_THAT(writes, SizeIs(2));
  EXPECT_GE(writes[1].time - writes[0].time, absl::Seconds(2));
}

TEST_F(OciErrors, RetryAfterIsHonouredByReadsWhateverHappensInTheCluster) {
  Start();
  Fault(Answer(IsRead, sim::TooManyRequests(absl::Seconds(2))));
  ASSERT_TRUE(world_.Await("a read is refused", [&] {
    const auto calls = world_.Calls();
    return std::any_of(calls.begin(), calls.end(),
                       [](const WorldCall& call) { return call.status == 429; });
  }));
  for (int i = 0; i < 4; ++i) world_.DeletePod(web_, absl::StrCat("web-", i));
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  absl::Time refused = absl::InfiniteFuture();
  for (const WorldCall& call : world_.Calls()) {
    if (call.to != WorldCall::To::kOci) continue;
    EXPECT_GE(std::max(call.time, refused) - refused,
              call.time > refused ? absl::Seconds(2) : absl::ZeroDuration())
        << call.method << " " << call.target;
    if (call.status == 429) refused = call.time;
    if (call.status != 429 && call.time > refused) break;
  }
}

TEST_F(OciErrors, CallsStayFewWhileTheServiceFailsAndTheClusterChanges) {
  Start();
  const size_t before = world_.Calls().size();
  Fault(Answer([](const RequestRecord&) { return true; },
               sim::ErrorResponse(503, "ServiceUnavailable"), 1'000'000));
  ASSERT_TRUE(world_.AwaitLooks(1));
  for (int i = 0; i < 50; ++i) {
    world_.AddPod(web_, absl::StrCat("more-", i));
  }
  const std::vector<WorldCall> calls = world_.Calls();
  const auto failed = std::count_if(calls.begin() + static_cast<long>(before), calls.end(),
                                    [](const WorldCall& call) { return call.status == 503; });
  EXPECT_LE(failed, 20);
  world_.oci().With([](auto&, sim::FakeLoadBalancerHttp& http) { http.faults().Clear(); });
  world_.DeletePod(web_, "web-1");
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(OciErrors, AFailureOfTheServiceIsRepeated) {
  Start();
  Fault(Answer(IsWrite, sim::ErrorResponse(500, "InternalServerError")));
  Fault(Answer(IsWrite, sim::ErrorResponse(503, "ServiceUnavailable")));
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  EXPECT_EQ(WriteStatuses(), (std::vector<int>{500, 503, 204}));
}

TEST_F(OciErrors, CredentialsAreReadAgainAfter401) {
  Start();
  Fault(Answer(IsWrite, sim::ErrorResponse(401, "NotAuthenticated")));
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1"));
  const std::vector<WorldCall> writes = world_.OciWrites();
  EXPECT_EQ(WriteStatuses(), (std::vector<int>{401, 204}));
  EXPECT_EQ(writes[0].body, writes[1].body);
  EXPECT_EQ(writes[0].retry_token, writes[1].retry_token) << "the same bytes once more";
}

TEST_F(OciErrors, AFailedWorkRequestIsToldWithItsDetailsAndPlannedAgain) {
  Start();
  world_.oci().With([](sim::FakeLoadBalancer& core, auto&) {
    sim::WorkFault fault;
    fault.code = "BAD_INPUT";
    fault.message = "the listener is on fire";
    core.AddWorkFault(fault);
  });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(), SizeIs(2));
  const JsonTree event = world_.AwaitEvent("WorkRequestFailed", "web");
  EXPECT_EQ(event["type"].AsString(), "Warning");
  EXPECT_THAT(event["note"].AsString(), HasSubstr("BAD_INPUT: the listener is on fire"));
  EXPECT_THAT(event["note"].AsString(), HasSubstr(web_.backend_set()));
}

TEST_F(OciErrors, WorkRequestsThatFailForeverAreRepeatedEverLessOften) {
  Start();
  world_.oci().With([](sim::FakeLoadBalancer& core, auto&) {
    sim::WorkFault fault;
    fault.times = 1'000'000;
    core.AddWorkFault(fault);
  });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.Await("three writes", [&] { return world_.OciWrites().size() >= 3; }));
  const absl::Time until = base::RealClock().Now() + absl::Seconds(2);
  ASSERT_TRUE(world_.Await("two seconds", [&] { return base::RealClock().Now() >= until; }));
  EXPECT_LE(world_.OciWrites().size(), 12u);
}

TEST_F(OciErrors, ARefusedWholeSetWriteFallsBackToOneByOne) {
  world_.settings().plan.coalesce_window = sim::kAllInOneWindow;
  Start();
  Fault(Answer(IsWholeSetWrite, sim::ErrorResponse(400, "InvalidParameter"), 1'000'000));
  world_.AddPod(web_, "web-new");
  world_.DeletePod(web_, "web-0");
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-0"));
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_EQ(WriteStatuses(), (std::vector<int>{400, 204, 204}));
  const JsonTree event = world_.AwaitEvent("WriteRefused", kWorldClass);
  EXPECT_THAT(event["note"].AsString(), HasSubstr("InvalidParameter"));
  EXPECT_THAT(event["note"].AsString(), HasSubstr(web_.backend_set()));
  EXPECT_THAT(event["note"].AsString(), HasSubstr("one by one"));
  ASSERT_TRUE(world_.AwaitLooks(5));
  EXPECT_THAT(world_.OciWrites(), SizeIs(3)) << "whole sets are not tried again";
}

TEST_F(OciErrors, ALimitThatIsLowerThanBelievedStopsAdditionsButNoDrain) {
  world_.oci().With(
      [](sim::FakeLoadBalancer& core, auto&) { core.options().max_backends_per_set = 4; });
  world_.settings().plan.coalesce_window = sim::kAllInOneWindow;
  Start();
  world_.AddPod(web_, "web-new");
  world_.DeletePod(web_, "web-0");
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-0"));
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_EQ(WriteStatuses(), (std::vector<int>{400, 204}));
  const JsonTree event = world_.AwaitEvent("WriteRefused", kWorldClass);
  EXPECT_THAT(event["note"].AsString(), HasSubstr("exceeds the limit of 4"));
  EXPECT_THAT(event["note"].AsString(), HasSubstr("--max_backends_per_set"));
}

TEST_F(OciErrors, ALimitThatFailsTheWorkRequestStopsAdditionsButNoDrain) {
  world_.oci().With([](sim::FakeLoadBalancer& core, auto&) {
    core.options().max_backends_per_set = 4;
    core.options().limit_refusal = sim::LimitRefusal::kFailedWorkRequest;
  });
  world_.settings().plan.coalesce_window = sim::kAllInOneWindow;
  Start();
  world_.AddPod(web_, "web-new");
  world_.DeletePod(web_, "web-0");
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-0"));
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-1"));
  EXPECT_THAT(world_.OciWrites(), SizeIs(2)) << "the limit is recognised at once";
}

TEST_F(OciErrors, AFrozenServiceGetsOneWriteAndThenOneForAllThatWaited) {
  Start();
  world_.oci().With([](sim::FakeLoadBalancer& core, auto&) {
    const absl::Time now = base::RealClock().Now();
    core.options().min_service_time = core.options().max_service_time = absl::Milliseconds(100);
    core.Freeze(now + absl::Seconds(2), now);
  });
  world_.DeletePod(web_, "web-0");
  ASSERT_TRUE(world_.Await("the first write", [&] { return !world_.OciWrites().empty(); }));
  for (const char* pod : {"web-1", "web-2", "web-3"}) world_.DeletePod(web_, pod);
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-0"));
  ASSERT_TRUE(world_.AwaitConfirmed(web_, "web-3"));
  EXPECT_THAT(world_.OciWrites(), SizeIs(2));
}

TEST_F(OciErrors, ABackendThatVanishedBetweenReadAndWriteIsDropped) {
  world_.settings().plan.carry_membership = false;
  Start();
  const std::string backend = world_.BackendOf(web_, "web-1");
  RequestFault vanish;
  bool vanished = false;
  world_.oci().With([&](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp& http) {
    vanish.matches = [&core, &backend, &vanished, this](const RequestRecord& record) {
      if (!IsWrite(record) || std::exchange(vanished, true)) return false;
      const absl::Status status = core.EditNow(
          kWorldLoadBalancer,
          [&](rapidjson::Document& lb) {
            rapidjson::Value& backends = (*sim::FindBackendSet(lb, web_.backend_set()))["backends"];
            for (auto it = backends.Begin(); it != backends.End(); ++it) {
              if (backend == (*it)["name"].GetString()) {
                backends.Erase(it);
                break;
              }
            }
            return sim::ApiError();
          },
          record.time);
      EXPECT_TRUE(status.ok()) << status;
      return false;
    };
    http.faults().Add(vanish);
  });
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.Await("a write is refused", [&] { return !world_.OciWrites().empty(); }));
  world_.DeletePod(web_, "web-2");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-2"));
  EXPECT_EQ(WriteStatuses(), (std::vector<int>{404, 204}));
}

TEST_F(OciErrors, ALoadBalancerThatIsNotThereIsNamedAndTheOtherOneDrains) {
  world_.AddClass("other", kOtherLoadBalancer);
  const WorldService api =
      world_.AddService({.ns = "other", .name = "api", .ingress_class = "other"});
  world_.AddLoadBalancer(kOtherLoadBalancer, {api});
  world_.AddClass(kWorldClass, kWorldLoadBalancer);
  web_ = world_.AddService({.name = "web"});
  world_.StartController();
  const JsonTree event = world_.AwaitEvent("LoadBalancerNotFound", kWorldClass);
  EXPECT_THAT(event["note"].AsString(), HasSubstr(kWorldLoadBalancer));
  world_.DeletePod(web_, "web-1");
  world_.DeletePod(api, "api-1");
  ASSERT_TRUE(world_.AwaitDrained(api, "api-1", kOtherLoadBalancer));
  // It appears late, and is drained like any other.
  world_.AddLoadBalancer(kWorldLoadBalancer, {web_});
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

TEST_F(OciErrors, ALoadBalancerWhoseAnnotationMovesIsFollowed) {
  Start();
  world_.AddLoadBalancer(kOtherLoadBalancer, {web_});
  world_.Annotate(world_.ClassRef(), "oci-native-ingress.oraclecloud.com/id", kOtherLoadBalancer);
  ASSERT_TRUE(world_.AwaitLooks(2, kOtherLoadBalancer));
  world_.DeletePod(web_, "web-1");
  ASSERT_TRUE(world_.AwaitDrained(web_, "web-1", kOtherLoadBalancer));
  EXPECT_THAT(world_.OciWrites(kWorldLoadBalancer), IsEmpty());
}

TEST_F(OciErrors, ALoadBalancerThatIsNotActiveIsNotWrittenTo) {
  Start();
  const auto set_state = [&](const char* state) {
    world_.oci().With([&](sim::FakeLoadBalancer& core, auto&) {
      const absl::Status status = core.EditNow(
          kWorldLoadBalancer,
          [&](rapidjson::Document& lb) {
            lb["lifecycleState"].SetString(state, lb.GetAllocator());
            return sim::ApiError();
          },
          base::RealClock().Now());
      EXPECT_TRUE(status.ok()) << status;
    });
  };
  set_state("FAILED");
  ASSERT_TRUE(world_.AwaitLooks(2));
  world_.DeletePod(web_, "web-1");
  const JsonTree event = world_.AwaitEvent("LoadBalancerNotActive", kWorldClass);
  EXPECT_THAT(event["note"].AsString(), HasSubstr(kWorldLoadBalancer));
  EXPECT_THAT(event["note"].AsString(), HasSubstr("FAILED"));
  EXPECT_THAT(world_.OciWrites(), IsEmpty());
  set_state("ACTIVE");
  EXPECT_TRUE(world_.AwaitDrained(web_, "web-1"));
}

}  // namespace
}  // namespace integration

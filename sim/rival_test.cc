#include "sim/rival.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/fake_load_balancer.h"
#include "sim/fake_load_balancer_http.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const absl::Time kStart = absl::FromUnixSeconds(1800000000);
constexpr char kOcid[] = "ocid1.lb";
constexpr char kDrain[] = R"({"weight":1,"backup":false,"drain":true,"offline":false})";

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

class VirtualClock : public base::Clock {
 public:
  absl::Time Now() override { return now; }
  void SleepFor(absl::Duration duration) override { now += duration; }
  absl::Time now = kStart;
};

class World : public RivalWorld {
 public:
  absl::StatusOr<std::vector<RivalClass>> Classes() override { return classes; }
  absl::StatusOr<std::vector<RivalEndpoint>> Endpoints(const RivalClass&,
                                                       const RivalPath& path) override {
    const auto found = endpoints.find(path.backend_set);
    if (found == endpoints.end()) return absl::NotFoundError("no such Service");
    return found->second;
  }

  std::vector<RivalClass> classes;
  std::map<std::string, std::vector<RivalEndpoint>> endpoints;
};

// Sets bs_1 and bs_2 with one Pod each, published as they are registered.
class RivalTest : public ::testing::Test {
 protected:
  void Make(RivalVariant variant, absl::Duration service_time = absl::Seconds(5),
            absl::Duration first_copy_age = absl::ZeroDuration()) {
    core_.options().min_service_time = core_.options().max_service_time = service_time;
    ASSERT_TRUE(core_
                    .AddLoadBalancer(MakeLoadBalancerJson(kOcid, {{"bs_1", {"10.0.0.1:80"}},
                                                                  {"bs_2", {"10.0.0.1:80"}}}),
                                     kStart)
                    .ok());
    world_.classes = {{"oci", kOcid, {{.backend_set = "bs_1", .drains = true}, {"bs_2"}}}};
    world_.endpoints = {{"bs_1", {{"10.0.0.1", 80}}}, {"bs_2", {{"10.0.0.1", 80}}}};
    RivalOptions options;
    options.variant = variant;
    options.first_copy_age = first_copy_age;
    rival_ = std::make_unique<Rival>(options, world_, transport_, kStart);
  }

  void RunUntil(absl::Time end) {
    while (true) {
      const absl::Time next = std::max(rival_->Step(clock_.now), clock_.now);
      if (next > end) break;
      clock_.now = next;
    }
    clock_.now = end;
    core_.Advance(end);
  }

  // What a drain add-on or an operator does, unguarded.
  void WriteDrain(const std::string& set) {
    ASSERT_EQ(core_.UpdateBackend({kOcid, set, "10.0.0.1:80"}, kDrain, {.client = "us"}, clock_.now)
                  .status,
              204);
  }

  std::vector<std::string> Backends(const std::string& set) const {
    std::vector<std::string> names;
    for (const auto& backend :
         (*FindBackendSet(*core_.Applied(kOcid), set))["backends"].GetArray()) {
      names.push_back(absl::StrCat(base::StringOf(backend["name"]),
                                   backend["drain"].IsTrue() ? " drained" : ""));
    }
    return names;
  }

  // "time of acceptance: type set" of each of the rival's writes.
  std::vector<std::string> Writes() const {
    std::vector<std::string> writes;
    for (const WriteRecord& write : core_.writes()) {
      if (write.client != "rival") continue;
      writes.push_back(absl::StrCat(absl::ToInt64Seconds(write.accepted - kStart), ": ", write.type,
                                    " ", write.backend_set));
    }
    return writes;
  }

  VirtualClock clock_;
  FakeLoadBalancer core_;
  FakeLoadBalancerHttp http_{core_};
  InMemoryTransport transport_{http_, clock_, "rival"};
  World world_;
  std::unique_ptr<Rival> rival_;
};

TEST_F(RivalTest, LeavesADrainAloneWhileMembershipIsUnchanged) {
  Make(RivalVariant::kUnmodified);
  WriteDrain("bs_1");
  RunUntil(At(300));
  EXPECT_THAT(Backends("bs_1"), ElementsAre("10.0.0.1:80 drained"));
  EXPECT_THAT(Writes(), IsEmpty());
  EXPECT_EQ(rival_->counts().passes, 31);
}

TEST_F(RivalTest, AMembershipChangeClearsEveryDrainOfTheSetAndWhatItDoesNotResend) {
  Make(RivalVariant::kUnmodified);
  ASSERT_TRUE(core_
                  .EditNow(
                      kOcid,
                      [](rapidjson::Document& lb) {
                        rapidjson::Value& set = *FindBackendSet(lb, "bs_1");
                        set.AddMember("backendMaxConnections", 300, lb.GetAllocator());
                        (*FindBackend(set, "10.0.0.1:80"))["drain"].SetBool(true);
                        (*FindBackend(set, "10.0.0.1:80"))["weight"].SetInt(7);
                        return ApiError();
                      },
                      kStart)
                  .ok());
  world_.endpoints["bs_1"].push_back({"10.0.0.2", 80});
  RunUntil(At(9));
  EXPECT_THAT(Backends("bs_1"), ElementsAre("10.0.0.1:80", "10.0.0.2:80"));
  EXPECT_THAT(Writes(), ElementsAre("0: UpdateBackendSet bs_1"));
  const WriteEffect& effect = core_.writes().back().effect;
  EXPECT_THAT(effect.undrained, ElementsAre("10.0.0.1:80"));
  EXPECT_THAT(effect.changed, UnorderedElementsAre("bs_1.backendMaxConnections",
                                                   "bs_1.backends[10.0.0.1:80].weight"));
}

TEST_F(RivalTest, AWriteOfAnotherShutsItOutUntilItsCacheHasAgedOut) {
  Make(RivalVariant::kUnmodified);
  RunUntil(At(12));  // cached at 0
  WriteDrain("bs_2");
  RunUntil(At(15));
  world_.endpoints["bs_1"].push_back({"10.0.0.2", 80});
  RunUntil(At(59));
  EXPECT_THAT(Writes(), IsEmpty());
  EXPECT_GE(rival_->counts().conflicts_412, 4);
  RunUntil(At(75));
  EXPECT_THAT(Writes(), ElementsAre("60: UpdateBackendSet bs_1"));
  EXPECT_THAT(Backends("bs_1"), ElementsAre("10.0.0.1:80", "10.0.0.2:80"));
  EXPECT_THAT(Backends("bs_2"), ElementsAre("10.0.0.1:80 drained"));
}

TEST_F(RivalTest, AFirstCopyThatIsOldIsReadAgainSooner) {
  Make(RivalVariant::kUnmodified, absl::Seconds(5), absl::Seconds(35));
  RunUntil(At(5));
  WriteDrain("bs_1");
  world_.endpoints["bs_1"].push_back({"10.0.0.2", 80});
  RunUntil(At(100));
  EXPECT_THAT(Writes(), ElementsAre("30: UpdateBackendSet bs_1"));
}

TEST_F(RivalTest, TheVariantThatDropsItsCacheIsShutOutForOneTickOnly) {
  Make(RivalVariant::kDropsCacheOnConflict);
  RunUntil(At(12));
  WriteDrain("bs_2");
  RunUntil(At(17));  // applied: the etag moves no more
  world_.endpoints["bs_1"].push_back({"10.0.0.2", 80});
  RunUntil(At(45));
  EXPECT_EQ(rival_->counts().conflicts_412, 1);
  EXPECT_THAT(Writes(), ElementsAre("30: UpdateBackendSet bs_1"));
}

TEST_F(RivalTest, ReadsAgainAfterItsOwnWriteAndGoesOnWithTheNextSet) {
  Make(RivalVariant::kUnmodified);
  world_.endpoints["bs_1"].push_back({"10.0.0.2", 80});
  world_.endpoints["bs_2"].push_back({"10.0.0.2", 80});
  RunUntil(At(40));
  // It looks at its work request at once and after 10 s, though it took 5 s.
  EXPECT_THAT(Writes(), ElementsAre("0: UpdateBackendSet bs_1", "10: UpdateBackendSet bs_2"));
  EXPECT_EQ(rival_->counts().conflicts_412, 0);
}

TEST_F(RivalTest, SlipsInBetweenAForeignAcceptanceAndItsCompletion) {
  Make(RivalVariant::kUnmodified, absl::Seconds(20));
  WriteDrain("bs_1");  // accepted before the rival's first read
  world_.endpoints["bs_1"].push_back({"10.0.0.2", 80});
  RunUntil(At(39));
  EXPECT_THAT(Backends("bs_1"), ElementsAre("10.0.0.1:80 drained"));
  RunUntil(At(40));
  EXPECT_THAT(Backends("bs_1"), ElementsAre("10.0.0.1:80", "10.0.0.2:80"));
}

TEST_F(RivalTest, TheFirstFailingSetEndsThePass) {
  Make(RivalVariant::kUnmodified);
  world_.endpoints.erase("bs_1");
  world_.endpoints["bs_2"].push_back({"10.0.0.2", 80});
  RunUntil(At(120));
  EXPECT_THAT(Writes(), IsEmpty());
  EXPECT_GE(rival_->counts().failed_passes, 12);
}

TEST_F(RivalTest, AnErrorOfTheDefaultBackendIsDropped) {
  Make(RivalVariant::kUnmodified);
  world_.classes[0].paths[0].is_default = true;
  world_.endpoints.erase("bs_1");
  world_.endpoints["bs_2"].push_back({"10.0.0.2", 80});
  RunUntil(At(9));
  EXPECT_THAT(Writes(), ElementsAre("0: UpdateBackendSet bs_2"));
}

TEST_F(RivalTest, APodMissingFromItsCacheEndsThePassAfterTheWrite) {
  Make(RivalVariant::kUnmodified);
  world_.endpoints["bs_1"].push_back({.ip = "10.0.0.2", .port = 80, .pod_known = false});
  world_.endpoints["bs_2"].push_back({"10.0.0.2", 80});
  RunUntil(At(60));
  EXPECT_THAT(Writes(), ElementsAre("0: UpdateBackendSet bs_1"));
}

TEST_F(RivalTest, DuplicateAddressesAreSentAndRefused) {
  Make(RivalVariant::kUnmodified);
  world_.endpoints["bs_1"] = {{"10.0.0.1", 80}, {"10.0.0.2", 80}, {"10.0.0.2", 80}};
  RunUntil(At(30));
  EXPECT_THAT(Writes(), IsEmpty());
  EXPECT_THAT(http_.answers(), ::testing::Contains(::testing::Key(std::make_pair("rival", 400))));
}

TEST_F(RivalTest, AFailedWorkRequestEndsThePassAndKeepsTheCache) {
  Make(RivalVariant::kUnmodified);
  core_.AddWorkFault({.code = "INTERNAL_ERROR", .message = "boom"});
  world_.endpoints["bs_1"].push_back({"10.0.0.2", 80});
  RunUntil(At(80));
  // The etag moved with the acceptance of the write that failed.
  EXPECT_THAT(Writes(), ElementsAre("0: UpdateBackendSet bs_1", "60: UpdateBackendSet bs_1"));
  EXPECT_THAT(Backends("bs_1"), ElementsAre("10.0.0.1:80", "10.0.0.2:80"));
}

TEST_F(RivalTest, ItsSdkRepeatsAThrottledCallWithTheSameBytes) {
  Make(RivalVariant::kUnmodified);
  http_.faults().Add({.matches = [](const RequestRecord& r) { return r.request.method == "PUT"; },
                      .times = 2,
                      .answer = TooManyRequests(absl::Seconds(1))});
  world_.endpoints["bs_1"].push_back({"10.0.0.2", 80});
  RunUntil(At(9));
  EXPECT_EQ(rival_->counts().writes_sent, 1);
  EXPECT_EQ(rival_->counts().writes_accepted, 1);
  std::vector<std::string> tokens;
  for (const RequestRecord& record : http_.requests()) {
    if (record.request.method != "PUT") continue;
    tokens.emplace_back(http::FindHeader(record.request.headers, "opc-retry-token"));
  }
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[0], tokens[2]);
}

TEST_F(RivalTest, ClassesOnOneLoadBalancerShareTheCache) {
  Make(RivalVariant::kUnmodified);
  world_.classes = {{"a", kOcid, {{"bs_1"}}}, {"b", kOcid, {{"bs_2"}}}};
  RunUntil(At(59));
  int reads = 0;
  for (const RequestRecord& record : http_.requests()) {
    reads += record.request.target == absl::StrCat("/20170115/loadBalancers/", kOcid);
  }
  EXPECT_EQ(reads, 1);
}

TEST_F(RivalTest, TheVariantThatDrainsFlipsOnlyWhatDiffersAndOnlyWhereAsked) {
  Make(RivalVariant::kDrainsByItself);
  world_.endpoints["bs_1"][0].terminating = true;
  world_.endpoints["bs_2"][0].terminating = true;
  RunUntil(At(3));
  EXPECT_THAT(Writes(), ElementsAre("0: UpdateBackend bs_1"));
  RunUntil(At(9));
  EXPECT_THAT(Backends("bs_1"), ElementsAre("10.0.0.1:80 drained"));
  EXPECT_THAT(Backends("bs_2"), ElementsAre("10.0.0.1:80"));
}

TEST_F(RivalTest, TheVariantThatDrainsActsAtOnceAndKeepsDrainsInMembershipWrites) {
  Make(RivalVariant::kDrainsByItself);
  RunUntil(At(12));
  world_.endpoints["bs_1"][0].terminating = true;
  world_.endpoints["bs_1"].push_back({"10.0.0.2", 80});
  rival_->Notify();
  RunUntil(At(18));
  EXPECT_THAT(Writes(), ElementsAre("12: UpdateBackendSet bs_1"));
  EXPECT_THAT(Backends("bs_1"), ElementsAre("10.0.0.1:80 drained", "10.0.0.2:80"));
  // What somebody else drains without a reason it undoes.
  world_.endpoints["bs_1"][0].terminating = false;
  RunUntil(At(60));
  EXPECT_THAT(Backends("bs_1"), ElementsAre("10.0.0.1:80", "10.0.0.2:80"));
}

}  // namespace
}  // namespace sim

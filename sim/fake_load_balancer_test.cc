#include "sim/fake_load_balancer.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/timestamp.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const absl::Time kStart = absl::FromUnixSeconds(1800000000);
constexpr char kOcid[] = "ocid1.loadbalancer.oc1..example";
constexpr char kDrain[] = R"({"weight":1,"backup":false,"drain":true,"offline":false})";

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

std::string SetBody(const std::vector<std::string>& ips, bool drain = false) {
  std::string backends;
  for (const std::string& ip : ips) {
    absl::StrAppend(&backends, backends.empty() ? "" : ",", R"({"ipAddress":")", ip,
                    R"(","port":80,"drain":)", drain ? "true" : "false", "}");
  }
  return absl::StrCat(
      R"({"policy":"LEAST_CONNECTIONS","healthChecker":{"protocol":"HTTP","urlPath":"/ready",)",
      R"("isForcePlainText":true},"backends":[)", backends, "]}");
}

FakeLoadBalancerOptions Takes(absl::Duration service_time) {
  FakeLoadBalancerOptions options;
  options.min_service_time = options.max_service_time = service_time;
  return options;
}

// One load balancer with set bs_1 (10.0.0.1 and 10.0.0.2, port 80) and bs_2 (10.0.0.1).
class FakeLoadBalancerTest : public ::testing::Test {
 protected:
  void Make(FakeLoadBalancerOptions options) {
    fake_ = std::make_unique<FakeLoadBalancer>(options);
    const std::string json = MakeLoadBalancerJson(
        kOcid, {{"bs_1", {"10.0.0.1:80", "10.0.0.2:80"}}, {"bs_2", {"10.0.0.1:80"}}});
    ASSERT_TRUE(fake_->AddLoadBalancer(json, kStart).ok());
  }

  WriteHeaders Guarded() const { return {.if_match = fake_->Etag(kOcid), .client = "us"}; }

  ApiReply Drain(const std::string& backend, const WriteHeaders& headers, absl::Time now) {
    return fake_->UpdateBackend({kOcid, "bs_1", backend}, kDrain, headers, now);
  }
  ApiReply Replace(const std::string& body, const WriteHeaders& headers, absl::Time now) {
    return fake_->UpdateBackendSet({kOcid, "bs_1"}, body, headers, now);
  }

  bool Drained(const std::string& backend, absl::Time now) {
    return fake_->GetBackend(kOcid, "bs_1", backend, now).body.find(R"("drain":true)") !=
           std::string::npos;
  }

  std::string StateOf(const std::string& work_request, absl::Time now) {
    const auto parsed = base::ParseJson(fake_->GetWorkRequest(work_request, now).body, "work");
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return std::string(base::StringOf((*parsed)["lifecycleState"]));
  }

  std::string Code(const ApiReply& reply) {
    const auto parsed = base::ParseJson(reply.body, "error");
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return absl::StrCat(reply.status, " ", base::StringOf((*parsed)["code"]));
  }

  std::unique_ptr<FakeLoadBalancer> fake_;
};

TEST_F(FakeLoadBalancerTest, AppliesAWriteAtTheEndOfItsWorkRequestAndNotBefore) {
  Make(Takes(absl::Seconds(10)));
  const ApiReply reply = Drain("10.0.0.1:80", Guarded(), At(1));
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(reply.etag, "");
  EXPECT_EQ(StateOf(reply.work_request_id, At(1)), "IN_PROGRESS");
  EXPECT_FALSE(Drained("10.0.0.1:80", At(10.999)));
  EXPECT_TRUE(Drained("10.0.0.1:80", At(11)));
  EXPECT_EQ(StateOf(reply.work_request_id, At(11)), "SUCCEEDED");
  EXPECT_THAT(fake_->GetWorkRequest(reply.work_request_id, At(11)).body,
              HasSubstr(R"("timeAccepted":"2027-01-15T08:00:01.000Z")"));
  EXPECT_THAT(fake_->GetWorkRequest(reply.work_request_id, At(11)).body,
              HasSubstr(R"("timeFinished":"2027-01-15T08:00:11.000Z","errorDetails":[])"));
}

TEST_F(FakeLoadBalancerTest, WorksOffOneLoadBalancersWritesOneAfterTheOther) {
  Make(Takes(absl::Seconds(10)));
  const std::string first = Drain("10.0.0.1:80", Guarded(), At(0)).work_request_id;
  const std::string second = Drain("10.0.0.2:80", Guarded(), At(1)).work_request_id;
  EXPECT_EQ(StateOf(second, At(9)), "ACCEPTED");
  EXPECT_EQ(StateOf(first, At(10)), "SUCCEEDED");
  EXPECT_EQ(StateOf(second, At(10)), "IN_PROGRESS");
  EXPECT_FALSE(Drained("10.0.0.2:80", At(19)));
  EXPECT_TRUE(Drained("10.0.0.2:80", At(20)));
  EXPECT_TRUE(fake_->Idle());
}

TEST_F(FakeLoadBalancerTest, SeveralLoadBalancersDoNotWaitForEachOther) {
  Make(Takes(absl::Seconds(10)));
  ASSERT_TRUE(
      fake_->AddLoadBalancer(MakeLoadBalancerJson("ocid2", {{"bs_9", {"10.0.0.9:80"}}}), At(0))
          .ok());
  Drain("10.0.0.1:80", Guarded(), At(0));
  const ApiReply other =
      fake_->UpdateBackend({"ocid2", "bs_9", "10.0.0.9:80"}, kDrain, WriteHeaders(), At(1));
  EXPECT_EQ(StateOf(other.work_request_id, At(11)), "SUCCEEDED");
  EXPECT_NE(fake_->Etag("ocid2"), fake_->Etag(kOcid));
}

TEST_F(FakeLoadBalancerTest, SaysWhenItWillChangeNext) {
  Make(Takes(absl::Seconds(7)));
  EXPECT_EQ(fake_->NextEventTime(), At(10));  // a round of health checks
  Drain("10.0.0.1:80", Guarded(), At(0));
  EXPECT_EQ(fake_->NextEventTime(), At(7));
  fake_->Advance(At(7));
  EXPECT_EQ(fake_->NextEventTime(), At(10));
}

TEST_F(FakeLoadBalancerTest, DrawsServiceTimesFromItsSeed) {
  FakeLoadBalancerOptions options;
  options.min_service_time = absl::Seconds(6);
  options.max_service_time = absl::Seconds(14);
  std::vector<std::vector<absl::Time>> runs;
  for (uint64_t seed : {1, 1, 2}) {
    options.seed = seed;
    Make(options);
    for (int i = 0; i < 20; ++i) Drain("10.0.0.1:80", Guarded(), At(20 * i));
    fake_->Advance(At(1000));
    std::vector<absl::Time> finished;
    for (const WriteRecord& write : fake_->writes()) {
      EXPECT_GE(write.finished - write.accepted, absl::Seconds(6));
      EXPECT_LE(write.finished - write.accepted, absl::Seconds(14));
      finished.push_back(write.finished);
    }
    runs.push_back(finished);
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST_F(FakeLoadBalancerTest, RefusesAStaleEtagAndTakesAnUnguardedWrite) {
  Make(Takes(absl::Seconds(10)));
  const WriteHeaders stale = Guarded();
  EXPECT_EQ(Drain("10.0.0.1:80", stale, At(0)).status, 204);
  EXPECT_EQ(Code(Drain("10.0.0.2:80", stale, At(0))), "412 NoEtagMatch");
  EXPECT_EQ(Code(Replace(SetBody({"10.0.0.1"}), stale, At(0))), "412 NoEtagMatch");
  EXPECT_EQ(Drain("10.0.0.2:80", WriteHeaders(), At(0)).status, 204);
}

TEST_F(FakeLoadBalancerTest, MovesTheEtagWhenToldTo) {
  for (const EtagMoves moves :
       {EtagMoves::kAtAcceptance, EtagMoves::kAtCompletion, EtagMoves::kBoth}) {
    FakeLoadBalancerOptions options = Takes(absl::Seconds(10));
    options.etag_moves = moves;
    Make(options);
    const std::string before = fake_->GetLoadBalancer(kOcid, At(0)).etag;
    Drain("10.0.0.1:80", Guarded(), At(0));
    const std::string accepted = fake_->GetLoadBalancer(kOcid, At(1)).etag;
    const std::string completed = fake_->GetLoadBalancer(kOcid, At(11)).etag;
    EXPECT_EQ(before != accepted, moves != EtagMoves::kAtCompletion);
    EXPECT_EQ(accepted != completed, moves != EtagMoves::kAtAcceptance);
  }
}

TEST_F(FakeLoadBalancerTest, ReplacesAWholeSetAtCompletionWhateverCameBefore) {
  Make(Takes(absl::Seconds(10)));
  Drain("10.0.0.1:80", Guarded(), At(0));
  Replace(SetBody({"10.0.0.1", "10.0.0.3"}), Guarded(), At(1));
  EXPECT_TRUE(Drained("10.0.0.1:80", At(15)));
  EXPECT_FALSE(Drained("10.0.0.1:80", At(20)));
  const WriteRecord& replaced = fake_->writes().back();
  EXPECT_THAT(replaced.effect.added, ElementsAre("10.0.0.3:80"));
  EXPECT_THAT(replaced.effect.removed, ElementsAre("10.0.0.2:80"));
  EXPECT_THAT(replaced.effect.undrained, ElementsAre("10.0.0.1:80"));
  EXPECT_EQ(replaced.client, "us");
  EXPECT_EQ(replaced.type, "UpdateBackendSet");
}

TEST_F(FakeLoadBalancerTest, FailsAnUpdateOfABackendThatIsGoneByThen) {
  Make(Takes(absl::Seconds(10)));
  Replace(SetBody({"10.0.0.2"}), Guarded(), At(0));
  const ApiReply reply = Drain("10.0.0.1:80", Guarded(), At(1));
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(StateOf(reply.work_request_id, At(20)), "FAILED");
  EXPECT_THAT(fake_->GetWorkRequest(reply.work_request_id, At(20)).body,
              HasSubstr(R"("errorDetails":[{"errorCode":"BAD_INPUT","message":"Backend 10.0.0.1)"));
  EXPECT_EQ(Code(Drain("10.0.0.1:80", Guarded(), At(21))), "404 NotAuthorizedOrNotFound");
}

TEST_F(FakeLoadBalancerTest, AnswersNotFoundForWhatItDoesNotHave) {
  Make({});
  const WriteHeaders guard = Guarded();
  EXPECT_EQ(Code(fake_->GetLoadBalancer("ocid9", kStart)), "404 NotAuthorizedOrNotFound");
  EXPECT_EQ(fake_->GetBackendSetHealth(kOcid, "bs_9", kStart).status, 404);
  EXPECT_EQ(fake_->GetBackendHealth(kOcid, "bs_1", "10.0.0.9:80", kStart).status, 404);
  EXPECT_EQ(fake_->GetWorkRequest("ocid1.workrequest", kStart).status, 404);
  EXPECT_EQ(fake_->ListWorkRequests("ocid9", 0, "", kStart).status, 404);
  EXPECT_EQ(fake_->UpdateBackend({kOcid, "bs_9", "10.0.0.1:80"}, kDrain, guard, kStart).status,
            404);
  EXPECT_EQ(fake_->UpdateBackendSet({"ocid9", "bs_1"}, SetBody({}), guard, kStart).status, 404);
}

TEST_F(FakeLoadBalancerTest, RefusesWritesUnlessTheLoadBalancerIsActive) {
  Make({});
  ASSERT_TRUE(fake_
                  ->EditNow(
                      kOcid,
                      [](rapidjson::Document& lb) {
                        lb["lifecycleState"].SetString("DELETING");
                        return ApiError();
                      },
                      kStart)
                  .ok());
  EXPECT_EQ(Code(Drain("10.0.0.1:80", Guarded(), kStart)), "409 IncorrectState");
  EXPECT_TRUE(fake_->writes().empty());
}

TEST_F(FakeLoadBalancerTest, CanRefuseASecondWriteAsTheNetworkLoadBalancerDoes) {
  FakeLoadBalancerOptions options = Takes(absl::Seconds(10));
  options.concurrent_writes = ConcurrentWrites::kRefuse;
  Make(options);
  EXPECT_EQ(Drain("10.0.0.1:80", Guarded(), At(0)).status, 204);
  EXPECT_EQ(Code(Drain("10.0.0.2:80", Guarded(), At(1))), "409 IncorrectState");
  fake_->Advance(At(10));
  EXPECT_EQ(Drain("10.0.0.2:80", Guarded(), At(10)).status, 204);
}

TEST_F(FakeLoadBalancerTest, ARetryTokenRepeatsTheAnswerAndNotTheWrite) {
  Make(Takes(absl::Seconds(10)));
  WriteHeaders headers = Guarded();
  headers.retry_token = "token";
  const ApiReply first = Drain("10.0.0.1:80", headers, At(0));
  const ApiReply again = Drain("10.0.0.1:80", headers, At(30));
  EXPECT_EQ(again.status, 204);
  EXPECT_EQ(again.work_request_id, first.work_request_id);
  EXPECT_EQ(fake_->writes().size(), 1u);
  EXPECT_EQ(Code(Drain("10.0.0.2:80", headers, At(31))), "409 InvalidatedRetryToken");
  EXPECT_EQ(Code(Drain("10.0.0.1:80", headers, At(25 * 3600))), "412 NoEtagMatch");
}

TEST_F(FakeLoadBalancerTest, RefusesMoreBackendsThanTheLimitsAtOnceOrAsFailedWork) {
  FakeLoadBalancerOptions options = Takes(absl::Seconds(1));
  options.max_backends_per_set = 3;
  options.max_backends_per_load_balancer = 4;
  Make(options);
  const std::string three = SetBody({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  const std::string four = SetBody({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
  const ApiReply set_limit = Replace(four, Guarded(), At(0));
  EXPECT_EQ(Code(set_limit), "400 LimitExceeded");
  EXPECT_THAT(set_limit.body, HasSubstr("backend set, 4, exceeds the limit of 3"));
  EXPECT_EQ(Replace(three, Guarded(), At(0)).status, 204);
  fake_->Advance(At(10));

  fake_->options().max_backends_per_set = 9;
  EXPECT_THAT(Replace(four, Guarded(), At(10)).body, HasSubstr("load balancer, 5, exceeds"));
  fake_->options().limit_refusal = LimitRefusal::kFailedWorkRequest;
  const ApiReply later = Replace(four, Guarded(), At(20));
  EXPECT_EQ(later.status, 204);
  EXPECT_EQ(StateOf(later.work_request_id, At(21)), "FAILED");
  EXPECT_THAT(fake_->writes().back().error_message, HasSubstr("exceeds the limit of 4"));
  EXPECT_EQ(fake_->writes().back().error_code, "BAD_INPUT");
}

TEST_F(FakeLoadBalancerTest, ALimitThatSankStillLetsDrainsAndRemovalsPass) {
  Make({});
  fake_->options().max_backends_per_set = 1;
  EXPECT_EQ(Drain("10.0.0.1:80", Guarded(), kStart).status, 204);
  EXPECT_EQ(Replace(SetBody({"10.0.0.1", "10.0.0.2"}, true), Guarded(), kStart).status, 204);
  for (const WriteRecord& write : fake_->writes()) {
    EXPECT_EQ(write.state, WorkState::kSucceeded);
  }
}

TEST_F(FakeLoadBalancerTest, ListsWorkRequestsNewestFirstInPages) {
  Make({});
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(Drain("10.0.0.1:80", Guarded(), At(i)).work_request_id);
  }
  std::vector<std::string> listed;
  std::string page;
  int pages = 0;
  do {
    const ApiReply reply = fake_->ListWorkRequests(kOcid, 2, page, At(9));
    const auto parsed = base::ParseJson(reply.body, "list");
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    for (const auto& entry : parsed->GetArray()) {
      listed.emplace_back(base::StringOf(entry["id"]));
    }
    page = reply.next_page;
    // An entry that arrives between two pages shifts nothing.
    if (++pages == 1) Drain("10.0.0.2:80", Guarded(), At(9));
  } while (!page.empty());
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(listed, ElementsAre(ids[4], ids[3], ids[2], ids[1], ids[0]));
  EXPECT_EQ(fake_->ListWorkRequests(kOcid, 0, "x", At(9)).status, 400);
}

TEST_F(FakeLoadBalancerTest, FailsTheWorkRequestsItIsToldToFail) {
  Make({});
  fake_->AddWorkFault({.matches = [](const WriteRecord& write) { return write.client == "us"; },
                       .skip = 1,
                       .times = 1,
                       .message = "boom"});
  fake_->UpdateBackend({kOcid, "bs_1", "10.0.0.2:80"}, kDrain, {.client = "other"}, kStart);
  for (int i = 0; i < 3; ++i) Drain("10.0.0.1:80", Guarded(), kStart);
  const auto& writes = fake_->writes();
  EXPECT_EQ(writes[0].state, WorkState::kSucceeded);
  EXPECT_EQ(writes[1].state, WorkState::kSucceeded);
  EXPECT_EQ(writes[2].state, WorkState::kFailed);
  EXPECT_EQ(writes[2].error_message, "boom");
  EXPECT_TRUE(writes[2].effect.empty());
  EXPECT_EQ(writes[3].state, WorkState::kSucceeded);
}

TEST_F(FakeLoadBalancerTest, AFrozenControlPlaneTakesWritesAndFinishesThemLater) {
  Make(Takes(absl::Seconds(10)));
  const std::string running = Drain("10.0.0.1:80", Guarded(), At(0)).work_request_id;
  fake_->Freeze(At(1800), At(4));
  const std::string waiting = Drain("10.0.0.2:80", Guarded(), At(5)).work_request_id;
  EXPECT_EQ(StateOf(running, At(1805)), "IN_PROGRESS");
  EXPECT_EQ(StateOf(running, At(1806)), "SUCCEEDED");
  EXPECT_EQ(StateOf(waiting, At(1816)), "SUCCEEDED");
}

TEST_F(FakeLoadBalancerTest, QueuesForeignWritesOfAnyType) {
  Make(Takes(absl::Seconds(10)));
  const std::string etag = fake_->Etag(kOcid);
  const auto widen = [](rapidjson::Document& lb) {
    lb["displayName"].SetString("renamed");
    return ApiError();
  };
  ASSERT_TRUE(fake_->QueueWrite(kOcid, "UpdateLoadBalancer", "operator", widen, At(0)).ok());
  EXPECT_NE(fake_->Etag(kOcid), etag);
  EXPECT_THAT(fake_->ListWorkRequests(kOcid, 0, "", At(5)).body,
              HasSubstr(R"("type":"UpdateLoadBalancer")"));
  fake_->Advance(At(10));
  EXPECT_THAT(fake_->writes().back().effect.changed, ElementsAre("displayName"));
  EXPECT_EQ(fake_->QueueWrite("ocid9", "X", "operator", widen, At(0)).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(FakeLoadBalancerTest, UnknownFieldsSurviveAsLongAsNobodyReplacesThem) {
  Make({});
  ASSERT_TRUE(fake_
                  ->EditNow(
                      kOcid,
                      [](rapidjson::Document& lb) {
                        FindBackendSet(lb, "bs_1")->AddMember("futureField", 7, lb.GetAllocator());
                        return ApiError();
                      },
                      kStart)
                  .ok());
  Drain("10.0.0.1:80", Guarded(), kStart);
  EXPECT_THAT(fake_->GetLoadBalancer(kOcid, kStart).body, HasSubstr(R"("futureField":7)"));
  Replace(SetBody({"10.0.0.1", "10.0.0.2"}), Guarded(), kStart);
  EXPECT_THAT(fake_->writes().back().effect.changed, ElementsAre("bs_1.futureField"));
}

TEST_F(FakeLoadBalancerTest, TellsWhenAWriteHasEnded) {
  Make(Takes(absl::Seconds(10)));
  std::vector<std::string> ended;
  fake_->SetOnFinished(
      [&](const WriteRecord& write) { ended.push_back(Timestamp(write.finished)); });
  Drain("10.0.0.1:80", Guarded(), At(0));
  Drain("10.0.0.2:80", Guarded(), At(1));
  const int64_t version = fake_->StateVersion(kOcid);
  fake_->Advance(At(100));
  EXPECT_THAT(ended, ElementsAre("2027-01-15T08:00:10.000Z", "2027-01-15T08:00:20.000Z"));
  EXPECT_EQ(fake_->StateVersion(kOcid), version + 2);
}

TEST_F(FakeLoadBalancerTest, HealthIsUnknownUntilACheckAfterTheRegistration) {
  Make({});
  fake_->SetServing([](const std::string& ip, int port) { return ip != "10.0.0.2" && port == 80; });
  const std::string unchecked = R"({"status":"UNKNOWN","healthCheckResults":[]})";
  EXPECT_EQ(fake_->GetBackendHealth(kOcid, "bs_1", "10.0.0.1:80", At(9)).body, unchecked);
  EXPECT_EQ(fake_->GetBackendSetHealth(kOcid, "bs_1", At(9)).body,
            R"({"status":"UNKNOWN","warningStateBackendNames":[],"criticalStateBackendNames":[],)"
            R"("unknownStateBackendNames":["10.0.0.1:80","10.0.0.2:80"],"totalBackendCount":2})");
  EXPECT_THAT(fake_->GetBackendHealth(kOcid, "bs_1", "10.0.0.1:80", At(11)).body,
              HasSubstr(R"({"status":"OK","healthCheckResults":[{)"));
  EXPECT_THAT(fake_->GetBackendHealth(kOcid, "bs_1", "10.0.0.1:80", At(35)).body,
              HasSubstr(R"("timestamp":"2027-01-15T08:00:30.000Z","healthCheckStatus":"OK")"));
  EXPECT_EQ(fake_->GetBackendSetHealth(kOcid, "bs_1", At(35)).body,
            R"({"status":"WARNING","warningStateBackendNames":[],)"
            R"("criticalStateBackendNames":["10.0.0.2:80"],"unknownStateBackendNames":[],)"
            R"("totalBackendCount":2})");
  Replace(SetBody({"10.0.0.1", "10.0.0.3"}), Guarded(), At(36));
  EXPECT_EQ(fake_->GetBackendHealth(kOcid, "bs_1", "10.0.0.3:80", At(36)).body, unchecked);
  EXPECT_THAT(fake_->GetBackendHealth(kOcid, "bs_1", "10.0.0.1:80", At(36)).body,
              HasSubstr(R"("status":"OK")"));
  EXPECT_THAT(fake_->GetBackendHealth(kOcid, "bs_1", "10.0.0.3:80", At(40)).body,
              HasSubstr(R"("status":"OK")"));
  EXPECT_THAT(fake_->GetLoadBalancerHealth(kOcid, At(40)).body,
              HasSubstr(R"("status":"OK","warningStateBackendSetNames":[])"));
}

TEST_F(FakeLoadBalancerTest, HealthStaysUnknownWithoutAListener) {
  Make({});
  ASSERT_TRUE(fake_
                  ->EditNow(
                      kOcid,
                      [](rapidjson::Document& lb) {
                        lb["listeners"].RemoveAllMembers();
                        return ApiError();
                      },
                      kStart)
                  .ok());
  EXPECT_THAT(fake_->GetBackendHealth(kOcid, "bs_1", "10.0.0.1:80", At(60)).body,
              HasSubstr(R"("status":"UNKNOWN")"));
  EXPECT_THAT(fake_->GetBackendSetHealth(kOcid, "bs_1", At(60)).body,
              HasSubstr(R"({"status":"UNKNOWN")"));
}

TEST_F(FakeLoadBalancerTest, HealthCanBeFixedByTheWorld) {
  Make({});
  fake_->FixHealth(kOcid, "bs_1", "10.0.0.1:80", Health::kWarning);
  EXPECT_THAT(fake_->GetBackendSetHealth(kOcid, "bs_1", At(10)).body,
              HasSubstr(R"("warningStateBackendNames":["10.0.0.1:80"])"));
  fake_->FixHealth(kOcid, "bs_1", "10.0.0.1:80", std::nullopt);
  EXPECT_THAT(fake_->GetBackendSetHealth(kOcid, "bs_1", At(20)).body,
              HasSubstr(R"({"status":"OK")"));
}

TEST_F(FakeLoadBalancerTest, RefusesADocumentThatTheApiWouldNotShow) {
  FakeLoadBalancer fake;
  EXPECT_EQ(fake.AddLoadBalancer("{", kStart).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fake.AddLoadBalancer("{}", kStart).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sim

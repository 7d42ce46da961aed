#include "oci/codec.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Recorded(const std::string& name) {
  return base::ReadFile("testdata/oci/" + name).value();
}

BackendSet RecordedSet() {
  return DecodeLoadBalancer(Recorded("load-balancer.json"))
      ->backend_sets.at(BackendSetName("bs_f151df96ee98ff0"));
}

// `text` with the one occurrence of `from` replaced.
std::string Replaced(const std::string& text, const std::string& from, const std::string& to) {
  EXPECT_THAT(text, HasSubstr(from));
  return absl::StrReplaceAll(text, {{from, to}});
}

const BackendName kFirst("10.0.0.3:8080");
const BackendName kSecond("10.0.0.4:8080");
const BackendName kThird("10.0.0.5:8080");

Backend NewBackend(const std::string& ip, bool drain = false) {
  Backend backend;
  backend.name = MakeBackendName(ip, 8080);
  backend.ip_address = ip;
  backend.port = 8080;
  backend.drain = drain;
  return backend;
}

TEST(DecodeLoadBalancer, ReadsTheFieldsThatAreUsed) {
  const auto lb = DecodeLoadBalancer(Recorded("load-balancer.json"));
  ASSERT_TRUE(lb.ok()) << lb.status();
  EXPECT_EQ(lb->id, Ocid("ocid1.loadbalancer.oc1.iad.aaaa"));
  EXPECT_EQ(lb->display_name, "k8s-default");
  EXPECT_EQ(lb->lifecycle_state, "ACTIVE");
  ASSERT_EQ(lb->backend_sets.size(), 2u);
  const BackendSet& set = lb->backend_sets.at(BackendSetName("bs_f151df96ee98ff0"));
  EXPECT_EQ(set.policy, "LEAST_CONNECTIONS");
  EXPECT_EQ(set.health_checker_protocol, "HTTP");
  EXPECT_TRUE(set.has_session_persistence);
  ASSERT_EQ(set.backends.size(), 3u);
  EXPECT_EQ(set.backends[0].name, kFirst);
  EXPECT_EQ(set.backends[0].max_connections, 256);
  EXPECT_EQ(set.backends[1].weight, 3);
  EXPECT_TRUE(set.backends[1].drain);
  EXPECT_TRUE(set.backends[1].backup);
  EXPECT_EQ(set.backends[1].max_connections, std::nullopt);
  EXPECT_TRUE(set.backends[2].offline);
  EXPECT_THAT(set.backends[1].document, HasSubstr("faultDomain"));
  const BackendSet& other = lb->backend_sets.at(BackendSetName("default_ingress"));
  EXPECT_TRUE(other.backends.empty());
  EXPECT_FALSE(other.has_session_persistence);
}

TEST(DecodeBackendSet, SettingsAreEverythingButTheFlagsInCanonicalOrder) {
  const auto set = DecodeBackendSet(
      R"({"policy":"IP_HASH","name":"bs_1","sslConfiguration":null,)"
      R"("healthChecker":{"port":0,"protocol":"TCP"},"backends":[)"
      R"({"weight":2,"port":80,"name":"10.0.0.3:80","ipAddress":"10.0.0.3","backup":false,)"
      R"("offline":true,"drain":true,"maxConnections":null,"zone":["b","a"]}]})");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->settings, R"({"healthChecker":{"port":0,"protocol":"TCP"},"policy":"IP_HASH"})");
  EXPECT_EQ(set->backends.front().settings,
            R"({"backup":false,"ipAddress":"10.0.0.3","port":80,"weight":2,"zone":["b","a"]})");
}

TEST(DecodeLoadBalancer, NamesTheMemberThatIsWrong) {
  const std::string good = Recorded("load-balancer.json");
  const std::string backend = R"("ipAddress": "10.0.0.5", "port": 8080)";
  const struct {
    std::string from, to, message;
  } cases[] = {
      {R"("id": "ocid1.loadbalancer.oc1.iad.aaaa",)", "", "load balancer.id: missing"},
      {R"("lifecycleState": "ACTIVE")", R"("lifecycleState": 7)",
       "load balancer.lifecycleState: expected a string, got number"},
      {backend, R"("ipAddress": "10.0.0.5", "port": "8080")",
       "load balancer.backendSets.bs_f151df96ee98ff0.backends[2].port: expected an integer"},
      {backend, R"("ipAddress": "10.0.0.5", "port": 0)", "backends[2].port: 0 is not from 1"},
      {backend, R"("ipAddress": "10.0.0.5", "port": 70000)", "70000 is not from 1 to 65535"},
      {backend, R"("ipAddress": null, "port": 8080)", "backends[2].ipAddress: missing"},
      {R"("name": "10.0.0.5:8080")", R"("name": "10.0.0.3:8080")",
       "backends: two are named 10.0.0.3:8080"},
      {R"("weight": 3)", R"("weight": 3.5)", "backends[1].weight: expected an integer"},
      {R"("drain": true)", R"("drain": "true")", "backends[1].drain: expected a boolean"},
      {R"("backends": [],)", R"("backends": {},)",
       "load balancer.backendSets.default_ingress.backends: expected an array"},
      {R"("backends": [],)", R"("backends": [7],)",
       "default_ingress.backends[0]: expected an object"},
      {R"("backends": [],)", "", "default_ingress.backends: missing"},
      {R"("healthChecker": {"protocol": "TCP")", R"("healthCheck": {"protocol": "TCP")",
       "default_ingress.healthChecker: missing"},
      {R"("name": "default_ingress",)", R"("name": "other",)",
       "default_ingress: its name is other"},
  };
  for (const auto& c : cases) {
    const auto lb = DecodeLoadBalancer(Replaced(good, c.from, c.to));
    EXPECT_EQ(lb.status().code(), absl::StatusCode::kInvalidArgument) << c.message;
    EXPECT_THAT(std::string(lb.status().message()), HasSubstr(c.message));
  }
}

TEST(DecodeLoadBalancer, WithoutBackendSetsHasNone) {
  const auto lb = DecodeLoadBalancer(R"({"id":"x","lifecycleState":"CREATING"})");
  ASSERT_TRUE(lb.ok()) << lb.status();
  EXPECT_TRUE(lb->backend_sets.empty());
}

TEST(DecodeLoadBalancer, RefusesMoreBackendsThanCanBe) {
  std::string json = R"({"id":"x","lifecycleState":"ACTIVE","backendSets":{"s":{"name":"s",)"
                     R"("policy":"p","healthChecker":{},"backends":[)";
  for (int i = 0; i < 16'385; ++i) {
    absl::StrAppend(&json, i == 0 ? "" : ",", R"({"name":"n)", i,
                    R"(","ipAddress":"i","port":1,"weight":1,"drain":false,"backup":false,)"
                    R"("offline":false})");
  }
  const auto lb = DecodeLoadBalancer(json + "]}}}");
  EXPECT_THAT(std::string(lb.status().message()), HasSubstr("16385 backends, more than 16384"));
}

TEST(DecodeWorkRequest, ReadsStatesTimesAndErrors) {
  const auto list = DecodeWorkRequestList(Recorded("work-requests.json"));
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[0].state, WorkRequestState::kInProgress);
  EXPECT_FALSE((*list)[0].finished());
  EXPECT_EQ((*list)[0].time_finished, absl::InfiniteFuture());
  const WorkRequest& failed = (*list)[1];
  EXPECT_EQ(failed.id, WorkRequestId("ocid1.loadbalancerworkrequest.oc1.iad.2"));
  EXPECT_EQ(failed.type, "CreateBackend");
  EXPECT_EQ(failed.state, WorkRequestState::kFailed);
  EXPECT_EQ(failed.message, "Backend limit reached?");
  EXPECT_EQ(failed.error_details, "BAD_INPUT: more than 512 backends; INTERNAL_ERROR: rolled back");
  EXPECT_EQ(failed.time_finished - failed.time_accepted, absl::Milliseconds(12'500));
  EXPECT_EQ((*list)[2].state, WorkRequestState::kSucceeded);
}

TEST(DecodeWorkRequest, OfAnUnknownStateTheEndSaysWhetherItIsOver) {
  const auto running = DecodeWorkRequest(R"({"id":"w","lifecycleState":"PAUSED"})");
  EXPECT_EQ(running->state, WorkRequestState::kInProgress);
  EXPECT_EQ(running->type, "");
  EXPECT_EQ(running->time_accepted, absl::InfinitePast());
  const auto over = DecodeWorkRequest(
      R"({"id":"w","lifecycleState":"CANCELED","timeFinished":"2026-01-05T10:00:09Z"})");
  EXPECT_EQ(over->state, WorkRequestState::kFailed);
}

TEST(DecodeHealth, ReadsStatusAndTheNewestCheck) {
  const auto health = DecodeBackendHealth(
      R"({"status":"WARNING","healthCheckResults":[{"timestamp":"2026-01-05T10:00:01Z"},)"
      R"({"timestamp":"2026-01-05T10:00:07Z"},{"timestamp":"2026-01-05T10:00:03Z"}]})");
  ASSERT_TRUE(health.ok()) << health.status();
  EXPECT_EQ(health->status, HealthStatus::kWarning);
  EXPECT_EQ(absl::FormatTime(health->checked_at, absl::UTCTimeZone()), "2026-01-05T10:00:07+00:00");
  const auto never = DecodeBackendHealth(R"({"status":"NEW_WORD","healthCheckResults":[]})");
  EXPECT_EQ(never->status, HealthStatus::kUnknown);
  EXPECT_EQ(never->checked_at, absl::InfinitePast());
  EXPECT_FALSE(DecodeBackendHealth(R"({"healthCheckResults":[]})").ok());
}

TEST(DecodeHealth, OfASetNeedsAllThreeLists) {
  const std::string json =
      R"({"status":"CRITICAL","warningStateBackendNames":["a"],"criticalStateBackendNames":)"
      R"(["b","c"],"unknownStateBackendNames":[],"totalBackendCount":4})";
  const auto health = DecodeBackendSetHealth(json);
  ASSERT_TRUE(health.ok()) << health.status();
  EXPECT_EQ(health->status, HealthStatus::kCritical);
  EXPECT_THAT(health->critical, ElementsAre(BackendName("b"), BackendName("c")));
  EXPECT_EQ(health->total_backend_count, 4);
  EXPECT_FALSE(DecodeBackendSetHealth(Replaced(json, "unknownState", "otherState")).ok());
  EXPECT_FALSE(DecodeBackendSetHealth(Replaced(json, R"(["a"])", "[1]")).ok());
}

TEST(EncodeBackendUpdate, EchoesWhatIsNotFlipped) {
  const BackendSet set = RecordedSet();
  EXPECT_EQ(EncodeBackendUpdate(set.backends[0], {.drain = true, .offline = false}),
            R"({"weight":1,"backup":false,"drain":true,"offline":false,"maxConnections":256})");
  EXPECT_EQ(EncodeBackendUpdate(set.backends[1], {.drain = false, .offline = true}),
            R"({"weight":3,"backup":true,"drain":false,"offline":true})");
}

TEST(EncodeBackendSetUpdate, ChangesWhatIsDecidedAndNothingElse) {
  const BackendSet set = RecordedSet();
  BackendSetChange change;
  change.flips[kFirst] = {.drain = true, .offline = true};
  change.removals = {kThird};
  change.additions = {NewBackend("10.0.0.9"), NewBackend("10.0.0.10", /*drain=*/true)};
  const auto body = EncodeBackendSetUpdate(set, change);
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_TRUE(CheckLossless(set, change, *body).ok()) << CheckLossless(set, change, *body);

  const auto sent = base::ParseJson(*body, "body");
  const auto read = base::ParseJson(set.document, "set");
  EXPECT_FALSE(sent->HasMember("name"));
  for (const auto& member : read->GetObject()) {
    const std::string name(base::StringOf(member.name));
    if (name == "name" || name == "backends") continue;
    ASSERT_TRUE(sent->HasMember(member.name)) << name;
    EXPECT_TRUE((*sent)[member.name] == member.value) << name;
  }
  EXPECT_EQ(base::WriteJson((*sent)["backends"]),
            R"([{"ipAddress":"10.0.0.3","port":8080,"weight":1,"maxConnections":256,"drain":true,)"
            R"("backup":false,"offline":true},{"ipAddress":"10.0.0.4","port":8080,"weight":3,)"
            R"("maxConnections":null,"drain":true,"backup":true,"offline":false,)"
            R"("zone":{"faultDomain":"FD-2","score":0.1}},)"
            R"({"ipAddress":"10.0.0.9","port":8080,"weight":1,"backup":false,"drain":false,)"
            R"("offline":false},{"ipAddress":"10.0.0.10","port":8080,"weight":1,"backup":false,)"
            R"("drain":true,"offline":false}])");
}

TEST(EncodeBackendSetUpdate, WithoutChangeEchoesTheSet) {
  const BackendSet set = RecordedSet();
  const auto body = EncodeBackendSetUpdate(set, {});
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_TRUE(CheckLossless(set, {}, *body).ok());
  // What comes back is what was read but for the names.
  std::string expected = set.document;
  for (const std::string name :
       {"bs_f151df96ee98ff0", "10.0.0.3:8080", "10.0.0.4:8080", "10.0.0.5:8080"}) {
    expected = Replaced(expected, absl::StrCat("\"name\":\"", name, "\","), "");
  }
  EXPECT_EQ(*body, expected);
}

TEST(EncodeBackendSetUpdate, RefusesAChangeThatDoesNotFitTheSet) {
  const BackendSet set = RecordedSet();
  const BackendName absent("10.9.9.9:1");
  const auto message = [&](const BackendSetChange& change) {
    const auto body = EncodeBackendSetUpdate(set, change);
    EXPECT_EQ(body.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(body.status().message());
  };
  EXPECT_THAT(message({.flips = {{absent, {}}}, .additions = {}, .removals = {}}),
              HasSubstr("no backend 10.9.9.9:1 to flip"));
  EXPECT_THAT(message({.flips = {}, .additions = {}, .removals = {absent}}),
              HasSubstr("no backend 10.9.9.9:1 to remove"));
  EXPECT_THAT(message({.flips = {{kFirst, {}}}, .additions = {}, .removals = {kFirst}}),
              HasSubstr("cannot be both flipped and removed"));
  EXPECT_THAT(message({.flips = {}, .additions = {NewBackend("10.0.0.3")}, .removals = {}}),
              HasSubstr("cannot be added, it is there"));
  EXPECT_THAT(message({.flips = {},
                       .additions = {NewBackend("10.1.1.1"), NewBackend("10.1.1.1")},
                       .removals = {}}),
              HasSubstr("cannot be added, it is there"));
}

TEST(EncodeBackendSetUpdate, RefusesWhatCannotBeEchoedFaithfully) {
  const std::string set = R"({"name":"s","policy":"p","healthChecker":{},"backends":[],"extra":@})";
  const std::pair<std::string, std::string> cases[] = {
      {"123456789012345678901234567890", "s.extra: a number too large"},
      {"[{\"x\":-1e300}]", "s.extra[].x: a number too large"},
      {"{\"a\":1,\"a\":2}", "s.extra.a: it is there twice"},
  };
  for (const auto& [value, why] : cases) {
    const auto decoded = DecodeBackendSet(Replaced(set, "@", value));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    const auto body = EncodeBackendSetUpdate(*decoded, {});
    EXPECT_EQ(body.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(body.status().message()), HasSubstr(why));
  }
}

// Each of these is a body that a careless encoder might send.
TEST(CheckLossless, FindsEveryKindOfDifference) {
  const BackendSet set = RecordedSet();
  BackendSetChange change;
  change.flips[kFirst] = {.drain = true, .offline = false};
  change.additions = {NewBackend("10.0.0.9")};
  const std::string good = EncodeBackendSetUpdate(set, change).value();
  ASSERT_TRUE(CheckLossless(set, change, good).ok());
  const struct {
    std::string from, to, message;
  } cases[] = {
      {R"("backendMaxConnections":300,)", "", "backendMaxConnections: left out"},
      {R"("verifyDepth":5)", R"("verifyDepth":4)", "sslConfiguration: another value"},
      {R"("urlPath":"/ready")", R"("urlPath":"/")", "healthChecker: another value"},
      {R"("cookieName":"X-Oracle-BMC-LBS-Route")", R"("cookieName":"x")",
       "lbCookieSessionPersistenceConfiguration: another value"},
      {R"("sessionPersistenceConfiguration":null,)", "",
       "sessionPersistenceConfiguration: left out"},
      {R"("policy":"LEAST_CONNECTIONS")", R"("policy":"IP_HASH")", "policy: another value"},
      {R"("tiny":1e-7)", R"("tiny":2e-7)", "futureSetting: another value"},
      {R"("policy":)", R"("surprise":1,"policy":)", "surprise: added"},
      {R"("policy":)", R"("policy":"LEAST_CONNECTIONS","policy":)", "a member twice"},
      {R"("policy":)", R"("name":"bs_f151df96ee98ff0","policy":)", "name: read-only"},
      {R"("backends":)", R"("backends":[],"backends":)", "backends: not there once"},
      {R"("maxConnections":256,)", "", "backends[10.0.0.3:8080].maxConnections: left out"},
      {R"("maxConnections":256,"drain":true)", R"("maxConnections":256,"drain":false)",
       "backends[10.0.0.3:8080].drain: not as decided"},
      {R"("maxConnections":256,"drain":true)", R"("maxConnections":256,"drain":1)",
       "backends[10.0.0.3:8080].drain: not as decided"},
      {R"("weight":3)", R"("weight":1)", "backends[10.0.0.4:8080].weight: another value"},
      {R"("backup":true)", R"("backup":false)", "backends[10.0.0.4:8080].backup: another value"},
      {R"("score":0.1)", R"("score":0.2)", "backends[10.0.0.4:8080].zone: another value"},
      {R"("offline":true)", R"("offline":false)", "backends[10.0.0.5:8080].offline: another value"},
      {R"({"ipAddress":"10.0.0.9",)", R"({"ipAddress":"10.0.0.8",)",
       "backends[10.0.0.9:8080].ipAddress: another value"},
      {R"("offline":false}],)", R"("offline":false},{}],)", "backends: one too many"},
  };
  for (const auto& c : cases) {
    const auto status = CheckLossless(set, change, Replaced(good, c.from, c.to));
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << c.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
  EXPECT_FALSE(CheckLossless(set, {}, good).ok());
  BackendSetChange more = change;
  more.removals = {kThird};
  EXPECT_FALSE(CheckLossless(set, more, good).ok());
  more.removals = {BackendName("10.9.9.9:1")};
  EXPECT_FALSE(CheckLossless(set, more, good).ok());
  more = change;
  more.flips[BackendName("10.9.9.9:1")] = {};
  EXPECT_FALSE(CheckLossless(set, more, good).ok());
  EXPECT_FALSE(CheckLossless(set, change, "{\"truncated\":").ok());
  EXPECT_FALSE(CheckLossless(set, change, "[]").ok());
}

// Truncated and damaged text never crashes and never gives anything but a value
// or InvalidArgument.
void DecodeAll(absl::string_view json) {
  const auto acceptable = [](const absl::Status& status) {
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
  };
  const auto lb = DecodeLoadBalancer(json);
  acceptable(lb.status());
  if (lb.ok()) {
    for (const auto& [name, set] : lb->backend_sets) {
      const auto body = EncodeBackendSetUpdate(set, {});
      acceptable(body.status());
      if (body.ok()) {
        EXPECT_TRUE(CheckLossless(set, {}, *body).ok()) << *body;
      }
    }
  }
  acceptable(DecodeBackendSet(json).status());
  acceptable(DecodeBackendHealth(json).status());
  acceptable(DecodeBackendSetHealth(json).status());
  acceptable(DecodeWorkRequest(json).status());
  acceptable(DecodeWorkRequestList(json).status());
}

TEST(Codec, SurvivesTruncationAtEveryByte) {
  for (const std::string name : {"load-balancer.json", "work-requests.json"}) {
    const std::string json = Recorded(name);
    for (size_t length = 0; length < json.size(); ++length) {
      DecodeAll(absl::string_view(json).substr(0, length));
    }
  }
}

TEST(Codec, SurvivesDamage) {
  base::Random random(7);
  for (const std::string name : {"load-balancer.json", "work-requests.json"}) {
    const std::string json = Recorded(name);
    for (int round = 0; round < 500; ++round) {
      std::string damaged = json;
      for (int64_t i = random.Between(1, 4); i > 0; --i) {
        const auto at =
            static_cast<size_t>(random.Between(0, static_cast<int64_t>(damaged.size()) - 1));
        damaged[at] = random.Fraction() < 0.5 ? "{}[],:\"0e-tn"[random.Between(0, 11)]
                                              : static_cast<char>(random.Between(0, 255));
      }
      DecodeAll(damaged);
    }
  }
  DecodeAll(std::string(100'000, '['));
  DecodeAll("null");
  DecodeAll("");
}

}  // namespace
}  // namespace oci

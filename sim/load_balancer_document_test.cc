#include "sim/load_balancer_document.h"

#include <string>

#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/load_balancer_body.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kSetBody[] = R"({"policy":"ROUND_ROBIN",
  "healthChecker":{"protocol":"HTTP","urlPath":"/"},
  "backends":[{"ipAddress":"10.0.0.1","port":80}]})";

rapidjson::Document Parse(const std::string& text) {
  auto parsed = base::ParseJson(text, "test");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return *std::move(parsed);
}

ApiError CheckSet(const std::string& body, BodyRules rules = {}) {
  rapidjson::Document document;
  ApiError error = ParseBody(body, document);
  return error.ok() ? CheckBackendSetUpdate(document, rules) : error;
}

// The body above with `from` replaced by `to`.
std::string SetBodyWith(const std::string& from, const std::string& to) {
  std::string body = kSetBody;
  const size_t at = body.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return body.replace(at, from.size(), to);
}

ApiError CheckBackend(const std::string& body) {
  return CheckBackendUpdate(Parse(body), BodyRules());
}

TEST(LoadBalancerBody, TakesTheLeastThatTheApiTakes) {
  EXPECT_TRUE(CheckSet(kSetBody).ok());
  EXPECT_TRUE(CheckBackend(R"({"weight":1,"backup":false,"drain":true,"offline":false})").ok());
}

TEST(LoadBalancerBody, RefusesMissingMandatoryFields) {
  for (const char* field : {"weight", "backup", "drain", "offline"}) {
    rapidjson::Document body = Parse(R"({"weight":1,"backup":false,"drain":true,"offline":false})");
    body.RemoveMember(field);
    const ApiError error = CheckBackendUpdate(body, BodyRules());
    EXPECT_EQ(error.code, "MissingParameter") << field;
    EXPECT_THAT(error.message, HasSubstr(field));
  }
  for (const char* field : {"policy", "backends", "healthChecker"}) {
    rapidjson::Document body = Parse(kSetBody);
    body.RemoveMember(field);
    EXPECT_EQ(CheckBackendSetUpdate(body, BodyRules()).code, "MissingParameter") << field;
  }
  EXPECT_EQ(CheckSet(SetBodyWith(R"("port":80)", R"("weight":1)")).code, "MissingParameter");
  EXPECT_EQ(CheckSet(SetBodyWith(R"("protocol":"HTTP",)", "")).code, "MissingParameter");
  EXPECT_EQ(CheckSet(SetBodyWith(R"("ROUND_ROBIN")", "null")).code, "MissingParameter");
}

TEST(LoadBalancerBody, RefusesValuesOfTheWrongType) {
  for (const char* body : {
           R"({"weight":"1","backup":false,"drain":true,"offline":false})",
           R"({"weight":1,"backup":0,"drain":true,"offline":false})",
           R"({"weight":1.5,"backup":false,"drain":"true","offline":false})",
       }) {
    EXPECT_EQ(CheckBackend(body).code, "CannotParseRequest") << body;
  }
  EXPECT_EQ(CheckSet(SetBodyWith(R"({"ipAddress":"10.0.0.1","port":80})", "\"10.0.0.1:80\"")).code,
            "CannotParseRequest");
  EXPECT_EQ(CheckSet(SetBodyWith(R"({"protocol":"HTTP","urlPath":"/"})", "[]")).code,
            "CannotParseRequest");
  for (const char* body : {"", "[]", "{", "nonsense", "\"text\""}) {
    EXPECT_EQ(CheckSet(body).code, "CannotParseRequest") << body;
  }
}

TEST(LoadBalancerBody, RefusesValuesThatAreNotAllowed) {
  for (const char* weight : {"0", "101", "-1"}) {
    const std::string body = std::string(R"({"backup":false,"drain":true,"offline":false,)") +
                             R"("weight":)" + weight + "}";
    EXPECT_EQ(CheckBackend(body).code, "InvalidParameter") << body;
  }
  EXPECT_EQ(CheckBackend(
                R"({"weight":1,"backup":false,"drain":true,"offline":false,"maxConnections":255})")
                .code,
            "InvalidParameter");
  EXPECT_EQ(CheckSet(SetBodyWith("ROUND_ROBIN", "RANDOM")).code, "InvalidParameter");
  EXPECT_EQ(CheckSet(SetBodyWith("\"HTTP\"", "\"SMTP\"")).code, "InvalidParameter");
  EXPECT_EQ(CheckSet(SetBodyWith("10.0.0.1", "10.0.0")).code, "InvalidParameter");
  EXPECT_EQ(CheckSet(SetBodyWith("\"port\":80", "\"port\":0")).code, "InvalidParameter");
  const ApiError twice = CheckSet(SetBodyWith(
      "\"backends\":[", R"("backends":[{"ipAddress":"10.0.0.1","port":80,"drain":true},)"));
  EXPECT_EQ(twice.code, "InvalidParameter");
  EXPECT_THAT(twice.message, HasSubstr("Duplicate backend 10.0.0.1:80"));
}

TEST(LoadBalancerBody, RefusesBothCookieConfigurationsButTakesOneAndANull) {
  const std::string application = R"("sessionPersistenceConfiguration":{"cookieName":"*"},)";
  const std::string own = R"("lbCookieSessionPersistenceConfiguration":{"cookieName":"x"},)";
  const std::string no_own = R"("lbCookieSessionPersistenceConfiguration":null,)";
  EXPECT_TRUE(CheckSet("{" + application + std::string(kSetBody).substr(1)).ok());
  EXPECT_TRUE(CheckSet("{" + application + no_own + std::string(kSetBody).substr(1)).ok());
  EXPECT_EQ(CheckSet("{" + application + own + std::string(kSetBody).substr(1)).code,
            "InvalidParameter");
}

TEST(LoadBalancerBody, RefusesBackupWithIpHash) {
  const std::string backup = SetBodyWith("\"port\":80", R"("port":80,"backup":true)");
  EXPECT_TRUE(CheckSet(backup).ok());
  std::string hashed = backup;
  hashed.replace(hashed.find("ROUND_ROBIN"), 11, "IP_HASH");
  EXPECT_EQ(CheckSet(hashed).code, "InvalidParameter");
  const rapidjson::Document set = Parse(R"({"policy":"IP_HASH"})");
  EXPECT_EQ(CheckBackupAllowed(Parse(R"({"backup":true})"), set).code, "InvalidParameter");
  EXPECT_TRUE(CheckBackupAllowed(Parse(R"({"backup":false})"), set).ok());
}

TEST(LoadBalancerBody, TreatsReadOnlyAndUnknownFieldsAsToldTo) {
  const std::string named = SetBodyWith("\"port\":80", R"("port":80,"name":"10.0.0.1:80")");
  EXPECT_EQ(CheckSet(named).code, "InvalidParameter");
  EXPECT_TRUE(CheckSet(named, BodyRules{.refuse_read_only_fields = false}).ok());
  const std::string unknown = SetBodyWith("\"port\":80", R"("port":80,"zone":"a")");
  EXPECT_TRUE(CheckSet(unknown).ok());
  EXPECT_EQ(CheckSet(unknown, BodyRules{.refuse_unknown_fields = true}).code, "InvalidParameter");
}

TEST(MakeBackendSet, LeavesNothingOfTheOldSetAndKeepsUnknownFields) {
  rapidjson::Document lb = Parse(MakeLoadBalancerJson("ocid1.lb", {{"bs_1", {"10.0.0.9:80"}}}));
  FindBackendSet(lb, "bs_1")->AddMember("backendMaxConnections", 300, lb.GetAllocator());
  const rapidjson::Document body = Parse(R"({"policy":"IP_HASH","futureField":{"a":[1]},
      "healthChecker":{"protocol":"TCP"},"sslConfiguration":null,
      "backends":[{"ipAddress":"10.0.0.1","port":80,"zone":"a"}]})");
  *FindBackendSet(lb, "bs_1") = MakeBackendSet("bs_1", body, lb.GetAllocator());
  EXPECT_TRUE(base::SameJson(*FindBackendSet(lb, "bs_1"),
                             Parse(R"({"name":"bs_1","policy":"IP_HASH","futureField":{"a":[1]},
        "healthChecker":{"protocol":"TCP","port":0,"returnCode":200,"responseBodyRegex":"",
                         "retries":3,"timeoutInMillis":3000,"intervalInMillis":10000},
        "backends":[{"name":"10.0.0.1:80","ipAddress":"10.0.0.1","port":80,"zone":"a",
                     "weight":1,"drain":false,"backup":false,"offline":false}]})")))
      << base::WriteJson(*FindBackendSet(lb, "bs_1"));
}

TEST(ApplyBackendUpdate, ClearsMaxConnectionsThatTheUpdateDoesNotName) {
  rapidjson::Document backend = Parse(
      R"({"name":"10.0.0.1:80","ipAddress":"10.0.0.1","port":80,"zone":"a","weight":7,
          "drain":false,"backup":false,"offline":false,"maxConnections":300})");
  ApplyBackendUpdate(Parse(R"({"weight":2,"drain":true,"backup":false,"offline":true})"), backend,
                     backend.GetAllocator());
  EXPECT_TRUE(base::SameJson(
      backend, Parse(R"({"name":"10.0.0.1:80","ipAddress":"10.0.0.1","port":80,"zone":"a",
                         "weight":2,"drain":true,"backup":false,"offline":true})")));
}

TEST(DiffLoadBalancers, NamesEveryDifferenceOnce) {
  const rapidjson::Document before = Parse(MakeLoadBalancerJson(
      "ocid1.lb", {{"bs_1", {"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"}}, {"bs_2", {}}}));
  rapidjson::Document after;
  after.CopyFrom(before, after.GetAllocator());
  EXPECT_TRUE(DiffLoadBalancers(before, after).empty());

  rapidjson::Value& set = *FindBackendSet(after, "bs_1");
  FindBackend(set, "10.0.0.1:80")->FindMember("drain")->value.SetBool(true);
  FindBackend(set, "10.0.0.2:80")->FindMember("weight")->value.SetInt(3);
  set["backends"].Erase(set["backends"].Begin() + 2);
  const rapidjson::Document newcomer =
      Parse(R"({"name":"10.0.0.4:80","ipAddress":"10.0.0.4","port":80,
                "weight":1,"drain":true,"backup":false,"offline":false})");
  set["backends"].PushBack(rapidjson::Value(newcomer, after.GetAllocator()), after.GetAllocator());
  set["policy"].SetString("IP_HASH");
  WriteEffect effect = DiffLoadBalancers(before, after);
  EXPECT_THAT(effect.added, ElementsAre("10.0.0.4:80"));
  EXPECT_THAT(effect.removed, ElementsAre("10.0.0.3:80"));
  EXPECT_THAT(effect.drained, ElementsAre("10.0.0.1:80", "10.0.0.4:80"));
  EXPECT_THAT(effect.changed, ElementsAre("bs_1.policy", "bs_1.backends[10.0.0.2:80].weight"));
  effect = DiffLoadBalancers(after, before);
  EXPECT_THAT(effect.undrained, ElementsAre("10.0.0.1:80"));
  EXPECT_THAT(effect.set_offline, IsEmpty());
}

TEST(MakeLoadBalancerJson, IsCompleteAndRoutesToEverySet) {
  const rapidjson::Document lb =
      Parse(MakeLoadBalancerJson("ocid1.lb", {{"bs_1", {"10.0.0.1:80"}}, {"bs_2", {}}}));
  EXPECT_TRUE(CheckLoadBalancer(lb).ok()) << CheckLoadBalancer(lb);
  EXPECT_TRUE(HasListener(lb, "bs_1"));
  EXPECT_TRUE(HasListener(lb, "bs_2"));
  EXPECT_FALSE(HasListener(lb, "bs_3"));
  EXPECT_EQ(CountBackendsOfAllSets(lb), 1);
}

TEST(CheckLoadBalancer, NamesWhatIsMissing) {
  rapidjson::Document lb = Parse(MakeLoadBalancerJson("ocid1.lb", {{"bs_1", {"10.0.0.1:80"}}}));
  FindBackend(*FindBackendSet(lb, "bs_1"), "10.0.0.1:80")->RemoveMember("drain");
  EXPECT_THAT(std::string(CheckLoadBalancer(lb).message()), HasSubstr("bs_1.backends"));
  lb.RemoveMember("backendSets");
  EXPECT_THAT(std::string(CheckLoadBalancer(lb).message()), HasSubstr("backendSets"));
}

}  // namespace
}  // namespace sim

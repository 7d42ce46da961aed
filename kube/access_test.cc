#include "kube/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using ::testing::HasSubstr;

TEST(Access, AQuestionIsAReviewOfOneRight) {
  EXPECT_EQ(EncodeAccessQuestion({.verb = "patch",
                                  .group = "",
                                  .resource = "pods",
                                  .subresource = "status",
                                  .ns = "shop"}),
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":)"
            R"({"resourceAttributes":{"verb":"patch","group":"","resource":"pods",)"
            R"("subresource":"status","namespace":"shop"}}})");
  EXPECT_EQ(ToText({.verb = "list", .group = "apps", .resource = "deployments"}),
            "list deployments.apps");
  EXPECT_EQ(ToText({.verb = "get", .group = "", .resource = "pods", .ns = "shop"}),
            "get pods in namespace shop");
}

TEST(Access, AnAnswerSaysWhetherAndWhy) {
  const auto yes = DecodeAccessAnswer(R"({"status":{"allowed":true,"reason":"RBAC: allowed"}})");
  ASSERT_TRUE(yes.ok()) << yes.status();
  EXPECT_TRUE(yes->allowed);
  EXPECT_EQ(yes->reason, "RBAC: allowed");
  const auto no =
      DecodeAccessAnswer(R"({"status":{"allowed":false,"evaluationError":"no\nwebhook"}})");
  ASSERT_TRUE(no.ok()) << no.status();
  EXPECT_FALSE(no->allowed);
  EXPECT_EQ(no->reason, "no webhook");
}

TEST(Access, WhatIsNoAnswerIsNoRefusal) {
  for (const char* json :
       {"", "[]", "{}", R"({"spec":{}})", R"({"status":{}})", R"({"status":{"allowed":"yes"}})",
        R"({"status":{"allowed":true,"reason":7}})", R"({"status":[true]})"}) {
    EXPECT_EQ(DecodeAccessAnswer(json).status().code(), absl::StatusCode::kInvalidArgument) << json;
  }
}

TEST(Access, AVersionHasNumbersWhateverIsAddedToThem) {
  const auto version =
      DecodeServerVersion(R"({"major":"1","minor":"27+","gitVersion":"v1.27.3-oke"})");
  ASSERT_TRUE(version.ok()) << version.status();
  EXPECT_EQ(version->major, 1);
  EXPECT_EQ(version->minor, 27);
  EXPECT_EQ(version->text, "v1.27.3-oke");
  for (const char* json : {"", "{}", R"({"major":"1","minor":""})", R"({"major":1,"minor":"2"})",
                           R"({"major":"1","minor":"99999"})", R"({"major":"x","minor":"1"})"}) {
    EXPECT_EQ(DecodeServerVersion(json).status().code(), absl::StatusCode::kInvalidArgument)
        << json;
  }
  EXPECT_THAT(std::string(DecodeServerVersion(R"({"major":"1","minor":"x"})").status().message()),
              HasSubstr("minor"));
}

}  // namespace
}  // namespace kube

#include "sim/json_tree.h"

#include <utility>

#include "gtest/gtest.h"

namespace sim {
namespace {

JsonTree Pod() {
  return JsonTree::Parse(
             R"({"metadata":{"name":"web-0","labels":{"app":"web"}},"ports":[{"port":80},8080]})",
             "pod")
      .value();
}

TEST(JsonTree, WhatChangesACopyLeavesTheOriginalAlone) {
  const std::pair<const char*, void (*)(JsonTree&)> kChanges[] = {
      {"set deep down", [](JsonTree& t) { t.Child("metadata").Child("labels").Set("app", "x"); }},
      {"a new member", [](JsonTree& t) { t.Child("metadata").Set("uid", "1"); }},
      {"set if missing", [](JsonTree& t) { t.SetIfMissing("status", JsonTree::Object{}); }},
      {"erase", [](JsonTree& t) { t.Child("metadata").Erase("labels"); }},
      {"append", [](JsonTree& t) { t.Child("ports").Append(1); }},
      {"in a list", [](JsonTree& t) { t.Child("ports").MutableItems()[0].Set("port", 81); }},
      {"all members", [](JsonTree& t) { t.Child("metadata").MutableMembers().clear(); }},
      {"another type", [](JsonTree& t) { t.Child("metadata") = 1; }},
  };
  for (const auto& [what, change] : kChanges) {
    const JsonTree original = Pod();
    JsonTree copy = original;
    JsonTree assigned;
    assigned = copy;
    change(copy);
    EXPECT_EQ(original, Pod()) << what;
    EXPECT_EQ(assigned, Pod()) << what;
    EXPECT_FALSE(copy == original) << what;
    EXPECT_EQ(original.Dump(), Pod().Dump()) << what;
  }
}

TEST(JsonTree, APartTakenFromATreeIsAValueOfItsOwn) {
  JsonTree pod = Pod();
  const JsonTree labels = pod["metadata"]["labels"];
  pod.Child("metadata").Child("labels").Set("app", "other");
  EXPECT_EQ(labels["app"].AsString(), "web");
  // Into itself.
  pod.Set("copy", pod);
  EXPECT_EQ(pod["copy"]["metadata"]["labels"]["app"].AsString(), "other");
  EXPECT_FALSE(pod["copy"].Has("copy"));
}

TEST(JsonTree, ErasingWhatIsNotThereChangesNothing) {
  JsonTree pod = Pod();
  pod.Erase("status");
  JsonTree number = 1;
  number.Erase("status");
  EXPECT_EQ(pod, Pod());
  EXPECT_EQ(number, JsonTree(1));
}

TEST(JsonTree, EqualityKnowsTypesAndNotTheOrderOfMembers) {
  const auto parse = [](const char* text) { return JsonTree::Parse(text, "value").value(); };
  const struct {
    const char* a;
    const char* b;
    bool same;
  } kCases[] = {
      {R"({"a":1,"b":[2]})", R"({"b":[2],"a":1})", true},
      {R"({"a":1})", R"({"a":1,"b":null})", false},
      {R"({"a":1})", R"({"b":1})", false},
      {"[1,2]", "[2,1]", false},
      {"[]", "{}", false},
      {"[]", "null", false},
      {"1", "true", false},
      {R"(["a",{"b":{}}])", R"(["a",{"b":{}}])", true},
      {R"(["a",{"b":{}}])", R"(["a",{"b":[]}])", false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(parse(c.a) == parse(c.b), c.same) << c.a << " " << c.b;
    EXPECT_EQ(parse(c.b) == parse(c.a), c.same) << c.a << " " << c.b;
  }
}

TEST(JsonTree, WritesWhatItRead) {
  for (const char* text :
       {R"({"a":[1,-2,true,null,"x\"y",{}],"b":{"c":[]},"d":""})", "[]", "{}", "1.5"}) {
    EXPECT_EQ(JsonTree::Parse(text, "value").value().Dump(), text);
  }
}

}  // namespace
}  // namespace sim

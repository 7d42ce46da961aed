#include "controller/rights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace controller {
namespace {

int Count(const std::vector<Right>& rights, absl::string_view resource, absl::string_view verb) {
  return static_cast<int>(std::count_if(rights.begin(), rights.end(), [&](const Right& right) {
    return right.resource == resource && right.verb == verb;
  }));
}

TEST(Rights, EachIsThereOnceAndSaysWhatIsLostWithoutIt) {
  std::set<std::tuple<absl::string_view, absl::string_view, absl::string_view, absl::string_view>>
      seen;
  for (const Right& right : Rights()) {
    EXPECT_TRUE(seen.emplace(right.group, right.resource, right.subresource, right.verb).second)
        << right.verb << " " << right.resource;
    EXPECT_FALSE(right.without.empty()) << right.resource;
  }
}

TEST(Rights, AFeatureThatIsOffNeedsNone) {
  Settings settings;
  const std::vector<Right> plain = RightsFor(settings, /*elects=*/false);
  EXPECT_EQ(Count(plain, "pods", "patch"), 0);
  EXPECT_EQ(Count(plain, "leases", "update"), 0);
  EXPECT_EQ(Count(plain, "configmaps", "update"), 1);
  EXPECT_EQ(Count(RightsFor(settings, /*elects=*/true), "leases", "update"), 1);
  settings.pod_conditions.gate = true;
  settings.capacity_action = CapacityAction::kWithdraw;
  // Of the Pods and of their status.
  EXPECT_EQ(Count(RightsFor(settings, false), "pods", "patch"), 2);
  EXPECT_EQ(Count(RightsFor(settings, false), "poddisruptionbudgets", "list"), 1);
}

TEST(Rights, ADryRunWritesNothingButEvents) {
  Settings settings;
  settings.dry_run = true;
  settings.pod_conditions.drained = true;
  settings.capacity_action = CapacityAction::kWithdraw;
  for (const Right& right : RightsFor(settings, /*elects=*/true)) {
    const bool reads = right.verb == "get" || right.verb == "list" || right.verb == "watch";
    EXPECT_TRUE(reads || right.resource == "events") << right.verb << " " << right.resource;
  }
}

TEST(Rights, WhatEverybodyHasIsNotAskedFor) {
  Settings settings;
  for (const Right& right : RightsFor(settings, true)) EXPECT_FALSE(right.granted_by_default);
}

}  // namespace
}  // namespace controller

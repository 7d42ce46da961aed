#include "kube/pod_table.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PodMetadata OrdinaryPod() {
  PodMetadata pod;
  pod.key = {"shop", "web-5b774487c9-x7k2p"};
  pod.uid = "2dd81367-34df-4367-9456-a0594481a6fe";
  pod.resource_version = "18446744073709551615";
  pod.deletion_timestamp = absl::FromUnixSeconds(1796007949);
  pod.deletion_grace = absl::Seconds(60);
  pod.controller =
      OwnerReference{"ReplicaSet", "web-5b774487c9", "ad67b844-fe8f-4c50-8368-80cb1bab9473"};
  return pod;
}

void ExpectSame(const PodMetadata& a, const PodMetadata& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.uid, b.uid);
  EXPECT_EQ(a.resource_version, b.resource_version);
  EXPECT_EQ(a.deletion_timestamp, b.deletion_timestamp);
  EXPECT_EQ(a.deletion_grace, b.deletion_grace);
  ASSERT_EQ(a.controller.has_value(), b.controller.has_value());
  if (!a.controller.has_value()) return;
  EXPECT_EQ(a.controller->kind, b.controller->kind);
  EXPECT_EQ(a.controller->name, b.controller->name);
  EXPECT_EQ(a.controller->uid, b.controller->uid);
}

// Ordinary in all but one way each.
std::vector<PodMetadata> PodsOfAllKinds() {
  std::vector<PodMetadata> pods(17, OrdinaryPod());
  size_t i = 1;
  pods[i++].deletion_timestamp = absl::InfiniteFuture();
  pods[i++].deletion_timestamp += absl::Milliseconds(1);
  pods[i++].deletion_timestamp = absl::UnixEpoch();
  pods[i++].deletion_timestamp = absl::FromUnixSeconds(1LL << 33);
  pods[i++].deletion_grace = absl::Milliseconds(1500);
  pods[i++].uid = "not-a-uuid";
  pods[i++].uid = "2DD81367-34df-4367-9456-a0594481a6fe";
  pods[i++].resource_version = "007";
  pods[i++].resource_version = "opaque";
  pods[i++].resource_version = "18446744073709551616";
  pods[i++].key.name = "web-5b774487c9-123456789";
  pods[i++].key.name = "web-5b774487c9-";
  pods[i++].key.name = "web-5b774487c9";
  pods[i++].key.name = "otherwise";
  pods[i++].controller = std::nullopt;
  pods[i++].controller->uid = "";
  EXPECT_EQ(i, pods.size());
  return pods;
}

TEST(PodTable, GivesBackExactlyWhatWasPutIn) {
  for (const PodMetadata& pod : PodsOfAllKinds()) {
    PodTable table;
    EXPECT_EQ(table.Put(pod, 1), PodTable::Change::kContent);
    const std::optional<PodMetadata> found = table.Find(pod.key);
    ASSERT_TRUE(found.has_value()) << pod.key.name;
    ExpectSame(*found, pod);
    EXPECT_EQ(table.Put(pod, 1), PodTable::Change::kNone) << pod.key.name;
  }
}

TEST(PodTable, KeepsOneEntryForAPodThatChangesItsKind) {
  for (const PodMetadata& from : PodsOfAllKinds()) {
    for (PodMetadata to : PodsOfAllKinds()) {
      to.key = from.key;
      PodTable table;
      table.Put(from, 1);
      table.Put(to, 1);
      EXPECT_EQ(table.size(), 1u);
      ExpectSame(*table.Find(to.key), to);
      EXPECT_TRUE(table.Remove(to.key, to.uid));
      EXPECT_EQ(table.size(), 0u);
    }
  }
}

TEST(PodTable, TellsPodsOfTheSameNameInTwoNamespacesApart) {
  PodTable table;
  PodMetadata other = OrdinaryPod();
  other.key.ns = "other";
  table.Put(OrdinaryPod(), 1);
  EXPECT_FALSE(table.Find(other.key).has_value());
  table.Put(other, 1) /* with an owner UID that the first namespace has */;
  EXPECT_EQ(table.size(), 2u);
  ExpectSame(*table.Find(other.key), other);
}

TEST(PodTable, RemovesOnlyTheUidThatWasMeant) {
  PodTable table;
  table.Put(OrdinaryPod(), 1);
  EXPECT_FALSE(table.Remove(OrdinaryPod().key, "another"));
  EXPECT_TRUE(table.Remove(OrdinaryPod().key, ""));
  EXPECT_FALSE(table.Remove(OrdinaryPod().key, ""));
}

TEST(PodTable, SweepsWhatAListDidNotShow) {
  PodTable table;
  PodMetadata whole = OrdinaryPod();
  whole.key.name = "bare";
  PodMetadata marked = OrdinaryPod();
  marked.key.name = "web-5b774487c9-m";
  table.Put(OrdinaryPod(), 1);
  table.Put(whole, 1);
  table.Put(marked, 1);
  const auto everywhere = [](const std::string&) { return true; };
  const auto nowhere = [](const std::string&) { return false; };
  EXPECT_THAT(table.Sweep(nowhere, 2), IsEmpty());
  table.Mark(marked.key, 2);
  table.Mark({"shop", "unknown"}, 2);
  EXPECT_THAT(table.Sweep(everywhere, 2), ElementsAre(whole.key, OrdinaryPod().key));
  EXPECT_EQ(table.size(), 1u);
}

TEST(PodTable, HoldsAWholeClusterAndLetsGoOfItsOwners) {
  PodTable table;
  base::Random random(1);
  std::vector<PodMetadata> pods;
  for (int i = 0; i < 20000; ++i) {
    PodMetadata pod = OrdinaryPod();
    pod.controller->name = absl::StrCat("web-", i / 10);
    pod.controller->uid = absl::StrCat("owner-", i / 10);
    pod.key = {absl::StrCat("ns", i % 10 == 0 ? 1 : 0), absl::StrCat("web-", i / 10, "-", i)};
    pods.push_back(pod);
    table.Put(pod, 1);
  }
  EXPECT_EQ(table.size(), pods.size());
  for (const PodMetadata& pod : pods) ExpectSame(*table.Find(pod.key), pod);
  for (const PodMetadata& pod : pods) EXPECT_TRUE(table.Remove(pod.key, pod.uid));
  EXPECT_EQ(table.size(), 0u);
  for (const PodMetadata& pod : pods) table.Put(pod, 2);
  for (const PodMetadata& pod : pods) ExpectSame(*table.Find(pod.key), pod);
}

}  // namespace
}  // namespace kube

#include "kube/store.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SetClock final : public base::Clock {
 public:
  absl::Time Now() override { return now; }
  void SleepFor(absl::Duration duration) override { now += duration; }
  absl::Time now = absl::FromUnixSeconds(1000000);
};

Service MakeService(std::string ns, std::string name) {
  Service service;
  service.key = {std::move(ns), std::move(name)};
  service.uid = "uid-" + service.key.name;
  return service;
}

PodMetadata MakePod(std::string ns, std::string name, std::string version = "1") {
  PodMetadata pod;
  pod.key = {std::move(ns), std::move(name)};
  pod.uid = "uid-" + pod.key.name;
  pod.resource_version = std::move(version);
  return pod;
}

EndpointSlice MakeSlice(std::string ns, std::string name, std::string service,
                        const std::vector<std::string>& pods) {
  EndpointSlice slice;
  slice.key = {ns, std::move(name)};
  slice.service = std::move(service);
  for (const std::string& pod : pods) {
    Endpoint& endpoint = slice.endpoints.emplace_back();
    endpoint.target_kind = "Pod";
    endpoint.target_namespace = ns;
    endpoint.target_name = pod;
  }
  return slice;
}

Ingress MakeIngress(std::string name, std::optional<std::string> class_name, uint64_t hash) {
  Ingress ingress;
  ingress.key = {"shop", std::move(name)};
  ingress.class_name = std::move(class_name);
  ingress.content_hash = hash;
  return ingress;
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    store_.SetListener([this](const StoreChange& change) {
      changes_.push_back(absl::StrCat(ResourceName(change.resource), " ", change.key.ToString(),
                                      change.content ? "" : " touched"));
    });
  }

  void List(ReflectorSink& sink, std::vector<Object> objects) {
    sink.OnListBegin();
    for (Object& object : objects) sink.OnObject(std::move(object));
    sink.OnListEnd();
  }

  SetClock clock_;
  ClusterStore store_{clock_};
  std::vector<std::string> changes_;
};

TEST_F(StoreTest, AnswersWhatItWasTold) {
  const auto sink = store_.MakeSink(Resource::kServices, "");
  EXPECT_FALSE(store_.Synced(Resource::kServices, "shop"));
  List(*sink, {MakeService("shop", "b"), MakeService("shop", "a"), MakeService("other", "c")});
  EXPECT_TRUE(store_.Synced(Resource::kServices, ""));
  EXPECT_TRUE(store_.Synced(Resource::kServices, "shop")) << "all include it";
  EXPECT_FALSE(store_.Synced(Resource::kPods, "shop"));
  ASSERT_NE(store_.FindService({"shop", "a"}), nullptr);
  EXPECT_EQ(store_.FindService({"shop", "a"})->uid, "uid-a");
  EXPECT_EQ(store_.FindService({"shop", "c"}), nullptr);
  std::vector<std::string> keys;
  for (const auto& service : store_.Services()) keys.push_back(service->key.ToString());
  EXPECT_THAT(keys, ElementsAre("other/c", "shop/a", "shop/b"));
  EXPECT_THAT(changes_, ElementsAre("services shop/b", "services shop/a", "services other/c"));
}

TEST_F(StoreTest, RemovesWhatAWholeListDidNotShowWithinItsNamespaceOnly) {
  const auto shop = store_.MakeSink(Resource::kPods, "shop");
  const auto other = store_.MakeSink(Resource::kPods, "other");
  List(*shop, {MakePod("shop", "a"), MakePod("shop", "b")});
  List(*other, {MakePod("other", "a")});
  changes_.clear();
  shop->OnListBegin();
  shop->OnObject(MakePod("shop", "b"));
  EXPECT_TRUE(store_.FindPod({"shop", "a"}).has_value()) << "until the list is whole";
  shop->OnListEnd();
  EXPECT_FALSE(store_.FindPod({"shop", "a"}).has_value());
  EXPECT_TRUE(store_.FindPod({"shop", "b"}).has_value());
  EXPECT_TRUE(store_.FindPod({"other", "a"}).has_value());
  EXPECT_THAT(changes_, ElementsAre("pods shop/a")) << "b is the same as before";
}

TEST_F(StoreTest, KeepsWhatAnAbandonedListDidNotShow) {
  const auto sink = store_.MakeSink(Resource::kServices, "");
  List(*sink, {MakeService("shop", "a"), MakeService("shop", "b")});
  sink->OnListBegin();
  sink->OnObject(MakeService("shop", "a"));
  List(*sink, {MakeService("shop", "b")});
  EXPECT_EQ(store_.FindService({"shop", "a"}), nullptr);
  EXPECT_NE(store_.FindService({"shop", "b"}), nullptr);
}

TEST_F(StoreTest, KeepsTheFormerStateOfABadObject) {
  std::vector<std::string> bad;
  store_.SetBadObjectListener(
      [&](Resource resource, const ObjectKey& key, const absl::Status& why) {
        bad.push_back(absl::StrCat(ResourceName(resource), " ", key.ToString(), why.message()));
      });
  const auto sink = store_.MakeSink(Resource::kServices, "");
  List(*sink, {MakeService("shop", "a")});
  sink->OnListBegin();
  sink->OnBadObject({"shop", "a"}, absl::InvalidArgumentError("!"));
  sink->OnListEnd();
  EXPECT_NE(store_.FindService({"shop", "a"}), nullptr);
  EXPECT_THAT(bad, ElementsAre("services shop/a!"));
}

TEST_F(StoreTest, IgnoresTheDeletionOfAPredecessor) {
  const auto sink = store_.MakeSink(Resource::kServices, "");
  List(*sink, {MakeService("shop", "a")});
  sink->OnDeleted({"shop", "a"}, "uid-of-one-before");
  EXPECT_NE(store_.FindService({"shop", "a"}), nullptr);
  sink->OnDeleted({"shop", "a"}, "uid-a");
  EXPECT_EQ(store_.FindService({"shop", "a"}), nullptr);
  sink->OnDeleted({"shop", "a"}, "uid-a");
  EXPECT_THAT(changes_, ElementsAre("services shop/a", "services shop/a"));
}

TEST_F(StoreTest, TellsAMovedResourceVersionOfAPodApartFromAChange) {
  const auto sink = store_.MakeSink(Resource::kPods, "shop");
  List(*sink, {MakePod("shop", "a", "1")});
  changes_.clear();
  sink->OnObject(MakePod("shop", "a", "1"));
  sink->OnObject(MakePod("shop", "a", "2"));
  PodMetadata deleted = MakePod("shop", "a", "3");
  deleted.deletion_timestamp = clock_.now;
  sink->OnObject(deleted);
  EXPECT_THAT(changes_, ElementsAre("pods shop/a touched", "pods shop/a"));
  EXPECT_EQ(store_.FindPod({"shop", "a"})->resource_version, "3");
  EXPECT_TRUE(store_.FindPod({"shop", "a"})->deleted());
}

TEST_F(StoreTest, KeepsOnlyPodsOfWantedNamespacesOfAWatchOverAll) {
  const auto sink =
      store_.MakeSink(Resource::kPods, "", [](absl::string_view ns) { return ns == "shop"; });
  List(*sink, {MakePod("shop", "a"), MakePod("other", "a")});
  EXPECT_EQ(store_.PodCount(), 1u);
  EXPECT_FALSE(store_.FindPod({"other", "a"}).has_value());
}

TEST_F(StoreTest, FindsSlicesByServiceAndServicesByPod) {
  const auto sink = store_.MakeSink(Resource::kEndpointSlices, "");
  List(*sink,
       {MakeSlice("shop", "web-1", "web", {"p1", "p2"}),
        MakeSlice("shop", "web-2", "web", {"p2", "p3"}), MakeSlice("shop", "api-1", "api", {"p1"}),
        MakeSlice("other", "x", "web", {"p1"}), MakeSlice("shop", "loose", "", {"p9"})});
  EXPECT_THAT(store_.SlicesOf({"shop", "web"}), SizeIs(2));
  EXPECT_THAT(store_.SlicesOf({"shop", "api"}), SizeIs(1));
  EXPECT_THAT(store_.SlicesOf({"shop", ""}), IsEmpty());
  EXPECT_THAT(store_.ServicesOfPod({"shop", "p1"}),
              ElementsAre(ObjectKey{"shop", "api"}, ObjectKey{"shop", "web"}));
  EXPECT_THAT(store_.ServicesOfPod({"shop", "p2"}), ElementsAre(ObjectKey{"shop", "web"}));
  EXPECT_THAT(store_.ServicesOfPod({"shop", "p9"}), IsEmpty());

  sink->OnObject(MakeSlice("shop", "web-2", "web", {"p3"}));
  EXPECT_THAT(store_.ServicesOfPod({"shop", "p2"}), SizeIs(1)) << "web-1 still has it";
  sink->OnObject(MakeSlice("shop", "web-1", "api", {"p1"}));
  EXPECT_THAT(store_.ServicesOfPod({"shop", "p2"}), IsEmpty());
  EXPECT_THAT(store_.SlicesOf({"shop", "web"}), SizeIs(1));
  EXPECT_THAT(store_.SlicesOf({"shop", "api"}), SizeIs(2)) << "the slice moved";
  sink->OnDeleted({"shop", "web-2"}, "any");
  EXPECT_THAT(store_.SlicesOf({"shop", "web"}), IsEmpty());
  EXPECT_THAT(store_.ServicesOfPod({"shop", "p3"}), IsEmpty());
}

TEST_F(StoreTest, FindsWorkloadsAndReplicaSets) {
  Workload deployment;
  deployment.kind = "Deployment";
  deployment.key = {"shop", "web"};
  deployment.replicas = 10;
  Workload set = deployment;
  set.kind = "StatefulSet";
  set.replicas = 3;
  List(*store_.MakeSink(Resource::kDeployments, "shop"), {deployment});
  List(*store_.MakeSink(Resource::kStatefulSets, "shop"), {set});
  ReplicaSetMetadata replica_set;
  replica_set.key = {"shop", "web-1"};
  replica_set.controller = OwnerReference{"Deployment", "web", "u"};
  List(*store_.MakeSink(Resource::kReplicaSets, "shop"), {replica_set});
  EXPECT_EQ(store_.FindWorkload("Deployment", {"shop", "web"})->replicas, 10);
  EXPECT_EQ(store_.FindWorkload("StatefulSet", {"shop", "web"})->replicas, 3);
  EXPECT_FALSE(store_.FindWorkload("DaemonSet", {"shop", "web"}).has_value());
  EXPECT_EQ(store_.FindReplicaSet({"shop", "web-1"})->controller->name, "web");
  EXPECT_FALSE(store_.FindReplicaSet({"shop", "web-2"}).has_value());
}

TEST_F(StoreTest, DatesContentChangesOfIngressesByTheirClass) {
  const auto sink = store_.MakeSink(Resource::kIngresses, "");
  List(*sink, {MakeIngress("a", "oci", 1), MakeIngress("b", std::nullopt, 1)});
  EXPECT_EQ(store_.LastIngressChange("oci"), absl::InfinitePast()) << "the first list";
  clock_.now += absl::Seconds(10);
  sink->OnObject(MakeIngress("a", "oci", 1));
  EXPECT_EQ(store_.LastIngressChange("oci"), absl::InfinitePast()) << "only its status";
  EXPECT_EQ(changes_.back(), "ingresses shop/a touched");
  sink->OnObject(MakeIngress("a", "oci", 2));
  EXPECT_EQ(store_.LastIngressChange("oci"), clock_.now);
  EXPECT_EQ(store_.LastIngressChange(""), absl::InfinitePast());

  clock_.now += absl::Seconds(10);
  sink->OnObject(MakeIngress("a", "new", 3));
  EXPECT_EQ(store_.LastIngressChange("oci"), clock_.now) << "one has left it";
  EXPECT_EQ(store_.LastIngressChange("new"), clock_.now);
  clock_.now += absl::Seconds(10);
  sink->OnDeleted({"shop", "b"}, "");
  EXPECT_EQ(store_.LastIngressChange(""), clock_.now);
}

TEST_F(StoreTest, DatesContentChangesOfIngressClasses) {
  const auto sink = store_.MakeSink(Resource::kIngressClasses, "");
  IngressClass ingress_class;
  ingress_class.name = "oci";
  ingress_class.content_hash = 1;
  List(*sink, {ingress_class});
  EXPECT_THAT(store_.IngressClasses(), SizeIs(1));
  EXPECT_EQ(store_.LastIngressClassChange("oci"), absl::InfinitePast());
  clock_.now += absl::Seconds(10);
  List(*sink, {});
  EXPECT_EQ(store_.LastIngressClassChange("oci"), clock_.now) << "gone while the watch was away";
  EXPECT_THAT(store_.IngressClasses(), IsEmpty());
}

TEST_F(StoreTest, ForgetsANamespaceThatIsWatchedNoMore) {
  const auto shop = store_.MakeSink(Resource::kPods, "shop");
  List(*shop, {MakePod("shop", "a")});
  const auto all = store_.MakeSink(Resource::kPods, "");
  List(*all, {MakePod("shop", "a"), MakePod("other", "a")});
  store_.Forget(Resource::kPods, "shop");
  EXPECT_TRUE(store_.FindPod({"shop", "a"}).has_value()) << "the watch over all has it";
  EXPECT_TRUE(store_.Synced(Resource::kPods, "shop"));

  List(*shop, {MakePod("shop", "a")});
  changes_.clear();
  store_.Forget(Resource::kPods, "");
  EXPECT_FALSE(store_.Synced(Resource::kPods, "other"));
  EXPECT_TRUE(store_.Synced(Resource::kPods, "shop"));
  EXPECT_FALSE(store_.FindPod({"other", "a"}).has_value());
  EXPECT_TRUE(store_.FindPod({"shop", "a"}).has_value()) << "its own watch has it";
  EXPECT_THAT(changes_, ElementsAre("pods other/a"));
  store_.Forget(Resource::kPods, "shop");
  EXPECT_EQ(store_.PodCount(), 0u);
}

TEST_F(StoreTest, MayBeAskedFromItsListener) {
  const auto sink = store_.MakeSink(Resource::kPods, "shop");
  bool seen = false;
  store_.SetListener(
      [&](const StoreChange& change) { seen = store_.FindPod(change.key).has_value(); });
  sink->OnListBegin();
  sink->OnObject(MakePod("shop", "a"));
  EXPECT_TRUE(seen);
}

TEST_F(StoreTest, IsFedAndAskedFromManyThreads) {
  store_.SetListener(nullptr);
  std::vector<std::thread> threads;
  for (const char* ns : {"a", "b", "c", "d"}) {
    threads.emplace_back([this, ns] {
      const auto pods = store_.MakeSink(Resource::kPods, ns);
      const auto slices = store_.MakeSink(Resource::kEndpointSlices, ns);
      for (int round = 0; round < 20; ++round) {
        pods->OnListBegin();
        for (int i = 0; i < 50; ++i) pods->OnObject(MakePod(ns, absl::StrCat("p", i)));
        pods->OnListEnd();
        slices->OnObject(MakeSlice(ns, "s", "web", {"p1", absl::StrCat("p", round)}));
        EXPECT_THAT(store_.ServicesOfPod({ns, "p1"}), SizeIs(1));
        EXPECT_TRUE(store_.FindPod({ns, "p49"}).has_value());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_.PodCount(), 200u);
}

}  // namespace
}  // namespace kube

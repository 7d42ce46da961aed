#include "controller/mapping.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "oci/backend_set_name.h"

namespace controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kOurs[] = "oci.oraclecloud.com/native-ingress-controller";
constexpr char kPrefix[] = "oci-native-ingress.oraclecloud.com/";

oci::Ocid Id(const std::string& name) {
  return oci::Ocid(absl::StrCat("ocid1.loadbalancer.oc1.iad.", name));
}

// A small cluster to be written down in a few lines.
struct World {
  std::vector<kube::IngressClass> classes;
  std::vector<kube::Ingress> ingresses;
  std::vector<kube::Service> services;
  std::vector<LbMapEntry> lb_map;

  World& Class(const std::string& name, const std::string& id,
               const std::string& controller = kOurs) {
    kube::IngressClass c;
    c.name = name;
    c.uid = name + "-uid";
    c.controller = controller;
    if (!id.empty()) c.annotations[absl::StrCat(kPrefix, "id")] = Id(id).value();
    classes.push_back(c);
    return *this;
  }

  // Ports: {name, number, target}; a target of 0 is a named target port.
  World& Service(const kube::ObjectKey& key, const std::vector<kube::ServicePort>& ports) {
    kube::Service service;
    service.key = key;
    service.uid = key.name + "-uid";
    service.ports = ports;
    services.push_back(service);
    return *this;
  }

  kube::Ingress& Ingress(const kube::ObjectKey& key, std::optional<std::string> class_name,
                         const std::vector<kube::IngressBackend>& paths) {
    kube::Ingress ingress;
    ingress.key = key;
    ingress.uid = key.name + "-uid";
    ingress.class_name = std::move(class_name);
    ingress.paths = paths;
    ingresses.push_back(ingress);
    return ingresses.back();
  }

  Mapping Map(bool reversed = false) const {
    MappingInput input;
    for (const auto& c : classes) input.classes.push_back(&c);
    for (const auto& i : ingresses) input.ingresses.push_back(&i);
    for (const auto& s : services) input.services.push_back(&s);
    input.lb_map = lb_map;
    if (reversed) {
      std::reverse(input.classes.begin(), input.classes.end());
      std::reverse(input.ingresses.begin(), input.ingresses.end());
      std::reverse(input.services.begin(), input.services.end());
    }
    return MapBackendSets(input);
  }
};

kube::ServicePort Port(int port, int target, const std::string& name = "") {
  return {name, port, target, ""};
}

std::string Dump(const MappedPort& port) {
  const char* source = port.source == MappingSource::kIngress          ? ""
                       : port.source == MappingSource::kDefaultBackend ? " default"
                                                                       : " map";
  return absl::StrCat(port.service.ToString(), ":", port.port, "->",
                      port.target_port != 0 ? absl::StrCat(port.target_port)
                                            : absl::StrCat("\"", port.port_name, "\""),
                      source, port.leaving ? " leaving" : "");
}

// "lb set: port, port !" for each set; ! is contested.
std::vector<std::string> Dump(const Mapping& mapping) {
  std::vector<std::string> lines;
  for (const auto& [id, load_balancer] : mapping.load_balancers) {
    for (const auto& [name, set] : load_balancer.sets) {
      lines.push_back(absl::StrCat(
          id.value().substr(Id("").value().size()), " ", name.value(), ": ",
          absl::StrJoin(set.ports, ", ",
                        [](std::string* out, const MappedPort& port) { out->append(Dump(port)); }),
          set.contested ? " !" : ""));
    }
  }
  return lines;
}

std::string NameOf(const std::string& service, int port, const std::string& ns = "shop") {
  return oci::GenerateBackendSetName(ns, service, port).value();
}

std::vector<MappingProblemKind> KindsOf(const Mapping& mapping) {
  std::vector<MappingProblemKind> kinds;
  for (const MappingProblem& problem : mapping.problems) kinds.push_back(problem.kind);
  return kinds;
}

TEST(MapBackendSets, MapsPathsOfIngressesOfOurClasses) {
  World world;
  world.Class("ours", "lb1")
      .Class("theirs", "lb2", "nginx")
      .Service({"shop", "web"}, {Port(80, 8080)});
  world.Ingress({"shop", "a"}, "ours", {{"web", 80, ""}, {"web", 80, ""}});
  world.Ingress({"shop", "b"}, "ours", {{"web", 80, ""}});
  world.Ingress({"shop", "c"}, "theirs", {{"web", 80, ""}});
  world.Ingress({"shop", "d"}, "unknown", {{"web", 80, ""}});
  world.Ingress({"shop", "e"}, std::nullopt, {{"web", 80, ""}});
  const Mapping mapping = world.Map();
  EXPECT_THAT(Dump(mapping),
              ElementsAre(absl::StrCat("lb1 ", NameOf("web", 80), ": shop/web:80->8080")));
  EXPECT_THAT(mapping.problems, IsEmpty());
  const MappedLoadBalancer& load_balancer = mapping.load_balancers.at(Id("lb1"));
  EXPECT_EQ(load_balancer.classes[0].name, "ours");
  EXPECT_EQ(load_balancer.sets.begin()->second.ports[0].uid, "web-uid");
}

TEST(MapBackendSets, AnIngressWithoutClassBelongsToTheDefaultClass) {
  World world;
  world.Class("plain", "lb1").Class("default", "lb2").Service({"shop", "web"}, {Port(80, 8080)});
  world.classes[1].is_default = true;
  world.Ingress({"shop", "a"}, std::nullopt, {{"web", 80, ""}});
  EXPECT_THAT(Dump(world.Map()),
              ElementsAre(absl::StrCat("lb2 ", NameOf("web", 80), ": shop/web:80->8080")));
}

TEST(MapBackendSets, ADefaultClassOfAnotherControllerIsNotOurs) {
  World world;
  world.Class("default", "lb1", "nginx").Service({"shop", "web"}, {Port(80, 8080)});
  world.classes[0].is_default = true;
  world.Ingress({"shop", "a"}, std::nullopt, {{"web", 80, ""}});
  EXPECT_THAT(Dump(world.Map()), IsEmpty());
  EXPECT_THAT(world.Map().problems, IsEmpty());
}

TEST(MapBackendSets, TheControllerClassIsAFlag) {
  World world;
  world.Class("x", "lb1", "example.com/own").Service({"shop", "web"}, {Port(80, 8080)});
  world.Ingress({"shop", "a"}, "x", {{"web", 80, ""}});
  MappingInput input;
  input.controller_class = "example.com/own";
  input.classes = {&world.classes[0]};
  input.ingresses = {&world.ingresses[0]};
  input.services = {&world.services[0]};
  EXPECT_EQ(MapBackendSets(input).load_balancers.count(Id("lb1")), 1u);
}

TEST(MapBackendSets, AClassWithoutIdIsReportedAndMapsNothing) {
  World world;
  world.Class("ours", "").Service({"shop", "web"}, {Port(80, 8080)});
  world.Ingress({"shop", "a"}, "ours", {{"web", 80, ""}});
  const Mapping mapping = world.Map();
  EXPECT_THAT(mapping.load_balancers, IsEmpty());
  ASSERT_THAT(KindsOf(mapping), ElementsAre(MappingProblemKind::kLoadBalancerUnknown));
  EXPECT_EQ(mapping.problems[0].regarding.kind, "IngressClass");
  EXPECT_EQ(mapping.problems[0].regarding.key.name, "ours");
}

TEST(MapBackendSets, ADeletingIngressStillMapsAndSaysSo) {
  World world;
  world.Class("ours", "lb1").Service({"shop", "web"}, {Port(80, 8080)});
  world.Ingress({"shop", "a"}, "ours", {{"web", 80, ""}}).deleting = true;
  EXPECT_THAT(Dump(world.Map()),
              ElementsAre(absl::StrCat("lb1 ", NameOf("web", 80), ": shop/web:80->8080 leaving")));
  world.Ingress({"shop", "b"}, "ours", {{"web", 80, ""}});
  EXPECT_THAT(Dump(world.Map()),
              ElementsAre(absl::StrCat("lb1 ", NameOf("web", 80), ": shop/web:80->8080")));
}

struct PortCase {
  const char* what;
  std::vector<kube::ServicePort> ports;
  kube::IngressBackend backend;
  std::string dump;  // without the load balancer; empty: not mapped
  std::vector<MappingProblemKind> problems;
};

TEST(MapBackendSets, ResolvesPortsAsTheIngressControllersBackendsDo) {
  const PortCase kCases[] = {
      {"by number",
       {Port(80, 8080, "http"), Port(81, 8081, "admin")},
       {"web", 81, ""},
       NameOf("web", 81) + ": shop/web:81->8081",
       {}},
      {"by name",
       {Port(80, 8080, "http"), Port(81, 8081, "admin")},
       {"web", 0, "admin"},
       NameOf("web", 81) + ": shop/web:81->8081",
       {}},
      {"a number that is not there takes the port without a name",
       {Port(80, 8080)},
       {"web", 8080, ""},
       NameOf("web", 80) + ": shop/web:80->8080",
       {MappingProblemKind::kSetNameDisagrees}},
      {"the first match wins, also one by the empty name",
       {Port(80, 8080), Port(81, 8081, "admin")},
       {"web", 81, ""},
       NameOf("web", 80) + ": shop/web:80->8080",
       {MappingProblemKind::kSetNameDisagrees}},
      {"a number that is not there beside named ports",
       {Port(80, 8080, "http")},
       {"web", 81, ""},
       "",
       {MappingProblemKind::kPortUnknown}},
      {"an unknown name",
       {Port(80, 8080, "http")},
       {"web", 0, "https"},
       "",
       {MappingProblemKind::kPortUnknown}},
      {"neither number nor name, named ports",
       {Port(80, 8080, "http")},
       {"web", 0, ""},
       "",
       {MappingProblemKind::kPortUnknown}},
      {"a Service without ports", {}, {"web", 80, ""}, "", {MappingProblemKind::kPortUnknown}},
      {"a missing Service", {}, {"api", 80, ""}, "", {MappingProblemKind::kServiceMissing}},
      {"a named target port",
       {{"http", 80, 0, "serve"}},
       {"web", 80, ""},
       NameOf("web", 80) + ": shop/web:80->\"http\"",
       {}},
  };
  for (const PortCase& c : kCases) {
    World world;
    world.Class("ours", "lb1").Service({"shop", "web"}, c.ports);
    world.Ingress({"shop", "a"}, "ours", {c.backend});
    const Mapping mapping = world.Map();
    EXPECT_EQ(absl::StrJoin(Dump(mapping), "\n"), c.dump.empty() ? "" : "lb1 " + c.dump) << c.what;
    EXPECT_EQ(KindsOf(mapping), c.problems) << c.what;
    for (const MappingProblem& problem : mapping.problems) {
      EXPECT_EQ(problem.regarding.kind, "Ingress") << c.what;
      EXPECT_EQ(problem.regarding.key.ToString(), "shop/a") << c.what;
    }
  }
}

TEST(MapBackendSets, NamesBothSetsWhereTheTwoResolversDisagree) {
  World world;
  world.Class("ours", "lb1").Service({"shop", "web"}, {Port(80, 8080)});
  world.Ingress({"shop", "a"}, "ours", {{"web", 8080, ""}});
  const Mapping mapping = world.Map();
  ASSERT_EQ(mapping.problems.size(), 1u);
  EXPECT_THAT(mapping.problems[0].text, HasSubstr(NameOf("web", 8080)));
  EXPECT_THAT(mapping.problems[0].text, HasSubstr(NameOf("web", 80)));
}

TEST(MapBackendSets, OneBadPathDoesNotKeepTheOthersFromBeingMapped) {
  World world;
  world.Class("ours", "lb1").Service({"shop", "web"}, {Port(80, 8080)});
  world.Ingress({"shop", "a"}, "ours", {{"gone", 80, ""}, {"web", 80, ""}, {"gone", 80, ""}});
  const Mapping mapping = world.Map();
  EXPECT_EQ(Dump(mapping).size(), 1u);
  EXPECT_EQ(mapping.problems.size(), 1u);
}

TEST(MapBackendSets, ACollisionOfNamesIsContested) {
  World world;
  world.Class("ours", "lb1")
      .Service({"default", "svc1"}, {Port(80, 8080)})
      .Service({"default", "svc"}, {Port(180, 8080)});
  world.Ingress({"default", "a"}, "ours", {{"svc1", 80, ""}});
  world.Ingress({"default", "b"}, "ours", {{"svc", 180, ""}});
  EXPECT_THAT(Dump(world.Map()), ElementsAre("lb1 bs_800a26eae26c08c: default/svc:180->8080, "
                                             "default/svc1:80->8080 !"));
}

TEST(MapBackendSets, TheSameNameOnTwoLoadBalancersIsNotContested) {
  World world;
  world.Class("one", "lb1")
      .Class("two", "lb2")
      .Service({"default", "svc1"}, {Port(80, 8080)})
      .Service({"default", "svc"}, {Port(180, 8080)});
  world.Ingress({"default", "a"}, "one", {{"svc1", 80, ""}});
  world.Ingress({"default", "b"}, "two", {{"svc", 180, ""}});
  EXPECT_THAT(Dump(world.Map()), ElementsAre("lb1 bs_800a26eae26c08c: default/svc1:80->8080",
                                             "lb2 bs_800a26eae26c08c: default/svc:180->8080"));
}

TEST(MapBackendSets, ClassesOfOneLoadBalancerAreKeyedByIt) {
  World world;
  world.Class("one", "lb1")
      .Class("two", "lb1")
      .Service({"default", "svc1"}, {Port(80, 8080)})
      .Service({"default", "svc"}, {Port(180, 8080)});
  world.Ingress({"default", "a"}, "one", {{"svc1", 80, ""}});
  world.Ingress({"default", "b"}, "two", {{"svc", 180, ""}});
  const Mapping mapping = world.Map();
  EXPECT_THAT(Dump(mapping), ElementsAre("lb1 bs_800a26eae26c08c: default/svc:180->8080, "
                                         "default/svc1:80->8080 !"));
  EXPECT_EQ(mapping.load_balancers.at(Id("lb1")).classes.size(), 2u);
}

struct DefaultCase {
  const char* what;
  // Of Ingresses a (class one), b (class one), c (class two): namespace and backend.
  std::vector<std::pair<std::string, std::pair<std::string, kube::IngressBackend>>> carriers;
  std::string dump;
  std::vector<MappingProblemKind> problems;
};

TEST(MapBackendSets, DefaultBackends) {
  const kube::IngressBackend kWeb{"web", 80, ""};
  const kube::IngressBackend kWebByName{"web", 0, "http"};
  const kube::IngressBackend kApi{"api", 80, ""};
  const DefaultCase kCases[] = {
      {"one Ingress has it",
       {{"shop", {"one", kWeb}}},
       "lb1 default_ingress: shop/web:80->8080 default",
       {}},
      {"two agree",
       {{"shop", {"one", kWeb}}, {"shop", {"one", kWeb}}},
       "lb1 default_ingress: shop/web:80->8080 default",
       {}},
      {"two name other Services",
       {{"shop", {"one", kWeb}}, {"shop", {"one", kApi}}},
       "lb1 default_ingress: shop/api:80->8080 default, shop/web:80->8080 default !",
       {MappingProblemKind::kDefaultBackendConflict}},
      {"number and name of one port are in conflict to the ingress controller",
       {{"shop", {"one", kWeb}}, {"shop", {"one", kWebByName}}},
       "lb1 default_ingress: shop/web:80->8080 default !",
       {MappingProblemKind::kDefaultBackendConflict}},
      {"equal names in two namespaces",
       {{"shop", {"one", kWeb}}, {"depot", {"one", kWeb}}},
       "lb1 default_ingress: depot/web:80->8080 default, shop/web:80->8080 default !",
       {}},
      {"two classes agree",
       {{"shop", {"one", kWeb}}, {"shop", {"two", kWeb}}},
       "lb1 default_ingress: shop/web:80->8080 default",
       {}},
      {"two classes name other Services",
       {{"shop", {"one", kWeb}}, {"shop", {"two", kApi}}},
       "lb1 default_ingress: shop/api:80->8080 default, shop/web:80->8080 default !",
       {MappingProblemKind::kLoadBalancerShared, MappingProblemKind::kLoadBalancerShared}},
      {"its Service is missing",
       {{"shop", {"one", {"gone", 80, ""}}}},
       "",
       {MappingProblemKind::kServiceMissing}},
  };
  for (const DefaultCase& c : kCases) {
    World world;
    world.Class("one", "lb1")
        .Service({"shop", "web"}, {Port(80, 8080, "http")})
        .Service({"shop", "api"}, {Port(80, 8080, "http")})
        .Service({"depot", "web"}, {Port(80, 8080, "http")});
    int number = 0;
    for (const auto& [ns, of_class] : c.carriers) {
      if (of_class.first == "two" && world.classes.size() == 1) world.Class("two", "lb1");
      world.Ingress({ns, absl::StrCat("i", ++number)}, of_class.first, {}).default_backend =
          of_class.second;
    }
    const Mapping mapping = world.Map();
    EXPECT_EQ(absl::StrJoin(Dump(mapping), "\n"), c.dump) << c.what;
    EXPECT_EQ(KindsOf(mapping), c.problems) << c.what;
  }
}

TEST(MapBackendSets, AClassWithoutDefaultBackendEmptiesTheSetOfItsNeighbour) {
  World world;
  world.Class("one", "lb1").Class("two", "lb1").Service({"shop", "web"}, {Port(80, 8080)});
  world.Ingress({"shop", "a"}, "one", {}).default_backend = kube::IngressBackend{"web", 80, ""};
  const Mapping mapping = world.Map();
  EXPECT_THAT(Dump(mapping), ElementsAre("lb1 default_ingress: shop/web:80->8080 default !"));
  EXPECT_THAT(KindsOf(mapping), ElementsAre(MappingProblemKind::kLoadBalancerShared,
                                            MappingProblemKind::kLoadBalancerShared));
}

LbMapEntry Entry(const std::string& service, int port, const std::string& set) {
  return {{"shop", service}, port, Id("lb1"), oci::BackendSetName(set)};
}

TEST(MapBackendSets, TheMapFileNamesSetsThatNoIngressDescribes) {
  World world;
  world.Service({"shop", "web"}, {Port(80, 8080)});
  world.lb_map = {Entry("web", 80, "blue")};
  const Mapping mapping = world.Map();
  EXPECT_THAT(Dump(mapping), ElementsAre("lb1 blue: shop/web:80->8080 map"));
  EXPECT_THAT(mapping.load_balancers.begin()->second.classes, IsEmpty());
}

TEST(MapBackendSets, TheMapFileAndAnIngressMayAgree) {
  World world;
  world.Class("ours", "lb1").Service({"shop", "web"}, {Port(80, 8080)});
  world.Ingress({"shop", "a"}, "ours", {{"web", 80, ""}});
  world.lb_map = {Entry("web", 80, NameOf("web", 80))};
  EXPECT_THAT(Dump(world.Map()),
              ElementsAre(absl::StrCat("lb1 ", NameOf("web", 80), ": shop/web:80->8080")));
}

TEST(MapBackendSets, TheMapFileCanMakeASetContested) {
  World world;
  world.Service({"shop", "web"}, {Port(80, 8080, "http"), Port(81, 8081, "admin")})
      .Service({"shop", "api"}, {Port(80, 8080)});
  world.lb_map = {Entry("web", 80, "blue"), Entry("api", 80, "blue"), Entry("web", 80, "green"),
                  Entry("web", 81, "green")};
  EXPECT_THAT(Dump(world.Map()),
              ElementsAre("lb1 blue: shop/api:80->8080 map, shop/web:80->8080 map !",
                          "lb1 green: shop/web:80->8080 map, shop/web:81->8081 map !"));
}

TEST(MapBackendSets, TheMapFileTakesPortsLiterally) {
  World world;
  world.Service({"shop", "web"}, {Port(80, 8080)});
  world.lb_map = {Entry("web", 8080, "blue"), Entry("gone", 80, "blue")};
  const Mapping mapping = world.Map();
  EXPECT_THAT(Dump(mapping), IsEmpty());
  EXPECT_THAT(KindsOf(mapping),
              ElementsAre(MappingProblemKind::kServiceMissing, MappingProblemKind::kPortUnknown));
  EXPECT_EQ(mapping.problems[0].regarding.kind, "Service");
}

TEST(MapBackendSets, ReadsWhatAClassSaysAboutItsLoadBalancer) {
  const struct {
    const char* key;
    const char* value;
    bool paused;
    bool carry_all;
  } kCases[] = {
      {"backend-drain-paused", "true", true, false},
      {"backend-drain-paused", "false", false, false},
      {"backend-drain-paused", "yes", true, false},
      {"backend-drain-carry", "all", false, true},
      {"backend-drain-carry", "true", false, false},
  };
  for (const auto& c : kCases) {
    World world;
    world.Class("one", "lb1").Class("two", "lb1");
    world.classes[1].annotations[absl::StrCat(kPrefix, c.key)] = c.value;
    const Mapping mapping = world.Map();
    const MappedLoadBalancer& load_balancer = mapping.load_balancers.at(Id("lb1"));
    EXPECT_EQ(load_balancer.paused(), c.paused) << c.key << "=" << c.value;
    EXPECT_EQ(load_balancer.carry_all(), c.carry_all) << c.key << "=" << c.value;
  }
}

TEST(MapBackendSets, DoesNotDependOnTheOrderOfItsInput) {
  World world;
  world.Class("one", "lb1").Class("two", "lb1").Class("three", "lb2");
  for (const char* name : {"web", "api", "svc"}) {
    world.Service({"shop", name}, {Port(80, 8080), Port(81, 8081, "admin")});
    for (const char* of_class : {"one", "two", "three"}) {
      world.Ingress({"shop", absl::StrCat(name, "-", of_class)}, of_class, {{name, 81, ""}})
          .default_backend = kube::IngressBackend{name, 80, ""};
    }
  }
  const Mapping forth = world.Map(false);
  const Mapping back = world.Map(true);
  EXPECT_EQ(Dump(forth), Dump(back));
  EXPECT_EQ(forth.problems, back.problems);
  EXPECT_EQ(forth.load_balancers.at(Id("lb1")).ingress_version,
            back.load_balancers.at(Id("lb1")).ingress_version);
}

TEST(MapBackendSets, TheIngressVersionFollowsIngressesAndClassesOfThatLoadBalancerOnly) {
  World world;
  world.Class("one", "lb1").Class("two", "lb2").Service({"shop", "web"}, {Port(80, 8080)});
  world.Ingress({"shop", "a"}, "one", {{"web", 80, ""}});
  const auto version = [&] { return world.Map().load_balancers.at(Id("lb1")).ingress_version; };
  const uint64_t before = version();
  EXPECT_EQ(version(), before);
  world.classes[1].content_hash = 7;
  world.Ingress({"shop", "b"}, "two", {{"web", 80, ""}});
  EXPECT_EQ(version(), before);
  world.ingresses[0].content_hash = 7;
  const uint64_t changed = version();
  EXPECT_NE(changed, before);
  world.Ingress({"shop", "c"}, "one", {});
  EXPECT_NE(version(), changed);
  world.ingresses.pop_back();
  world.classes[0].content_hash = 7;
  EXPECT_NE(version(), changed);
  world.classes[0].content_hash = 0;
  world.ingresses[0].deleting = true;
  EXPECT_NE(version(), changed);
}

}  // namespace
}  // namespace controller

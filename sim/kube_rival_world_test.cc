#include "sim/kube_rival_world.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A Kubernetes API that has these answers and nothing else.
class CannedKube : public http::Transport {
 public:
  absl::StatusOr<http::Response> Send(const http::Request& request) override {
    const auto found = bodies.find(request.target);
    if (found == bodies.end()) return http::Response{404, {}, "{}"};
    return http::Response{200, {}, found->second};
  }
  absl::Status Stream(const http::Request&, http::StreamHandler&,
                      std::shared_ptr<http::Cancellation>) override {
    return absl::UnimplementedError("canned");
  }

  std::map<std::string, std::string> bodies;
};

class KubeRivalWorldTest : public ::testing::Test {
 protected:
  void SetUp() override {
    kube_.bodies["/apis/networking.k8s.io/v1/ingressclasses"] = R"({"items":[
      {"metadata":{"name":"oci","annotations":{
         "oci-native-ingress.oraclecloud.com/id":"ocid1.lb"}},
       "spec":{"controller":"oci.oraclecloud.com/native-ingress-controller"}},
      {"metadata":{"name":"nginx"},"spec":{"controller":"k8s.io/ingress-nginx"}}]})";
    SetIngresses(R"({"metadata":{"namespace":"default","name":"a"},
      "spec":{"ingressClassName":"oci","rules":[{"http":{"paths":[
        {"path":"/","backend":{"service":{"name":"testecho1","port":{"number":80}}}},
        {"path":"/x","backend":{"resource":{"kind":"Bucket"}}}]}}]}},
      {"metadata":{"namespace":"default","name":"b"},
       "spec":{"ingressClassName":"nginx","rules":[]}})");
    kube_.bodies["/api/v1/namespaces/default/services/testecho1"] = R"({
      "metadata":{"annotations":{
        "oci-native-ingress.oraclecloud.com/backend-draining":"true"}},
      "spec":{"ports":[{"name":"http","port":80,"targetPort":8080}]}})";
    kube_.bodies["/api/v1/namespaces/default/endpoints/testecho1"] = R"({"subsets":[{
      "addresses":[{"ip":"10.0.0.1","targetRef":{"kind":"Pod","name":"p1"}},
                   {"ip":"10.0.0.9","targetRef":{"kind":"Node","name":"n"}},
                   {"ip":"10.0.0.8"}],
      "notReadyAddresses":[{"ip":"10.0.0.2","targetRef":{"kind":"Pod","name":"p2"}},
                           {"ip":"10.0.0.3","targetRef":{"kind":"Pod","name":"p3"}}],
      "ports":[{"name":"http","port":8081}]}]})";
    kube_.bodies["/api/v1/namespaces/default/pods"] = R"({"items":[
      {"metadata":{"name":"p1","deletionTimestamp":"2026-11-30T00:00:00Z"}},
      {"metadata":{"name":"p2"}}]})";
  }

  void SetIngresses(const std::string& items) {
    kube_.bodies["/apis/networking.k8s.io/v1/ingresses"] = R"({"items":[)" + items + "]}";
  }

  RivalClass OnlyClass() {
    const auto classes = world_.Classes();
    EXPECT_TRUE(classes.ok()) << classes.status();
    EXPECT_EQ(classes->size(), 1u);
    return classes->front();
  }

  std::vector<std::string> EndpointsOf(const RivalClass& ingress_class, size_t path) {
    const auto endpoints = world_.Endpoints(ingress_class, ingress_class.paths[path]);
    EXPECT_TRUE(endpoints.ok()) << endpoints.status();
    std::vector<std::string> texts;
    for (const RivalEndpoint& endpoint : *endpoints) {
      texts.push_back(endpoint.ip + ":" + std::to_string(endpoint.port) +
                      (endpoint.terminating ? " terminating" : "") +
                      (endpoint.pod_known ? "" : " unknown"));
    }
    return texts;
  }

  CannedKube kube_;
  KubeRivalWorld world_{kube_};
};

TEST_F(KubeRivalWorldTest, FollowsAnIngressToItsSetAndItsPods) {
  const RivalClass found = OnlyClass();
  EXPECT_EQ(found.load_balancer, "ocid1.lb");
  ASSERT_EQ(found.paths.size(), 2u);
  EXPECT_EQ(found.paths[0].backend_set, "bs_f151df96ee98ff0");
  EXPECT_TRUE(found.paths[0].drains);
  EXPECT_THAT(EndpointsOf(found, 0),
              ElementsAre("10.0.0.1:8080 terminating", "10.0.0.2:8080", "10.0.0.3:8080 unknown"));
  EXPECT_EQ(found.paths[1].backend_set, "default_ingress");
  EXPECT_THAT(EndpointsOf(found, 1), IsEmpty());
}

TEST_F(KubeRivalWorldTest, TakesANamedTargetPortFromEndpoints) {
  kube_.bodies["/api/v1/namespaces/default/services/testecho1"] =
      R"({"spec":{"ports":[{"name":"http","port":80,"targetPort":"web"}]}})";
  const RivalClass found = OnlyClass();
  EXPECT_FALSE(found.paths[0].drains);
  EXPECT_EQ(EndpointsOf(found, 0)[1], "10.0.0.2:8081");
}

TEST_F(KubeRivalWorldTest, AnUnnamedServicePortMatchesEveryNumber) {
  kube_.bodies["/api/v1/namespaces/default/services/testecho1"] =
      R"({"spec":{"ports":[{"port":81,"targetPort":9000}]}})";
  const RivalClass found = OnlyClass();
  EXPECT_NE(found.paths[0].backend_set, "bs_f151df96ee98ff0");
  EXPECT_EQ(EndpointsOf(found, 0)[1], "10.0.0.2:9000");
}

TEST_F(KubeRivalWorldTest, AMissingServiceFailsThePathAndNotTheClass) {
  kube_.bodies.erase("/api/v1/namespaces/default/services/testecho1");
  const RivalClass found = OnlyClass();
  EXPECT_FALSE(world_.Endpoints(found, found.paths[0]).ok());
}

TEST_F(KubeRivalWorldTest, OneDefaultBackendCountsAndDifferingOnesDoNot) {
  const std::string one = R"({"metadata":{"namespace":"default","name":"a"},
    "spec":{"ingressClassName":"oci",
            "defaultBackend":{"service":{"name":"testecho1","port":{"number":80}}}}})";
  const std::string other = R"({"metadata":{"namespace":"default","name":"b"},
    "spec":{"ingressClassName":"oci",
            "defaultBackend":{"service":{"name":"other","port":{"number":80}}}}})";
  SetIngresses(one);
  RivalClass found = OnlyClass();
  ASSERT_EQ(found.paths.size(), 1u);
  EXPECT_TRUE(found.paths[0].is_default);
  EXPECT_EQ(EndpointsOf(found, 0).size(), 3u);
  SetIngresses(one + "," + other);
  EXPECT_THAT(OnlyClass().paths, IsEmpty());
}

TEST_F(KubeRivalWorldTest, AnUnreachableApiIsAnError) {
  kube_.bodies.clear();
  EXPECT_FALSE(world_.Classes().ok());
}

}  // namespace
}  // namespace sim

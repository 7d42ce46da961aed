#include "sim/scenario_cluster.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "oci/backend_set_name.h"
#include "sim/load_balancer_document.h"

namespace sim {
namespace {

using Object = JsonTree::Object;
using Array = JsonTree::Array;

constexpr int kServicePort = 80;

std::string Annotation(const char* name) {
  return absl::StrCat("oci-native-ingress.oraclecloud.com/", name);
}

std::string WholeSeconds(absl::Duration duration) {
  return absl::StrCat(absl::ToInt64Seconds(duration));
}

JsonTree Labels(const std::string& name) { return Object{{"app", name}}; }

JsonTree Metadata(const std::string& name) {
  return Object{{"name", name}, {"namespace", kScenarioNamespace}, {"labels", Labels(name)}};
}

JsonTree Deployment(const std::string& name, const ServiceSpec& spec) {
  JsonTree container = Object{{"name", "app"}, {"image", "example.com/app:1"}};
  container.Set("ports", Array{Object{{"name", "http"}, {"containerPort", kScenarioPort}}});
  const JsonTree command = Array{"sleep", WholeSeconds(spec.pre_stop)};
  container.Set("lifecycle", Object{{"preStop", Object{{"exec", Object{{"command", command}}}}}});
  const JsonTree annotations = Object{
      {"sim/shutdown-seconds", WholeSeconds(spec.shutdown)},
      {"sim/ready-after-seconds", WholeSeconds(spec.ready_after)},
  };
  const JsonTree pod = Object{
      {"metadata", Object{{"labels", Labels(name)}, {"annotations", annotations}}},
      {"spec", Object{{"terminationGracePeriodSeconds", absl::ToInt64Seconds(spec.grace)},
                      {"containers", Array{container}}}},
  };
  const JsonTree strategy =
      Object{{"type", "RollingUpdate"},
             {"rollingUpdate",
              Object{{"maxSurge", spec.max_surge}, {"maxUnavailable", spec.max_unavailable}}}};
  return Object{{"apiVersion", "apps/v1"},
                {"kind", "Deployment"},
                {"metadata", Metadata(name)},
                {"spec", Object{{"replicas", spec.replicas},
                                {"selector", Object{{"matchLabels", Labels(name)}}},
                                {"strategy", strategy},
                                {"template", pod}}}};
}

JsonTree Service(const std::string& name, const ServiceSpec& spec) {
  JsonTree metadata = Metadata(name);
  JsonTree annotations = Object{};
  if (spec.opted_in) annotations.Set(Annotation("backend-draining"), "true");
  if (spec.serving > absl::ZeroDuration()) {
    annotations.Set(Annotation("backend-drain-serving"),
                    absl::StrCat(WholeSeconds(spec.serving), "s"));
  }
  annotations.Set(Annotation("backend-drain-shutdown"),
                  absl::StrCat(WholeSeconds(spec.shutdown), "s"));
  metadata.Set("annotations", annotations);
  const JsonTree port = Object{{"name", "http"}, {"port", kServicePort}, {"targetPort", "http"}};
  return Object{{"apiVersion", "v1"},
                {"kind", "Service"},
                {"metadata", metadata},
                {"spec", Object{{"publishNotReadyAddresses", true},
                                {"selector", Labels(name)},
                                {"ports", Array{port}}}}};
}

JsonTree Ingress(size_t services) {
  Array paths;
  for (size_t i = 0; i < services; ++i) {
    const std::string name = ScenarioService(static_cast<int>(i));
    const JsonTree backend = Object{{"name", name}, {"port", Object{{"number", kServicePort}}}};
    paths.push_back(Object{{"path", absl::StrCat("/", name)},
                           {"pathType", "Prefix"},
                           {"backend", Object{{"service", backend}}}});
  }
  const JsonTree rule = Object{{"host", "shop.example.com"}, {"http", Object{{"paths", paths}}}};
  return Object{{"apiVersion", "networking.k8s.io/v1"},
                {"kind", "Ingress"},
                {"metadata", Metadata("shop")},
                {"spec", Object{{"ingressClassName", "oci"}, {"rules", Array{rule}}}}};
}

}  // namespace

std::string ScenarioService(int index) { return absl::StrCat("web-", index); }

std::string ScenarioSet(int index) {
  return oci::GenerateBackendSetName(kScenarioNamespace, ScenarioService(index), kServicePort)
      .value();
}

std::vector<JsonTree> ScenarioObjects(const Scenario& scenario) {
  std::vector<JsonTree> objects;
  objects.push_back(Object{{"apiVersion", "v1"},
                           {"kind", "Namespace"},
                           {"metadata", Object{{"name", "oci-backend-drain"}}}});
  for (size_t i = 0; i < scenario.services.size(); ++i) {
    const std::string name = ScenarioService(static_cast<int>(i));
    objects.push_back(Deployment(name, scenario.services[i]));
    objects.push_back(Service(name, scenario.services[i]));
  }
  objects.push_back(Ingress(scenario.services.size()));
  return objects;
}

JsonTree ScenarioIngressClass(const Scenario& scenario) {
  JsonTree annotations = Object{{Annotation("id"), kScenarioOcid}};
  if (scenario.carry_all) annotations.Set(Annotation("backend-drain-carry"), "all");
  return Object{{"apiVersion", "networking.k8s.io/v1"},
                {"kind", "IngressClass"},
                {"metadata", Object{{"name", "oci"}, {"annotations", annotations}}},
                {"spec", Object{{"controller", "oci.oraclecloud.com/native-ingress-controller"}}}};
}

std::string ScenarioLoadBalancer(const std::map<int, std::vector<std::string>>& backends) {
  std::map<std::string, std::vector<std::string>> sets;
  for (const auto& [index, own] : backends) sets[ScenarioSet(index)] = own;
  return MakeLoadBalancerJson(kScenarioOcid, sets);
}

}  // namespace sim

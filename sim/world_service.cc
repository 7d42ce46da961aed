#include "sim/world_service.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "oci/backend_set_name.h"

namespace sim {
std::string WorldService::backend_set() const {
  return is_default_backend ? std::string(oci::kDefaultBackendSetName)
                            : oci::GenerateBackendSetName(ns, name, port).value();
}

std::string ServiceYaml(const WorldService& service) {
  const std::string annotation =
      service.backend_draining.empty()
          ? "{}"
          : absl::Substitute("{oci-native-ingress.oraclecloud.com/backend-draining: \"$0\"}",
                             service.backend_draining);
  return absl::Substitute(
      "apiVersion: v1\n"
      "kind: Service\n"
      "metadata: {namespace: $0, name: $1, annotations: $2}\n"
      "spec:\n"
      "  publishNotReadyAddresses: $3\n"
      "  selector: {app: $1}\n"
      "  ports: [{name: http, port: $4, targetPort: $5}]\n",
      service.ns, service.name, annotation, service.publishes_not_ready ? "true" : "false",
      service.port, kWorldTargetPort);
}

std::string IngressYaml(const WorldService& service) {
  const std::string backend =
      absl::Substitute("{service: {name: $0, port: {number: $1}}}", service.name, service.port);
  const std::string rules =
      service.is_default_backend
          ? absl::StrCat("  defaultBackend: ", backend, "\n")
          : absl::StrCat("  rules: [{host: ", service.name, ".example.com, http: {paths: [{path: /",
                         ", pathType: Prefix, backend: ", backend, "}]}}]\n");
  return absl::StrCat("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {namespace: ",
                      service.ns, ", name: ", service.name,
                      "}\nspec:\n  ingressClassName: ", service.ingress_class, "\n", rules);
}

std::string PodYaml(const WorldService& service, const std::string& pod) {
  return absl::Substitute(
      "apiVersion: v1\n"
      "kind: Pod\n"
      "metadata:\n"
      "  namespace: $0\n"
      "  name: $1\n"
      "  labels: {app: $2}\n"
      "  annotations: {sim/shutdown-seconds: \"600\"}\n"
      "spec:\n"
      "  terminationGracePeriodSeconds: 600\n"
      "  containers: [{name: c, image: x, ports: [{name: http, containerPort: $3}]}]\n",
      service.ns, pod, service.name, kWorldTargetPort);
}

}  // namespace sim

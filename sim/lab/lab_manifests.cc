#include "sim/lab/lab_manifests.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "sim/yaml_manifests.h"

namespace sim {
namespace {

// $0 namespace, $1 name, $2 load balancer, $3 port, $4 annotations of the Service,
// $5 publishNotReadyAddresses, $6 replicas, $7 maxSurge, $8 grace, $9 gates
constexpr char kText[] = R"(
apiVersion: v1
kind: Namespace
metadata: {name: oci-backend-drain}
---
apiVersion: v1
kind: Namespace
metadata: {name: $0}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata:
  name: oci
  annotations: {oci-native-ingress.oraclecloud.com/id: $2}
spec: {controller: oci.oraclecloud.com/native-ingress-controller}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  namespace: $0
  name: $1
  annotations:
    oci-native-ingress.oraclecloud.com/healthcheck-protocol: HTTP
    oci-native-ingress.oraclecloud.com/healthcheck-path: /readyz
spec:
  ingressClassName: oci
  rules:
    - host: web.example.com
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: {service: {name: $1, port: {number: 80}}}
---
apiVersion: v1
kind: Service
metadata: {namespace: $0, name: $1, annotations: $4}
spec:
  publishNotReadyAddresses: $5
  selector: {app: $1}
  ports: [{name: http, port: 80, targetPort: $3}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: $0, name: $1}
spec:
  replicas: $6
  selector: {matchLabels: {app: $1}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: $7, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: $1}}
    spec:
      terminationGracePeriodSeconds: $8
      readinessGates: $9
      containers: [{name: web, image: "example.com/web:0", ports: [{containerPort: $3}]}]
)";

}  // namespace

absl::StatusOr<std::vector<JsonTree>> LabManifests(const LabManifestOptions& options) {
  const std::string annotations =
      options.opted_in ? absl::Substitute(
                             "{oci-native-ingress.oraclecloud.com/backend-draining: \"true\", "
                             "oci-native-ingress.oraclecloud.com/backend-drain-shutdown: \"$0s\"}",
                             options.shutdown_seconds)
                       : "{}";
  const char* gates =
      options.gate ? "[{conditionType: oci-native-ingress.oraclecloud.com/load-balancer-ready}]"
                   : "[]";
  return ParseManifests(
      absl::Substitute(kText, kLabNamespace, kLabName, kLabLoadBalancer, kLabPort, annotations,
                       options.opted_in ? "true" : "false", options.replicas, options.max_surge,
                       options.grace_seconds, gates),
      "laboratory");
}

std::string LabImage(int generation) { return absl::StrCat("example.com/web:", generation); }

JsonTree LabImagePatch(int generation) {
  JsonTree container = JsonTree::Object{{"name", "web"}, {"image", LabImage(generation)}};
  JsonTree patch;
  patch.Child("spec")
      .Child("template")
      .Child("spec")
      .Child("containers")
      .Append(std::move(container));
  return patch;
}

}  // namespace sim

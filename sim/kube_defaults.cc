#include "sim/kube_defaults.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sim {
namespace {

void DefaultProbe(JsonTree& container, absl::string_view name) {
  if (!container.Has(name)) return;
  JsonTree& probe = container.Child(name);
  if (probe.Has("httpGet")) probe.Child("httpGet").SetIfMissing("scheme", "HTTP");
  probe.SetIfMissing("timeoutSeconds", 1);
  probe.SetIfMissing("periodSeconds", 10);
  probe.SetIfMissing("successThreshold", 1);
  probe.SetIfMissing("failureThreshold", 3);
}

// What is limited and not requested is requested at the limit.
void DefaultRequests(JsonTree& container) {
  JsonTree& resources = container.SetIfMissing("resources", JsonTree::Object{});
  const JsonTree limits = resources["limits"];
  for (const auto& [name, quantity] : limits.members()) {
    resources.Child("requests").SetIfMissing(name, quantity);
  }
}

void DefaultContainer(JsonTree& container) {
  if (!container.is_object()) return;
  if (container.Has("ports")) {
    for (JsonTree& port : container.Child("ports").MutableItems()) {
      port.SetIfMissing("protocol", "TCP");
    }
  }
  DefaultRequests(container);
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    DefaultProbe(container, probe);
  }
  container.SetIfMissing("terminationMessagePath", "/dev/termination-log");
  container.SetIfMissing("terminationMessagePolicy", "File");
  const std::string& image = container["image"].AsString();
  const bool tagged =
      absl::StrContains(image.substr(image.rfind('/') + 1), ':') || absl::StrContains(image, '@');
  const bool latest = !tagged || absl::EndsWith(image, ":latest");
  container.SetIfMissing("imagePullPolicy", latest ? "Always" : "IfNotPresent");
}

void DefaultPodSpec(JsonTree& spec) {
  for (const char* list : {"initContainers", "containers"}) {
    if (!spec.Has(list)) continue;
    for (JsonTree& container : spec.Child(list).MutableItems()) DefaultContainer(container);
  }
  spec.SetIfMissing("restartPolicy", "Always");
  spec.SetIfMissing("terminationGracePeriodSeconds", 30);
  spec.SetIfMissing("dnsPolicy", "ClusterFirst");
  spec.SetIfMissing("securityContext", JsonTree::Object{});
  spec.SetIfMissing("schedulerName", "default-scheduler");
}

void DefaultService(JsonTree& spec) {
  if (spec.Has("ports")) {
    for (JsonTree& port : spec.Child("ports").MutableItems()) {
      port.SetIfMissing("protocol", "TCP");
      port.SetIfMissing("targetPort", port["port"]);
    }
  }
  spec.SetIfMissing("type", "ClusterIP");
  spec.SetIfMissing("sessionAffinity", "None");
  spec.SetIfMissing("internalTrafficPolicy", "Cluster");
}

void DefaultDeployment(JsonTree& spec) {
  spec.SetIfMissing("replicas", 1);
  JsonTree& strategy = spec.SetIfMissing("strategy", JsonTree::Object{});
  strategy.SetIfMissing("type", "RollingUpdate");
  if (strategy["type"].AsString() == "RollingUpdate") {
    JsonTree& rolling = strategy.SetIfMissing("rollingUpdate", JsonTree::Object{});
    rolling.SetIfMissing("maxUnavailable", "25%");
    rolling.SetIfMissing("maxSurge", "25%");
  }
  spec.SetIfMissing("revisionHistoryLimit", 10);
  spec.SetIfMissing("progressDeadlineSeconds", 600);
}

void DefaultStatefulSet(JsonTree& spec) {
  spec.SetIfMissing("replicas", 1);
  spec.SetIfMissing("podManagementPolicy", "OrderedReady");
  JsonTree& strategy = spec.SetIfMissing("updateStrategy", JsonTree::Object{});
  strategy.SetIfMissing("type", "RollingUpdate");
  if (strategy["type"].AsString() == "RollingUpdate") {
    strategy.SetIfMissing("rollingUpdate", JsonTree::Object{}).SetIfMissing("partition", 0);
  }
  spec.SetIfMissing("revisionHistoryLimit", 10);
}

JsonTree Toleration(const char* key) {
  return JsonTree::Object{
      {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}};
}

// BestEffort: nothing requested; Guaranteed: all requested at the limit.
const char* QosClass(const JsonTree& spec) {
  bool any = false;
  bool guaranteed = true;
  for (const JsonTree& container : spec["containers"].items()) {
    const JsonTree& resources = container["resources"];
    any = any || !resources["requests"].members().empty() || !resources["limits"].members().empty();
    guaranteed = guaranteed && resources["limits"].Has("cpu") &&
                 resources["limits"].Has("memory") && resources["limits"] == resources["requests"];
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

JsonTree ProjectedFile(const char* config_map, const char* file) {
  return JsonTree::Object{
      {"configMap", JsonTree::Object{{"name", config_map},
                                     {"items", JsonTree::Array{JsonTree::Object{
                                                   {"key", file}, {"path", file}}}}}}};
}

void AddTokenVolume(base::Random& random, JsonTree& spec) {
  const std::string name = "kube-api-access-" + random.Token(5);
  const JsonTree field =
      JsonTree::Object{{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}};
  JsonTree sources = JsonTree::Array{
      JsonTree::Object{{"serviceAccountToken",
                        JsonTree::Object{{"expirationSeconds", 3607}, {"path", "token"}}}},
      ProjectedFile("kube-root-ca.crt", "ca.crt"),
      JsonTree::Object{{"downwardAPI", JsonTree::Object{{"items", JsonTree::Array{JsonTree::Object{
                                                                      {"path", "namespace"},
                                                                      {"fieldRef", field}}}}}}}};
  spec.Child("volumes").Append(JsonTree::Object{
      {"name", name}, {"projected", JsonTree::Object{{"sources", sources}, {"defaultMode", 420}}}});
  for (JsonTree& container : spec.Child("containers").MutableItems()) {
    container.Child("volumeMounts")
        .Append(JsonTree::Object{{"name", name},
                                 {"readOnly", true},
                                 {"mountPath", "/var/run/secrets/kubernetes.io/serviceaccount"}});
  }
}

void AdmitPod(base::Random& random, JsonTree& object) {
  JsonTree& spec = object.Child("spec");
  AddTokenVolume(random, spec);
  spec.SetIfMissing("serviceAccountName", "default");
  spec.SetIfMissing("serviceAccount", spec["serviceAccountName"]);
  JsonTree& tolerations = spec.Child("tolerations");
  tolerations.Append(Toleration("node.kubernetes.io/not-ready"));
  tolerations.Append(Toleration("node.kubernetes.io/unreachable"));
  spec.SetIfMissing("priority", 0);
  spec.SetIfMissing("preemptionPolicy", "PreemptLowerPriority");
  object.Set("status",
             JsonTree::Object{{"phase", "Pending"}, {"qosClass", QosClass(object["spec"])}});
}

void AdmitService(base::Random& random, JsonTree& object) {
  JsonTree& spec = object.Child("spec");
  if (spec["type"].AsString() != "ExternalName") {
    spec.SetIfMissing("ipFamilies", JsonTree::Array{"IPv4"});
    spec.SetIfMissing("ipFamilyPolicy",
                      spec["ipFamilies"].items().size() > 1 ? "RequireDualStack" : "SingleStack");
    if (spec["clusterIP"].is_null()) {
      const bool v6 = spec["ipFamilies"].items()[0].AsString() == "IPv6";
      const int64_t high = random.Between(1, 254);
      const int64_t low = random.Between(1, 254);
      spec.Set("clusterIP", v6 ? absl::StrCat("fd00:10:96::", high, ":", low)
                               : absl::StrCat("10.96.", high, ".", low));
    }
    spec.SetIfMissing("clusterIPs", JsonTree::Array{spec["clusterIP"]});
  }
  object.Set("status", JsonTree::Object{{"loadBalancer", JsonTree::Object{}}});
}

}  // namespace

void ApplyDefaults(const KubeResource& resource, JsonTree& object) {
  const absl::string_view kind = resource.kind;
  if (kind == "Pod") {
    JsonTree& spec = object.Child("spec");
    DefaultPodSpec(spec);
    spec.SetIfMissing("enableServiceLinks", true);
    if (object["status"].Has("conditions")) {
      // Go writes this although it is empty.
      for (JsonTree& condition : object.Child("status").Child("conditions").MutableItems()) {
        condition.Child("lastProbeTime");
      }
    }
  } else if (kind == "Service") {
    DefaultService(object.Child("spec"));
  } else if (kind == "Deployment" || kind == "ReplicaSet" || kind == "StatefulSet") {
    JsonTree& spec = object.Child("spec");
    if (spec["template"].is_object()) DefaultPodSpec(spec.Child("template").Child("spec"));
    if (kind == "Deployment") DefaultDeployment(spec);
    if (kind == "ReplicaSet") spec.SetIfMissing("replicas", 1);
    if (kind == "StatefulSet") DefaultStatefulSet(spec);
  } else if (kind == "EndpointSlice" && object.Has("ports")) {
    for (JsonTree& port : object.Child("ports").MutableItems()) {
      port.SetIfMissing("name", "");
      port.SetIfMissing("protocol", "TCP");
    }
  } else if (kind == "Event") {
    // Go writes these although they are empty.
    object.SetIfMissing("deprecatedSource", JsonTree::Object{});
    object.Child("deprecatedFirstTimestamp");
    object.Child("deprecatedLastTimestamp");
  } else if (kind == "Namespace") {
    object.Child("metadata")
        .Child("labels")
        .SetIfMissing("kubernetes.io/metadata.name", object["metadata"]["name"]);
  }
}

void AdmitNew(const KubeResource& resource, base::Random& random, JsonTree& object) {
  const absl::string_view kind = resource.kind;
  if (kind == "Pod") {
    AdmitPod(random, object);
  } else if (kind == "Service") {
    AdmitService(random, object);
  } else if (kind == "Ingress") {
    object.Set("status", JsonTree::Object{{"loadBalancer", JsonTree::Object{}}});
  } else if (kind == "Deployment") {
    object.Set("status", JsonTree::Object{});
  } else if (kind == "ReplicaSet" || kind == "StatefulSet") {
    object.Set("status", JsonTree::Object{{"replicas", 0}});
  } else if (kind == "Namespace") {
    object.Set("spec", JsonTree::Object{{"finalizers", JsonTree::Array{"kubernetes"}}});
    object.Set("status", JsonTree::Object{{"phase", "Active"}});
  }
}

}  // namespace sim

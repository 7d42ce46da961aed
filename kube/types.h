// The few Kubernetes fields that decisions rest on, as plain values.
#ifndef OCI_BACKEND_DRAIN_KUBE_TYPES_H_
#define OCI_BACKEND_DRAIN_KUBE_TYPES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace kube {

// namespace/name; namespace is empty for cluster-scoped objects.
struct ObjectKey {
  std::string ns;
  std::string name;

  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }
  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const ObjectKey& key) {
    return H::combine(std::move(state), key.ns, key.name);
  }
};

// What an Event is about.
struct ObjectReference {
  std::string api_version;  // "v1", "networking.k8s.io/v1"
  std::string kind;         // "Service"
  ObjectKey key;
  std::string uid;
  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
  friend auto operator<=>(const ObjectReference&, const ObjectReference&) = default;
};

inline constexpr absl::string_view kAnnotationPrefix = "oci-native-ingress.oraclecloud.com/";
inline constexpr absl::string_view kDefaultClassAnnotation =
    "ingressclass.kubernetes.io/is-default-class";

// Annotations whose key starts with kAnnotationPrefix or is kDefaultClassAnnotation;
// all others are dropped on decoding. A value that is not a string (refused by a real server) fails
// the decoding of that one object.
using Annotations = std::map<std::string, std::string>;

struct ServicePort {
  std::string name;  // empty if unnamed
  int port = 0;
  int target_port = 0;           // 0 if the target port is a name
  std::string target_port_name;  // empty if the target port is a number
};

struct Service {
  ObjectKey key;
  std::string uid;
  Annotations annotations;
  std::vector<ServicePort> ports;
  std::map<std::string, std::string> selector;
  bool publish_not_ready_addresses = false;
};

// A Service port that an Ingress routes to: by number, or by name if number is 0.
struct IngressBackend {
  std::string service;
  int port_number = 0;
  std::string port_name;
  friend bool operator==(const IngressBackend&, const IngressBackend&) = default;
};

struct Ingress {
  ObjectKey key;
  std::string uid;
  std::optional<std::string> class_name;
  std::optional<IngressBackend> default_backend;
  std::vector<IngressBackend> paths;  // service backends of HTTP paths, in order
  bool deleting = false;
  // Hash of spec, annotations and deleting: tells a change from a status update.
  uint64_t content_hash = 0;
};

struct IngressClass {
  std::string name;
  std::string uid;
  std::string controller;
  bool is_default = false;
  Annotations annotations;
  uint64_t content_hash = 0;
};

struct Endpoint {
  std::vector<std::string> addresses;
  bool ready = true;         // absent counts as true, as the API says
  bool serving = true;       // absent: equals ready
  bool terminating = false;  // absent counts as false
  // targetRef; empty kind if there is none.
  std::string target_kind;
  std::string target_namespace;
  std::string target_name;
  std::string target_uid;
};

struct EndpointPort {
  std::string name;  // empty if unnamed
  int port = 0;      // 0 if absent
};

struct EndpointSlice {
  ObjectKey key;
  std::string service;       // label kubernetes.io/service-name; empty if absent
  std::string address_type;  // "IPv4", "IPv6", "FQDN"
  std::vector<EndpointPort> ports;
  std::vector<Endpoint> endpoints;
};

struct OwnerReference {
  std::string kind;
  std::string name;
  std::string uid;
};

// From a metadata-only watch.
struct PodMetadata {
  ObjectKey key;
  std::string uid;
  // Changes with every change of the Pod, also of fields that are not watched.
  std::string resource_version;
  // The moment of SIGKILL: request time plus grace. InfiniteFuture(): not deleted.
  absl::Time deletion_timestamp = absl::InfiniteFuture();
  absl::Duration deletion_grace = absl::ZeroDuration();
  std::optional<OwnerReference> controller;  // the owner with controller=true

  bool deleted() const { return deletion_timestamp != absl::InfiniteFuture(); }
};

// From a live GET of the full object.
struct PodDetails {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  absl::Time deletion_timestamp = absl::InfiniteFuture();
  absl::Duration deletion_grace = absl::ZeroDuration();
  std::vector<std::string> pod_ips;
  std::string phase;
  bool disruption_target = false;  // condition DisruptionTarget=True
  std::vector<std::string> readiness_gates;
  std::vector<std::string> true_conditions;  // types of the conditions that are True
};

// One entry of a Pod's status.conditions, as it is to be.
struct PodCondition {
  ObjectKey pod;
  std::string uid;  // of that Pod and no other of its name
  std::string type;
  bool status = false;
  std::string reason;
  std::string message;
  absl::Time last_transition = absl::UnixEpoch();
};

// Kubernetes' IntOrString where it means a number of Pods or a share of them.
struct IntOrPercent {
  int value = 0;
  bool is_percent = false;

  static IntOrPercent Count(int value) { return {value, false}; }
  static IntOrPercent Percent(int value) { return {value, true}; }

  int RoundedDown(int replicas) const;
  int RoundedUp(int replicas) const;
  friend bool operator==(const IntOrPercent&, const IntOrPercent&) = default;
};

struct RolloutLimits {
  int max_unavailable = 0;
  int max_surge = 0;
};

// As the Deployment controller resolves them: unavailable rounded down and at
// most `replicas`, surge rounded up, and never both zero.
RolloutLimits ResolveRolloutLimits(IntOrPercent max_unavailable, IntOrPercent max_surge,
                                   int replicas);

// A Deployment or StatefulSet.
struct Workload {
  std::string kind;
  ObjectKey key;
  std::string uid;
  int replicas = 1;
  // Resolved to Pods as Kubernetes does: percentages of max_unavailable rounded
  // down, of max_surge up; a Deployment with both zero gets max_unavailable 1, a
  // StatefulSet at least 1. Both are 0 with strategy Recreate.
  int max_unavailable = 0;
  int max_surge = 0;
  bool recreate = false;  // Deployment strategy Recreate
  bool deleting = false;

  // For what it would do with other replicas: the same two as written.
  IntOrPercent written_max_unavailable;
  IntOrPercent written_max_surge;
  absl::Duration grace = absl::Seconds(30);  // terminationGracePeriodSeconds of its Pods
  absl::Duration min_ready = absl::ZeroDuration();
  int partition = 0;  // of a StatefulSet: ordinals below are not updated
  // A StatefulSet with updateStrategy OnDelete: nothing is replaced by itself.
  bool on_delete = false;
  std::vector<std::string> readiness_gates;  // condition types of its Pods
  // Labels of its Pods, where they have readiness gates.
  std::map<std::string, std::string> gated_labels;
  // Keys of the labels by which it selects its Pods; its ReplicaSets use them too.
  std::vector<std::string> selector_labels;
};

// autoscaling/v2
struct HorizontalPodAutoscaler {
  ObjectKey key;
  std::string uid;
  // scaleTargetRef; empty if there is none, so that it scales nothing.
  std::string target_kind;
  std::string target_name;
  int max_replicas = 0;
};

// policy/v1 PodDisruptionBudget
struct DisruptionBudget {
  ObjectKey key;
  std::vector<std::string> selector_labels;  // keys of the labels it selects by
};

// From a metadata-only watch of ReplicaSets: who owns the owner of a Pod.
struct ReplicaSetMetadata {
  ObjectKey key;
  std::string uid;
  std::optional<OwnerReference> controller;
};

// coordination.k8s.io/v1: who leads, and since when it has not been heard of.
struct Lease {
  ObjectKey key;
  std::string resource_version;  // empty: create it
  std::string holder;            // holderIdentity; empty: released
  // leaseDurationSeconds, in whole seconds; zero: not given.
  absl::Duration duration = absl::ZeroDuration();
  // By the holder's clock; InfiniteFuture() if not given.
  absl::Time acquired = absl::InfiniteFuture();
  absl::Time renewed = absl::InfiniteFuture();
  int transitions = 0;
  // The object as read, with every field it had: what others keep in it is written back.
  std::string document;
};

// One object of a watched resource.
using Object = std::variant<Service, Ingress, IngressClass, EndpointSlice, PodMetadata, Workload,
                            ReplicaSetMetadata, Lease>;

// Core v1 Endpoints, from a live GET: what NIC itself reads.
struct EndpointsAddress {
  std::string ip;
  std::string target_kind;
  std::string target_namespace;
  std::string target_name;
  std::string target_uid;
};

struct EndpointsSubset {
  std::vector<EndpointsAddress> addresses;  // ready and not ready
  std::vector<EndpointPort> ports;
};

struct Endpoints {
  ObjectKey key;
  std::vector<EndpointsSubset> subsets;
  bool truncated = false;  // annotation endpoints.kubernetes.io/over-capacity
};

struct ConfigMap {
  ObjectKey key;
  std::string resource_version;  // empty: create it
  std::map<std::string, std::string> data;
};

// events.k8s.io/v1
struct Event {
  ObjectKey key;
  ObjectReference regarding;
  std::string type;    // "Normal" or "Warning"
  std::string reason;  // at most 128 bytes
  std::string action;  // at most 128 bytes
  std::string note;    // at most 1,024 bytes
  absl::Time event_time;
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_TYPES_H_

// The load-balancer API's nouns as plain values. No I/O, no JSON types.
//
// Where a document of the API may hold fields this code does not know, the
// document's text is kept beside the decoded fields, so that what is written
// back differs from what was read only where it was meant to.
#ifndef OCI_BACKEND_DRAIN_OCI_TYPES_H_
#define OCI_BACKEND_DRAIN_OCI_TYPES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/strong_string.h"

namespace oci {

using Ocid = base::StrongString<struct OcidTag>;  // "ocid1.loadbalancer.oc1.iad.x"
using WorkRequestId = base::StrongString<struct WorkRequestIdTag>;
using BackendSetName = base::StrongString<struct BackendSetNameTag>;  // "bs_f151df96ee98ff0"
using BackendName = base::StrongString<struct BackendNameTag>;        // "10.0.0.3:8080"
using RetryToken = base::StrongString<struct RetryTokenTag>;  // opc-retry-token, 32 characters

// The version of a whole load balancer, from any read of it. Every write carries
// the one of the read that its decision came from.
using Etag = base::StrongString<struct EtagTag>;

// "ip:port", as the load balancer names it. IPv6 is not bracketed there.
BackendName MakeBackendName(const std::string& ip, int port);

struct Backend {
  BackendName name;
  std::string ip_address;
  int port = 0;
  int weight = 1;
  bool drain = false;
  bool backup = false;
  bool offline = false;
  std::optional<int> max_connections;
  // The backend's JSON object as read, with every field it had.
  std::string document;
  // Canonical JSON (sorted keys) of everything but name, drain and offline:
  // equal text means equal settings.
  std::string settings;
};

struct BackendSet {
  BackendSetName name;
  std::vector<Backend> backends;  // in the order of the document
  std::string policy;
  std::string health_checker_protocol;   // "HTTP", "TCP"; empty if absent
  bool has_session_persistence = false;  // either of the two cookie configurations
  // The set's JSON object as read.
  std::string document;
  // Canonical JSON (sorted keys) of everything but name and backends.
  std::string settings;
};

struct LoadBalancer {
  Ocid id;
  std::string display_name;
  std::string lifecycle_state;  // writes only while "ACTIVE"
  std::map<BackendSetName, BackendSet> backend_sets;
};

// One atomic view: the state and the ETag that guards writes decided on it.
struct LoadBalancerRead {
  LoadBalancer load_balancer;
  Etag etag;
};

enum class WorkRequestState { kAccepted, kInProgress, kSucceeded, kFailed };

struct WorkRequest {
  WorkRequestId id;
  std::string type;  // "UpdateBackendSet", ...; empty if the server gave none
  WorkRequestState state = WorkRequestState::kAccepted;
  std::string message;
  std::string error_details;  // "BAD_INPUT: ..." joined with "; "; empty if none
  absl::Time time_accepted = absl::InfinitePast();
  absl::Time time_finished = absl::InfiniteFuture();

  bool finished() const {
    return state == WorkRequestState::kSucceeded || state == WorkRequestState::kFailed;
  }
};

enum class HealthStatus { kOk, kWarning, kCritical, kUnknown };

struct BackendHealth {
  HealthStatus status = HealthStatus::kUnknown;
  // The newest health check result's time; InfinitePast() if there is none.
  absl::Time checked_at = absl::InfinitePast();
};

struct BackendSetHealth {
  HealthStatus status = HealthStatus::kUnknown;
  std::vector<BackendName> warning;
  std::vector<BackendName> critical;
  std::vector<BackendName> unknown;
  int total_backend_count = 0;
};

// A flip of one backend's flags; everything else is echoed as read.
struct BackendFlags {
  bool drain = false;
  bool offline = false;
  friend bool operator==(const BackendFlags&, const BackendFlags&) = default;
};

// What one whole-set write changes against the set as read. Nothing else may
// differ between what was read and what is sent.
struct BackendSetChange {
  std::map<BackendName, BackendFlags> flips;  // backends that stay, with new flags
  std::vector<Backend> additions;             // `document` is empty; weight 1
  std::vector<BackendName> removals;

  bool empty() const { return flips.empty() && additions.empty() && removals.empty(); }
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_TYPES_H_

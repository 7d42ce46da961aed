// The load balancer's JSON as the API's server treats it: what an accepted body
// makes of the document, and what differs between two states. Pure functions; no
// state, time or I/O. load_balancer_body.h says which bodies are accepted.
#ifndef OCI_BACKEND_DRAIN_SIM_LOAD_BALANCER_DOCUMENT_H_
#define OCI_BACKEND_DRAIN_SIM_LOAD_BALANCER_DOCUMENT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rapidjson/document.h"

namespace sim {

// Makes `backend` what a checked update says. A maxConnections that the update
// does not name is cleared.
void ApplyBackendUpdate(const rapidjson::Value& body, rapidjson::Value& backend,
                        rapidjson::Document::AllocatorType& allocator);

// The set that a checked update makes: nothing of the old one is left.
rapidjson::Value MakeBackendSet(absl::string_view name, const rapidjson::Value& body,
                                rapidjson::Document::AllocatorType& allocator);

// nullptr if absent.
rapidjson::Value* FindBackendSet(rapidjson::Value& load_balancer, absl::string_view set);
rapidjson::Value* FindBackend(rapidjson::Value& set, absl::string_view backend);
const rapidjson::Value* FindBackendSet(const rapidjson::Value& load_balancer,
                                       absl::string_view set);
const rapidjson::Value* FindBackend(const rapidjson::Value& set, absl::string_view backend);

int CountBackends(const rapidjson::Value& set);
int CountBackendsOfAllSets(const rapidjson::Value& load_balancer);

// Whether a listener or a routing policy sends requests to the set.
bool HasListener(const rapidjson::Value& load_balancer, absl::string_view set);

// InvalidArgument, naming the member, unless the document has what the API
// always shows: id, lifecycleState, backendSets of complete sets and backends.
absl::Status CheckLoadBalancer(const rapidjson::Value& load_balancer);

// What one write did, over all sets of a load balancer. Backends by name, in
// the order of the document; `changed` names every other difference by its path:
// "bs_1.healthChecker", "bs_1.backends[10.0.0.3:80].weight".
struct WriteEffect {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> drained;    // false -> true, or added with drain=true
  std::vector<std::string> undrained;  // true -> false
  std::vector<std::string> set_offline;
  std::vector<std::string> set_online;
  std::vector<std::string> changed;

  bool empty() const;
};
WriteEffect DiffLoadBalancers(const rapidjson::Value& before, const rapidjson::Value& after);

// A complete, ACTIVE load balancer with a listener and a routing policy that
// lead to every set. Keys: set names; values: backends as "ip:port".
std::string MakeLoadBalancerJson(absl::string_view ocid,
                                 const std::map<std::string, std::vector<std::string>>& sets);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LOAD_BALANCER_DOCUMENT_H_

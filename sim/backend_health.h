// What the load balancer's own health checks know about each backend of one load
// balancer: UNKNOWN from registration until the first check after it.
#ifndef OCI_BACKEND_DRAIN_SIM_BACKEND_HEALTH_H_
#define OCI_BACKEND_DRAIN_SIM_BACKEND_HEALTH_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "rapidjson/document.h"

namespace sim {

enum class Health { kOk, kWarning, kCritical, kUnknown };

// "OK", "WARNING", "CRITICAL", "UNKNOWN".
absl::string_view HealthName(Health health);

// True if a process answers on that address as its readiness says.
using ServingFunction = std::function<bool(const std::string& ip, int port)>;

// Not thread-safe; no clock.
class BackendHealthBook {
 public:
  // Backends that are new to the document become UNKNOWN, those that left it are
  // forgotten.
  void Follow(const rapidjson::Value& load_balancer);

  // One round of checks at `now`. A set without a listener stays UNKNOWN, as an
  // offline backend does.
  void Check(const rapidjson::Value& load_balancer, const ServingFunction& serving, absl::Time now);

  // What the checks of one backend say from their next round on, whatever its
  // process does; nullopt: the process decides again.
  void Fix(const std::string& set, const std::string& backend, std::optional<Health> health);

  // Answers of GetBackendHealth, GetBackendSetHealth and GetLoadBalancerHealth
  // for objects that the document has.
  std::string BackendJson(const std::string& set, const std::string& backend) const;
  std::string BackendSetJson(const rapidjson::Value& load_balancer, const std::string& set) const;
  std::string LoadBalancerJson(const rapidjson::Value& load_balancer) const;

 private:
  using Key = std::pair<std::string, std::string>;  // set, backend
  struct State {
    Health health = Health::kUnknown;
    absl::Time checked_at = absl::InfinitePast();
    bool offline = false;
  };

  // Of a set over its backends, or of a load balancer over its sets. What is OK
  // is counted and never listed.
  struct Summary {
    Health status = Health::kUnknown;
    std::vector<std::string> warning;
    std::vector<std::string> critical;
    std::vector<std::string> unknown;
    size_t total = 0;

    void Add(Health health, const std::string& name);
  };

  static Health Overall(const Summary& summary);
  static std::string SummaryJson(const Summary& summary, absl::string_view noun);
  const State& StateOf(const std::string& set, const std::string& backend) const;
  // The document has the set.
  Summary Summarize(const rapidjson::Value& load_balancer, const std::string& set) const;

  std::map<Key, State> states_;
  std::map<Key, Health> fixed_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_BACKEND_HEALTH_H_

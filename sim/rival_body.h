// The bodies that the native ingress controller writes.
#ifndef OCI_BACKEND_DRAIN_SIM_RIVAL_BODY_H_
#define OCI_BACKEND_DRAIN_SIM_RIVAL_BODY_H_

#include <string>
#include <vector>

#include "rapidjson/document.h"

namespace sim {

struct RivalBackend {
  std::string ip;
  int port = 0;
  bool drain = false;
};

// UpdateBackendSet: the backends with weight 1 and every other flag false; of the
// set only policy, health checker, both session persistence configurations and the
// SSL configuration's trusted authorities. The rest is lost, as it is in reality.
std::string RivalBackendSetBody(const rapidjson::Value& set,
                                const std::vector<RivalBackend>& backends);

// UpdateBackend: as read but for drain.
std::string RivalBackendBody(const rapidjson::Value& backend, bool drain);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_RIVAL_BODY_H_

// What flags and the environment decide.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_SETTINGS_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_SETTINGS_H_

#include <string>
#include <vector>

#include "annotations/annotations.h"
#include "controller/lb_map.h"
#include "drain/input.h"

namespace controller {

// Whether terminating Pods are withdrawn to make room (--capacity_action).
enum class CapacityAction { kWarn, kWithdraw };

// --pod_conditions. The plan must be told too: Options::gates, acknowledge_all.
struct PodConditionChoice {
  bool drained = false;
  bool gate = false;
};

struct Settings {
  drain::Options plan;
  std::string controller_class = "oci.oraclecloud.com/native-ingress-controller";
  std::string ns = "oci-backend-drain";  // where the ledgers' ConfigMaps are
  std::vector<LbMapEntry> lb_map;
  bool dry_run = false;
  PodConditionChoice pod_conditions;
  CapacityAction capacity_action = CapacityAction::kWarn;
  annotations::Reserve default_reserve;  // automatic
  int max_backend_sets = 16;
  double oci_qps = 10;
  int oci_burst = 20;
  int workers = 8;
  // More namespaces with opted-in Services than this: one watch of Pods for all.
  int max_pod_watches = 32;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_SETTINGS_H_

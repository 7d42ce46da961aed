// What flags and the environment decide.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_SETTINGS_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_SETTINGS_H_

#include <string>
#include <vector>

#include "controller/lb_map.h"
#include "drain/input.h"

namespace controller {

struct Settings {
  drain::Options plan;
  std::string controller_class = "oci.oraclecloud.com/native-ingress-controller";
  std::string ns = "oci-backend-drain";  // where the ledgers' ConfigMaps are
  std::vector<LbMapEntry> lb_map;
  bool dry_run = false;
  double oci_qps = 10;
  int oci_burst = 20;
  int workers = 8;
  // More namespaces with opted-in Services than this: one watch of Pods for all.
  int max_pod_watches = 32;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_SETTINGS_H_

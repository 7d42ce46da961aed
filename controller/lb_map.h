// --lb_map_file: Services whose backend sets no Ingress describes (made with
// Terraform or in the console). Such sets get drain flags only, never membership.
//
//   - service: shop/web
//     port: 80
//     load_balancer: ocid1.loadbalancer.oc1.iad.x
//     backend_set: web-blue
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_LB_MAP_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_LB_MAP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/types.h"
#include "oci/types.h"

namespace controller {

struct LbMapEntry {
  kube::ObjectKey service;
  int port = 0;  // the Service's port, not its targetPort
  oci::Ocid load_balancer;
  oci::BackendSetName backend_set;
  friend bool operator==(const LbMapEntry&, const LbMapEntry&) = default;
};

inline constexpr size_t kMaxLbMapBytes = 1 << 20;
inline constexpr size_t kMaxLbMapEntries = 4096;

// An empty text is an empty list. InvalidArgument names the line, what is wrong
// there and what is allowed.
absl::StatusOr<std::vector<LbMapEntry>> ParseLbMap(absl::string_view yaml);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_LB_MAP_H_

// What a Kubernetes API server adds to an object that it is given.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_DEFAULTS_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_DEFAULTS_H_

#include "base/random.h"
#include "sim/json_tree.h"
#include "sim/kube_resources.h"

namespace sim {

// The defaults of the API's types: idempotent, owned by whoever wrote the object.
void ApplyDefaults(const KubeResource& resource, JsonTree& object);

// What admission and the registry set at creation: a Pod's service account and
// tolerations, a Service's cluster IP, the first status. Owned by nobody.
void AdmitNew(const KubeResource& resource, base::Random& random, JsonTree& object);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_DEFAULTS_H_

#ifndef OCI_BACKEND_DRAIN_SIM_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_WORLD_H_

#include "kube/types.h"

#endif  // OCI_BACKEND_DRAIN_SIM_WORLD_H_

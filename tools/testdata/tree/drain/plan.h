#ifndef OCI_BACKEND_DRAIN_DRAIN_PLAN_H_
#define OCI_BACKEND_DRAIN_DRAIN_PLAN_H_

#include "kube/types.h"
#include "oci/types.h"

#endif  // OCI_BACKEND_DRAIN_DRAIN_PLAN_H_

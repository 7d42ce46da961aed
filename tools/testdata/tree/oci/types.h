#ifndef OCI_BACKEND_DRAIN_OCI_TYPES_H_
#define OCI_BACKEND_DRAIN_OCI_TYPES_H_

#include "base/good.h"

#endif  // OCI_BACKEND_DRAIN_OCI_TYPES_H_

#ifndef OCI_BACKEND_DRAIN_CMD_FLAGS_H_
#define OCI_BACKEND_DRAIN_CMD_FLAGS_H_

#include "base/good.h"

#endif  // OCI_BACKEND_DRAIN_CMD_FLAGS_H_

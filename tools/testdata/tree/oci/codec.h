#ifndef OCI_BACKEND_DRAIN_OCI_CODEC_H_
#define OCI_BACKEND_DRAIN_OCI_CODEC_H_

#include "oci/types.h"

#endif  // OCI_BACKEND_DRAIN_OCI_CODEC_H_

// What a pass saw and decided.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_PREVIEW_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_PREVIEW_H_

#include "drain/input.h"
#include "drain/plan.h"

namespace controller {

// The plan has no questions left.
struct Preview {
  drain::Input input;
  drain::Plan plan;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_PREVIEW_H_

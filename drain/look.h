// What a look at the load balancer proves for whoever asks how old it is.
#ifndef OCI_BACKEND_DRAIN_DRAIN_LOOK_H_
#define OCI_BACKEND_DRAIN_DRAIN_LOOK_H_

#include "absl/time/time.h"
#include "drain/input.h"

namespace drain {

// A read with a list of work requests.
struct Look {
  // When the older of the two was asked for. Whatever somebody else had accepted by then
  // is in the read or in the list.
  absl::Time at = absl::InfinitePast();
  // Nothing in the list that could change a backend is unfinished, but a write of ours.
  bool quiet = false;
};

Look LastLook(const Input& input);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_LOOK_H_

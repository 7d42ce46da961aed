// A pass as the status board keeps it: small, until somebody asks.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_PACKED_PASS_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_PACKED_PASS_H_

#include <cstddef>
#include <string>

#include "controller/preview.h"

namespace controller {

// Holds what ExplainPod and NoSetKnows read of a pass and nothing else of it. A set of
// 512 backends has as many endpoints and decisions of half a kilobyte each, in strings
// that repeat; here they are some 130 bytes together.
//
// Immutable; distinct threads may unpack one at once.
class PackedPass {
 public:
  PackedPass() = default;
  explicit PackedPass(Preview pass);

  Preview Unpack() const;

  // Of what is packed.
  size_t bytes() const { return packed_.size(); }

 private:
  Preview rest_;        // without endpoints and decisions
  std::string packed_;  // these
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_PACKED_PASS_H_

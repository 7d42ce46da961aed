// Keys and when they are due: what is worked on next. React to state, not to
// events: an item is a key, and adding it twice is adding it once.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_DUE_QUEUE_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_DUE_QUEUE_H_

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "oci/types.h"

namespace controller {

// A key is worked on by one caller at a time: between Take and Done, Add is
// remembered and takes effect at Done. Not thread-safe; no clock.
class DueQueue {
 public:
  // Due at `at`, or earlier if it is so already.
  void Add(const oci::Ocid& key, absl::Time at);

  // The key that was due first, if one is due at `now`.
  std::optional<oci::Ocid> Take(absl::Time now);

  // The work on a taken key is over; it is due again at `next` or, if it was
  // added meanwhile, when that said.
  void Done(const oci::Ocid& key, absl::Time next);

  // Not due any more. A key being worked on is forgotten at Done.
  void Forget(const oci::Ocid& key);

  // InfiniteFuture() if nothing waits.
  absl::Time NextDue() const;

  size_t waiting() const { return due_.size(); }
  size_t taken() const { return taken_.size(); }

 private:
  void Set(const oci::Ocid& key, absl::Time at);

  std::map<oci::Ocid, absl::Time> due_;
  std::set<std::pair<absl::Time, oci::Ocid>> order_;
  std::map<oci::Ocid, absl::Time> taken_;  // value: added meanwhile, for when
  std::set<oci::Ocid> forgotten_;          // while taken
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_DUE_QUEUE_H_

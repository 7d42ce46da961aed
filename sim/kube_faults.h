// What goes wrong between a client and the fake API server.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_FAULTS_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_FAULTS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/kube_resources.h"
#include "sim/kube_store.h"

namespace sim {

// Of the calls that match, `skip` go through, then `times` are hit.
struct KubeFault {
  enum class Kind {
    kStatus,     // answers `status` and does nothing
    kDelay,      // answers late
    kLoseReply,  // does it and closes the connection without an answer
    kRefuse,     // closes the connection and does nothing
  };

  // Empty: any. `verb` as in KubeRequestInfo, `resource` is the plural.
  std::string verb = {};
  std::string resource = {};
  std::string ns = {};
  std::string name = {};
  std::function<bool(const KubeRequestInfo&)> only_if = {};
  int skip = 0;
  int times = 1;  // negative: always

  Kind kind = Kind::kStatus;
  int status = 500;
  std::string body = {};  // of kStatus; empty: a Status object
  absl::Duration delay = {};
};

// The same for events on their way into a watch; each watch counts.
struct KubeWatchFault {
  enum class Kind {
    kDrop,
    kRepeat,
    kDelay,  // holds the stream: what follows comes after it
  };

  std::string resource = {};
  std::string ns = {};
  std::string name = {};
  std::function<bool(const KubeChange&)> only_if = {};
  int skip = 0;
  int times = 1;

  Kind kind = Kind::kDrop;
  absl::Duration delay = {};
};

// Not thread-safe.
class KubeFaults {
 public:
  void Add(KubeFault fault) { faults_.push_back(std::move(fault)); }
  void Add(KubeWatchFault fault) { watch_faults_.push_back(std::move(fault)); }
  void Clear();

  // The first fault that hits, which is thereby used up once.
  std::optional<KubeFault> Hit(const KubeRequestInfo& request);
  std::optional<KubeWatchFault> Hit(const KubeResource& resource, const KubeChange& change);

 private:
  std::vector<KubeFault> faults_;
  std::vector<KubeWatchFault> watch_faults_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_FAULTS_H_

// The nodes of the fake cluster: a scheduler, and a kubelet that starts, probes
// and ends processes which exist in this object only.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBELET_H_
#define OCI_BACKEND_DRAIN_SIM_KUBELET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/json_tree.h"
#include "sim/kube_objects.h"

namespace sim {

enum class IpReuse {
  kNever,
  kAfterRemoval,     // once the Pod object is gone
  kAfterProcessEnd,  // while the ended Pod is still there, as a real CNI may do
};

struct KubeletOptions {
  // From creation to Running, when a Pod gets its IP.
  absl::Duration startup = absl::Seconds(1);
  // From creation (or a restart) to a passing readiness probe, at least `startup`.
  absl::Duration ready_after = absl::Seconds(3);
  // From SIGTERM to the end of a process whose Pod has no annotation
  // "sim/shutdown-seconds".
  absl::Duration shutdown = absl::Seconds(1);
  // From the end of the process to the removal of the Pod object.
  absl::Duration removal = absl::Milliseconds(500);
  absl::Duration crash_backoff = absl::Seconds(10);
  int nodes = 3;
  IpReuse ip_reuse = IpReuse::kNever;
  // Pods get an IPv6 address besides.
  bool dual_stack = false;
};

struct PodEvent {
  enum class Kind {
    kCreated,
    kRunning,
    kReady,
    kNotReady,
    kDeleted,       // has a deletionTimestamp, or the node shuts down
    kProcessEnded,  // also of a crash
    kRemoved,       // the object is gone
  };
  absl::Time time;
  Kind kind = Kind::kCreated;
  std::string ns;
  std::string name;
  std::string uid;
  std::string ip;  // empty before kRunning
};

absl::string_view PodEventName(PodEvent::Kind kind);

// preStop hooks that are more than a sleep. SIGTERM waits for their end, or for that of
// the grace period.
class PreStopHooks {
 public:
  virtual ~PreStopHooks() = default;
  // A Pod with a running process is being ended. True: a hook of it begins, and
  // Kubelet::EndPreStop will be called; false: the kubelet's own rules apply.
  virtual bool Begin(const JsonTree& pod, absl::Time now) = 0;
  // The process has ended before the hook: the grace period is over, or it crashed.
  virtual void OnCutOff(const std::string& uid, absl::Time now) = 0;
};

// The Pod annotations
//   sim/shutdown-seconds   from SIGTERM to the end of the process
//   sim/ready-after-seconds in place of ready_after
//   sim/unready-at         "sigterm": readiness fails from SIGTERM on; "deletion":
//                          from the deletion on; absent: until the process ends
// tell what the process does. preStop is understood as exec of a `sleep N` or as
// sleep, or by who was given to SetPreStopHooks. Not thread-safe.
class Kubelet {
 public:
  // `objects` must outlive it.
  Kubelet(KubeObjects& objects, KubeletOptions options);

  // Does what is due.
  void Step(absl::Time now);
  // When Step has something to do if no object changes.
  absl::Time NextDue() const;

  // Whether a process listened there at `when`, which is not in the future.
  bool ProcessRunning(const std::string& ip, int port, absl::Time when) const;
  // Oldest first.
  const std::vector<PodEvent>& log() const { return log_; }
  // Called with each entry of the log as it is made.
  void OnPodEvent(std::function<void(const PodEvent&)> callback) {
    callback_ = std::move(callback);
  }

  // Must outlive the steps.
  void SetPreStopHooks(PreStopHooks* hooks) { hooks_ = hooks; }
  // SIGTERM is sent to the Pod whose hook began; nothing if its process has ended.
  void EndPreStop(const std::string& uid, absl::Time now);

  // These take effect with the next Step. NotFound if there is no such Pod.
  absl::Status Crash(const std::string& ns, const std::string& name, absl::Time now);
  // What the readiness probe says, whatever else; nullopt: as usual again.
  absl::Status ForceReadiness(const std::string& ns, const std::string& name,
                              std::optional<bool> ready);
  // Graceful node shutdown: no deletionTimestamp, DisruptionTarget at once, phase
  // Failed when the process has ended. The node takes no Pods until StartNode.
  void ShutDownNode(const std::string& node, absl::Duration grace, absl::Time now);
  void StartNode(const std::string& node) { down_.erase(node); }

 private:
  struct Container {
    std::string uid;
    std::string ns;
    std::string name;
    std::string node;
    std::string ip;
    std::string ip6;
    absl::Time starts;  // again, after a crash
    absl::Time ready;
    std::optional<absl::Time> started;  // the process runs since
    absl::Time first_start;
    bool terminating = false;
    absl::Time sigterm = absl::InfiniteFuture();
    absl::Time ends = absl::InfiniteFuture();
    absl::Duration grace = absl::InfiniteDuration();
    absl::Duration shutdown;  // from SIGTERM to the end of the process
    bool in_hook = false;
    bool killed = false;              // it ends by SIGKILL
    std::optional<absl::Time> ended;  // for good
    bool node_shutdown = false;
    bool removed = false;  // the object is gone
    bool was_ready = false;
    int restarts = 0;
    std::optional<bool> forced_ready;
    // To look again when the object changed, or then.
    std::string seen_version;
    absl::Time due = absl::InfinitePast();
  };
  struct ProcessLife {
    std::string uid;
    std::set<int> ports;  // empty: all
    absl::Time from;
    absl::Time to = absl::InfiniteFuture();
  };

  void Schedule(const JsonTree& pod, absl::Time now);
  Container& Track(const JsonTree& pod, absl::Time now);
  // Everything that is due for one Pod.
  void Advance(const JsonTree& pod, absl::Time now, Container& container);
  void Terminate(const JsonTree& pod, absl::Duration grace, absl::Time now, Container& container);
  void Start(const JsonTree& pod, absl::Time now, Container& container);
  void End(absl::Time now, Container& container);
  bool ProbePasses(const JsonTree& pod, absl::Time now, const Container& container) const;
  void WriteStatus(const JsonTree& pod, absl::Time now, Container& container);
  absl::Time DueOf(const Container& container, absl::Time now) const;
  // Pods whose objects are gone: their processes end too.
  void StepGone(const std::set<std::string>& there, absl::Time now);
  void Log(PodEvent::Kind kind, absl::Time now, const Container& container);
  void AllotAddresses(const JsonTree& pod, Container& container);
  void FreeAddress(IpReuse when, const Container& container);
  Container* Find(const std::string& ns, const std::string& name);

  KubeObjects& objects_;
  const KubeletOptions options_;
  std::map<std::string, Container> containers_;            // by Pod UID
  std::map<std::string, std::vector<ProcessLife>> lives_;  // by address
  std::vector<PodEvent> log_;
  std::function<void(const PodEvent&)> callback_;
  PreStopHooks* hooks_ = nullptr;
  std::set<std::string> down_;
  std::vector<std::string> free_ips_;
  int next_ip_ = 0;
  int next_ip6_ = 0;
  int next_node_ = 0;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBELET_H_

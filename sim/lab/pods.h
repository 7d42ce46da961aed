// The kubelet's part for real processes: a test server for each Pod of the fake cluster, its
// preStop hook as a process too, SIGTERM when that has ended, SIGKILL at the deadline.
#ifndef OCI_BACKEND_DRAIN_SIM_LAB_PODS_H_
#define OCI_BACKEND_DRAIN_SIM_LAB_PODS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "probe/marks.h"
#include "sim/child_process.h"
#include "sim/kubelet.h"

namespace sim {

struct PodProcessOptions {
  std::string folder;                      // that exists: for logs
  std::string server;                      // the program //sim/lab:pod_server
  std::string mode = "exit";               // of it
  absl::Duration shutdown;                 // of it
  std::vector<std::string> pre_stop = {};  // a program and its arguments; empty: no hook
  // Pods get addresses 127.<network>.x.y.
  int network = 1;
};

// Callbacks of the fake cluster come on its threads; Act, and what starts and ends
// processes, is called by one thread that lives as long as this does.
class Pods final : public PreStopHooks {
 public:
  explicit Pods(PodProcessOptions options) : options_(std::move(options)) {}

  // Of the kubelet.
  void OnPodEvent(const PodEvent& event);
  bool Begin(const JsonTree& pod, absl::Time now) override;
  void OnCutOff(const std::string& uid, absl::Time now) override;

  // Before the first deletion. For a hook that needs what was not known earlier.
  void SetPreStop(std::vector<std::string> pre_stop);

  // Starts, signals and ends what is due. The UIDs of Pods whose hooks have ended since
  // the last call: their processes have got SIGTERM, and the kubelet is to be told.
  absl::StatusOr<std::vector<std::string>> Act(absl::Time now);

  // Where the process of the Pod with that address listens, "127.1.0.5:4711"; empty if
  // there never was one. Kept after its end: a load balancer goes on to send there.
  std::string EndpointOf(const std::string& pod_ip) const;
  // The Pod with that address.
  std::string NameOf(const std::string& pod_ip) const;
  // Whether its process listens.
  bool Serves(const std::string& pod_ip) const;
  // Whether every process that there ever was has begun to listen.
  bool AllServe() const;

  // What happened since the last call.
  std::vector<probe::Mark> TakeMarks();
  // Processes that had to be ended by SIGKILL.
  int killed() const;
  // Ends every process at once.
  void Stop();

 private:
  struct Pod {
    std::string name;
    std::string ns;
    std::string uid;
    std::string ip;
    std::string address = {};  // of its process, without port
    std::string endpoint = {};
    std::string log = {};
    bool wants_start = false;
    bool wants_hook = false;
    bool in_hook = false;
    bool ended = false;
    absl::Time kill_at = absl::InfiniteFuture();
    std::unique_ptr<ChildProcess> process = nullptr;
    std::unique_ptr<ChildProcess> hook = nullptr;
  };

  // All with the lock held.
  absl::Status Start(Pod& pod);
  absl::Status BeginHook(Pod& pod);
  void LookForPort(Pod& pod);
  absl::Status ActOn(Pod& pod, absl::Time now, std::vector<std::string>& ended_hooks);
  const Pod* Find(const std::string& pod_ip) const;
  void Mark(probe::MarkKind kind, absl::Time now, const Pod& pod);

  const PodProcessOptions options_;
  std::vector<std::string> pre_stop_ = options_.pre_stop;
  // Not absl's: ThreadSanitizer does not see into the system's libabsl.
  mutable std::mutex mutex_;         // guards what follows
  std::map<std::string, Pod> pods_;  // by UID
  std::map<std::string, std::string> uid_of_ip_;
  std::vector<probe::Mark> marks_;
  int next_address_ = 2;
  int killed_ = 0;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LAB_PODS_H_

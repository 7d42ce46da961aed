// drain-wait as the preStop hook of simulated Pods, in virtual time: the program's own
// policy, and what the barrier does with a question, without a socket.
#ifndef OCI_BACKEND_DRAIN_SIM_DRAIN_WAITERS_H_
#define OCI_BACKEND_DRAIN_SIM_DRAIN_WAITERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "cmd/drain_wait_policy.h"
#include "controller/drain_board.h"
#include "sim/json_tree.h"
#include "sim/kubelet.h"

namespace sim {

// Not thread-safe.
class DrainWaiters final : public PreStopHooks {
 public:
  // One Pod's wait, up to its SIGTERM.
  struct Wait {
    controller::PodId pod;
    absl::Time began;
    absl::Time sigterm = absl::InfiniteFuture();
    // The barrier's last word, and when it came; kWaiting: it was to wait, or there was none.
    controller::DrainOutcome outcome = controller::DrainOutcome::kWaiting;
    absl::Time told = absl::InfiniteFuture();
    // When, and by which process's barrier, a question was taken last.
    absl::Time asked = absl::InfinitePast();
    int asked_of = 0;
    bool cut_off = false;  // the grace period was over first
  };

  // `kubelet` must outlive it; it becomes its hooks.
  DrainWaiters(Kubelet& kubelet, const cmd::DrainWaitOptions& options);
  ~DrainWaiters() override;
  DrainWaiters(const DrainWaiters&) = delete;
  DrainWaiters& operator=(const DrainWaiters&) = delete;

  // Called when SIGTERM is sent.
  void OnSigterm(std::function<void(const Wait&)> callback) { callback_ = std::move(callback); }

  // A controller's barrier; no board: no controller. `start` tells one process from the
  // next: what was asked of an earlier one is broken off.
  struct Barrier {
    controller::DrainBoard* board = nullptr;
    int start = 0;
    bool reachable = true;  // from the Pods
  };
  // Asks, hears and ends what is due. Answers when to come again, if no report of the
  // board comes before.
  absl::Time Act(const Barrier& barrier, absl::Time now);

  bool Begin(const JsonTree& pod, absl::Time now) override;
  void OnCutOff(const std::string& uid, absl::Time now) override;

 private:
  struct Question {
    absl::Time asked_at;
    absl::Time look_since;
    absl::Time until;  // it is held so long
    absl::Time look;   // or until news, or then
    int start = 0;
    int64_t waiter = 0;
    std::shared_ptr<bool> news;
  };
  struct Waiting {
    Wait wait;
    cmd::DrainWait policy;
    std::optional<Question> question;
    absl::Time lingers = absl::InfinitePast();  // set: it has ended and only lingers
  };

  // Goes on with one Pod until it has to wait. False: SIGTERM is due.
  bool Advance(Waiting& waiting, const Barrier& barrier, absl::Time now, absl::Time& due);
  void Ask(Waiting& waiting, const Barrier& barrier, const cmd::DrainWaitStep& step,
           absl::Time now);
  // False: there is no answer yet.
  bool Hear(Waiting& waiting, const Barrier& barrier, absl::Time now);

  Kubelet& kubelet_;
  const cmd::DrainWaitOptions options_;
  std::function<void(const Wait&)> callback_;
  std::map<std::string, Waiting> waiting_;  // by UID
  Barrier last_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DRAIN_WAITERS_H_

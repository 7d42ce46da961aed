// What `oci-drain doctor` finds, in the log of a controller that starts.
#ifndef OCI_BACKEND_DRAIN_CMD_SELF_TEST_H_
#define OCI_BACKEND_DRAIN_CMD_SELF_TEST_H_

#include <atomic>
#include <thread>

#include "cmd/clients.h"
#include "controller/controller.h"
#include "controller/settings.h"

namespace cmd {

// On a thread of its own, since no drain waits for it: a problem is a line of the log and
// nothing else. It reads, with a pause between load balancers.
class SelfTest {
 public:
  // All must outlive it; `controller` has started. `elects`: it takes part in an election.
  SelfTest(Clients& clients, const controller::Settings& settings,
           controller::Controller& controller, bool elects);
  // Waits for the call in flight; clients.EndCalls() ends it.
  ~SelfTest();
  SelfTest(const SelfTest&) = delete;
  SelfTest& operator=(const SelfTest&) = delete;

  // No further call is made.
  void GiveUp() { is_over_ = true; }

 private:
  void Run(bool elects);

  Clients& clients_;
  const controller::Settings& settings_;
  controller::Controller& controller_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_SELF_TEST_H_

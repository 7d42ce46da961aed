// What is true of the Pods and backend sets of one rollout, whatever the controller
// believes.
#ifndef OCI_BACKEND_DRAIN_SIM_LIFECYCLE_JUDGE_H_
#define OCI_BACKEND_DRAIN_SIM_LIFECYCLE_JUDGE_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "sim/fake_load_balancer.h"
#include "sim/kubelet.h"
#include "sim/lifecycle.h"

namespace sim {

// Not thread-safe.
class LifecycleJudge {
 public:
  LifecycleJudge(const FakeLoadBalancer& load_balancer, std::vector<LifecycleSet> sets)
      : load_balancer_(load_balancer), sets_(std::move(sets)) {}

  void OnPodEvent(const PodEvent& event);
  void OnSigterm(const std::string& uid) { serving_.erase(uid); }
  // A write has ended.
  void OnFinished(const WriteRecord& write);

  // The backends of a Pod that are in a set, undrained, and whether each is so since a
  // foreign write that was accepted after `confirmed`.
  struct Routable {
    std::string set;
    std::string backend;
    bool by_foreign = false;
  };
  std::vector<Routable> RoutableOf(const std::string& uid, absl::Time confirmed) const;

  // The first set without an undrained backend of a Pod whose process runs and has got
  // no SIGTERM; empty: there is none such.
  std::string SetWithoutPod() const;
  // Whether the sets route to exactly the Pods whose objects are there.
  bool RoutesToAllAndNoOther() const;
  // The Pods that are there, since they had an address: the IP by UID.
  const std::map<std::string, std::string>& pods() const { return ip_of_; }

 private:
  struct Change {
    std::string client;
    absl::Time accepted;
  };

  const FakeLoadBalancer& load_balancer_;
  const std::vector<LifecycleSet> sets_;
  std::map<std::string, std::string> ip_of_;  // by UID, of Pods that are there
  std::set<std::string> serving_;             // UIDs
  // Who made a backend of a set routable last, by set and name.
  std::map<std::pair<std::string, std::string>, Change> made_routable_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LIFECYCLE_JUDGE_H_

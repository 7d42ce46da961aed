// Carries the acts of a scenario out on a world.
#ifndef OCI_BACKEND_DRAIN_SIM_ACTOR_H_
#define OCI_BACKEND_DRAIN_SIM_ACTOR_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "rapidjson/document.h"
#include "sim/call_faults.h"
#include "sim/scenario.h"
#include "sim/truth.h"
#include "sim/virtual_world.h"

namespace sim {

// Not thread-safe. Everything must outlive it.
class Actor {
 public:
  Actor(VirtualWorld& world, Truth& truth, const Scenario& scenario);

  // Acts are counted from `now`.
  void Start(absl::Time now);
  // Called with each act as it is done.
  void OnAct(std::function<void(const Act&)> callback) { on_act_ = std::move(callback); }
  // How often each kind has shown an effect.
  const std::map<ActKind, int>& fired() const { return fired_; }

  // Does what is due and answers when there is more to do.
  absl::Time Act(absl::Time now);
  CallFate OnCall(const Call& call, absl::Time now);

 private:
  void Do(const sim::Act& act, absl::Time now);
  void DoToCluster(const sim::Act& act, absl::Time now);
  void DoToPod(const sim::Act& act, absl::Time now);
  void DoToLoadBalancer(const sim::Act& act, absl::Time now);
  void DoToBackend(const sim::Act& act, absl::Time now);
  void DoToWatches(const sim::Act& act, absl::Time now);
  void Undo(const sim::Act& act, absl::Time now);
  void PatchDeployment(int service, const std::string& body);
  void SetOptIn(int service, const char* value);
  // The name of a Pod of the Service, by number; empty if it has none.
  std::string PodOf(const sim::Act& act);
  // Changes one backend of the set, by number, through the load balancer's queue.
  void EditBackend(const sim::Act& act, absl::Time now, const char* member, bool drain);

  VirtualWorld& world_;
  Truth& truth_;
  const Scenario& scenario_;
  CallFaults faults_;
  absl::Time start_ = absl::InfiniteFuture();
  size_t next_ = 0;  // of the scenario's acts
  int calls_ = 0;    // of the controller, since the start
  std::vector<std::pair<absl::Time, sim::Act>> to_undo_;
  std::map<ActKind, int> fired_;
  std::function<void(const sim::Act&)> on_act_;
  int rolls_ = 0;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_ACTOR_H_

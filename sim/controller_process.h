// Everything of the product that ends with its process, on the world's one thread:
// the production reconciler, reflectors, stores and event recorder, driven as
// controller.h drives them with threads.
#ifndef OCI_BACKEND_DRAIN_SIM_CONTROLLER_PROCESS_H_
#define OCI_BACKEND_DRAIN_SIM_CONTROLLER_PROCESS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/clock.h"
#include "base/random.h"
#include "controller/call_budget.h"
#include "controller/drain_board.h"
#include "controller/due_queue.h"
#include "controller/election.h"
#include "controller/fence.h"
#include "controller/pod_conditions.h"
#include "controller/reconciler.h"
#include "controller/reporter.h"
#include "controller/settings.h"
#include "controller/topology.h"
#include "kube/event_recorder.h"
#include "kube/reflector.h"
#include "kube/store.h"
#include "sim/call_gate.h"
#include "sim/fake_api_server.h"
#include "sim/fake_load_balancer.h"
#include "sim/in_memory_kube_api.h"
#include "sim/in_memory_load_balancer_api.h"

namespace sim {

// Not thread-safe. Calls throw ProcessEnds where the gate says so; the process is
// then to be destroyed and nothing else.
class ControllerProcess {
 public:
  struct World {
    FakeApiServer& api_server;
    FakeLoadBalancer& load_balancer;
    base::Clock& clock;
    CallGate& gate;
  };
  // Everything must outlive it. `name`: who it is in the load balancer's log. Without
  // an election it leads.
  ControllerProcess(const World& world, const controller::Settings& settings, std::string name,
                    uint64_t seed,
                    const std::optional<controller::ElectionOptions>& election = std::nullopt);
  // Its connections break.
  ~ControllerProcess();
  ControllerProcess(const ControllerProcess&) = delete;
  ControllerProcess& operator=(const ControllerProcess&) = delete;

  // Hands what the server has to the reflectors. Does nothing while it is at it.
  void PumpWatches();
  // One pass of what is due, if anything is and it leads. Answers whether there was
  // something. Does nothing while it is at it.
  bool PassOnce();
  // Reads or writes the Lease if that is due. Does nothing while it is at it.
  void StepElection();
  // Whether a write of it would go out now.
  bool may_write() const;
  // Where Pods of the world wait for their drain.
  controller::DrainBoard& board() { return board_; }
  // When it wants to be called if nothing happens before.
  absl::Time NextDue() const;

 private:
  struct Watch;
  class LeaseSink;

  void AddWatch(kube::Resource resource, const std::string& ns);
  void OnChange(const kube::StoreChange& change);
  void Pump(Watch& watch);
  void Open(const kube::WatchRequest& request, Watch& watch);
  bool TakeBytes(Watch& watch);
  void FollowTopology();
  // Opens or closes the fence, and begins or ends a term.
  void PublishElection();
  void OnLease(const std::optional<kube::Lease>& lease);

  World world_;
  const controller::Settings& settings_;
  base::Random random_;
  InMemoryKubeApi bare_kube_;
  InMemoryLoadBalancerApi bare_oci_;
  std::unique_ptr<kube::KubeApi> gated_kube_;
  std::unique_ptr<oci::LoadBalancerApi> gated_oci_;
  controller::Fence fence_;
  std::optional<controller::Election> election_;
  controller::ElectionOptions election_options_;
  // What the product calls: under the fence.
  std::unique_ptr<kube::KubeApi> kube_;
  std::unique_ptr<oci::LoadBalancerApi> oci_;
  kube::ClusterStore store_;
  kube::EventRecorder recorder_;
  controller::Topology topology_;
  controller::Reporter reporter_;
  controller::CallBudget budget_;
  controller::DrainBoard board_;
  controller::PodConditions conditions_;
  controller::Reconciler reconciler_;
  controller::DueQueue queue_;
  std::shared_ptr<const controller::TopologyView> last_view_;
  std::map<std::pair<kube::Resource, std::string>, std::unique_ptr<Watch>> watches_;
  bool pumping_ = false;
  bool passing_ = false;
  bool electing_ = false;
  bool leads_ = false;  // as published
  absl::Time election_due_ = absl::InfiniteFuture();
  bool mapping_changed_ = true;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CONTROLLER_PROCESS_H_

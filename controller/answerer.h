// Gets the facts that a plan asked for.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_ANSWERER_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_ANSWERER_H_

#include "absl/status/status.h"
#include "base/clock.h"
#include "controller/call_budget.h"
#include "controller/lb_state.h"
#include "controller/topology.h"
#include "drain/input.h"
#include "drain/plan.h"
#include "kube/kube_api.h"
#include "oci/load_balancer_api.h"

namespace controller {

// Where calls go and how fast. Everything outlives what uses it.
struct Edges {
  kube::KubeApi& kube;
  oci::LoadBalancerApi& oci;
  base::Clock& clock;
  CallBudget& budget;
};

// Thread-safe for distinct load balancers. Blocks for the calls it makes.
class Answerer {
 public:
  explicit Answerer(const Edges& edges) : edges_(edges) {}

  // Answers every question, if need be with "no answer", in `input`, and
  // remembers in `state` what outlives the pass. Work requests are listed before
  // the load balancer is read: what was accepted before the list and is not
  // unfinished in it, is in the read; what came between the two is listed, too. The
  // status is the first error of OCI, for
  // the caller to back off.
  absl::Status Answer(const drain::Questions& questions, const TopologyView& view, LbState& state,
                      drain::Input& input);

 private:
  absl::Status AskOci(const drain::Questions& questions, LbState& state, drain::Input& input);
  absl::Status AskOwnWorkRequest(LbState& state, drain::Input& input);
  absl::Status AskWorkRequests(LbState& state, drain::Input& input);
  absl::Status AskLoadBalancer(LbState& state, drain::Input& input);
  absl::Status AskForLatest(LbState& state, drain::Input& input);
  void AskPod(const kube::ObjectKey& pod, LbState& state, drain::Input& input);
  void AskMembership(const kube::ObjectKey& service, const TopologyView& view, drain::Input& input);
  void AskHealth(const drain::BackendKey& key, drain::Input& input);
  void AskSetHealth(const oci::BackendSetName& set, drain::Input& input);

  Edges edges_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_ANSWERER_H_

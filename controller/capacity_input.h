// From the photograph of a pass to what capacity planning rests on.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_INPUT_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_INPUT_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capacity/plan.h"
#include "capacity/rollout.h"
#include "controller/capacity_state.h"
#include "controller/settings.h"
#include "drain/input.h"
#include "kube/store.h"

namespace controller {

// The most replicas that an autoscaler of this workload allows, by kind and key.
using AutoscalerMaxima = std::map<std::pair<std::string, kube::ObjectKey>, int>;

// A pass's photograph, with a read of the load balancer, and what its plan made of
// ledger and memory. For one call.
struct Photograph {
  const drain::Input& input;
  const drain::Ledger& ledger;
  const drain::Memory& memory;
};

// Where the rest comes from. For one call.
struct CapacitySources {
  const kube::ClusterStore& store;
  const Settings& settings;
  const AutoscalerMaxima& autoscalers;
};

struct CapacityFacts {
  capacity::Input input;
  // In the order of input.workloads: for advice.
  std::vector<kube::Workload> workloads;
  std::vector<capacity::Times> times;
  // In the order of input.sets: the position in drain::Input::sets, and whether its
  // Service opted in.
  std::vector<size_t> positions;
  std::vector<bool> opted_in;
  // All of its Pods are known, and none has an owner that is forecast.
  std::vector<bool> unforeseen;
};

// Contested sets count as somebody else's.
CapacityFacts CollectCapacity(const CapacitySources& sources, const Photograph& photograph,
                              CapacityState& state);

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_CAPACITY_INPUT_H_

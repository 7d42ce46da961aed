// Worlds that once broke a promise of the product, each the smallest that did.
#ifndef OCI_BACKEND_DRAIN_SIM_REGRESSIONS_H_
#define OCI_BACKEND_DRAIN_SIM_REGRESSIONS_H_

#include <string>
#include <vector>

#include "sim/scenario.h"

namespace sim {

struct Regression {
  std::string name;       // a fact that holds since: "TheLedgerForgetsWhatLeavesWhileIdle"
  std::string invariant;  // that was broken
  Scenario scenario;
};

std::vector<Regression> Regressions();

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_REGRESSIONS_H_

// The smallest part of a failing scenario that still fails.
#ifndef OCI_BACKEND_DRAIN_SIM_MINIMISE_H_
#define OCI_BACKEND_DRAIN_SIM_MINIMISE_H_

#include <string>

#include "sim/scenario.h"

namespace sim {

// Leaves out acts, and plain settings in place of unusual ones, as long as the same
// invariant breaks. Runs the scenario some dozen times.
Scenario Minimise(const Scenario& failing, const std::string& invariant);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_MINIMISE_H_

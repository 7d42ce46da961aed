#include "sim/oracle.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/oracles_foreign.h"
#include "sim/oracles_pods.h"
#include "sim/oracles_writes.h"

namespace sim {

std::vector<std::unique_ptr<Oracle>> MakeOracles() {
  std::vector<std::unique_ptr<Oracle>> oracles;
  oracles.push_back(std::make_unique<LivePodOracle>());
  oracles.push_back(std::make_unique<TerminatingPodOracle>());
  oracles.push_back(std::make_unique<QuietOracle>());
  oracles.push_back(std::make_unique<UntouchedOracle>());
  oracles.push_back(std::make_unique<OptInOracle>());
  oracles.push_back(std::make_unique<OperatorOracle>());
  oracles.push_back(std::make_unique<GuardOracle>());
  oracles.push_back(std::make_unique<OneWriteOracle>());
  oracles.push_back(std::make_unique<LimitOracle>());
  oracles.push_back(std::make_unique<ConfirmationOracle>());
  oracles.push_back(std::make_unique<RestorationOracle>());
  oracles.push_back(std::make_unique<NeighbourOracle>());
  return oracles;
}

std::string Describe(const TrueKey& key) {
  return absl::StrCat("web-", key.service, " ", key.backend);
}

bool WentBehindForeign(const WriteRecord& write, const Truth& truth) {
  const auto& writes = truth.world().load_balancer().writes();
  const absl::Time decided = truth.DecidedAt(write);
  return std::any_of(writes.rbegin(), writes.rend(), [&](const WriteRecord& other) {
    const bool foreign = other.client != write.client || truth.IsOrphan(other);
    // Unfinished when the pass began that decided it: where the ETag does not move at the
    // end of a write, nothing refuses what was decided before.
    return foreign && &other != &write && other.accepted <= write.accepted &&
           other.finished > decided && other.finished <= write.finished;
  });
}

}  // namespace sim

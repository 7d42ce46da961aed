#include "sim/minimise.h"

#include <functional>
#include <vector>

#include "sim/scenario_run.h"

namespace sim {
namespace {

bool StillFails(const Scenario& scenario, const std::string& invariant) {
  const ScenarioResult result = RunScenario(scenario, /*trace=*/false);
  return result.breach.has_value() && result.breach->invariant == invariant;
}

using Change = std::function<void(Scenario&)>;

std::vector<Change> PlainSettings() {
  return {
      [](Scenario& s) { s.services.resize(1); },
      [](Scenario& s) { s.with_rival = false; },
      [](Scenario& s) { s.rival = RivalVariant::kUnmodified; },
      [](Scenario& s) { s.ip_reuse = IpReuse::kNever; },
      [](Scenario& s) { s.etag_moves = EtagMoves::kBoth; },
      [](Scenario& s) { s.max_oci_latency = absl::ZeroDuration(); },
      [](Scenario& s) { s.carry_all = false; },
      [](Scenario& s) { s.max_backends_per_set = 512; },
  };
}

}  // namespace

Scenario Minimise(const Scenario& failing, const std::string& invariant) {
  Scenario smallest = failing;
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (size_t i = smallest.acts.size(); i-- > 0;) {
      Scenario without = smallest;
      without.acts.erase(without.acts.begin() + static_cast<std::ptrdiff_t>(i));
      if (!StillFails(without, invariant)) continue;
      smallest = without;
      smaller = true;
    }
  }
  for (const Change& change : PlainSettings()) {
    Scenario plain = smallest;
    change(plain);
    std::erase_if(plain.acts, [&](const Act& act) {
      return static_cast<size_t>(act.service) >= plain.services.size();
    });
    if (StillFails(plain, invariant)) smallest = plain;
  }
  return smallest;
}

}  // namespace sim

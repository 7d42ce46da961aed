// What the campaigns found stays mended.
#include "sim/regressions.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "absl/strings/str_join.h"
#include "sim/scenario_run.h"

namespace sim {

void PrintTo(const Regression& regression, std::ostream* os) { *os << regression.name; }

namespace {

class RegressionTest : public testing::TestWithParam<Regression> {};

TEST_P(RegressionTest, KeepsEveryPromise) {
  const ScenarioResult result = RunScenario(GetParam().scenario, /*trace=*/true);
  ASSERT_FALSE(result.breach.has_value())
      << result.breach->invariant << ": " << result.breach->what << "\n"
      << Describe(GetParam().scenario) << absl::StrJoin(result.trace, "\n");
}

INSTANTIATE_TEST_SUITE_P(Found, RegressionTest, testing::ValuesIn(Regressions()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sim

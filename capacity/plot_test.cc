#include "capacity/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace capacity {
namespace {

using ::testing::HasSubstr;

TEST(PlotRollout, TheDocumentationsPicturesAreWhatTheForecastSays) {
  for (const int replicas : {300, 450, 505}) {
    const std::string path = absl::StrCat("docs/capacity_", replicas, ".svg");
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), PlotRollout(replicas, 512))
        << "bazel run //capacity:print_plot -- " << replicas << " > " << path;
  }
}

TEST(PlotRollout, NamesThePeakAndTheWaits) {
  const std::string svg = PlotRollout(505, 512);
  EXPECT_THAT(svg, HasSubstr("rollout of 505 replicas, limit 512"));
  EXPECT_THAT(svg, HasSubstr("at the peak"));
  EXPECT_THAT(svg, HasSubstr("waiting with withdrawal: up to "));
}

}  // namespace
}  // namespace capacity

// The demonstration's command line.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_OPTIONS_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/fake_load_balancer.h"
#include "sim/program.h"
#include "sim/rival.h"

namespace sim {

struct DemoOptions {
  bool help = false;
  bool json = false;
  uint64_t seed = 1;
  RivalVariant rival = RivalVariant::kUnmodified;
  DurationRange service_time = {absl::Seconds(6), absl::Seconds(14)};
  EtagMoves etag = EtagMoves::kBoth;
  std::string controller = {};  // path of the program; empty: beside this one
  std::string manifests = {};   // folder; empty: testdata/demo as it was built
  std::string logs = {};        // folder to keep the logs in; empty: only of failures
  absl::Duration patience = absl::Seconds(100);  // for one rollout
};

// InvalidArgument names the argument, what is wrong and what is allowed.
absl::StatusOr<DemoOptions> ParseDemoOptions(const std::vector<std::string>& arguments);

extern const absl::string_view kDemoHelp;

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_OPTIONS_H_

// A picture for docs/capacity.md:
//
//   bazel run //capacity:print_plot -- 505 > docs/capacity_505.svg
#include <cstdlib>
#include <iostream>

#include "absl/strings/numbers.h"
#include "capacity/plot.h"
#include "capacity/rollout.h"

int main(int argc, char** argv) {
  int replicas = 0;
  if (argc != 2 || !absl::SimpleAtoi(argv[1], &replicas) || replicas < 1 ||
      replicas > capacity::kMaxReplicas) {
    std::cerr << "print_plot: expected a number of replicas from 1 to " << capacity::kMaxReplicas
              << "\n";
    return 2;
  }
  std::cout << capacity::PlotRollout(replicas, 512);
  return 0;
}

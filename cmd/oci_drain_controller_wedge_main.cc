// oci-drain-controller for tests: it can be made to stand still.
//
//   oci-drain-controller-wedge --test_wedge=worker ...
//   kill -USR1 PID    # from then on threads of that kind stop where they tick next
#include <gflags/gflags.h>

#include <atomic>
#include <csignal>
#include <iostream>
#include <string>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "cmd/controller_program.h"
#include "http/cpprest_transport.h"

DEFINE_string(test_wedge, "",
              "What stands still from SIGUSR1 on: worker, watch, pool (all threads of the HTTP "
              "client's library)");
DEFINE_int32(test_farewell_s, 30, "Seconds from a wedge to the end of the process");

namespace {

constexpr int kMoreThanThePoolHas = 64;

std::atomic<bool> wedged{false};

void StandStill() {
  absl::Notification never;
  never.WaitForNotification();
}

// Whatever loop ticks first hands the pool more than it has threads for.
void FillPool() {
  static std::atomic<bool> filled{false};
  if (filled.exchange(true)) return;
  for (int i = 0; i < kMoreThanThePoolHas; ++i) http::PostToPool(StandStill);
}

void OnTick(const std::string& loop) {
  if (!wedged) return;
  if (FLAGS_test_wedge == "pool") FillPool();
  if (!FLAGS_test_wedge.empty() && absl::StartsWith(loop, FLAGS_test_wedge)) StandStill();
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGUSR1, [](int) { wedged = true; });
  cmd::ControllerHooks hooks;
  // Flags are known by the time that there are vitals.
  hooks.on_start = [&hooks](health::Vitals& vitals) {
    vitals.OnTick(OnTick);
    hooks.farewell = absl::Seconds(FLAGS_test_farewell_s);
  };
  return cmd::RunController(argc, argv, hooks);
}

#include "cmd/calibrate_command.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <iostream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/random.h"
#include "cmd/calibration.h"
#include "cmd/calibration_report.h"
#include "cmd/clients.h"
#include "cmd/command_line.h"
#include "cmd/probe_command.h"
#include "gflags/gflags.h"
#include "probe/probe.h"

DEFINE_string(lb, "", "calibrate: OCID of a scratch load balancer, which nobody uses");
DEFINE_string(backend_set, "",
              "calibrate: the one backend set of it that is written to, with a "
              "backend that answers");
DEFINE_bool(consent, false,
            "calibrate: yes, write to --backend_set of --lb; without it "
            "nothing is written");
DEFINE_int32(samples, 2, "calibrate: so many pairs of writes of each call; 1 to 20");
DEFINE_bool(limits, false,
            "calibrate: also fill the set with backends that nobody has until "
            "it is refused");
DEFINE_int32(limit_guess, 512,
             "calibrate: with --limits, what a set is thought to hold; more than one "
             "above it is not "
             "tried");
DEFINE_string(url, "",
              "calibrate: a URL that the load balancer answers from "
              "--backend_set, to see whether "
              "writes lose requests; empty: that is not measured");
DEFINE_string(calibrate_poll, "1s", "calibrate: between two looks at a work request");
DEFINE_string(calibrate_patience, "10m",
              "calibrate: give up a work request, or the way back, after so long");

namespace cmd {
namespace {

constexpr int kMostSamples = 20;
constexpr int kMostBackends = 4096;
// Of requests with no write going on.
constexpr absl::Duration kControl = absl::Seconds(3);

// For a signal handler.
std::atomic<int> signals = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void OnSignal(int) {
  if (++signals < 2) return;
  constexpr char kText[] = "ended at once: the backend set may not be as it was\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(kCalibrationInterrupted);
}

absl::StatusOr<CalibrationOptions> OptionsFromFlags() {
  if (FLAGS_lb.empty() || FLAGS_backend_set.empty()) {
    return absl::InvalidArgumentError(
        "calibrate: --lb and --backend_set: name a scratch load balancer and "
        "one set of it");
  }
  if (FLAGS_samples < 1 || FLAGS_samples > kMostSamples) {
    return absl::InvalidArgumentError(
        absl::StrCat("--samples=", FLAGS_samples, ": expected 1 to ", kMostSamples));
  }
  if (FLAGS_limit_guess < 1 || FLAGS_limit_guess > kMostBackends) {
    return absl::InvalidArgumentError(
        absl::StrCat("--limit_guess=", FLAGS_limit_guess, ": expected 1 to ", kMostBackends));
  }
  const auto poll = DurationFlag("calibrate_poll", FLAGS_calibrate_poll);
  if (!poll.ok()) return poll.status();
  const auto patience = DurationFlag("calibrate_patience", FLAGS_calibrate_patience);
  if (!patience.ok()) return patience.status();
  CalibrationOptions options;
  options.load_balancer = oci::Ocid(FLAGS_lb);
  options.set = oci::BackendSetName(FLAGS_backend_set);
  options.samples = FLAGS_samples;
  options.limits = FLAGS_limits;
  options.limit_guess = FLAGS_limit_guess;
  options.poll = *poll;
  options.patience = *patience;
  return options;
}

int64_t Count(const probe::RunFigures& figures, probe::FailureClass failure) {
  return figures.by_class[static_cast<size_t>(failure)];
}

// Requests on another thread while the caller's does something.
absl::StatusOr<TrafficFigures> Traffic(const probe::Options& options,
                                       const std::function<void()>& during) {
  std::atomic<bool> over = false;
  absl::StatusOr<probe::RunFigures> figures;
  std::thread requests(
      [&] { figures = probe::Run(options, base::RealClock(), {.interrupted = &over}); });
  during();
  // The control run does nothing, and the others are followed by what trails
  // behind.
  const absl::Time until = base::RealClock().Now() + kControl;
  while (signals == 0 && base::RealClock().Now() < until) {
    base::RealClock().SleepFor(absl::Milliseconds(20));
  }
  over = true;
  requests.join();
  if (!figures.ok()) return Prefixed("--url", figures.status());
  return TrafficFigures{figures->requests(), figures->failed,
                        Count(*figures, probe::FailureClass::kReset) +
                            Count(*figures, probe::FailureClass::kClosedBeforeResponse) +
                            Count(*figures, probe::FailureClass::kClosedMidResponse),
                        Count(*figures, probe::FailureClass::kServerError)};
}

absl::StatusOr<CalibrationHooks> HooksFromFlags() {
  CalibrationHooks hooks;
  hooks.is_over = [] { return signals > 0; };
  hooks.step = [](absl::string_view what) { std::cerr << "measuring " << what << std::endl; };
  if (FLAGS_url.empty()) return hooks;
  probe::Options requests;
  if (const absl::Status status = SetProbeUrl(FLAGS_url, requests); !status.ok()) return status;
  requests.clients = 4;
  requests.rate = 100;
  // Ended before by what it accompanies.
  requests.duration = probe::Options::kMaxDuration;
  hooks.traffic = [requests](const std::function<void()>& during) {
    return Traffic(requests, during);
  };
  return hooks;
}

absl::Status AskForConsent(const CalibrationOptions& options) {
  if (FLAGS_consent) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "calibrate: nothing was written. It would drain backends of set ", options.set.value(),
      " and bring them back", FLAGS_url.empty() ? "" : ", take all of them offline for a moment",
      options.limits ? ", and add backends until it is refused" : "", ", on load balancer ",
      options.load_balancer.value(),
      "; if that is a scratch load balancer that nobody uses, say --consent"));
}

}  // namespace

absl::StatusOr<int> RunCalibrate(const std::string& output) {
  if (output != "text" && output != "json") {
    return absl::InvalidArgumentError(absl::StrCat("--output=", output, ": expected text or json"));
  }
  const auto options = OptionsFromFlags();
  if (!options.ok()) return options.status();
  if (const absl::Status consent = AskForConsent(*options); !consent.ok()) return consent;
  auto hooks = HooksFromFlags();
  if (!hooks.ok()) return hooks.status();
  absl::Status kube;
  absl::Status oci;
  const auto clients = Clients::AsFarAsPossible(absl::Seconds(30), kube, oci);
  if (!clients->has_oci()) return oci;
  Calibrator calibrator(clients->oci(), base::RealClock(), *options, *std::move(hooks),
                        base::SeedFromSystem());
  if (const absl::Status ready = calibrator.Check(); !ready.ok()) return Prefixed("--lb", ready);
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  const Calibration calibration = calibrator.Run();
  std::cout << (output == "json" ? CalibrationJson(*options, calibration)
                                 : FormatCalibration(*options, calibration))
            << std::flush;
  if (!calibration.left_behind.empty()) return kNotCalibrated;
  if (absl::IsCancelled(calibration.ended) && signals > 0) return kCalibrationInterrupted;
  return calibration.ended.ok() ? 0 : kNotCalibrated;
}

}  // namespace cmd

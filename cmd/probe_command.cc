#include "cmd/probe_command.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "cmd/clients.h"
#include "cmd/command_line.h"
#include "cmd/rollout_watch.h"
#include "gflags/gflags.h"
#include "http/url.h"
#include "probe/marks.h"
#include "probe/report.h"
#include "probe/timeline.h"

DEFINE_int32(clients, 20, "probe: clients, each with one connection that it keeps");
DEFINE_string(duration, "0", "probe: for how long; 0: until --requests were made");
DEFINE_int64(requests, 0, "probe: at most so many requests; 0: any number within --duration");
DEFINE_double(rate, 0,
              "probe: at most so many requests a second, of all clients together; 0: each asks "
              "again when it was answered");
DEFINE_string(request_timeout, "10s", "probe: a request has failed if it takes longer");
DEFINE_int64(max_response_bytes, 16 << 20, "probe: a larger body is a failure");
DEFINE_double(slow_fraction, 0, "probe: this fraction of the requests is for --slow_path");
DEFINE_string(slow_path, "/slow", "probe: where the server takes long to answer");
DEFINE_bool(new_connections, false,
            "probe: a new connection for each request, to see what such a probe does not see");
DEFINE_bool(cookies, false, "probe: each client sends back the cookies that it was given");
DEFINE_string(host_header, "", "probe: the Host that is asked for, if not that of the URL");
DEFINE_string(ca_file, "", "probe: PEM certificates to trust in place of the system's");
DEFINE_bool(insecure, false, "probe: take any certificate");
DEFINE_string(control, "10s",
              "probe: how long the control run is that comes first, before the rollout; 0: none");
DEFINE_string(marks, "",
              "probe: a file of JSON lines that tells when Pods got SIGTERM, left the endpoints, "
              "were drained and ended; read after the run");
DEFINE_string(watch, "",
              "probe: NAMESPACE/SERVICE, whose Pods and endpoints are watched during the run for "
              "the same, by --kubeconfig");
DEFINE_string(plot, "", "probe: write the run's timeline into this SVG file");
DEFINE_uint64(seed, 1, "probe: decides which requests are long ones");

namespace cmd {
namespace {

constexpr absl::Duration kQuietInterval = absl::Seconds(10);
constexpr int64_t kToldFailures = 20;
constexpr absl::Duration kWatchPatience = absl::Seconds(30);

// For a signal handler.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void OnSignal(int) { interrupted = true; }

absl::StatusOr<probe::Options> OptionsFromFlags(const std::string& url) {
  probe::Options options;
  if (const absl::Status status = SetProbeUrl(url, options); !status.ok()) return status;
  const auto duration = DurationFlag("duration", FLAGS_duration);
  if (!duration.ok()) return duration.status();
  const auto timeout = DurationFlag("request_timeout", FLAGS_request_timeout);
  if (!timeout.ok()) return timeout.status();
  options.clients = FLAGS_clients;
  options.duration = *duration;
  options.requests = FLAGS_requests;
  options.rate = FLAGS_rate;
  options.timeout = *timeout;
  options.max_response_bytes = FLAGS_max_response_bytes;
  options.slow_fraction = FLAGS_slow_fraction;
  options.slow_target = FLAGS_slow_path;
  options.new_connections = FLAGS_new_connections;
  options.cookies = FLAGS_cookies;
  options.host_header = FLAGS_host_header;
  options.ca_file = FLAGS_ca_file;
  options.insecure = FLAGS_insecure;
  options.seed = FLAGS_seed;
  if (const absl::Status status = probe::CheckOptions(options); !status.ok()) return status;
  return options;
}

// Tells on standard error how it goes.
class Teller {
 public:
  Teller() : terminal_(isatty(STDERR_FILENO) == 1) {}

  probe::Observer Observe(const char* name) {
    name_ = name;
    told_ = absl::InfinitePast();
    failures_ = 0;
    return {.on_progress = [this](const probe::RunFigures& figures,
                                  absl::Time now) { OnProgress(figures, now); },
            .on_failure = [this](const probe::Failure& failure) { OnFailure(failure); },
            .interrupted = &interrupted};
  }
  void EndLine() {
    if (std::exchange(open_, false)) std::cerr << std::endl;
  }

 private:
  void OnProgress(const probe::RunFigures& figures, absl::Time now) {
    if (!terminal_ && now - told_ < kQuietInterval) return;
    told_ = now;
    std::cerr << (terminal_ ? "\r\033[K" : "") << name_ << " "
              << probe::FormatProgress(figures, now);
    open_ = true;
    if (!terminal_) EndLine();
  }

  void OnFailure(const probe::Failure& failure) {
    if (++failures_ > kToldFailures) return;
    EndLine();
    std::cerr << probe::FormatFailure(failure, {}) << std::endl;
    if (failures_ == kToldFailures) std::cerr << "further failures are counted only" << std::endl;
  }

  const bool terminal_;
  const char* name_ = "";
  absl::Time told_;
  int64_t failures_ = 0;
  bool open_ = false;
};

absl::Status WritePlot(const std::string& url, const probe::Report& report) {
  std::ofstream file(FLAGS_plot);
  file << probe::TimelineSvg(url, *report.run, report.marks);
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("--plot=", FLAGS_plot, ": cannot be written"));
}

absl::Status StartWatch(std::unique_ptr<Clients>& clients, std::unique_ptr<RolloutWatch>& watch) {
  const std::vector<std::string> name = absl::StrSplit(FLAGS_watch, '/');
  if (name.size() != 2 || name[0].empty() || name[1].empty()) {
    return absl::InvalidArgumentError(absl::StrCat(FLAGS_watch, ": expected NAMESPACE/SERVICE"));
  }
  auto made = Clients::OfClusterFromFlags();
  if (!made.ok()) return made.status();
  clients = *std::move(made);
  auto started =
      RolloutWatch::Start(clients->kube(), base::RealClock(), {name[0], name[1]}, kWatchPatience);
  if (!started.ok()) return started.status();
  watch = *std::move(started);
  return absl::OkStatus();
}

int ExitStatus(const probe::RunFigures& run) {
  if (run.failed > 0) return kProbeFailed;
  if (run.own_failures > 0) return kProbeOwnFailure;
  return run.interrupted ? kProbeInterrupted : kProbeClean;
}

// The control run, and unless that failed the run.
absl::StatusOr<probe::Report> Measure(const probe::Options& options, absl::Duration control) {
  probe::Report report;
  Teller teller;
  if (control > absl::ZeroDuration()) {
    probe::Options shorter = options;
    shorter.duration =
        options.duration > absl::ZeroDuration() ? std::min(control, options.duration) : control;
    std::cerr << "A control run of " << absl::FormatDuration(shorter.duration)
              << " first: leave the server as it is." << std::endl;
    auto figures = probe::Run(shorter, base::RealClock(), teller.Observe("control"));
    teller.EndLine();
    if (!figures.ok()) return figures.status();
    report.control = *std::move(figures);
    if (report.control->failed > 0 || report.control->own_failures > 0 || interrupted) {
      return report;
    }
    std::cerr << "The control run is clean; begin the rollout." << std::endl;
  }
  auto figures = probe::Run(options, base::RealClock(), teller.Observe("run"));
  teller.EndLine();
  if (!figures.ok()) return figures.status();
  report.run = *std::move(figures);
  return report;
}

}  // namespace

absl::Status SetProbeUrl(absl::string_view url, probe::Options& options) {
  const size_t scheme = url.find("://");
  const size_t path = url.find_first_of("/?#", scheme == absl::string_view::npos ? 0 : scheme + 3);
  const auto server = http::ParseServerUrl(url.substr(0, path));
  if (!server.ok()) return Prefixed(url, server.status());
  options.host = server->host;
  options.port = server->port;
  options.tls = server->tls;
  options.target = path == absl::string_view::npos ? "/" : std::string(url.substr(path));
  if (options.target[0] == '?') options.target.insert(0, 1, '/');
  if (options.target.find('#') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(url, ": a fragment is not sent; leave it out"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunProbe(const std::string& url, const std::string& output) {
  if (output != "text" && output != "json") {
    return absl::InvalidArgumentError(absl::StrCat("--output=", output, ": expected text or json"));
  }
  const auto options = OptionsFromFlags(url);
  if (!options.ok()) return options.status();
  const auto control = DurationFlag("control", FLAGS_control);
  if (!control.ok()) return control.status();
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  std::unique_ptr<Clients> clients;
  std::unique_ptr<RolloutWatch> watch;
  if (!FLAGS_watch.empty()) {
    if (const absl::Status status = StartWatch(clients, watch); !status.ok()) {
      return Prefixed("--watch", status);
    }
  }
  auto report = Measure(*options, *control);
  if (!report.ok()) return report.status();
  if (watch != nullptr) report->marks = watch->Marks();
  absl::Status marks_status;
  if (!FLAGS_marks.empty()) {
    auto marks = probe::ReadMarks(FLAGS_marks);
    marks_status = marks.status();
    if (marks.ok()) {
      report->marks.insert(report->marks.end(), marks->begin(), marks->end());
      probe::SortMarks(report->marks);
    }
  }
  (output == "json" ? std::cerr : std::cout) << probe::FormatReport(*report) << std::flush;
  if (output == "json") std::cout << probe::ReportJson(*report) << std::endl;
  // After the report: what was measured is not lost with them.
  if (!marks_status.ok()) return Prefixed("--marks", marks_status);
  if (!report->run.has_value()) {
    if (interrupted) return kProbeInterrupted;
    std::cerr << "The control run failed: whatever a rollout adds could not be told apart."
              << std::endl;
    return kProbeControlFailed;
  }
  if (!FLAGS_plot.empty()) {
    if (const absl::Status status = WritePlot(url, *report); !status.ok()) return status;
  }
  return ExitStatus(*report->run);
}

}  // namespace cmd

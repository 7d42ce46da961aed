#include "cmd/controller_program.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/random.h"
#include "cmd/barrier_flags.h"
#include "cmd/clients.h"
#include "cmd/command_line.h"
#include "cmd/health_flags.h"
#include "cmd/logging.h"
#include "cmd/self_test.h"
#include "cmd/settings_flags.h"
#include "cmd/status_pages.h"
#include "cmd/version.h"
#include "controller/barrier_server.h"
#include "controller/controller.h"
#include "gflags/gflags.h"
#include "glog/logging.h"
#include "health/probe_server.h"
#include "health/prometheus_metrics.h"
#include "http/cpprest_transport.h"

DEFINE_bool(self_test, true,
            "At the start, log what oci-drain doctor finds: version, rights, identity, clocks, "
            "load balancers and Services, one line each. No drain waits for it");

namespace cmd {
namespace {

constexpr char kProgram[] = "oci-drain-controller";

constexpr char kHelp[] =
    R"(oci-drain-controller: drains OCI load-balancer backends of terminating Pods.

Runs beside the OCI native ingress controller. For each Service annotated
oci-native-ingress.oraclecloud.com/backend-draining: "true" it sets drain=true on
the backends of Pods that end, by ETag-guarded writes that carry the membership
which the ingress controller wants, and says what it does in Kubernetes Events.

In a cluster it finds the API server by itself; outside, it needs --kubeconfig:

  oci-drain-controller --kubeconfig=$HOME/.kube/config --oci_config_file=$HOME/.oci/config
  oci-drain-controller --dry_run ...     # the same, nothing is written

Of several replicas one leads, by a Lease; the others keep their caches warm and
take over. Ends on SIGTERM and SIGINT: what is in flight is finished, events are
sent, the lease is released. A process that is stuck gives the lease up and ends.
Exit status: 0 ended on a signal, 2 called wrongly or unable to begin, 3 stuck.

Flags:
)";

constexpr int kStuck = 3;
// After a signal, whatever hangs. The controller's own patience is shorter.
constexpr absl::Duration kLongestEnd = absl::Milliseconds(9500);

// The signals are blocked in every thread and taken by sigwait in main, so that
// ending is ordinary code.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

// The threads of the HTTP client's library have no loop of ours: they tick by a task
// that they are given.
std::function<void()> PoolTicker(std::shared_ptr<health::Vitals> vitals) {
  const health::Vitals::LoopId id = vitals->AddLoop("http pool");
  return [vitals = std::move(vitals), id, posted = std::make_shared<std::atomic<bool>>(false)] {
    if (posted->exchange(true)) return;
    http::PostToPool([vitals, id, posted] {
      *posted = false;
      vitals->Tick(id);
    });
  };
}

struct Flags {
  controller::Settings settings;
  controller::BarrierOptions barrier;
  HealthFlags health;
};

absl::StatusOr<Flags> ReadFlags(const std::string& identity) {
  Flags flags;
  auto settings = SettingsFromFlags();
  if (!settings.ok()) return settings.status();
  flags.settings = *std::move(settings);
  auto barrier = BarrierFromFlags();
  if (!barrier.ok()) return barrier.status();
  flags.barrier = *std::move(barrier);
  auto health = HealthFromFlags(flags.settings.ns, identity);
  if (!health.ok()) return health.status();
  flags.health = *std::move(health);
  // It writes nothing that two could write, and must not keep one from writing.
  if (flags.settings.dry_run) flags.health.election.reset();
  return flags;
}

// The process from its first loop on.
class Program {
 public:
  Program(const Flags& flags, Clients& clients, const ControllerHooks& hooks)
      : flags_(flags),
        clients_(clients),
        hooks_(hooks),
        vitals_(std::make_shared<health::Vitals>(flags.health.wedge_after)) {
    if (hooks.on_start != nullptr) hooks.on_start(*vitals_);
    vitals_->SetPart("listeners", false, "not bound yet");
    controller::ControllerOptions options;
    options.vitals = vitals_.get();
    options.metrics = &metrics_;
    if (flags.health.election.has_value()) {
      options.lease_api = &clients.lease_kube();
      options.election = *flags.health.election;
    }
    controller_ = std::make_unique<controller::Controller>(
        clients.kube(), clients.oci(), flags_.settings, base::SeedFromSystem(), options);
  }

  absl::Status Start() {
    absl::Status status = StartProbes();
    if (!status.ok()) return Prefixed("the probes", status);
    std::string note = absl::StrCat("probes on port ", probes_->port());
    std::string address;
    // A dry run lets no drain happen: nobody is to wait for one.
    if (!flags_.settings.dry_run) {
      controller::BarrierOptions options = flags_.barrier;
      options.leader = [this] { return controller_->LeaderAddress(); };
      auto started =
          controller::BarrierServer::Start(controller_->board(), base::RealClock(), options);
      if (!started.ok()) return Prefixed("the drain barrier", started.status());
      barrier_ = *std::move(started);
      absl::StrAppend(&note, ", drain barrier on port ", barrier_->port());
      auto advertised = AdvertisedBarrier(barrier_->port());
      if (!advertised.ok()) return advertised.status();
      address = *std::move(advertised);
    }
    LOG(INFO) << note;
    vitals_->SetPart("listeners", true, note);
    controller_->Start(controller::Mode::kWork, address);
    if (FLAGS_self_test) {
      self_test_ = std::make_unique<SelfTest>(clients_, flags_.settings, *controller_,
                                              flags_.health.election.has_value());
    }
    return absl::OkStatus();
  }

  void End() {
    vitals_->SetPart("process", false, "is ending");
    std::thread([] {
      base::RealClock().SleepFor(kLongestEnd);
      _exit(kStuck);
    }).detach();
    if (self_test_ != nullptr) self_test_->GiveUp();
    barrier_.reset();
    controller_->Stop();
    clients_.EndCalls();
    self_test_.reset();
  }

 private:
  absl::Status StartProbes() {
    health::ProbeOptions options;
    options.http = flags_.health.http;
    options.metrics = [this](const health::VitalsReport& report) {
      return metrics_.Render(report);
    };
    StatusSources sources;
    sources.status = [this] {
      health::Status status = controller_->Status();
      status.version = Version();
      status.started = started_;
      return status;
    };
    sources.explain = [this](const kube::ObjectKey& pod) { return controller_->ExplainPod(pod); };
    options.pages = [pages = std::make_shared<StatusPages>(std::move(sources))](
                        absl::string_view target, const health::VitalsReport& report) {
      return pages->Answer(target, report, base::RealClock().Monotonic());
    };
    options.poke = PoolTicker(vitals_);
    options.on_wedge = [this](const std::string& wedge) {
      controller_->Abandon();
      // The log's lock may be held by the thread that is stuck.
      std::thread([wedge, farewell = hooks_.farewell] {
        LOG(ERROR) << wedge << ": the lease is given up, nothing is written "
                   << "any more, and the process ends in " << farewell;
      }).detach();
    };
    options.farewell = hooks_.farewell;
    options.on_farewell_over = [] { _exit(kStuck); };
    auto started = health::ProbeServer::Start(*vitals_, base::RealClock(), std::move(options));
    if (!started.ok()) return started.status();
    probes_ = *std::move(started);
    return absl::OkStatus();
  }

  const absl::Time started_ = base::RealClock().Now();
  const Flags& flags_;
  Clients& clients_;
  const ControllerHooks& hooks_;
  // Shared with a task of the HTTP client's library that may run last.
  const std::shared_ptr<health::Vitals> vitals_;
  health::PrometheusMetrics metrics_;
  std::unique_ptr<controller::Controller> controller_;
  std::unique_ptr<controller::BarrierServer> barrier_;
  std::unique_ptr<health::ProbeServer> probes_;
  std::unique_ptr<SelfTest> self_test_;  // gone before the controller
};

}  // namespace

int RunController(int argc, char** argv, const ControllerHooks& hooks) {
  base::ShareHeaps();
  const absl::StatusOr<CommandLine> line = ParseCommandLine(argc, argv);
  if (!line.ok()) return Complain(kProgram, line.status());
  if (line->help) {
    std::cout << kHelp << DescribeFlags({"cmd/"});
    return 0;
  }
  if (line->version) {
    std::cout << kProgram << " " << Version() << "\n";
    return 0;
  }
  if (!line->arguments.empty()) {
    return Complain(kProgram, absl::InvalidArgumentError(absl::StrCat(
                                  line->arguments.front(), ": takes flags only; see --help")));
  }
  const absl::Status logging = StartLogging(kProgram);
  if (!logging.ok()) return Complain(kProgram, logging);
  const absl::StatusOr<Flags> flags = ReadFlags(OwnIdentity(base::SeedFromSystem()));
  if (!flags.ok()) return Complain(kProgram, flags.status());
  const sigset_t signals = BlockSignals();
  const auto clients = Clients::FromFlags();
  if (!clients.ok()) return Complain(kProgram, clients.status());
  const absl::Status reachable = (*clients)->Probe();
  if (!reachable.ok()) return Complain(kProgram, reachable);

  Program program(*flags, **clients, hooks);
  const absl::Status started = program.Start();
  if (!started.ok()) return Complain(kProgram, started);
  LOG(INFO) << kProgram << " started"
            << (flags->settings.dry_run ? " (dry run: nothing is written)" : "");
  int signal_number = 0;
  sigwait(&signals, &signal_number);
  LOG(INFO) << "ending on signal " << signal_number;
  program.End();
  return 0;
}

}  // namespace cmd

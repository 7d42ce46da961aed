// oci-drain-controller: drains OCI backends of terminating Pods.

#include <csignal>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "cmd/clients.h"
#include "cmd/command_line.h"
#include "cmd/logging.h"
#include "cmd/settings_flags.h"
#include "controller/controller.h"
#include "glog/logging.h"

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

Ends on SIGTERM and SIGINT: what is in flight is finished, events are sent.
Exit status: 0 ended on a signal, 2 called wrongly or unable to begin.

Flags:
)";

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

}  // namespace

int main(int argc, char** argv) {
  const absl::StatusOr<cmd::CommandLine> line = cmd::ParseCommandLine(argc, argv);
  if (!line.ok()) return cmd::Complain(kProgram, line.status());
  if (line->help) {
    std::cout << kHelp << cmd::DescribeFlags({"cmd/"});
    return 0;
  }
  if (!line->arguments.empty()) {
    return cmd::Complain(kProgram, absl::InvalidArgumentError(absl::StrCat(
                                       line->arguments.front(), ": takes flags only; see --help")));
  }
  const absl::Status logging = cmd::StartLogging(kProgram);
  if (!logging.ok()) return cmd::Complain(kProgram, logging);
  const auto settings = cmd::SettingsFromFlags();
  if (!settings.ok()) return cmd::Complain(kProgram, settings.status());
  const sigset_t signals = BlockSignals();
  const auto clients = cmd::Clients::FromFlags();
  if (!clients.ok()) return cmd::Complain(kProgram, clients.status());
  const absl::Status reachable = (*clients)->Probe();
  if (!reachable.ok()) return cmd::Complain(kProgram, reachable);

  controller::Controller controller((*clients)->kube(), (*clients)->oci(), *settings,
                                    base::SeedFromSystem());
  controller.Start(controller::Mode::kWork);
  LOG(INFO) << kProgram << " started"
            << (settings->dry_run ? " (dry run: nothing is written)" : "");
  int signal_number = 0;
  sigwait(&signals, &signal_number);
  LOG(INFO) << "ending on signal " << signal_number;
  controller.Stop();
  return 0;
}

#include "cmd/doctor_command.h"

#include <memory>
#include <utility>

#include "base/random.h"
#include "cmd/clients.h"
#include "cmd/examination.h"
#include "cmd/progress.h"
#include "cmd/settings_flags.h"
#include "controller/controller.h"

namespace cmd {
namespace {

// What takes less needs no explanation.
constexpr absl::Duration kSilence = absl::Seconds(2);

}  // namespace

absl::StatusOr<bool> RunDoctor(const LiveOptions& options, DiagnosisStyle style, std::ostream& out,
                               std::ostream* progress) {
  const absl::StatusOr<controller::Settings> settings = SettingsFromFlags();
  if (!settings.ok()) return settings.status();
  absl::Status kube;
  absl::Status oci;
  const std::unique_ptr<Clients> clients = Clients::AsFarAsPossible(options.patience, kube, oci);
  Progress steps(progress, kSilence);
  ExaminationOptions wanted;
  wanted.load_balancer = options.load_balancer;
  wanted.step = [&](absl::string_view what) { steps.Step(what); };
  if (style != DiagnosisStyle::kJson) {
    wanted.tell = [&](const Finding& finding) {
      out << FormatFinding(finding, style) << std::flush;
    };
  }
  Examination examination(*clients, *settings, std::move(wanted));
  examination.AskServers(kube, oci);
  if (!clients->has_kube()) {
    examination.SkipServices("there is no cluster to ask");
  } else if (!clients->has_oci()) {
    examination.AskRights();
    examination.SkipServices("what is said of OCI above comes first; mend that");
  } else if (!examination.AskRights()) {
    examination.SkipServices("the rights above are missing; grant them");
  } else {
    steps.Step("the cluster's objects");
    controller::Controller watching(clients->kube(), clients->oci(), *settings,
                                    base::SeedFromSystem());
    watching.Start(controller::Mode::kWatch);
    const absl::Status synced = watching.WaitForSync(options.patience);
    if (synced.ok()) {
      examination.AskAboutServices(watching);
    } else {
      examination.SkipServices(
          absl::StrCat(synced.message(), "; mend that, or raise --sync_within"));
    }
  }
  examination.Finish();
  out << FormatSummary(examination.findings(), style);
  return !HasProblem(examination.findings());
}

}  // namespace cmd

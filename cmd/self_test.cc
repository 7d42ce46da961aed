#include "cmd/self_test.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "cmd/diagnosis.h"
#include "cmd/examination.h"
#include "glog/logging.h"

namespace cmd {
namespace {

// How long the watches may take to list everything once.
constexpr absl::Duration kPatience = absl::Minutes(2);
// How soon it notices that the process ends.
constexpr absl::Duration kLook = absl::Seconds(1);

void Log(absl::string_view line, bool well) {
  if (well) {
    LOG(INFO) << "self-test: " << line;
  } else {
    LOG(WARNING) << "self-test: " << line;
  }
}

}  // namespace

SelfTest::SelfTest(Clients& clients, const controller::Settings& settings,
                   controller::Controller& controller, bool elects)
    : clients_(clients), settings_(settings), controller_(controller) {
  thread_ = std::thread([this, elects] { Run(elects); });
}

SelfTest::~SelfTest() {
  GiveUp();
  thread_.join();
}

void SelfTest::Run(bool elects) {
  ExaminationOptions options;
  options.elects = elects;
  // Two calls for each load balancer, at no more than half of the rate.
  options.pause = absl::Seconds(4 / settings_.oci_qps);
  options.is_over = [this] { return is_over_.load(); };
  options.tell = [](const Finding& finding) {
    std::string line = FormatFinding(finding, DiagnosisStyle::kPlain);
    Log(absl::StripSuffix(line, "\n"), finding.level == Level::kOk);
  };
  Examination examination(clients_, settings_, std::move(options));
  examination.AskServers(absl::OkStatus(), absl::OkStatus());
  examination.AskRights();
  absl::Status synced = absl::UnavailableError("not looked at");
  const absl::Time until = base::RealClock().Now() + kPatience;
  while (!synced.ok() && !is_over_ && base::RealClock().Now() < until) {
    synced = controller_.WaitForSync(kLook);
  }
  if (is_over_) return;
  if (synced.ok()) {
    examination.AskAboutServices(controller_);
  } else {
    examination.SkipServices(absl::StrCat(synced.message(), "; mend that"));
  }
  examination.Finish();
  if (is_over_) return;
  Log(absl::StripSuffix(FormatSummary(examination.findings(), DiagnosisStyle::kPlain), "\n"),
      !HasProblem(examination.findings()));
}

}  // namespace cmd

#include "cmd/live_commands.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/random.h"
#include "cmd/clients.h"
#include "cmd/settings_flags.h"
#include "controller/controller.h"

namespace cmd {
namespace {

// A controller that watches and lets its passes be made here.
class LiveView {
 public:
  static absl::StatusOr<std::unique_ptr<LiveView>> Open(const LiveOptions& options, bool release) {
    absl::StatusOr<controller::Settings> settings = SettingsFromFlags();
    if (!settings.ok()) return settings.status();
    settings->plan.release = release;
    absl::StatusOr<std::unique_ptr<Clients>> clients = Clients::FromFlags();
    if (!clients.ok()) return clients.status();
    const absl::Status reachable = (*clients)->Probe();
    if (!reachable.ok()) return reachable;
    std::unique_ptr<LiveView> view(new LiveView(*std::move(settings), *std::move(clients)));
    view->controller_.Start(controller::Mode::kWatch);
    const absl::Status synced = view->controller_.WaitForSync(options.patience);
    if (!synced.ok()) return synced;
    return view;
  }

  controller::Reconciler& reconciler() { return controller_.reconciler(); }

  absl::StatusOr<std::vector<oci::Ocid>> LoadBalancers(const std::string& wanted) {
    std::vector<oci::Ocid> all;
    for (const auto& [key, mapped] : controller_.topology().View()->mapping.load_balancers) {
      if (wanted.empty() || key.value() == wanted) all.push_back(key);
    }
    if (!all.empty()) return all;
    return absl::NotFoundError(
        absl::StrCat("no IngressClass of ", settings_.controller_class, " names ",
                     wanted.empty() ? "a load balancer" : wanted,
                     "; its annotation is oci-native-ingress.oraclecloud.com/id"));
  }

 private:
  LiveView(controller::Settings settings, std::unique_ptr<Clients> clients)
      : settings_(std::move(settings)),
        clients_(std::move(clients)),
        controller_(clients_->kube(), clients_->oci(), settings_, base::SeedFromSystem()) {}

  const controller::Settings settings_;
  const std::unique_ptr<Clients> clients_;
  controller::Controller controller_;
};

}  // namespace

absl::Status RunLivePlan(const LiveOptions& options, std::ostream& out) {
  const auto view = LiveView::Open(options, /*release=*/false);
  if (!view.ok()) return view.status();
  const auto load_balancers = (*view)->LoadBalancers(options.load_balancer);
  if (!load_balancers.ok()) return load_balancers.status();
  for (const oci::Ocid& key : *load_balancers) {
    const auto preview = (*view)->reconciler().MakePreview(key);
    if (!preview.ok()) return preview.status();
    out << FormatPlan(preview->input, preview->plan, options.output);
  }
  return absl::OkStatus();
}

absl::Status RunRelease(const LiveOptions& options, absl::Duration at_most, std::ostream& out,
                        std::ostream& progress) {
  const auto view = LiveView::Open(options, /*release=*/true);
  if (!view.ok()) return view.status();
  const auto load_balancers = (*view)->LoadBalancers(options.load_balancer);
  if (!load_balancers.ok()) return load_balancers.status();
  base::Clock& clock = base::RealClock();
  const absl::Time end = clock.Now() + at_most;
  for (const oci::Ocid& key : *load_balancers) {
    progress << "load balancer " << key << ": un-draining what was drained and lives" << std::endl;
    controller::Reconciler& reconciler = (*view)->reconciler();
    for (;;) {
      const absl::Time next = reconciler.Pass(key);
      if (reconciler.AtRest(key)) break;
      if (clock.Now() >= end) {
        return absl::UnavailableError(
            absl::StrCat("load balancer ", key.value(), ": not released within ",
                         absl::FormatDuration(at_most), "; run it again"));
      }
      clock.SleepFor(std::min(next, end) - clock.Now());
    }
    out << "load balancer " << key << ": released" << std::endl;
  }
  return absl::OkStatus();
}

}  // namespace cmd

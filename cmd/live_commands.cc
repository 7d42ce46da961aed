#include "cmd/live_commands.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/random.h"
#include "cmd/budget.h"
#include "cmd/capacity_table.h"
#include "cmd/clients.h"
#include "cmd/explain_command.h"
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
    // Whoever asks wants to see the write, not that it waits a moment for others.
    settings->plan.coalesce_window = absl::ZeroDuration();
    absl::StatusOr<std::unique_ptr<Clients>> clients = Clients::FromFlags(options.patience);
    if (!clients.ok()) return clients.status();
    const absl::Status reachable = (*clients)->Probe();
    if (!reachable.ok()) return reachable;
    std::unique_ptr<LiveView> view(new LiveView(*std::move(settings), *std::move(clients)));
    view->controller_.Start(controller::Mode::kWatch);
    const absl::Status synced = view->controller_.WaitForSync(options.patience);
    if (!synced.ok()) return synced;
    const absl::Status found = view->FindLoadBalancers(options.load_balancer);
    if (!found.ok()) return found;
    return view;
  }

  controller::Reconciler& reconciler() { return controller_.reconciler(); }
  oci::LoadBalancerApi& oci() { return clients_->oci(); }

  // Those that are asked for; at least one.
  const std::vector<oci::Ocid>& load_balancers() const { return load_balancers_; }

 private:
  LiveView(controller::Settings settings, std::unique_ptr<Clients> clients)
      : settings_(std::move(settings)),
        clients_(std::move(clients)),
        controller_(clients_->kube(), clients_->oci(), settings_, base::SeedFromSystem()) {}

  absl::Status FindLoadBalancers(const std::string& wanted) {
    for (const auto& [key, mapped] : controller_.topology().View()->mapping.load_balancers) {
      if (wanted.empty() || key.value() == wanted) load_balancers_.push_back(key);
    }
    if (!load_balancers_.empty()) return absl::OkStatus();
    return absl::NotFoundError(
        absl::StrCat("no IngressClass of ", settings_.controller_class, " names ",
                     wanted.empty() ? "a load balancer" : wanted,
                     "; its annotation is oci-native-ingress.oraclecloud.com/id"));
  }

  const controller::Settings settings_;
  const std::unique_ptr<Clients> clients_;
  controller::Controller controller_;
  std::vector<oci::Ocid> load_balancers_;
};

}  // namespace

absl::Status RunLivePlan(const LiveOptions& options, std::ostream& out) {
  const auto view = LiveView::Open(options, /*release=*/false);
  if (!view.ok()) return view.status();
  for (const oci::Ocid& key : (*view)->load_balancers()) {
    const auto preview = (*view)->reconciler().MakePreview(key);
    if (!preview.ok()) return preview.status();
    out << FormatPlan(preview->input, preview->plan, options.output);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> RunLiveCapacity(const LiveOptions& options, CapacityStyle style,
                                     std::ostream& out) {
  const auto view = LiveView::Open(options, /*release=*/false);
  if (!view.ok()) return view.status();
  bool fits = true;
  for (const oci::Ocid& key : (*view)->load_balancers()) {
    const auto preview = (*view)->reconciler().MakeCapacityPreview(key);
    if (!preview.ok()) return preview.status();
    out << FormatCapacityTable(key, *preview, style);
    fits = fits && !HasRolloutThatDoesNotFit(*preview);
  }
  return fits;
}

absl::StatusOr<std::string> ExplainLivePod(const LiveOptions& options, const kube::ObjectKey& pod,
                                           bool json) {
  const auto view = LiveView::Open(options, /*release=*/false);
  if (!view.ok()) return view.status();
  std::vector<controller::Preview> previews;
  for (const oci::Ocid& key : (*view)->load_balancers()) {
    auto preview = (*view)->reconciler().MakePreview(key);
    if (!preview.ok()) return preview.status();
    previews.push_back(*std::move(preview));
  }
  std::vector<const controller::Preview*> passes;
  for (const controller::Preview& preview : previews) passes.push_back(&preview);
  return FormatPodOf(passes, pod, json);
}

absl::Status RunLiveBudget(const LiveOptions& options, absl::Duration startup, std::ostream& out) {
  const auto view = LiveView::Open(options, /*release=*/false);
  if (!view.ok()) return view.status();
  for (const oci::Ocid& key : (*view)->load_balancers()) {
    const auto work_requests = (*view)->oci().ListWorkRequests(key);
    if (!work_requests.ok()) return work_requests.status();
    const auto preview = (*view)->reconciler().MakePreview(key);
    if (!preview.ok()) return preview.status();
    const WorkRequestTimes times = MeasureWorkRequests(*work_requests);
    out << "load balancer " << key << ": a work request takes " << times.median
        << " at the median, " << times.longest << " at most ("
        << (times.count == 0 ? "assumed: none is remembered" : absl::StrCat(times.count, " seen"))
        << ")\n";
    for (const drain::SetInput& set : preview->input.sets) {
      if (!set.opted_in) continue;
      out << "  Service " << set.service.key.ToString() << ", shutdown " << set.shutdown << "\n"
          << DescribeBudget(ComputeBudget(times, startup, set.shutdown));
    }
  }
  return absl::OkStatus();
}

absl::Status RunRelease(const LiveOptions& options, absl::Duration at_most, std::ostream& out,
                        std::ostream& progress) {
  const auto view = LiveView::Open(options, /*release=*/true);
  if (!view.ok()) return view.status();
  base::Clock& clock = base::RealClock();
  const absl::Time end = clock.Now() + at_most;
  for (const oci::Ocid& key : (*view)->load_balancers()) {
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

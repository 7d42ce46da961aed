#include "sim/oracles_pods.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sim {
namespace {

// So long after its becoming alive a Pod is known to the controller.
constexpr absl::Duration kKnown = absl::Seconds(3);
// A new backend is proven healthy after so long at the latest.
constexpr absl::Duration kProven = absl::Seconds(30);
// The last part of a run, in which nothing may be written.
constexpr absl::Duration kQuietEnd = absl::Minutes(2);

std::set<TrueKey> LiveAndDrainedByUs(const Truth& truth) {
  std::set<TrueKey> wrong;
  for (size_t i = 0; i < truth.services().size(); ++i) {
    const TrueService& service = truth.services()[i];
    for (const auto& [name, backend] : service.backends) {
      if (backend.drain && backend.drained_by == VirtualWorld::kController &&
          service.LiveAt(name) != nullptr) {
        wrong.insert({static_cast<int>(i), name});
      }
    }
  }
  return wrong;
}

// Backends that take requests, have a live Pod behind them, and have been in the
// set for long enough to be proven healthy.
int Serving(const Truth& truth, const TrueService& service) {
  return static_cast<int>(
      std::count_if(service.backends.begin(), service.backends.end(), [&](const auto& item) {
        return !item.second.drain && item.second.since + kProven <= truth.now() &&
               service.LiveAt(item.first) != nullptr;
      }));
}

// Whether draining may wait for replacements: rule "due at once, except".
bool MayWait(const Truth& truth, size_t index) {
  const TrueService& service = truth.services()[index];
  // For 70 s after a burst, while the ingress controller is to serve other Services.
  const auto& services = truth.services();
  const bool neighbours =
      !truth.scenario().carry_all &&
      std::any_of(services.begin(), services.end(), [](const TrueService& other) {
        return !other.opted_in && other.MembershipPending();
      });
  if (neighbours) return true;
  if (service.wanted == 0) return false;
  if (truth.scenario().services[index].serving > absl::ZeroDuration()) return true;
  return Serving(truth, service) == 0;
}

bool IsLeaving(const std::vector<TruePod>& pods) {
  return !pods.empty() &&
         std::none_of(pods.begin(), pods.end(), [](const TruePod& pod) { return pod.live; });
}

}  // namespace

void LivePodOracle::OnFinished(const WriteRecord& write, const Truth& truth) {
  const int index = truth.ServiceOfSet(write.backend_set);
  if (write.client != VirtualWorld::kController || index < 0) return;
  for (const std::string& backend : write.effect.drained) {
    const TruePod* pod = truth.services()[index].LiveAt(backend);
    if (pod == nullptr || pod->known_since + kKnown > write.accepted) continue;
    if (truth.excused_until() > write.accepted || WentBehindForeign(write, truth)) continue;
    Fail(absl::StrCat(Describe({index, backend}), " was drained by us; its Pod has been alive for ",
                      absl::FormatDuration(write.accepted - pod->known_since)));
  }
}

void LivePodOracle::OnStep(absl::Duration since_last, const Truth& truth) {
  const bool counts = truth.idle() && !truth.excused() && truth.world().controller_runs() &&
                      truth.scenario().rival != RivalVariant::kDrainsByItself;
  const auto late =
      drained_.Note(LiveAndDrainedByUs(truth), since_last, counts, truth.LongestPass());
  if (late.has_value()) {
    Fail(absl::StrCat(Describe(*late), " is alive and stays drained by us, with nothing ahead"));
  }
}

void TerminatingPodOracle::OnStep(absl::Duration since_last, const Truth& truth) {
  std::set<TrueKey> wrong;
  for (size_t i = 0; i < truth.services().size(); ++i) {
    const TrueService& service = truth.services()[i];
    if (!service.opted_in || MayWait(truth, i)) continue;
    for (const auto& [name, pods] : service.published) {
      const auto backend = service.backends.find(name);
      if (backend != service.backends.end() && !backend->second.drain && IsLeaving(pods)) {
        wrong.insert({static_cast<int>(i), name});
      }
    }
  }
  const bool counts = truth.idle() && !truth.excused() && truth.world().controller_runs() &&
                      truth.scenario().rival != RivalVariant::kDrainsByItself;
  const auto late = routable_.Note(wrong, since_last, counts, truth.LongestPass());
  if (late.has_value()) {
    Fail(absl::StrCat(Describe(*late), " has a terminating Pod and is not drained, with nothing",
                      " ahead"));
  }
}

void QuietOracle::OnAccepted(const WriteRecord& write, const Truth& truth) {
  if (truth.scenario().calm == absl::InfiniteDuration()) return;
  const absl::Time end = truth.start() + truth.scenario().length;
  if (write.client == VirtualWorld::kController && write.accepted > end - kQuietEnd) {
    Fail(absl::StrCat("a write to ", write.backend_set, " (", write.request_id,
                      ") long after the last thing happened"));
  }
}

void QuietOracle::OnEnd(const Truth& truth) {
  if (truth.scenario().calm == absl::InfiniteDuration()) return;
  for (const TrueKey& key : LiveAndDrainedByUs(truth)) {
    Fail(absl::StrCat(Describe(key), " is alive and still drained by us at the end"));
  }
  const auto ledger = truth.StoredLedger();
  if (!ledger.ok()) return Fail(absl::StrCat("the ledger: ", ledger.status().message()));
  for (const auto& [key, entry] : *ledger) {
    const int index = truth.ServiceOfSet(key.set.value());
    // What is still in the set and drained has to be remembered: its address may
    // come to a live Pod.
    const bool there =
        index >= 0 && truth.services()[index].backends.count(key.backend.value()) != 0;
    if (!there) Fail(absl::StrCat("the ledger holds ", key.backend.value(), ", which is gone"));
  }
}

}  // namespace sim

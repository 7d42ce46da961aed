#include "sim/scenario.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/random.h"

namespace sim {
namespace {

constexpr absl::Duration kFirstAct = absl::Seconds(5);
constexpr absl::Duration kLastAct = absl::Minutes(5);
// From the last fault's end to the end of the run: the ingress controller's longest
// queue pause is five minutes.
constexpr absl::Duration kCalmTime = absl::Minutes(7);

struct KindRow {
  ActKind kind;
  absl::string_view name;
  bool fault;
  int max_number;
  int max_seconds;
};

constexpr KindRow kKinds[] = {
    {ActKind::kRollingUpdate, "rolling-update", false, 0, 0},
    {ActKind::kScale, "scale", false, 6, 0},
    {ActKind::kCrash, "pod-crash", false, 8, 0},
    {ActKind::kDeletePod, "delete-pod", false, 8, 0},
    {ActKind::kForceDelete, "force-delete", false, 8, 0},
    {ActKind::kNodeShutdown, "node-shutdown", false, 3, 60},
    {ActKind::kNotReady, "not-ready", false, 8, 40},
    {ActKind::kOptOut, "opt-out", false, 0, 60},
    {ActKind::kListenerWrite, "listener-write", false, 0, 0},
    {ActKind::kUnknownWrite, "unknown-write", false, 0, 0},
    {ActKind::kConsoleDrain, "console-drain", false, 8, 120},
    {ActKind::kConsoleWeight, "console-weight", false, 8, 0},
    {ActKind::kConsolePolicy, "console-policy", false, 0, 0},
    {ActKind::kConsoleBackend, "console-backend", false, 200, 0},
    {ActKind::kFreeze, "freeze", true, 0, 120},
    {ActKind::kFailedWork, "failed-work", true, 3, 0},
    {ActKind::kAnyFailedWork, "any-failed-work", true, 2, 0},
    {ActKind::kWatchDelay, "watch-delay", true, 20, 60},
    {ActKind::kWatchSkew, "watch-skew", true, 20, 60},
    {ActKind::kWatchDrop, "watch-drop", true, 0, 40},
    {ActKind::kWatchRepeat, "watch-repeat", true, 0, 60},
    {ActKind::kWatchGone, "watch-gone", true, 0, 0},
    {ActKind::kApiRestart, "api-restart", true, 0, 0},
    {ActKind::kKubeFails, "kube-fails", true, 0, 30},
    {ActKind::kPodGetFails, "pod-get-fails", true, 0, 60},
    {ActKind::kPodGetSlow, "pod-get-slow", true, 8, 60},
    {ActKind::kEndpointsGetFails, "endpoints-get-fails", true, 0, 60},
    {ActKind::kListFails, "list-fails", true, 0, 30},
    {ActKind::kOciSlow, "oci-slow", true, 12, 60},
    {ActKind::kOci409, "oci-409", true, 5, 0},
    {ActKind::kOci412, "oci-412", true, 5, 0},
    {ActKind::kOci429, "oci-429", true, 5, 0},
    {ActKind::kOci500, "oci-500", true, 5, 0},
    {ActKind::kOci503, "oci-503", true, 5, 0},
    {ActKind::kOciReadFails, "oci-read-fails", true, 0, 30},
    {ActKind::kNoAnswer, "no-answer", true, 5, 20},
    {ActKind::kLostReply, "lost-reply", true, 3, 0},
    {ActKind::kLedgerFails, "ledger-fails", true, 0, 40},
    {ActKind::kLedgerConflict, "ledger-conflict", true, 2, 0},
    {ActKind::kCrashBeforeCall, "crash-before-call", true, 40, 0},
    {ActKind::kCrashAfterCall, "crash-after-call", true, 40, 0},
    {ActKind::kCrashNow, "crash-now", true, 0, 0},
};
static_assert(std::size(kKinds) == kActKinds);

const KindRow& RowOf(ActKind kind) { return kKinds[static_cast<int>(kind)]; }

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) { scenario_.seed = seed; }

  Scenario Make() {
    Settings();
    const int services = OneIn(4) ? 2 : 1;
    for (int i = 0; i < services; ++i) AddService(i);
    AddRoll();
    // One seed in eight has no fault at all: then every promise is due in time.
    const int faults = OneIn(8) ? 0 : static_cast<int>(random_.Between(1, 4));
    const int acts = static_cast<int>(random_.Between(0, 5));
    for (int i = 0; i < acts; ++i) AddAct(false);
    for (int i = 0; i < faults; ++i) AddAct(true);
    if (OneIn(20)) FreezeForLong();
    End();
    return scenario_;
  }

 private:
  bool OneIn(int n) { return random_.Between(1, n) == 1; }
  absl::Duration Seconds(int low, int high) { return absl::Seconds(random_.Between(low, high)); }

  void Settings() {
    scenario_.with_rival = !OneIn(8);
    if (OneIn(4)) scenario_.rival = RivalVariant::kDropsCacheOnConflict;
    if (OneIn(8)) scenario_.rival = RivalVariant::kDrainsByItself;
    scenario_.etag_moves = static_cast<EtagMoves>(random_.Between(0, 2));
    scenario_.ip_reuse = static_cast<IpReuse>(random_.Between(0, 2));
    if (OneIn(10)) {
      // A small change of a quiet load balancer: over between two looks.
      scenario_.min_service_time = absl::Milliseconds(200);
      scenario_.max_service_time = absl::Milliseconds(900);
    } else if (OneIn(4)) {
      scenario_.min_service_time = absl::Seconds(3);
      scenario_.max_service_time = absl::Seconds(5);
    } else if (OneIn(4)) {
      scenario_.max_oci_latency = absl::Milliseconds(1500);
    }
    scenario_.carry_all = OneIn(4);
  }

  void AddService(int index) {
    ServiceSpec spec;
    spec.opted_in = index == 0 || OneIn(2);
    spec.replicas = static_cast<int>(OneIn(4) ? random_.Between(3, 5) : random_.Between(1, 3));
    spec.max_surge = static_cast<int>(random_.Between(0, 2));
    spec.max_unavailable = spec.max_surge == 0 ? 1 : static_cast<int>(random_.Between(0, 1));
    spec.pre_stop = Seconds(0, 40);
    spec.shutdown = Seconds(1, 15);
    spec.grace = spec.pre_stop + spec.shutdown + Seconds(0, 20);
    spec.ready_after = Seconds(2, 8);
    if (OneIn(3)) spec.serving = spec.pre_stop;
    scenario_.services.push_back(spec);
    if (OneIn(10)) scenario_.max_backends_per_set = spec.replicas + 1;
  }

  void AddRoll() {
    scenario_.acts.push_back({Seconds(20, 150), ActKind::kRollingUpdate});
    if (scenario_.services.size() > 1 && OneIn(2)) {
      scenario_.acts.push_back({Seconds(20, 150), ActKind::kRollingUpdate, 1});
    }
  }

  void AddAct(bool fault) {
    const KindRow* row = nullptr;
    do {
      row = &kKinds[random_.Between(0, kActKinds - 1)];
    } while (row->fault != fault);
    Act act;
    act.kind = row->kind;
    act.at = absl::Milliseconds(
        random_.Between(absl::ToInt64Milliseconds(kFirstAct), absl::ToInt64Milliseconds(kLastAct)));
    act.service =
        static_cast<int>(random_.Between(0, static_cast<int64_t>(scenario_.services.size()) - 1));
    if (row->max_number > 0) act.number = static_cast<int>(random_.Between(1, row->max_number));
    if (row->max_seconds > 0) act.length = Seconds(1, row->max_seconds);
    scenario_.acts.push_back(act);
  }

  void FreezeForLong() {
    scenario_.acts.push_back({Seconds(30, 120), ActKind::kFreeze, 0, 0, absl::Minutes(30)});
  }

  void End() {
    std::stable_sort(scenario_.acts.begin(), scenario_.acts.end(),
                     [](const Act& a, const Act& b) { return a.at < b.at; });
    absl::Duration last = kFirstAct;
    for (const Act& act : scenario_.acts) last = std::max(last, act.at + act.length);
    scenario_.calm = last;
    scenario_.length = std::max(absl::Minutes(10), last + kCalmTime);
  }

  base::Random random_;
  Scenario scenario_;
};

std::string Seconds(absl::Duration duration) {
  return absl::StrFormat("%.3f s", absl::ToDoubleSeconds(duration));
}

}  // namespace

absl::string_view ActName(ActKind kind) { return RowOf(kind).name; }

bool IsFault(ActKind kind) { return RowOf(kind).fault; }

std::string Describe(const Act& act) {
  const KindRow& row = RowOf(act.kind);
  std::string text = absl::StrCat(row.name, " web-", act.service);
  if (row.max_number > 0) absl::StrAppend(&text, " number ", act.number);
  if (act.length > absl::ZeroDuration()) absl::StrAppend(&text, " for ", Seconds(act.length));
  return text;
}

Scenario MakeScenario(uint64_t seed) { return Maker(seed).Make(); }

std::string Describe(const Scenario& scenario) {
  constexpr const char* kRivals[] = {"unmodified", "drops its cache on 412", "drains by itself"};
  constexpr const char* kEtags[] = {"acceptance", "completion", "both"};
  constexpr const char* kReuse[] = {"never", "after removal", "after the process's end"};
  std::string text = absl::StrCat(
      "seed ", scenario.seed, "\n  ingress controller: ",
      scenario.with_rival ? kRivals[static_cast<int>(scenario.rival)] : "none",
      "\n  ETag moves at: ", kEtags[static_cast<int>(scenario.etag_moves)],
      "\n  addresses are reused: ", kReuse[static_cast<int>(scenario.ip_reuse)],
      "\n  work requests take ", Seconds(scenario.min_service_time), " to ",
      Seconds(scenario.max_service_time), ", calls up to ", Seconds(scenario.max_oci_latency),
      "\n  backends in a set: at most ", scenario.max_backends_per_set,
      scenario.carry_all ? "\n  backend-drain-carry: all" : "", "\n");
  for (size_t i = 0; i < scenario.services.size(); ++i) {
    const ServiceSpec& spec = scenario.services[i];
    absl::StrAppend(&text, "  web-", i, spec.opted_in ? "" : " (not opted in)", ": ", spec.replicas,
                    " replicas, surge ", spec.max_surge, ", unavailable ", spec.max_unavailable,
                    ", grace ", Seconds(spec.grace), ", preStop ", Seconds(spec.pre_stop),
                    ", shutdown ", Seconds(spec.shutdown), ", ready after ",
                    Seconds(spec.ready_after), ", serving ", Seconds(spec.serving), "\n");
  }
  for (const Act& act : scenario.acts) {
    const std::string when =
        act.at_call > 0 ? absl::StrCat("  with call ", act.at_call, ", at ") : "  at ";
    absl::StrAppend(&text, when, Seconds(act.at), ": ", Describe(act), "\n");
  }
  return text;
}

}  // namespace sim

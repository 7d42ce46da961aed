#include "sim/regressions.h"

#include <algorithm>
#include <utility>

namespace sim {
namespace {

// As found, but for `spec` and `acts`: one Service beside the unmodified ingress
// controller.
Scenario World(uint64_t seed, const ServiceSpec& spec, std::vector<Act> acts) {
  Scenario scenario;
  scenario.seed = seed;
  scenario.services = {spec};
  scenario.max_oci_latency = absl::ZeroDuration();
  scenario.acts = std::move(acts);
  for (const Act& act : scenario.acts) {
    scenario.calm = std::max(scenario.calm, act.at + act.length);
  }
  scenario.length = std::max(absl::Minutes(10), scenario.calm + absl::Minutes(7));
  return scenario;
}

ServiceSpec Pods(int replicas, int max_surge, int max_unavailable) {
  ServiceSpec spec;
  spec.replicas = replicas;
  spec.max_surge = max_surge;
  spec.max_unavailable = max_unavailable;
  return spec;
}

ServiceSpec Ending(ServiceSpec spec, int grace, int pre_stop, int shutdown) {
  spec.grace = absl::Seconds(grace);
  spec.pre_stop = absl::Seconds(pre_stop);
  spec.shutdown = absl::Seconds(shutdown);
  return spec;
}

Act At(double seconds, ActKind kind, int number = 0) {
  return {absl::Milliseconds(static_cast<int64_t>(seconds * 1000)), kind, 0, number};
}

// The ingress controller takes a drained backend out when nothing else is under
// way. An idle look asks for no work requests, so nothing was ever settled.
Regression Idle() {
  ServiceSpec spec = Ending(Pods(2, 1, 0), 61, 38, 5);
  spec.ready_after = absl::Seconds(7);
  return {"TheLedgerForgetsWhatLeavesTheSetWhileNothingIsUnderWay", "quiet",
          World(7, spec, {At(97, ActKind::kRollingUpdate)})};
}

// A Pod that ends before it is in the set: the ingress controller adds it, and the
// next look was a minute away.
Regression Late() {
  ServiceSpec spec = Ending(Pods(1, 1, 1), 59, 27, 14);
  spec.ready_after = absl::Seconds(2);
  Scenario scenario =
      World(107, spec, {At(71.188, ActKind::kForceDelete, 4), At(88, ActKind::kRollingUpdate)});
  scenario.min_service_time = scenario.max_service_time = absl::Seconds(1);
  return {"AnEndingPodThatIsAddedByOthersIsDrained", "terminating-pod", scenario};
}

// The codec of the load balancer never filled in the settings that are compared.
Regression Settings() {
  ServiceSpec spec = Ending(Pods(5, 0, 1), 39, 30, 4);
  spec.ready_after = absl::Seconds(8);
  Scenario scenario =
      World(5, spec, {At(32.861, ActKind::kConsoleWeight, 4), At(114, ActKind::kRollingUpdate)});
  scenario.min_service_time = absl::Seconds(3);
  scenario.max_service_time = absl::Seconds(5);
  return {"AWeightThatOurQueuedWriteTookBackIsRestored", "restoration", scenario};
}

// UpdateBackend echoes the weight that was read, behind the console's new one.
Regression Single() {
  ServiceSpec spec = Ending(Pods(4, 1, 1), 20, 1, 10);
  spec.ready_after = absl::Seconds(6);
  Act shutdown = At(22.827, ActKind::kNodeShutdown, 1);
  shutdown.length = absl::Seconds(18);
  Scenario scenario =
      World(164, spec,
            {shutdown, At(48, ActKind::kRollingUpdate), At(60.787, ActKind::kConsoleWeight, 6)});
  scenario.with_rival = false;
  return {"AWeightThatOurQueuedUpdateBackendTookBackIsRestored", "restoration", scenario};
}

// A foreign write was accepted between our list of work requests and our read, and
// applied without moving the ETag again.
Regression Between() {
  ServiceSpec spec = Ending(Pods(4, 0, 1), 35, 22, 10);
  spec.ready_after = absl::Seconds(6);
  Scenario scenario = World(
      182, spec, {At(98, ActKind::kRollingUpdate), At(114.651, ActKind::kConsoleBackend, 94)});
  scenario.rival = RivalVariant::kDrainsByItself;
  scenario.etag_moves = EtagMoves::kAtAcceptance;
  scenario.min_service_time = scenario.max_service_time = absl::Seconds(1);
  scenario.max_oci_latency = absl::Milliseconds(1500);
  return {"AWriteAcceptedBetweenListAndReadIsSeen", "untouched", scenario};
}

Act Lasting(Act act, double seconds) {
  act.length = absl::Milliseconds(static_cast<int64_t>(seconds * 1000));
  return act;
}

// The list shows a write whose answer was lost as a foreign one; it was answered by
// the next, and so on: ten minutes of the load balancer's queue within one.
Regression Flood() {
  Scenario scenario =
      World(1, Pods(2, 1, 0),
            {At(20, ActKind::kRollingUpdate), Lasting(At(23, ActKind::kLostReply, 1), 60)});
  scenario.max_oci_latency = absl::Milliseconds(100);
  return {"AWriteWhoseAnswerIsLostIsNotAnsweredByTheNext", "one-write", scenario};
}

// The ConfigMap had an entry that the process took for refused: it was as it should
// be already, and was never written again.
Regression LostLedger() {
  Scenario scenario =
      World(1, Pods(2, 1, 0),
            {At(20, ActKind::kRollingUpdate), Lasting(At(23.25, ActKind::kNoAnswer, 5), 60)});
  scenario.max_oci_latency = absl::Milliseconds(100);
  return {"ALedgerWhoseAnswerIsLostIsWrittenAgain", "quiet", scenario};
}

// While the ingress controller's write to another set was unfinished our next write
// kept what the last one had taken back.
Regression Twice() {
  ServiceSpec other = Ending(Pods(1, 1, 1), 35, 15, 15);
  other.ready_after = absl::Seconds(8);
  ServiceSpec spec = Ending(Pods(1, 0, 1), 60, 33, 8);
  spec.ready_after = absl::Seconds(6);
  Act second = At(67, ActKind::kRollingUpdate);
  second.service = 1;
  Scenario scenario =
      World(241, spec,
            {second, At(71.587, ActKind::kConsoleBackend, 109), At(93, ActKind::kRollingUpdate)});
  scenario.services.push_back(other);
  scenario.min_service_time = absl::Seconds(3);
  scenario.max_service_time = absl::Seconds(5);
  return {"ARestorationGoesWithTheNextWriteBehindAForeignOne", "restoration", scenario};
}

// The set as the foreign write left it held the address of a Pod that had ended; it
// was another one's when that was restored.
Regression Reused() {
  ServiceSpec spec = Ending(Pods(4, 0, 1), 31, 12, 6);
  spec.ready_after = absl::Seconds(8);
  Scenario scenario =
      World(488, spec, {At(20, ActKind::kRollingUpdate), At(43.638, ActKind::kConsolePolicy)});
  scenario.rival = RivalVariant::kDrainsByItself;
  scenario.ip_reuse = IpReuse::kAfterRemoval;
  scenario.max_oci_latency = absl::Milliseconds(100);
  scenario.max_backends_per_set = 5;
  return {"ARestorationDrainsNoLivePodAtAReusedAddress", "live-pod", scenario};
}

// A console's drain and its end, and the Pod is shut down with its node between.
Regression Undone() {
  ServiceSpec spec = Ending(Pods(2, 1, 0), 48, 37, 5);
  spec.ready_after = absl::Seconds(5);
  Scenario scenario = World(
      890, spec,
      {At(31, ActKind::kRollingUpdate), Lasting(At(107.401, ActKind::kConsoleDrain, 5), 75),
       At(122.568, ActKind::kDeletePod, 6), Lasting(At(191.143, ActKind::kNodeShutdown, 1), 45)});
  scenario.ip_reuse = IpReuse::kAfterProcessEnd;
  return {"AnOperatorsDrainThatEndsWhileItsPodLeavesIsSetAgain", "terminating-pod", scenario};
}

// A console's weight that a queued drain took back, and the write that restores it fails
// twice: the oracle took the third for a change of ours.
Regression Owed() {
  ServiceSpec spec = Ending(Pods(1, 2, 1), 41, 21, 2);
  spec.ready_after = absl::Seconds(8);
  spec.serving = absl::Seconds(21);
  Scenario scenario =
      World(11266, spec,
            {At(60.320, ActKind::kConsoleWeight, 4), At(66, ActKind::kRollingUpdate),
             At(92.962, ActKind::kAnyFailedWork, 2)});
  scenario.with_rival = false;
  return {"ARestorationThatFailedIsMadeAgain", "untouched", scenario};
}

// A console's policy was applied between the pass that decided a write behind it and the
// write: the oracle took the write for one of its own accord.
Regression Overtaken() {
  ServiceSpec spec = Ending(Pods(1, 1, 1), 50, 30, 12);
  spec.ready_after = absl::Seconds(2);
  Scenario scenario =
      World(20179, spec,
            {At(55.493, ActKind::kListenerWrite), At(122.434, ActKind::kConsolePolicy),
             At(126, ActKind::kRollingUpdate)});
  scenario.with_rival = false;
  scenario.etag_moves = EtagMoves::kAtAcceptance;
  scenario.min_service_time = absl::Seconds(3);
  scenario.max_service_time = absl::Seconds(5);
  scenario.max_oci_latency = absl::Milliseconds(100);
  return {"APolicyThatIsAppliedBeforeOurWriteArrivesIsRestored", "untouched", scenario};
}

// A node with three of five Pods is shut down: the brake held their drains.
Regression Node() {
  ServiceSpec spec = Ending(Pods(5, 0, 1), 42, 27, 2);
  spec.ready_after = absl::Seconds(4);
  ServiceSpec other = Ending(Pods(2, 1, 0), 42, 37, 2);
  other.ready_after = absl::Seconds(6);
  Act second = At(138, ActKind::kRollingUpdate);
  second.service = 1;
  Scenario scenario =
      World(20196, spec,
            {At(67, ActKind::kRollingUpdate), second, At(179.878, ActKind::kDeletePod, 1),
             Lasting(At(276.366, ActKind::kNodeShutdown, 3), 52)});
  scenario.services.push_back(other);
  return {"ANodeWithMostPodsOfASetIsDrained", "terminating-pod", scenario};
}

// What we had taken out came back with the set as the foreign write left it, drained and
// unknown to the ledger, and was the address of the next Pod.
Regression Revived() {
  ServiceSpec spec = Ending(Pods(1, 1, 1), 32, 16, 2);
  spec.ready_after = absl::Seconds(3);
  spec.serving = absl::Seconds(16);
  Scenario scenario = World(25210, spec,
                            {At(32, ActKind::kRollingUpdate), At(33.973, ActKind::kConsolePolicy),
                             At(139.542, ActKind::kRollingUpdate)});
  scenario.with_rival = false;
  scenario.etag_moves = EtagMoves::kAtCompletion;
  scenario.ip_reuse = IpReuse::kAfterRemoval;
  scenario.max_oci_latency = absl::Milliseconds(1500);
  return {"ARestorationRevivesNoBackendThatHasLeft", "live-pod", scenario};
}

// The same of a Service that has opted out since, whose membership is not carried.
Regression RevivedWithoutOptIn() {
  ServiceSpec spec = Ending(Pods(1, 0, 1), 32, 27, 5);
  spec.ready_after = absl::Seconds(5);
  return {"ARestorationRevivesNoBackendOfAServiceThatOptedOut", "opt-in",
          World(57383, spec,
                {At(57, ActKind::kRollingUpdate), At(81.082, ActKind::kConsolePolicy),
                 Lasting(At(91.585, ActKind::kOci429, 4), 1),
                 Lasting(At(106.945, ActKind::kOptOut), 43)})};
}

// UpdateBackend went out on a read from while the console's write was unfinished, which was
// applied without moving the ETag again.
Regression Stale() {
  ServiceSpec spec = Ending(Pods(2, 0, 1), 11, 4, 1);
  spec.ready_after = absl::Seconds(4);
  Scenario scenario = World(26739, spec,
                            {At(105.803, ActKind::kLostReply, 1), At(110, ActKind::kRollingUpdate),
                             At(112.679, ActKind::kConsoleWeight, 7)});
  scenario.with_rival = false;
  scenario.etag_moves = EtagMoves::kAtAcceptance;
  scenario.min_service_time = absl::Milliseconds(200);
  scenario.max_service_time = absl::Milliseconds(900);
  scenario.max_backends_per_set = 3;
  return {"ASingleFlipIsDecidedOnWhatAForeignWriteLeft", "untouched", scenario};
}

// The ingress controller added a Pod since the last look; its node was shut down before the
// next.
Regression Unseen() {
  ServiceSpec spec = Ending(Pods(2, 0, 1), 30, 9, 10);
  spec.ready_after = absl::Seconds(7);
  return {"APodThatOthersAddedIsDrainedWhenItsNodeLeaves", "terminating-pod",
          World(42457, spec,
                {At(27, ActKind::kRollingUpdate), At(70.048, ActKind::kForceDelete, 3),
                 Lasting(At(111.218, ActKind::kNodeShutdown, 2), 26)})};
}

// The process ended while its drain was queued; when that was applied, the address was
// another Pod's, and nobody looked for a minute.
Regression Inherited() {
  ServiceSpec spec = Ending(Pods(4, 1, 1), 42, 28, 13);
  spec.ready_after = absl::Seconds(4);
  spec.serving = absl::Seconds(28);
  Scenario scenario = World(69554, spec,
                            {At(195.724, ActKind::kCrashAfterCall, 16),
                             Lasting(At(296.411, ActKind::kNodeShutdown, 2), 1)});
  scenario.with_rival = false;
  scenario.ip_reuse = IpReuse::kAfterProcessEnd;
  return {"ADrainOfTheProcessBeforeIsTakenBackWhenSeen", "live-pod", scenario};
}

// A Pod that served no more waited for a quiet time of the neighbours.
Regression Neighbour() {
  ServiceSpec spec = Ending(Pods(3, 2, 1), 70, 36, 15);
  spec.ready_after = absl::Seconds(6);
  ServiceSpec other = Ending(Pods(3, 1, 1), 57, 35, 7);
  other.ready_after = absl::Seconds(6);
  other.opted_in = false;
  Act first = At(58, ActKind::kRollingUpdate);
  first.service = 1;
  Act shutdown = Lasting(At(165.553, ActKind::kNodeShutdown, 2), 28);
  shutdown.service = 1;
  Scenario scenario = World(74194, spec, {first, At(71, ActKind::kRollingUpdate), shutdown});
  scenario.services.push_back(other);
  scenario.with_rival = false;
  return {"APodThatServesNoMoreDoesNotWaitForNeighbours", "terminating-pod", scenario};
}

// A restoration had succeeded, and the ingress controller took it back before we looked.
Regression Paid() {
  ServiceSpec spec = Ending(Pods(1, 0, 1), 8, 3, 5);
  spec.ready_after = absl::Seconds(8);
  Scenario scenario = World(
      66961, spec,
      {At(67, ActKind::kRollingUpdate), At(134.867, ActKind::kForceDelete, 3),
       Lasting(At(210.946, ActKind::kNodeShutdown, 3), 39), At(216.425, ActKind::kConsoleWeight, 6),
       At(232.083, ActKind::kScale, 6), Lasting(At(246.827, ActKind::kOciSlow, 9), 21)});
  scenario.rival = RivalVariant::kDropsCacheOnConflict;
  scenario.ip_reuse = IpReuse::kAfterProcessEnd;
  return {"ARestorationThatSucceededIsNotMadeAgain", "untouched", scenario};
}

}  // namespace

std::vector<Regression> Regressions() {
  return {Idle(),  Late(),       Settings(),  Single(),    Between(),
          Flood(), LostLedger(), Twice(),     Reused(),    Undone(),
          Owed(),  Overtaken(),  Node(),      Revived(),   RevivedWithoutOptIn(),
          Stale(), Unseen(),     Inherited(), Neighbour(), Paid()};
}

}  // namespace sim

// What takes hours, in virtual time: the production reconciler, reflectors, planner and
// executor on one thread against fakes that keep state. The same seed is the same run.
//
//   bazel run --config=opt //bench:virtual -- --measure=baseline
//   bazel run --config=opt //bench:virtual -- --measure=growth
//
// baseline: Pods that are deleted at once while their replacements are registered
// already: how long until the last backend is drained; and the same with the drain
// policy of the ingress controller's pull request 160 in place of this controller: one
// UpdateBackend for each Pod, each of which waits for its work request, looked at every
// 10 s.
// growth: a rolling update of 10 Pods every quarter of an hour: what the controller's
// objects hold after a warm-up and at the end.
#include <gflags/gflags.h>
#include <glog/logging.h>
#include <malloc.h>

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/substitute.h"
#include "absl/time/time.h"
#include "oci/backend_set_name.h"
#include "sim/kube_resources.h"
#include "sim/load_balancer_document.h"
#include "sim/virtual_world.h"

DEFINE_string(measure, "baseline", "baseline or growth.");
DEFINE_int32(seeds, 10, "baseline: how many runs of each kind.");
DEFINE_int32(hours, 24, "growth: virtual hours, of which two are the warm-up.");
DEFINE_bool(json, false, "The numbers as one JSON object on the last line.");

namespace bench {
namespace {

constexpr char kOcid[] = "ocid1.loadbalancer.oc1.iad.web";
constexpr char kDeployment[] = "/apis/apps/v1/namespaces/shop/deployments/web";
constexpr absl::Duration kBetweenRollouts = absl::Minutes(15);
constexpr absl::Duration kWarmUp = absl::Hours(2);

// $0: OCID, $1: replicas, $2: seconds from a Pod's deletion to its end, $3: its grace.
constexpr char kManifests[] = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: oci-backend-drain}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: oci, annotations: {oci-native-ingress.oraclecloud.com/id: $0}}
spec: {controller: oci.oraclecloud.com/native-ingress-controller}
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  annotations: {oci-native-ingress.oraclecloud.com/backend-draining: "true"}
spec:
  publishNotReadyAddresses: true
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: oci
  rules: [{http: {paths: [{path: /, pathType: Prefix,
                           backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: $1
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {sim/shutdown-seconds: "$2"}
    spec:
      terminationGracePeriodSeconds: $3
      containers: [{name: web, image: a}]
)";

using Numbers = std::map<std::string, double>;

void Must(const absl::Status& status) { CHECK(status.ok()) << status; }

sim::VirtualWorldOptions Options(uint64_t seed) {
  sim::VirtualWorldOptions options;
  options.seed = seed;
  options.load_balancer.min_service_time = absl::Seconds(6);
  options.load_balancer.max_service_time = absl::Seconds(14);
  options.with_controller = false;
  return options;
}

// A load balancer that holds all Pods of one Deployment, and everybody at rest.
void Settle(sim::VirtualWorld& world, int replicas, absl::Duration shutdown, absl::Duration grace) {
  Must(world.Apply(absl::Substitute(kManifests, kOcid, replicas, absl::ToInt64Seconds(shutdown),
                                    absl::ToInt64Seconds(grace))));
  world.RunFor(absl::Seconds(30));
  std::vector<std::string> backends;
  for (const sim::KubeObject& pod :
       world.api_server().store().List(sim::resources::Pods(), "shop")) {
    backends.push_back(absl::StrCat((*pod)["status"]["podIP"].AsString(), ":8080"));
  }
  CHECK_EQ(backends.size(), static_cast<size_t>(replicas));
  const std::string set = oci::GenerateBackendSetName("shop", "web", 80).value();
  Must(world.load_balancer().AddLoadBalancer(sim::MakeLoadBalancerJson(kOcid, {{set, backends}}),
                                             world.now()));
}

// Seconds from the deletion of `pods` Pods of twice as many to the end of the work
// request that drained the last of them.
double LastDrained(int pods, bool pull_request, uint64_t seed) {
  sim::VirtualWorldOptions options = Options(seed);
  if (pull_request) options.rival.variant = sim::RivalVariant::kDrainsByItself;
  sim::VirtualWorld world(options);
  std::set<std::string> drained;
  world.load_balancer().SetOnFinished([&](const sim::WriteRecord& record) {
    drained.insert(record.effect.drained.begin(), record.effect.drained.end());
  });
  Settle(world, 2 * pods, absl::Hours(2), absl::Hours(2));
  if (!pull_request) world.RestartController();
  world.RunFor(absl::Seconds(130) + absl::Milliseconds(seed * 997 % 60'000));
  const absl::Time deleted = world.now();
  Must(world.Patch(kDeployment, absl::StrCat(R"({"spec":{"replicas":)", pods, "}}")));
  CHECK(world.RunUntil(deleted + absl::Minutes(90),
                       [&] { return drained.size() >= static_cast<size_t>(pods); }))
      << drained.size() << " of " << pods << " drained";
  return absl::ToDoubleSeconds(world.now() - deleted);
}

Numbers Baseline() {
  Numbers numbers;
  for (const int pods : {10, 100}) {
    double ours = 0;
    double pull_request = 0;
    for (int seed = 1; seed <= FLAGS_seeds; ++seed) {
      ours += LastDrained(pods, /*pull_request=*/false, static_cast<uint64_t>(seed));
      pull_request += LastDrained(pods, /*pull_request=*/true, static_cast<uint64_t>(seed));
      std::cerr << absl::StrFormat("virtual: %d Pods, seed %d of %d\n", pods, seed, FLAGS_seeds);
    }
    const std::string of = absl::StrCat("last_of_", pods, "_");
    numbers[of + "seconds"] = ours / FLAGS_seeds;
    numbers[of + "seconds_pull_request"] = pull_request / FLAGS_seeds;
    numbers[of + "times_sooner"] = pull_request / ours;
  }
  return numbers;
}

double HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// What the controller's objects hold after so many hours: what is freed when it ends.
// The fakes keep what they have seen, so the process itself grows.
double HeldBytes(absl::Duration churn) {
  sim::VirtualWorldOptions options = Options(1);
  // The controller holds the list of work requests that it was given: a history that is
  // full after the warm-up.
  options.load_balancer.kept_work_requests = 50;
  sim::VirtualWorld world(options);
  Settle(world, 10, absl::Seconds(25), absl::Seconds(45));
  world.RestartController();
  world.RunFor(absl::Minutes(3));
  const int rollouts = static_cast<int>(churn / kBetweenRollouts);
  for (int i = 0; i < rollouts; ++i) {
    Must(world.Patch(
        kDeployment,
        absl::Substitute(R"({"spec":{"template":{"metadata":{"annotations":{"rollout":"$0"}}}}})",
                         1000 + i)));
    world.RunFor(kBetweenRollouts);
    if (i % 10 == 0) std::cerr << "virtual: rollout " << i << " of " << rollouts << "\n";
  }
  const double before = HeapBytes();
  world.EndController(absl::Hours(1000));
  return before - HeapBytes();
}

Numbers Growth() {
  const double warm = HeldBytes(kWarmUp);
  const double end = HeldBytes(absl::Hours(FLAGS_hours));
  return {{"held_kb_warm", warm / 1024},
          {"held_kb_end", end / 1024},
          {"growth_percent", (end - warm) / warm * 100},
          {"hours", static_cast<double>(FLAGS_hours)}};
}

void Print(const Numbers& numbers) {
  std::string json;
  for (const auto& [name, value] : numbers) {
    std::cout << absl::StrFormat("%-32s %12.2f\n", name, value);
    absl::StrAppend(&json, json.empty() ? "" : ",", "\"", name,
                    "\":", absl::StrFormat("%.4g", value));
  }
  if (FLAGS_json) std::cout << "{" << json << "}" << std::endl;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  gflags::SetUsageMessage("Measures in virtual time what would take hours.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_ERROR;
  google::InitGoogleLogging(argv[0]);
  const bool baseline = FLAGS_measure == "baseline";
  if (argc > 1 || (!baseline && FLAGS_measure != "growth") || FLAGS_seeds < 1 || FLAGS_hours < 3) {
    std::cerr << "virtual: --measure=baseline or growth, --seeds at least 1, --hours at least 3\n";
    return 2;
  }
  bench::Print(baseline ? bench::Baseline() : bench::Growth());
  return 0;
}

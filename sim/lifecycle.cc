#include "sim/lifecycle.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "base/random.h"
#include "oci/backend_set_name.h"

namespace sim {
namespace {

constexpr char kNamespace[] = "shop";
constexpr char kDeploymentName[] = "web";
constexpr int kFirstPort = 80;
constexpr int kFirstTarget = 8080;

constexpr char kCluster[] = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: oci, annotations: {oci-native-ingress.oraclecloud.com/id: $0}}
spec: {controller: oci.oraclecloud.com/native-ingress-controller}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: $1
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: $2, maxUnavailable: $3}}
  template:
    metadata:
      labels: {app: web}
      annotations: {sim/shutdown-seconds: "$4"}
    spec:
      terminationGracePeriodSeconds: $5
      readinessGates: [{conditionType: oci-native-ingress.oraclecloud.com/load-balancer-ready}]
      containers:
      - name: web
        image: a
        ports: [{containerPort: 8080}, {containerPort: 8081}, {containerPort: 8082}]
        lifecycle: {preStop: {exec: {command: [/drain/drain-wait, --timeout=$6s]}}}
)";

constexpr char kService[] = R"(
---
apiVersion: v1
kind: Service
metadata:
  name: $0
  namespace: shop
  annotations:
    oci-native-ingress.oraclecloud.com/backend-draining: "true"
    oci-native-ingress.oraclecloud.com/backend-drain-shutdown: $1s
spec:
  publishNotReadyAddresses: true
  selector: {app: web}
  ports: [$2]
)";

constexpr char kIngress[] = R"(
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: oci
  rules: [{http: {paths: [$0]}}]
)";

constexpr char kPath[] =
    "{path: /$0, pathType: Prefix, backend: {service: {name: $1, port: {number: $2}}}}";

// A kind of fault, the largest number and length that it is given.
struct FaultKind {
  ActKind kind;
  int max_number;
  int max_seconds;
};
constexpr FaultKind kFaults[] = {
    {ActKind::kFreeze, 0, 300},        {ActKind::kFailedWork, 3, 0},
    {ActKind::kAnyFailedWork, 3, 0},   {ActKind::kWatchDelay, 20, 60},
    {ActKind::kWatchDrop, 0, 30},      {ActKind::kWatchGone, 0, 0},
    {ActKind::kApiRestart, 0, 0},      {ActKind::kPodGetFails, 0, 60},
    {ActKind::kPodGetSlow, 8, 60},     {ActKind::kEndpointsGetFails, 0, 60},
    {ActKind::kListFails, 0, 60},      {ActKind::kOciSlow, 8, 60},
    {ActKind::kOci409, 5, 0},          {ActKind::kOci412, 5, 0},
    {ActKind::kOci429, 10, 0},         {ActKind::kOci500, 10, 0},
    {ActKind::kOci503, 0, 240},        {ActKind::kOciReadFails, 0, 120},
    {ActKind::kLostReply, 3, 0},       {ActKind::kLedgerFails, 0, 60},
    {ActKind::kLedgerConflict, 3, 0},  {ActKind::kCrashBeforeCall, 60, 0},
    {ActKind::kCrashAfterCall, 60, 0}, {ActKind::kCrashNow, 0, 120},
};
constexpr absl::Duration kLastFault = absl::Minutes(5);

std::string ServiceName(const Lifecycle& lifecycle, int set) {
  return lifecycle.one_service ? "web" : absl::StrCat("web-", set);
}

int ServicePort(const Lifecycle& lifecycle, int set) {
  return lifecycle.one_service ? kFirstPort + set : kFirstPort;
}

int TargetPort(const Lifecycle& lifecycle, int set) {
  return lifecycle.one_service ? kFirstTarget + set : kFirstTarget;
}

std::string PortOf(const Lifecycle& lifecycle, int set) {
  return absl::StrCat("{name: p", set, ", port: ", ServicePort(lifecycle, set),
                      ", targetPort: ", TargetPort(lifecycle, set), "}");
}

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) { lifecycle_.seed = seed; }

  Lifecycle Make(int max_replicas, bool faults) {
    Lifecycle& out = lifecycle_;
    out.replicas = OneIn(4) ? 1 : static_cast<int>(random_.Between(1, std::max(1, max_replicas)));
    out.max_surge = static_cast<int>(random_.Between(1, std::max(1, out.replicas / 2)));
    if (out.replicas > 1 && OneIn(4)) out.max_unavailable = 1;
    out.sets = static_cast<int>(random_.Between(1, 3));
    out.one_service = OneIn(2);
    out.drained_condition = OneIn(3);
    out.ready_after = absl::Seconds(random_.Between(2, 30));
    out.shutdown = absl::Seconds(random_.Between(1, 29));
    out.with_rival = !OneIn(8);
    if (OneIn(4)) out.rival = RivalVariant::kDropsCacheOnConflict;
    if (OneIn(4)) out.rival = RivalVariant::kDrainsByItself;
    if (OneIn(4)) out.max_oci_latency = absl::Milliseconds(random_.Between(50, 1500));
    if (faults) AddFaults();
    return out;
  }

 private:
  bool OneIn(int n) { return random_.Between(1, n) == 1; }
  absl::Duration AnyMoment() {
    return absl::Milliseconds(random_.Between(0, absl::ToInt64Milliseconds(kLastFault)));
  }

  void AddFaults() {
    const int count = static_cast<int>(random_.Between(1, 3));
    for (int i = 0; i < count; ++i) {
      const FaultKind& kind =
          kFaults[random_.Between(0, static_cast<int64_t>(std::size(kFaults)) - 1)];
      Act act;
      act.at = AnyMoment();
      act.kind = kind.kind;
      if (kind.max_number > 0) act.number = static_cast<int>(random_.Between(1, kind.max_number));
      if (kind.max_seconds > 0) act.length = absl::Seconds(random_.Between(1, kind.max_seconds));
      lifecycle_.faults.push_back(act);
    }
    std::stable_sort(lifecycle_.faults.begin(), lifecycle_.faults.end(),
                     [](const Act& a, const Act& b) { return a.at < b.at; });
    if (!OneIn(6)) return;
    lifecycle_.barrier_gone_at = AnyMoment();
    lifecycle_.barrier_gone_for = absl::Seconds(random_.Between(5, 120));
  }

  base::Random random_;
  Lifecycle lifecycle_;
};

}  // namespace

Lifecycle MakeLifecycle(uint64_t seed, int max_replicas, bool faults) {
  return Maker(seed).Make(max_replicas, faults);
}

std::string Describe(const Lifecycle& lifecycle) {
  constexpr const char* kRivals[] = {"unmodified", "drops its cache on 412", "drains by itself"};
  constexpr const char* kEtags[] = {"acceptance", "completion", "both"};
  std::string text =
      absl::StrCat("seed ", lifecycle.seed, ": ", lifecycle.replicas, " replicas, maxSurge ",
                   lifecycle.max_surge, ", maxUnavailable ", lifecycle.max_unavailable, ", ",
                   lifecycle.sets, lifecycle.one_service ? " sets of one Service" : " Services",
                   ", ready after ", absl::FormatDuration(lifecycle.ready_after), ", ends in ",
                   absl::FormatDuration(lifecycle.shutdown), ", ingress controller ",
                   lifecycle.with_rival ? kRivals[static_cast<int>(lifecycle.rival)] : "absent",
                   ", ETag moves at ", kEtags[static_cast<int>(lifecycle.etag_moves)],
                   ", calls up to ", absl::FormatDuration(lifecycle.max_oci_latency), "\n");
  for (const Act& act : lifecycle.faults) {
    absl::StrAppend(&text, "  at ", absl::FormatDuration(act.at), ": ", Describe(act), "\n");
  }
  if (lifecycle.barrier_gone_for > absl::ZeroDuration()) {
    absl::StrAppend(&text, "  at ", absl::FormatDuration(lifecycle.barrier_gone_at),
                    ": barrier unreachable for ", absl::FormatDuration(lifecycle.barrier_gone_for),
                    "\n");
  }
  return text;
}

std::string LifecycleManifests(const Lifecycle& lifecycle) {
  std::string text = absl::Substitute(
      kCluster, kLifecycleOcid, lifecycle.replicas, lifecycle.max_surge, lifecycle.max_unavailable,
      absl::ToInt64Seconds(lifecycle.shutdown), absl::ToInt64Seconds(kLifecycleGrace),
      absl::ToInt64Seconds(kLifecycleTimeout));
  const std::string shutdown = absl::StrCat(absl::ToInt64Seconds(kLifecycleShutdown));
  std::string all_ports;
  std::string paths;
  for (int set = 0; set < lifecycle.sets; ++set) {
    const std::string port = PortOf(lifecycle, set);
    const std::string name = ServiceName(lifecycle, set);
    absl::StrAppend(&all_ports, set == 0 ? "" : ", ", port);
    absl::StrAppend(&paths, set == 0 ? "" : ", ",
                    absl::Substitute(kPath, set, name, ServicePort(lifecycle, set)));
    if (!lifecycle.one_service) {
      absl::StrAppend(&text, absl::Substitute(kService, name, shutdown, port));
    }
  }
  if (lifecycle.one_service) {
    absl::StrAppend(&text, absl::Substitute(kService, kDeploymentName, shutdown, all_ports));
  }
  absl::StrAppend(&text, absl::Substitute(kIngress, paths));
  return text;
}

std::vector<LifecycleSet> LifecycleSets(const Lifecycle& lifecycle) {
  std::vector<LifecycleSet> sets;
  for (int set = 0; set < lifecycle.sets; ++set) {
    sets.push_back({oci::GenerateBackendSetName(kNamespace, ServiceName(lifecycle, set),
                                                ServicePort(lifecycle, set))
                        .value(),
                    TargetPort(lifecycle, set)});
  }
  return sets;
}

}  // namespace sim

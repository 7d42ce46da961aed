// What `oci-drain doctor` and the self-test at the controller's start find, judged from
// facts alone.
#ifndef OCI_BACKEND_DRAIN_CMD_DIAGNOSIS_H_
#define OCI_BACKEND_DRAIN_CMD_DIAGNOSIS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cmd/budget.h"
#include "controller/mapping.h"
#include "controller/rights.h"
#include "controller/topology.h"
#include "drain/plan.h"
#include "http/server_clock.h"
#include "kube/access.h"
#include "kube/types.h"
#include "oci/types.h"

namespace cmd {

enum class Level { kOk, kWarning, kProblem };

// One line of a diagnosis.
struct Finding {
  Level level = Level::kOk;
  std::string check;    // what was looked at: "KubernetesVersion", or an Event's reason
  std::string subject;  // what it is about: "Service shop/web"
  std::string text;     // what is so; for what is not well also how to mend it
};

enum class DiagnosisStyle { kPlain, kColors, kJson };

// `output` is "text" or "json"; colours on a terminal only, and not with NO_COLOR.
absl::StatusOr<DiagnosisStyle> ParseDiagnosisStyle(absl::string_view output, bool terminal,
                                                   bool no_color);

// One line with its line break, or with kJson one object without. Control characters,
// which may come from annotations, are shown as "?".
std::string FormatFinding(const Finding& finding, DiagnosisStyle style);

// With kJson all of it, one object on one line; else the last line, which counts.
std::string FormatSummary(const std::vector<Finding>& findings, DiagnosisStyle style);

bool HasProblem(const std::vector<Finding>& findings);

// The servers.

// `cluster` says where it is: "https://10.0.0.1 (/etc/kubeconfig)".
Finding JudgeVersion(const std::string& cluster, const absl::StatusOr<kube::ServerVersion>& told);
Finding JudgeKubernetesClock(const std::optional<http::ClockReading>& reading);
Finding JudgeOciClock(const std::optional<http::ClockReading>& reading);

// `who` names the identity, never a secret; or says why there are no credentials.
Finding JudgeIdentity(absl::string_view auth, const absl::StatusOr<std::string>& who);

struct Place {
  std::string region;    // "us-ashburn-1"; empty: not known
  std::string endpoint;  // "https://iaas.us-ashburn-1.oraclecloud.com"
};
Finding JudgeRegion(const Place& place);

// Rights.

struct RightAnswer {
  controller::Right right;
  std::string ns;  // empty: in all namespaces
  absl::StatusOr<kube::AccessAnswer> answer;
};
// A line for the verbs that are refused of each resource and scope; one if none is.
std::vector<Finding> JudgeRights(const std::vector<RightAnswer>& answers);

// Load balancers and Services.

// Answers of one load balancer.
struct LoadBalancerAnswers {
  oci::Ocid id;
  absl::StatusOr<oci::LoadBalancerRead> read;
  // Counts only where the load balancer could be read.
  absl::StatusOr<std::vector<oci::WorkRequest>> work_requests;
  bool paused = false;
};
std::vector<Finding> JudgeLoadBalancer(const LoadBalancerAnswers& answers, const Place& place);

// A workload behind a Service that opted in.
struct Grace {
  kube::ObjectKey service;
  absl::Duration shutdown;  // backend-drain-shutdown
  std::string workload;     // "Deployment shop/web"
  absl::Duration grace;     // terminationGracePeriodSeconds
};
// Nothing if it is long enough.
std::optional<Finding> JudgeGrace(const WorkRequestTimes& times, const Grace& grace);

// Whether a notice of a plan tells what keeps a Service from being drained, or from being
// drained well.
bool IsObstacle(drain::NoticeKind kind);

// Each Service that opted in and is behind this load balancer: what keeps it from
// draining, or one line that nothing does. `obstacles`: notices of which IsObstacle holds.
std::vector<Finding> JudgeServices(const drain::Input& input,
                                   const std::vector<drain::Notice>& obstacles,
                                   const WorkRequestTimes& times, const std::vector<Grace>& graces);

// What leads to no load balancer at all. `opted_in`: every Service with the annotation.
std::vector<Finding> JudgeTopology(const controller::TopologyView& view,
                                   const std::string& controller_class,
                                   const std::vector<kube::ObjectKey>& opted_in);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_DIAGNOSIS_H_

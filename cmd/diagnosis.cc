#include "cmd/diagnosis.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/json_object.h"
#include "cmd/text_table.h"
#include "drain/explain.h"
#include "oci/clock_skew.h"
#include "oci/region_table.h"

namespace cmd {
namespace {

// discovery.k8s.io/v1 and policy/v1.
constexpr int kOldestMinor = 21;
// The condition DisruptionTarget and the serving condition of endpoints are there.
constexpr int kFullMinor = 26;

// Deadlines of Pods are moments of the API server's clock.
constexpr absl::Duration kClockWarning = absl::Seconds(2);
constexpr absl::Duration kClockProblem = absl::Seconds(15);
// Signatures are refused beyond oci::kAllowedClockSkew.
constexpr absl::Duration kOciClockWarning = absl::Minutes(1);

// Between the drain and the application's own end: requests on their way.
constexpr absl::Duration kLinger = absl::Seconds(2);

absl::string_view NameOf(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kWarning:
      return "warning";
    case Level::kProblem:
      break;
  }
  return "problem";
}

absl::string_view ColorOf(Level level) {
  switch (level) {
    case Level::kOk:
      return kGreen;
    case Level::kWarning:
      return kYellow;
    case Level::kProblem:
      break;
  }
  return kRed;
}

// A terminal would obey control characters.
std::string Shown(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

int64_t Count(const std::vector<Finding>& findings, Level level) {
  return std::count_if(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.level == level; });
}

std::string Seconds(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Seconds(1)));
}

std::string SkewText(absl::Duration skew) {
  return absl::StrCat("this machine's clock is at least ", Seconds(absl::AbsDuration(skew)),
                      skew > absl::ZeroDuration() ? " ahead of" : " behind", " the server's");
}

std::string ServiceSubject(const kube::ObjectKey& service) {
  return absl::StrCat("Service ", service.ToString());
}

std::string LoadBalancerSubject(const oci::Ocid& id) {
  return absl::StrCat("load balancer ", id.value());
}

// What to do about a call to OCI that failed.
std::string CureOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return "OCI says so also where rights are missing: allow the identity to use "
             "load-balancers in its compartment, or mend the IngressClass's annotation";
    case absl::StatusCode::kUnauthenticated:
      return "see docs/authentication.md for what each identity needs";
    case absl::StatusCode::kPermissionDenied:
      return "allow the identity to use load-balancers in its compartment";
    case absl::StatusCode::kInvalidArgument:
      return "check --oci_endpoint and the OCID";
    default:
      return "check the network's way to OCI, and --oci_endpoint";
  }
}

// Obstacles that a drain overcomes, if with less effect.
bool DrainsAllTheSame(drain::NoticeKind kind) {
  return kind == drain::NoticeKind::kHealthCheckCannotSeeReadiness ||
         kind == drain::NoticeKind::kStickySetWithoutCutoff ||
         kind == drain::NoticeKind::kPortMismatch || kind == drain::NoticeKind::kEndpointWithoutPod;
}

}  // namespace

bool IsObstacle(drain::NoticeKind kind) {
  return DrainsAllTheSame(kind) ||
         kind == drain::NoticeKind::kServiceNotPublishingTerminatingPods ||
         kind == drain::NoticeKind::kBackendSetContested ||
         kind == drain::NoticeKind::kBackendSetMissing ||
         kind == drain::NoticeKind::kNodeBackendsNotDrained;
}

absl::StatusOr<DiagnosisStyle> ParseDiagnosisStyle(absl::string_view output, bool terminal,
                                                   bool no_color) {
  if (output == "json") return DiagnosisStyle::kJson;
  if (output != "text") {
    return absl::InvalidArgumentError(absl::StrCat("--output=", output, ": expected text or json"));
  }
  return terminal && !no_color ? DiagnosisStyle::kColors : DiagnosisStyle::kPlain;
}

std::string FormatFinding(const Finding& finding, DiagnosisStyle style) {
  const absl::string_view level = NameOf(finding.level);
  if (style == DiagnosisStyle::kJson) {
    return base::JsonObject()
        .Text("level", level)
        .Text("check", finding.check)
        .Text("subject", finding.subject)
        .Text("text", finding.text)
        .Json();
  }
  const bool colors = style == DiagnosisStyle::kColors;
  const std::string space(std::size_t{9} - level.size(), ' ');
  return absl::StrCat(colors ? ColorOf(finding.level) : "", level, colors ? kNoColor : "", space,
                      Shown(finding.subject), ": ", Shown(finding.text), "\n");
}

std::string FormatSummary(const std::vector<Finding>& findings, DiagnosisStyle style) {
  const int64_t ok = Count(findings, Level::kOk);
  const int64_t warnings = Count(findings, Level::kWarning);
  const int64_t problems = Count(findings, Level::kProblem);
  if (style != DiagnosisStyle::kJson) {
    return absl::StrCat(ok, " ok, ", warnings, warnings == 1 ? " warning, " : " warnings, ",
                        problems, problems == 1 ? " problem\n" : " problems\n");
  }
  return base::JsonObject()
             .Count("ok", ok)
             .Count("warnings", warnings)
             .Count("problems", problems)
             .Raw("findings",
                  base::JsonArray(findings,
                                  [&](const Finding& item) { return FormatFinding(item, style); }))
             .Json() +
         "\n";
}

bool HasProblem(const std::vector<Finding>& findings) {
  return Count(findings, Level::kProblem) > 0;
}

Finding JudgeVersion(const std::string& cluster, const absl::StatusOr<kube::ServerVersion>& told) {
  Finding finding{Level::kOk, "KubernetesVersion", "Kubernetes", ""};
  if (!told.ok()) {
    finding.level = Level::kProblem;
    finding.text = absl::StrCat(cluster, ": ", told.status().message(),
                                "; check the network's way there, and --kubeconfig");
    return finding;
  }
  finding.text = absl::StrCat(told->text, " at ", cluster);
  if (told->major == 1 && told->minor < kOldestMinor) {
    finding.level = Level::kProblem;
    absl::StrAppend(&finding.text, ": older than 1.", kOldestMinor,
                    ", which has no discovery.k8s.io/v1; upgrade the cluster");
  } else if (told->major == 1 && told->minor < kFullMinor) {
    finding.level = Level::kWarning;
    absl::StrAppend(&finding.text, ": before 1.", kFullMinor,
                    " Pods that a node's shutdown or the kubelet ends do not say so, and are "
                    "drained late; upgrade the cluster");
  }
  return finding;
}

Finding JudgeKubernetesClock(const std::optional<http::ClockReading>& reading) {
  Finding finding{Level::kOk, "KubernetesClock", "clock of Kubernetes", ""};
  if (!reading.has_value()) {
    finding.level = Level::kWarning;
    finding.text =
        "not known: no answer of the API server had a Date header; check what stands "
        "between";
    return finding;
  }
  const absl::Duration skew = reading->Certain();
  if (absl::AbsDuration(skew) <= kClockWarning) {
    finding.text = "agrees with this machine's";
    return finding;
  }
  finding.level = absl::AbsDuration(skew) > kClockProblem ? Level::kProblem : Level::kWarning;
  finding.text = absl::StrCat(
      SkewText(skew), ", by which every Pod's deadline is misjudged; set the clock (chrony, NTP)");
  return finding;
}

Finding JudgeOciClock(const std::optional<http::ClockReading>& reading) {
  Finding finding{Level::kOk, "OciClock", "clock of OCI", ""};
  if (!reading.has_value()) {
    finding.level = Level::kWarning;
    finding.text = "not known: no answer of OCI had a Date header, or none came";
    return finding;
  }
  const absl::Duration skew = reading->Certain();
  if (absl::AbsDuration(skew) <= kOciClockWarning) {
    finding.text = "agrees with this machine's";
    return finding;
  }
  finding.level =
      absl::AbsDuration(skew) >= oci::kAllowedClockSkew ? Level::kProblem : Level::kWarning;
  finding.text =
      absl::StrCat(SkewText(skew), "; beyond ", absl::FormatDuration(oci::kAllowedClockSkew),
                   " every request is refused; set the clock (chrony, NTP)");
  return finding;
}

Finding JudgeIdentity(absl::string_view auth, const absl::StatusOr<std::string>& who) {
  const std::string subject = absl::StrCat("OCI identity (--auth=", auth, ")");
  if (who.ok()) return {Level::kOk, "OciIdentity", subject, *who};
  return {Level::kProblem, "OciIdentity", subject,
          absl::StrCat("no credentials: ", who.status().message(),
                       "; see docs/authentication.md for what each identity needs")};
}

Finding JudgeRegion(const Place& place) {
  return {Level::kOk, "OciRegion", "OCI region",
          absl::StrCat(place.region.empty() ? "not named" : place.region, ", ", place.endpoint)};
}

std::vector<Finding> JudgeRights(const std::vector<RightAnswer>& answers) {
  // Refused verbs and namespaces of each resource, in the order of the table.
  struct Refusal {
    std::vector<std::string> verbs;
    std::vector<std::string> namespaces;
    controller::Right right;
  };
  std::vector<Refusal> refusals;
  std::vector<Finding> findings;
  std::set<std::string> not_told;
  for (const RightAnswer& asked : answers) {
    if (!asked.answer.ok()) {
      not_told.insert(std::string(asked.answer.status().message()));
      continue;
    }
    if (asked.answer->allowed) continue;
    const controller::Right& right = asked.right;
    auto it = std::find_if(refusals.begin(), refusals.end(), [&](const Refusal& refusal) {
      return std::tie(refusal.right.group, refusal.right.resource, refusal.right.subresource,
                      refusal.right.without) ==
             std::tie(right.group, right.resource, right.subresource, right.without);
    });
    if (it == refusals.end()) it = refusals.insert(it, {{}, {}, right});
    const auto add = [](std::vector<std::string>& to, const std::string& text) {
      if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
    };
    add(it->verbs, std::string(right.verb));
    add(it->namespaces, asked.ns);
  }
  for (const Refusal& refusal : refusals) {
    const controller::Right& right = refusal.right;
    const bool everywhere = refusal.namespaces.front().empty();
    const std::string what =
        absl::StrCat(absl::StrJoin(refusal.verbs, ", "), " of ", right.resource,
                     right.subresource.empty() ? "" : absl::StrCat("/", right.subresource),
                     right.group.empty() ? "" : absl::StrCat(" in API group ", right.group),
                     everywhere ? " in all namespaces"
                                : absl::StrCat(" in ", absl::StrJoin(refusal.namespaces, ", ")));
    findings.push_back({right.vital ? Level::kProblem : Level::kWarning, "RightMissing", "rights",
                        absl::StrCat("may not ", what, ": ", right.without,
                                     "; grant it by a rule of a Role or ClusterRole")});
  }
  if (!not_told.empty()) {
    findings.push_back({Level::kWarning, "RightMissing", "rights",
                        absl::StrCat("not all are known: ", *not_told.begin(),
                                     "; allow create of selfsubjectaccessreviews, which "
                                     "system:basic-user does in a new cluster")});
  }
  if (findings.empty() && !answers.empty()) {
    findings.push_back({Level::kOk, "RightMissing", "rights",
                        absl::StrCat("all ", answers.size(), " that were asked for are granted")});
  }
  return findings;
}

namespace {

// "" if the OCID names the region that is spoken to, or one of them is not known.
std::string OtherRegion(const oci::Ocid& id, const Place& place) {
  // ocid1.loadbalancer.REALM.REGION.UNIQUE
  const std::vector<std::string> parts = absl::StrSplit(id.value(), '.');
  if (parts.size() < 5 || parts[3].empty() || place.region.empty()) return "";
  const oci::RegionTable regions;
  const std::string theirs = regions.Identifier(parts[3]);
  // One that is not known may be the short name of the same.
  if (!regions.Knows(theirs) || !regions.Knows(place.region)) return "";
  return theirs == regions.Identifier(place.region) ? "" : theirs;
}

}  // namespace

std::vector<Finding> JudgeLoadBalancer(const LoadBalancerAnswers& answers, const Place& place) {
  const std::string subject = LoadBalancerSubject(answers.id);
  std::vector<Finding> findings;
  const auto problem = [&](absl::string_view check, std::string text) {
    findings.push_back({Level::kProblem, std::string(check), subject, std::move(text)});
  };
  const std::string other = OtherRegion(answers.id, place);
  if (!other.empty()) {
    problem("LoadBalancerInOtherRegion", absl::StrCat("it is in ", other, ", and ", place.region,
                                                      " is asked for it; set "
                                                      "--oci_region=",
                                                      other));
  }
  if (!answers.read.ok()) {
    problem("LoadBalancerUnreadable",
            absl::StrCat(answers.read.status().message(), "; ", CureOf(answers.read.status())));
    return findings;
  }
  const oci::LoadBalancer& read = answers.read->load_balancer;
  if (!answers.work_requests.ok()) {
    problem("WorkRequestsUnreadable", absl::StrCat(answers.work_requests.status().message(), "; ",
                                                   CureOf(answers.work_requests.status())));
  }
  if (read.lifecycle_state != "ACTIVE") {
    problem("LoadBalancerNotActive",
            absl::StrCat("it is ", read.lifecycle_state,
                         ", and is written to only while ACTIVE; see OCI's console"));
  }
  if (answers.paused) {
    findings.push_back({Level::kWarning, "Paused", subject,
                        "all writes are stopped; take backend-drain-paused off its IngressClass"});
  }
  if (!findings.empty()) return findings;
  size_t backends = 0;
  for (const auto& [name, set] : read.backend_sets) backends += set.backends.size();
  findings.push_back({Level::kOk, "LoadBalancerReadable", subject,
                      absl::StrCat("readable and ACTIVE, ", read.backend_sets.size(), " sets, ",
                                   backends, " backends")});
  return findings;
}

std::optional<Finding> JudgeGrace(const WorkRequestTimes& times, const Grace& grace) {
  const LifecycleBudget budget = ComputeBudget(times, absl::ZeroDuration(), grace.shutdown);
  const absl::Duration needed =
      absl::Ceil(budget.drain + kLinger + grace.shutdown, absl::Seconds(1));
  if (grace.grace >= needed) return std::nullopt;
  const bool measured = times.count > 0;
  // Without a measurement it is a guess; with one, the drain does not even come in time.
  const bool problem = measured && grace.grace <= budget.drain;
  return Finding{
      problem ? Level::kProblem : Level::kWarning, "GraceTooShort", ServiceSubject(grace.service),
      absl::StrCat("Pods of ", grace.workload, " have ", absl::FormatDuration(grace.grace),
                   " to end, and a drain takes up to ",
                   absl::FormatDuration(absl::Ceil(budget.drain, absl::Seconds(1))),
                   measured ? " as measured" : " as assumed, since none was measured",
                   ", the application's end ", absl::FormatDuration(grace.shutdown),
                   "; set terminationGracePeriodSeconds to ", absl::ToInt64Seconds(needed),
                   " or more, see oci-drain budget")};
}

std::vector<Finding> JudgeServices(const drain::Input& input,
                                   const std::vector<drain::Notice>& obstacles,
                                   const WorkRequestTimes& times,
                                   const std::vector<Grace>& graces) {
  std::vector<Finding> findings;
  std::set<std::string> told;
  const auto add = [&](Finding finding) {
    told.insert(finding.subject);
    findings.push_back(std::move(finding));
  };
  for (const drain::Notice& notice : obstacles) {
    add({DrainsAllTheSame(notice.kind) ? Level::kWarning : Level::kProblem,
         std::string(drain::ReasonOf(notice.kind)), ServiceSubject(notice.regarding.key),
         drain::Describe(notice, input.load_balancer)});
  }
  for (const Grace& grace : graces) {
    std::optional<Finding> finding = JudgeGrace(times, grace);
    if (finding.has_value()) add(*std::move(finding));
  }
  std::map<std::string, std::set<std::string>> sets;
  for (const drain::SetInput& set : input.sets) {
    if (set.opted_in) sets[ServiceSubject(set.service.key)].insert(set.name.value());
  }
  for (const auto& [service, names] : sets) {
    if (told.count(service) != 0) continue;
    findings.push_back({Level::kOk, "ServiceDrains", service,
                        absl::StrCat("its Pods can be drained, in ", absl::StrJoin(names, ", "),
                                     " of ", LoadBalancerSubject(input.load_balancer))});
  }
  return findings;
}

std::vector<Finding> JudgeTopology(const controller::TopologyView& view,
                                   const std::string& controller_class,
                                   const std::vector<kube::ObjectKey>& opted_in) {
  std::vector<Finding> findings;
  if (view.mapping.load_balancers.empty()) {
    findings.push_back({Level::kWarning, "NoLoadBalancer", "load balancers",
                        absl::StrCat("no IngressClass of ", controller_class,
                                     " names one, so that OCI was not asked; its annotation is "
                                     "oci-native-ingress.oraclecloud.com/id, which the ingress "
                                     "controller writes")});
  }
  for (const controller::BadAnnotation& bad : view.bad_annotations) {
    findings.push_back({Level::kProblem, "InvalidAnnotation",
                        absl::StrCat(bad.object.kind, " ", bad.object.key.ToString()), bad.what});
  }
  for (const controller::MappingProblem& problem : view.mapping.problems) {
    findings.push_back({Level::kWarning, "NotMapped",
                        absl::StrCat(problem.regarding.kind, " ", problem.regarding.key.ToString()),
                        problem.text});
  }
  for (const kube::ObjectKey& service : opted_in) {
    if (view.load_balancers_of_service.count(service) != 0) continue;
    findings.push_back({Level::kProblem, "NotMapped", ServiceSubject(service),
                        absl::StrCat("it opted in, and no Ingress of a class of ", controller_class,
                                     " that has a load balancer leads to it; name it in an "
                                     "Ingress, or in --lb_map_file")});
  }
  return findings;
}

}  // namespace cmd

#include "cmd/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace cmd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const oci::Ocid kLoadBalancer("ocid1.loadbalancer.oc1.iad.aaaa");
constexpr char kClass[] = "oci.oraclecloud.com/native-ingress-controller";

auto Is(Level level, absl::string_view check, absl::string_view text) {
  return AllOf(Field(&Finding::level, level), Field(&Finding::check, std::string(check)),
               Field(&Finding::text, HasSubstr(std::string(text))));
}

TEST(Diagnosis, AFindingIsOneLineWhateverItsTextHolds) {
  const Finding finding{Level::kProblem, "InvalidAnnotation", "Service shop/web", "is \033[31m\n!"};
  EXPECT_EQ(FormatFinding(finding, DiagnosisStyle::kPlain),
            "problem  Service shop/web: is ?[31m?!\n");
  EXPECT_EQ(FormatFinding(finding, DiagnosisStyle::kColors),
            "\033[31mproblem\033[0m  Service shop/web: is ?[31m?!\n");
  EXPECT_EQ(FormatFinding({Level::kOk, "A", "b", "c"}, DiagnosisStyle::kPlain), "ok       b: c\n");
}

TEST(Diagnosis, JsonIsOneObjectOnOneLine) {
  const std::vector<Finding> findings = {{Level::kOk, "A", "b", "c"},
                                         {Level::kWarning, "B", "c", "\"d\"\n"}};
  const std::string json = FormatSummary(findings, DiagnosisStyle::kJson);
  EXPECT_EQ(json.find('\n'), json.size() - 1);
  const auto document = base::ParseJson(json, "diagnosis");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ((*document)["warnings"].GetInt(), 1);
  EXPECT_EQ((*document)["findings"][1]["text"], "\"d\"\n");
  EXPECT_EQ(FormatSummary(findings, DiagnosisStyle::kPlain), "1 ok, 1 warning, 0 problems\n");
  EXPECT_FALSE(HasProblem(findings));
}

TEST(Diagnosis, ColoursAreForTerminalsWithoutNoColor) {
  EXPECT_EQ(ParseDiagnosisStyle("text", true, false).value(), DiagnosisStyle::kColors);
  EXPECT_EQ(ParseDiagnosisStyle("text", true, true).value(), DiagnosisStyle::kPlain);
  EXPECT_EQ(ParseDiagnosisStyle("text", false, false).value(), DiagnosisStyle::kPlain);
  EXPECT_EQ(ParseDiagnosisStyle("json", true, false).value(), DiagnosisStyle::kJson);
  EXPECT_THAT(std::string(ParseDiagnosisStyle("yaml", true, false).status().message()),
              HasSubstr("text or json"));
}

TEST(Diagnosis, AnOldKubernetesIsAProblemAndAnOlderishOneAWarning) {
  const struct {
    int minor;
    Level level;
  } cases[] = {{20, Level::kProblem},
               {21, Level::kWarning},
               {25, Level::kWarning},
               {26, Level::kOk},
               {36, Level::kOk}};
  for (const auto& item : cases) {
    const Finding finding =
        JudgeVersion("here", kube::ServerVersion{1, item.minor, absl::StrCat("v1.", item.minor)});
    EXPECT_EQ(finding.level, item.level) << finding.text;
  }
  EXPECT_THAT(JudgeVersion("here", absl::UnavailableError("refused")),
              Is(Level::kProblem, "KubernetesVersion", "refused; check"));
}

TEST(Diagnosis, AClockIsJudgedByWhatItSpoils) {
  const auto ahead = [](absl::Duration by) {
    return http::ClockReading{by, by + absl::Seconds(1)};
  };
  EXPECT_EQ(JudgeKubernetesClock(ahead(absl::Seconds(2))).level, Level::kOk);
  EXPECT_THAT(JudgeKubernetesClock(ahead(absl::Seconds(3))),
              Is(Level::kWarning, "KubernetesClock", "at least 3s ahead of"));
  EXPECT_THAT(JudgeKubernetesClock(http::ClockReading{absl::Seconds(-61), absl::Seconds(-60)}),
              Is(Level::kProblem, "KubernetesClock", "at least 1m behind"));
  EXPECT_EQ(JudgeKubernetesClock(std::nullopt).level, Level::kWarning);
  EXPECT_EQ(JudgeOciClock(ahead(absl::Seconds(59))).level, Level::kOk);
  EXPECT_EQ(JudgeOciClock(ahead(absl::Minutes(2))).level, Level::kWarning);
  EXPECT_THAT(JudgeOciClock(ahead(absl::Minutes(6))),
              Is(Level::kProblem, "OciClock", "every request is refused"));
  EXPECT_EQ(JudgeOciClock(std::nullopt).level, Level::kWarning);
}

TEST(Diagnosis, AnIdentityWithoutCredentialsSaysWhy) {
  EXPECT_THAT(JudgeIdentity("config", std::string("user a")),
              Is(Level::kOk, "OciIdentity", "user a"));
  const Finding finding = JudgeIdentity("instance", absl::UnavailableError("no metadata service"));
  EXPECT_THAT(finding, Is(Level::kProblem, "OciIdentity", "no metadata service"));
  EXPECT_EQ(finding.subject, "OCI identity (--auth=instance)");
  EXPECT_THAT(JudgeRegion({"", "https://x"}), Is(Level::kOk, "OciRegion", "not named, https://x"));
}

RightAnswer Answer(absl::string_view resource, absl::string_view verb, bool allowed,
                   const std::string& ns = "") {
  for (const controller::Right& right : controller::Rights()) {
    if (right.resource == resource && right.verb == verb) {
      return {right, ns, kube::AccessAnswer{allowed, ""}};
    }
  }
  ADD_FAILURE() << verb << " " << resource;
  return {{}, ns, kube::AccessAnswer{}};
}

TEST(Diagnosis, RefusedVerbsOfOneResourceAreOneLine) {
  EXPECT_THAT(JudgeRights({Answer("services", "list", true), Answer("pods", "get", true)}),
              ElementsAre(Is(Level::kOk, "RightMissing", "all 2 that were asked for")));
  EXPECT_THAT(
      JudgeRights({Answer("deployments", "list", false), Answer("deployments", "watch", false),
                   Answer("pods", "list", false, "shop"), Answer("pods", "list", false, "bar"),
                   Answer("events", "create", false)}),
      ElementsAre(Is(Level::kProblem, "RightMissing",
                     "may not list, watch of deployments in API group apps in all namespaces: "
                     "no load balancer is drained; grant it"),
                  Is(Level::kProblem, "RightMissing", "list of pods in shop, bar: "),
                  Is(Level::kWarning, "RightMissing", "create of events")));
}

TEST(Diagnosis, RightsThatCannotBeAskedForAreAWarning) {
  RightAnswer unknown = Answer("services", "list", true);
  unknown.answer = absl::UnavailableError("timed out");
  EXPECT_THAT(JudgeRights({unknown}),
              ElementsAre(Is(Level::kWarning, "RightMissing", "not all are known: timed out")));
  EXPECT_THAT(JudgeRights({}), IsEmpty());
}

oci::LoadBalancerRead ReadOf(absl::string_view state) {
  oci::LoadBalancerRead read;
  read.load_balancer.id = kLoadBalancer;
  read.load_balancer.lifecycle_state = std::string(state);
  read.load_balancer.backend_sets[oci::BackendSetName("bs_a")].backends.resize(3);
  return read;
}

LoadBalancerAnswers Good() {
  return {kLoadBalancer, ReadOf("ACTIVE"), std::vector<oci::WorkRequest>(), false};
}

TEST(Diagnosis, ALoadBalancerThatCanBeReadIsWell) {
  const Place place{"us-ashburn-1", "https://iaas.us-ashburn-1.oraclecloud.com"};
  EXPECT_THAT(JudgeLoadBalancer(Good(), place),
              ElementsAre(Is(Level::kOk, "LoadBalancerReadable", "1 sets, 3 backends")));
}

TEST(Diagnosis, WhatKeepsALoadBalancerFromBeingWrittenIsNamed) {
  LoadBalancerAnswers answers = Good();
  answers.read = absl::NotFoundError("404 NotAuthorizedOrNotFound");
  EXPECT_THAT(JudgeLoadBalancer(answers, {}),
              ElementsAre(Is(Level::kProblem, "LoadBalancerUnreadable", "rights are missing")));
  answers.read = absl::UnauthenticatedError("401");
  EXPECT_THAT(JudgeLoadBalancer(answers, {}),
              ElementsAre(Is(Level::kProblem, "LoadBalancerUnreadable", "docs/authentication.md")));
  for (const auto code : {absl::StatusCode::kPermissionDenied, absl::StatusCode::kInvalidArgument,
                          absl::StatusCode::kUnavailable}) {
    answers.read = absl::Status(code, "no");
    EXPECT_THAT(JudgeLoadBalancer(answers, {}),
                ElementsAre(Is(Level::kProblem, "LoadBalancerUnreadable", "no; ")));
  }
  answers.read = ReadOf("CREATING");
  answers.work_requests = absl::NotFoundError("404");
  answers.paused = true;
  EXPECT_THAT(JudgeLoadBalancer(answers, {}),
              ElementsAre(Is(Level::kProblem, "WorkRequestsUnreadable", "404"),
                          Is(Level::kProblem, "LoadBalancerNotActive", "CREATING"),
                          Is(Level::kWarning, "Paused", "backend-drain-paused")));
}

TEST(Diagnosis, AnOcidOfAnotherRegionIsNamedAndAnUnknownOneIsNot) {
  EXPECT_THAT(JudgeLoadBalancer(Good(), {"eu-frankfurt-1", "https://x"}),
              ElementsAre(Is(Level::kProblem, "LoadBalancerInOtherRegion",
                             "set --oci_region=us-ashburn-1")));
  for (const char* region : {"iad", "us-ashburn-1", "", "xx-new-1"}) {
    EXPECT_THAT(JudgeLoadBalancer(Good(), {region, "https://x"}),
                ElementsAre(Field(&Finding::level, Level::kOk)))
        << region;
  }
}

Grace GraceOf(absl::Duration grace) {
  return {{"shop", "web"}, absl::Seconds(20), "Deployment shop/web", grace};
}

TEST(Diagnosis, AGracePeriodIsMeasuredAgainstTheDrain) {
  // 1.3 s + 2 * 10 s + 1 s: a drain of 22.3 s.
  const WorkRequestTimes measured{5, absl::Seconds(8), absl::Seconds(10)};
  EXPECT_THAT(JudgeGrace(measured, GraceOf(absl::Seconds(22))).value_or(Finding{}),
              Is(Level::kProblem, "GraceTooShort", "up to 23s as measured"));
  EXPECT_THAT(JudgeGrace(measured, GraceOf(absl::Seconds(44))).value_or(Finding{}),
              Is(Level::kWarning, "GraceTooShort", "terminationGracePeriodSeconds to 45"));
  EXPECT_FALSE(JudgeGrace(measured, GraceOf(absl::Seconds(45))).has_value());
  const WorkRequestTimes assumed;
  EXPECT_THAT(JudgeGrace(assumed, GraceOf(absl::Seconds(10))).value_or(Finding{}),
              Is(Level::kWarning, "GraceTooShort", "as assumed"));
}

drain::SetInput SetOf(absl::string_view name, const std::string& service) {
  drain::SetInput set;
  set.name = oci::BackendSetName(std::string(name));
  set.service = {"v1", "Service", {"shop", service}, "uid"};
  set.opted_in = true;
  return set;
}

TEST(Diagnosis, AServiceIsWellOrItsObstaclesAreTold) {
  drain::Input input;
  input.load_balancer = kLoadBalancer;
  input.sets = {SetOf("bs_a", "web"), SetOf("bs_b", "web"), SetOf("bs_c", "api"),
                SetOf("bs_d", "out")};
  input.sets[3].opted_in = false;
  EXPECT_THAT(JudgeServices(input, {}, {}, {}),
              ElementsAre(Is(Level::kOk, "ServiceDrains", "in bs_c of load balancer"),
                          Is(Level::kOk, "ServiceDrains", "in bs_a, bs_b of load balancer")));
  const struct {
    drain::NoticeKind kind;
    Level level;
    const char* check;
  } cases[] = {
      {drain::NoticeKind::kServiceNotPublishingTerminatingPods, Level::kProblem,
       "ServiceNotPublishingTerminatingPods"},
      {drain::NoticeKind::kBackendSetContested, Level::kProblem, "BackendSetContested"},
      {drain::NoticeKind::kBackendSetMissing, Level::kProblem, "BackendSetMissing"},
      {drain::NoticeKind::kNodeBackendsNotDrained, Level::kProblem, "NodeBackendsNotDrained"},
      {drain::NoticeKind::kHealthCheckCannotSeeReadiness, Level::kWarning,
       "HealthCheckCannotSeeReadiness"},
      {drain::NoticeKind::kStickySetWithoutCutoff, Level::kWarning, "StickySetWithoutCutoff"},
      {drain::NoticeKind::kPortMismatch, Level::kWarning, "PortMismatch"},
      {drain::NoticeKind::kEndpointWithoutPod, Level::kWarning, "EndpointWithoutPod"},
  };
  for (const auto& item : cases) {
    EXPECT_TRUE(IsObstacle(item.kind)) << item.check;
    drain::Notice notice;
    notice.kind = item.kind;
    notice.regarding = input.sets[2].service;
    const std::vector<Finding> findings =
        JudgeServices(input, {notice}, {}, {GraceOf(absl::Seconds(5))});
    ASSERT_THAT(findings, SizeIs(2)) << "and the grace of web";
    EXPECT_THAT(findings[0], Is(item.level, item.check, ""));
    EXPECT_EQ(findings[0].subject, "Service shop/api");
    EXPECT_EQ(findings[1].check, "GraceTooShort");
  }
  EXPECT_FALSE(IsObstacle(drain::NoticeKind::kBackendDrained));
}

TEST(Diagnosis, WhatLeadsNowhereIsTold) {
  controller::TopologyView view;
  EXPECT_THAT(JudgeTopology(view, kClass, {}),
              ElementsAre(Is(Level::kWarning, "NoLoadBalancer", "oraclecloud.com/id")));
  view.mapping.load_balancers[kLoadBalancer];
  EXPECT_THAT(JudgeTopology(view, kClass, {}), IsEmpty());
  view.bad_annotations.insert({{"v1", "Service", {"shop", "web"}, ""}, "backend-draining: yes"});
  view.mapping.problems.push_back({controller::MappingProblemKind::kServiceMissing,
                                   {"networking.k8s.io/v1", "Ingress", {"shop", "web"}, ""},
                                   "there is no Service"});
  view.load_balancers_of_service[{"shop", "web"}] = {kLoadBalancer};
  EXPECT_THAT(JudgeTopology(view, kClass, {{"shop", "web"}, {"shop", "api"}}),
              ElementsAre(Is(Level::kProblem, "InvalidAnnotation", "yes"),
                          Is(Level::kWarning, "NotMapped", "there is no Service"),
                          AllOf(Is(Level::kProblem, "NotMapped", "--lb_map_file"),
                                Field(&Finding::subject, "Service shop/api"))));
}

}  // namespace
}  // namespace cmd

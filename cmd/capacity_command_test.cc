#include "cmd/capacity_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kWeb[] = R"(
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 300
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 60}
)";
constexpr char kService[] = R"(
---
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}, {port: 81}]}
)";

CapacityQuestion Ask(const std::string& text) {
  CapacityQuestion question;
  const absl::Status status = kube::AddManifests(text, question.manifests);
  EXPECT_TRUE(status.ok()) << status;
  return question;
}

CapacityReport ReportOf(const CapacityQuestion& question) {
  absl::StatusOr<CapacityReport> report = MakeCapacityReport(question);
  EXPECT_TRUE(report.ok()) << report.status();
  return *std::move(report);
}

TEST(CapacityReport, SaysWhetherARolloutFitsBesideWhatIsInUse) {
  CapacityQuestion question = Ask(kWeb);
  EXPECT_FALSE(ReportOf(question).fits) << "not even alone";
  question.manifests.workloads[0].workload.replicas = 200;
  CapacityReport report = ReportOf(question);
  EXPECT_TRUE(report.fits);
  EXPECT_EQ(report.others, 0);
  EXPECT_EQ(report.together.steady, 200);
  const int peak = report.together.peak;
  EXPECT_GT(peak, 250);
  question.in_use = 200 + 512 - peak;
  EXPECT_TRUE(ReportOf(question).fits) << "exactly full";
  question.in_use = *question.in_use + 1;
  report = ReportOf(question);
  EXPECT_FALSE(report.fits);
  EXPECT_TRUE(report.sets[0].fits) << "it is the load balancer's limit";
  EXPECT_TRUE(report.workloads[0].advice.max_surge.has_value());
}

TEST(CapacityReport, TheAdviceFits) {
  CapacityQuestion question = Ask(kWeb);
  question.in_use = 400;
  const CapacityReport report = ReportOf(question);
  ASSERT_FALSE(report.fits);
  const capacity::Advice advice = report.workloads[0].advice;
  ASSERT_TRUE(advice.max_surge.has_value());
  question.manifests.workloads[0].workload.written_max_surge =
      kube::IntOrPercent::Count(*advice.max_surge);
  EXPECT_TRUE(ReportOf(question).fits);
  question.manifests.workloads[0].workload.written_max_surge =
      kube::IntOrPercent::Count(*advice.max_surge + 1);
  EXPECT_FALSE(ReportOf(question).fits);
}

TEST(CapacityReport, SetsComeFromServicesAndIngresses) {
  EXPECT_EQ(ReportOf(Ask(kWeb)).sets[0].name, "Deployment shop/web");
  CapacityReport report = ReportOf(Ask(std::string(kWeb) + kService));
  ASSERT_EQ(report.sets.size(), 1);
  EXPECT_EQ(report.sets[0].name, "Service shop/web");
  report = ReportOf(Ask(std::string(kWeb) + kService + R"(
---
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  defaultBackend: {service: {name: web, port: {number: 81}}}
  rules: [{http: {paths: [{backend: {service: {name: web, port: {number: 80}}}}]}}]
)"));
  ASSERT_EQ(report.sets.size(), 2);
  EXPECT_EQ(report.sets[0].name, "Service shop/web port 80");
  EXPECT_EQ(report.together.steady, 600) << "a Service in two sets has every Pod in both";
  EXPECT_FALSE(report.fits);
}

// What a manifest can have that is not as it should be.
TEST(CapacityReport, BadInputHasDefinedResultsAndSaysSo) {
  const struct {
    const char* more;
    size_t sets;
    int steady;
    const char* note;
  } kCases[] = {
      {"---\n{kind: HorizontalPodAutoscaler, metadata: {name: a}}", 1, 300,
       "HorizontalPodAutoscaler default/a: has no scaleTargetRef"},
      {"---\n{kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 9, "
       "scaleTargetRef: {kind: Deployment, name: x}}}",
       1, 300, "scales Deployment x, which is not among these manifests"},
      {"---\n{kind: Service, metadata: {name: s, namespace: shop}, spec: {selector: {app: other}}}",
       0, 0, "Service shop/s: selects no Pods of these manifests"},
      {"---\n{kind: Service, metadata: {name: s, namespace: shop}}", 0, 0,
       "Deployment shop/web: no Service of these manifests selects its Pods"},
      {"---\n{kind: Deployment, metadata: {name: two, namespace: shop}, spec: {replicas: 5, "
       "template: {metadata: {labels: {app: web}}}}}\n---\n{kind: Service, metadata: {name: s, "
       "namespace: shop}, spec: {selector: {app: web}}}",
       1, 305, ""},
      {"---\n{kind: Deployment, metadata: {name: zero}, spec: {replicas: 3, strategy: "
       "{rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}}}",
       2, 303, ""},
      {"---\n{kind: StatefulSet, metadata: {name: s}, spec: {replicas: 2, updateStrategy: {type: "
       "OnDelete}}}",
       2, 302, "OnDelete replaces nothing by itself"},
      {"---\n{kind: Deployment, metadata: {name: big}, spec: {replicas: 2147483647}}", 2, 0,
       "more than 10000 replicas are not simulated"},
      {"---\n{kind: DaemonSet, metadata: {name: agent}}", 1, 300,
       "DaemonSet default/agent: no forecast for this kind"},
  };
  for (const auto& each : kCases) {
    const CapacityReport report = ReportOf(Ask(std::string(kWeb) + each.more));
    EXPECT_EQ(report.sets.size(), each.sets) << each.more;
    if (each.steady > 0 || each.sets == 0) {
      EXPECT_EQ(report.together.steady, each.steady) << each.more;
    }
    if (*each.note == '\0') {
      EXPECT_THAT(report.notes, IsEmpty()) << each.more;
    } else {
      EXPECT_THAT(report.notes, testing::Contains(HasSubstr(each.note))) << each.more;
    }
  }
  EXPECT_THAT(MakeCapacityReport(Ask("{kind: Service, metadata: {name: s}}")).status().message(),
              HasSubstr("no Deployment or StatefulSet"));
}

TEST(CapacityReport, AnAutoscalerIsTakenAtItsMost) {
  const CapacityReport report = ReportOf(
      Ask(std::string(kWeb) +
          "---\n{kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: shop}, spec: "
          "{maxReplicas: 400, scaleTargetRef: {kind: Deployment, name: web}}}"));
  EXPECT_EQ(report.workloads[0].rollout.replicas, 400);
  EXPECT_EQ(report.workloads[0].rollout.max_surge, 100);
  EXPECT_FALSE(report.fits);
}

TEST(CapacityReport, LessInUseThanThePodsOfTheManifestsIsSaid) {
  CapacityQuestion question = Ask(kWeb);
  question.in_use = 10;
  const CapacityReport report = ReportOf(question);
  EXPECT_EQ(report.others, 0);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("less than the 300 backends")));
}

TEST(FormatCapacity, HasBarsOnATerminalOnlyAndColoursUnlessToldNotTo) {
  CapacityQuestion question = Ask(kWeb);
  question.in_use = 400;
  const CapacityReport report = ReportOf(question);
  const std::string plain = FormatCapacity(report, CapacityStyle::kPlain);
  EXPECT_THAT(plain, HasSubstr("Deployment shop/web: 300 replicas, maxSurge 75"));
  EXPECT_THAT(plain, HasSubstr("does not fit"));
  EXPECT_THAT(plain, HasSubstr("to fit: Deployment shop/web with maxSurge "));
  EXPECT_THAT(plain, Not(HasSubstr("[")));
  const std::string bars = FormatCapacity(report, CapacityStyle::kBars);
  EXPECT_THAT(bars, HasSubstr("    [====="));
  EXPECT_THAT(bars, HasSubstr("!]"));
  EXPECT_THAT(bars, Not(HasSubstr("\033")));
  EXPECT_THAT(FormatCapacity(report, CapacityStyle::kColors), HasSubstr("\033[31m"));
}

TEST(FormatCapacity, JsonIsOneObjectWithTheSameFacts) {
  CapacityQuestion question = Ask(kWeb);
  question.in_use = 400;
  const CapacityReport report = ReportOf(question);
  const std::string text = FormatCapacity(report, CapacityStyle::kJson);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto json = base::ParseJson(text, "report");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_FALSE((*json)["fits"].GetBool());
  EXPECT_EQ((*json)["load_balancer"]["peak"].GetInt(), 100 + report.together.peak);
  EXPECT_EQ((*json)["sets"][0]["steady"].GetInt(), 300);
  EXPECT_EQ((*json)["workloads"][0]["to_fit"]["max_surge"].GetInt(),
            *report.workloads[0].advice.max_surge);
}

TEST(ParseCapacityStyle, TakesTextAndJson) {
  EXPECT_EQ(*ParseCapacityStyle("json", true, false), CapacityStyle::kJson);
  EXPECT_EQ(*ParseCapacityStyle("text", false, false), CapacityStyle::kPlain);
  EXPECT_EQ(*ParseCapacityStyle("text", true, true), CapacityStyle::kBars);
  EXPECT_EQ(*ParseCapacityStyle("text", true, false), CapacityStyle::kColors);
  EXPECT_THAT(ParseCapacityStyle("snapshot", true, false).status().message(),
              HasSubstr("--output=snapshot"));
}

TEST(ReadManifestFiles, ReadsFilesAndFoldersAndNamesWhatIsWrong) {
  EXPECT_EQ(ReadManifestFiles({"testdata/demo"})->workloads.size(), 1);
  EXPECT_EQ(ReadManifestFiles({"testdata/demo/deployment.yaml", "testdata/demo/service.yaml"})
                ->services.size(),
            1);
  EXPECT_THAT(ReadManifestFiles({"/nowhere.yaml"}).status().message(), HasSubstr("/nowhere.yaml"));
}

}  // namespace
}  // namespace cmd

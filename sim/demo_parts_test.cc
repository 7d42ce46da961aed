#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/child_process.h"
#include "sim/demo_log.h"
#include "sim/demo_meter.h"
#include "sim/demo_options.h"
#include "sim/demo_recorder.h"
#include "sim/demo_screen.h"
#include "sim/demo_setup.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const absl::Time kStart = absl::FromUnixSeconds(1796000000);

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

TEST(ParseDemoOptions, TakesWhatTheHelpSays) {
  const auto options =
      ParseDemoOptions({"--json", "--seed=7", "--rival=drops-cache", "--service_time", "1s-2s",
                        "--etag=completion", "--controller=x", "--logs=y", "--patience=1m"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(options->json);
  EXPECT_EQ(options->seed, 7U);
  EXPECT_EQ(options->rival, RivalVariant::kDropsCacheOnConflict);
  EXPECT_EQ(options->service_time.max, absl::Seconds(2));
  EXPECT_EQ(options->etag, EtagMoves::kAtCompletion);
  EXPECT_EQ(options->controller, "x");
  EXPECT_EQ(options->patience, absl::Minutes(1));
  EXPECT_TRUE(ParseDemoOptions({"-h"})->help);
}

TEST(ParseDemoOptions, SaysWhatIsWrong) {
  for (const char* wrong : {"--seed=x", "--rival=y", "--etag=", "--service_time=soon", "--nope=1",
                            "stray", "--logs", "--patience=0s", "-"}) {
    const auto options = ParseDemoOptions({wrong});
    ASSERT_FALSE(options.ok()) << wrong;
    const std::string message(options.status().message());
    EXPECT_THAT(message, testing::AnyOf(HasSubstr("expected"), HasSubstr("--help"))) << wrong;
  }
}

TEST(ParseLoggedWrites, ReadsTextAndJson) {
  const std::vector<LoggedWrite> writes = ParseLoggedWrites(
      "I1 something else\n"
      "I2 notices.cc:24] write accepted: set=bs_x reason=drain call=UpdateBackendSet "
      "carries_wave=true waves=3 drains=2 undrains=0 additions=1 removals=0 work_request=wr-1\n"
      "{\"message\":\"write accepted: set=bs_x reason=reassert call=UpdateBackend "
      "carries_wave=false waves=3 work_request=wr-2\"}\n");
  ASSERT_THAT(writes, SizeIs(2));
  EXPECT_EQ(writes[0].backend_set, "bs_x");
  EXPECT_TRUE(writes[0].carries_wave);
  EXPECT_EQ(writes[0].waves, 3);
  EXPECT_EQ(writes[0].work_request, "wr-1");
  EXPECT_EQ(writes[1].reason, "reassert");
  EXPECT_FALSE(writes[1].carries_wave);
  EXPECT_EQ(writes[1].work_request, "wr-2");
}

TEST(ChildProcess, RunsUntilItIsStopped) {
  const std::string log = testing::TempDir() + "/child.log";
  const auto child = ChildProcess::Start({"/bin/sh", "-c", "echo hello; exec sleep 600"}, log);
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_TRUE((*child)->running());
  EXPECT_GT((*child)->PeakMegabytes(), 0);
  (*child)->Stop();
  EXPECT_FALSE((*child)->running());
  EXPECT_EQ((*child)->Ending(), "signal 15");
  EXPECT_EQ((*child)->PeakMegabytes(), 0);
}

TEST(ChildProcess, SaysWhatIsMissing) {
  const auto child = ChildProcess::Start({"/nowhere/program"}, testing::TempDir() + "/none.log");
  EXPECT_THAT(std::string(child.status().message()), HasSubstr("/nowhere/program"));
}

TEST(ReadDemoManifests, FindsWhatIsRolledAndWhereItIsRouted) {
  const auto web = ReadDemoManifests("testdata/demo");
  ASSERT_TRUE(web.ok()) << web.status();
  EXPECT_EQ(web->service.deployment, "web");
  EXPECT_EQ(web->service.port, 8080);
  EXPECT_EQ(web->service.replicas, 10);
  EXPECT_EQ(web->service.max_unavailable, 0);
  EXPECT_THAT(web->service.backend_set, testing::StartsWith("bs_"));
  EXPECT_THAT(LoadBalancerOf(web->objects), testing::StartsWith("ocid1.loadbalancer."));
  EXPECT_THAT(NewImagePatch(*web).Dump(),
              HasSubstr(R"({"name":"web","image":"example.com/web:1.1.0"})"));
  const auto neighbour = ReadDemoManifests("testdata/demo/neighbour");
  ASSERT_TRUE(neighbour.ok()) << neighbour.status();
  EXPECT_EQ(neighbour->service.deployment, "neighbour");
  EXPECT_FALSE(ReadDemoManifests("testdata").ok());
}

// What was written to a screen of that kind.
template <typename Use>
std::string Written(DemoScreenOptions options, Use use) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  options.descriptor = ends[1];
  {
    DemoScreen screen(options, 2);
    use(screen);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

TEST(DemoScreen, WritesPlainLinesWhereThereIsNoTerminal) {
  const std::string text = Written({.plain_interval = absl::Seconds(10)}, [](DemoScreen& screen) {
    screen.Line("first", DemoColor::kRed);
    screen.Progress(0, "one", At(0));
    screen.Progress(1, "two", At(5));
    screen.Progress(0, "three", At(9));
    screen.Progress(1, "four", At(10));
  });
  EXPECT_EQ(text, "first\n    | three\n    | four\n");
}

TEST(DemoScreen, RedrawsTheRunsBelowTheLinesOfATerminal) {
  const std::string text = Written({.terminal = true, .color = true}, [](DemoScreen& screen) {
    screen.Progress(0, "one", At(0));
    screen.Line("first", DemoColor::kGreen);
  });
  EXPECT_EQ(text,
            "\033[2mone\033[0m\n"
            "\033[1F\033[J\033[32mfirst\033[0m\n\033[2mone\033[0m\n"
            "\033[1F\033[J");
}

class Recorder : public testing::Test {
 protected:
  static constexpr char kSet[] = "bs_web";

  void Pod(PodEvent::Kind kind, const std::string& name, double seconds) {
    recorder_.OnPodEvent({At(seconds), kind, "demo", name, "uid-" + name,
                          kind == PodEvent::Kind::kCreated ? "" : "10.0.0." + name.substr(6)});
  }
  static rapidjson::Document Applied(const std::string& backends) {
    rapidjson::Document document;
    document.Parse(
        absl::StrCat(R"({"backendSets":{")", kSet, R"(":{"backends":[)", backends, R"(]}}})")
            .c_str());
    return document;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (const DemoEvent& event : recorder_.TakeEvents(At(1000))) {
      texts.push_back(absl::StrCat(event.actor, " ", event.text));
    }
    return texts;
  }

  const DemoService service_{.ns = "demo",
                             .deployment = "web",
                             .backend_set = kSet,
                             .port = 80,
                             .replicas = 2,
                             .max_unavailable = 0};
  DemoRecorder recorder_{{service_}};
};

TEST_F(Recorder, MakesAHistoryOfEventsAndWrites) {
  Pod(PodEvent::Kind::kCreated, "web-a-1", -5);
  Pod(PodEvent::Kind::kRunning, "web-a-1", -4);
  Pod(PodEvent::Kind::kReady, "web-a-1", -3);
  EXPECT_THAT(recorder_.ReadyBackends(service_), ElementsAre("10.0.0.1:80"));
  EXPECT_TRUE(recorder_.Serves("10.0.0.1", 80));
  recorder_.OnStart(Applied(R"({"name":"10.0.0.1:80","drain":false})"), At(-2));
  recorder_.Trigger(At(0));
  Pod(PodEvent::Kind::kDeleted, "web-a-1", 1);
  WriteRecord write;
  write.client = kDemoController;
  write.accepted = At(2);
  write.finished = At(9);
  write.state = WorkState::kSucceeded;
  write.effect.drained = {"10.0.0.1:80"};
  recorder_.OnWriteFinished(write, Applied(R"({"name":"10.0.0.1:80","drain":true})"));
  recorder_.OnConfirmed({"uid-web-a-1"}, At(10));
  recorder_.OnConfirmed({"uid-web-a-1"}, At(11));
  Pod(PodEvent::Kind::kProcessEnded, "web-a-1", 41);
  EXPECT_FALSE(recorder_.Serves("10.0.0.1", 80));
  const ServiceFigures figures = Measure(recorder_.History(service_, At(50)));
  EXPECT_EQ(figures.drained_before_exit, 1);
  EXPECT_THAT(figures.drain_latency, ElementsAre(absl::Seconds(8)));
  EXPECT_EQ(recorder_.History(service_, At(50)).confirmed.at("uid-web-a-1"), At(10));
  EXPECT_THAT(
      Texts(),
      ElementsAre("cluster deleted: web-1",
                  "load balancer controller's write, asked for 7.0 s ago: drained 1 (web-1)",
                  "controller has confirmed the drain of: web-1",
                  "cluster ended, drained by then: web-1"));
}

TEST_F(Recorder, PutsNeighbouringEventsOfAKindTogether) {
  Pod(PodEvent::Kind::kCreated, "web-a-1", 1);
  Pod(PodEvent::Kind::kCreated, "web-a-2", 1);
  Pod(PodEvent::Kind::kCreated, "other-1", 1);
  Pod(PodEvent::Kind::kDeleted, "web-a-1", 1);
  EXPECT_THAT(Texts(), ElementsAre("cluster created: web-1 web-2 (2)", "cluster deleted: web-1"));
  EXPECT_THAT(Texts(), IsEmpty());
}

TEST_F(Recorder, SaysWhatAWriteAsksFor) {
  recorder_.OnStart(Applied(R"({"name":"10.0.0.1:80","drain":false},
                               {"name":"10.0.0.2:80","drain":true},
                               {"name":"10.0.0.3:80","drain":false})"),
                    At(0));
  RequestRecord record;
  record.client = kDemoRival;
  record.time = At(1);
  record.status = 204;
  record.request = {.method = "PUT",
                    .target = absl::StrCat("/20170115/loadBalancers/x/backendSets/", kSet),
                    .body = R"({"backends":[{"ipAddress":"10.0.0.1","port":80,"drain":true},
                                            {"ipAddress":"10.0.0.2","port":80,"drain":false},
                                            {"ipAddress":"10.0.0.4","port":80}]})"};
  recorder_.OnRequest(record);
  record.status = 412;
  record.time = At(2);
  recorder_.OnRequest(record);
  EXPECT_THAT(Texts(), ElementsAre("NIC asks: drain 1, UNDRAIN 1, add 1, remove 1",
                                   HasSubstr("NIC is refused with 412")));
}

}  // namespace
}  // namespace sim

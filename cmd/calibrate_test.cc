// oci-drain calibrate: against the fake load balancer in each of its
// configurations, in virtual time, and as a process over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "cmd/calibration.h"
#include "cmd/calibration_report.h"
#include "cmd/run_program.h"
#include "sim/child_process.h"
#include "sim/controller_world.h"
#include "sim/http_server.h"
#include "sim/in_memory_load_balancer_api.h"
#include "sim/load_balancer_document.h"
#include "sim/manual_clock.h"
#include "sim/program.h"

namespace cmd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kScratch[] = "ocid1.loadbalancer.oc1.iad.scratch";
constexpr absl::Duration kServiceTime = absl::Seconds(10);

std::string ScratchJson() {
  return sim::MakeLoadBalancerJson(
      kScratch, {{"scratch", {"10.0.0.1:80", "10.0.0.2:80"}}, {"other", {"10.0.0.3:80"}}});
}

// Whatever the order of the members: a write of a backend and one of its set put them
// into different ones.
void ExpectSame(const std::string& now, const std::string& before, const std::string& when) {
  const auto a = base::ParseJson(now, "now");
  const auto b = base::ParseJson(before, "before");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_TRUE(base::SameJson(*a, *b)) << when << "\n" << now << "\n" << before;
}

// Passes calls on, but for one of them.
class FailingApi final : public oci::LoadBalancerApi {
 public:
  // The nth call, from 0, answers `error`; with `does_it` it is carried out all
  // the same.
  struct Fault {
    int nth = -1;
    bool does_it = false;
    absl::Status error;
    bool for_ever = false;
  };

  explicit FailingApi(oci::LoadBalancerApi& inner) : inner_(inner) {}
  void Set(Fault fault) { fault_ = std::move(fault); }
  int calls() const { return calls_; }

  absl::StatusOr<oci::LoadBalancerRead> GetLoadBalancer(const oci::Ocid& lb) override {
    return Call<oci::LoadBalancerRead>([&] { return inner_.GetLoadBalancer(lb); });
  }
  absl::StatusOr<oci::BackendSetHealth> GetBackendSetHealth(
      const oci::Ocid& lb, const oci::BackendSetName& set) override {
    return inner_.GetBackendSetHealth(lb, set);
  }
  absl::StatusOr<oci::BackendHealth> GetBackendHealth(const oci::Ocid& lb,
                                                      const oci::BackendSetName& set,
                                                      const oci::BackendName& backend) override {
    return inner_.GetBackendHealth(lb, set, backend);
  }
  absl::StatusOr<oci::WorkRequestId> UpdateBackend(const oci::Ocid& lb,
                                                   const oci::BackendSetName& set,
                                                   const oci::Backend& as_read,
                                                   const oci::BackendFlags& flags,
                                                   const oci::WriteGuard& guard) override {
    return Call<oci::WorkRequestId>(
        [&] { return inner_.UpdateBackend(lb, set, as_read, flags, guard); });
  }
  absl::StatusOr<oci::WorkRequestId> UpdateBackendSet(const oci::Ocid& lb,
                                                      const oci::BackendSet& as_read,
                                                      const oci::BackendSetChange& change,
                                                      const oci::WriteGuard& guard) override {
    return Call<oci::WorkRequestId>(
        [&] { return inner_.UpdateBackendSet(lb, as_read, change, guard); });
  }
  absl::StatusOr<oci::WorkRequest> GetWorkRequest(const oci::WorkRequestId& id) override {
    return Call<oci::WorkRequest>([&] { return inner_.GetWorkRequest(id); });
  }
  absl::StatusOr<std::vector<oci::WorkRequest>> ListWorkRequests(const oci::Ocid& lb) override {
    return Call<std::vector<oci::WorkRequest>>([&] { return inner_.ListWorkRequests(lb); });
  }

 private:
  template <typename T, typename Function>
  absl::StatusOr<T> Call(const Function& function) {
    const int call = calls_++;
    const bool hit = fault_.nth >= 0 && (fault_.for_ever ? call >= fault_.nth : call == fault_.nth);
    if (!hit) return function();
    if (fault_.does_it) function().status().IgnoreError();
    return fault_.error;
  }

  oci::LoadBalancerApi& inner_;
  Fault fault_;
  int calls_ = 0;
};

class Calibrate : public testing::Test {
 protected:
  void Make(sim::FakeLoadBalancerOptions options = {}) {
    if (options.max_service_time == absl::ZeroDuration()) {
      options.min_service_time = options.max_service_time = kServiceTime;
    }
    MakeExactly(options);
  }

  void MakeExactly(const sim::FakeLoadBalancerOptions& options) {
    clock_ = std::make_unique<sim::ManualClock>(absl::FromUnixSeconds(1'796'000'000));
    core_ = std::make_unique<sim::FakeLoadBalancer>(options);
    ASSERT_EQ(core_->AddLoadBalancer(ScratchJson(), clock_->Now()), absl::OkStatus());
    inner_ = std::make_unique<sim::InMemoryLoadBalancerApi>(*core_, *clock_, "calibrate");
    api_ = std::make_unique<FailingApi>(*inner_);
    before_ = base::WriteJson(*core_->Applied(kScratch));
    options_ = CalibrationOptions();
    options_.load_balancer = oci::Ocid(kScratch);
    options_.set = oci::BackendSetName("scratch");
    hooks_ = CalibrationHooks();
  }

  absl::Status Check() { return Calibrator(*api_, *clock_, options_, hooks_, 1).Check(); }

  Calibration Run() {
    Calibrator calibrator(*api_, *clock_, options_, hooks_, 1);
    const absl::Status ready = calibrator.Check();
    if (!ready.ok()) {
      Calibration refused;
      refused.ended = ready;
      return refused;
    }
    return calibrator.Run();
  }

  // As it was, and nothing on its way that would change that.
  void ExpectAsBefore(const std::string& when) {
    core_->Advance(clock_->Now());
    EXPECT_TRUE(core_->Idle()) << when;
    ExpectSame(base::WriteJson(*core_->Applied(kScratch)), before_, when);
  }

  std::unique_ptr<sim::ManualClock> clock_;
  std::unique_ptr<sim::FakeLoadBalancer> core_;
  std::unique_ptr<sim::InMemoryLoadBalancerApi> inner_;
  std::unique_ptr<FailingApi> api_;
  std::string before_;
  CalibrationOptions options_;
  CalibrationHooks hooks_;
};

TEST_F(Calibrate, EachConfigurationOfTheFakeIsRecognised) {
  const std::pair<sim::EtagMoves, EtagMoves> etags[] = {
      {sim::EtagMoves::kAtAcceptance, EtagMoves::kAtAcceptance},
      {sim::EtagMoves::kAtCompletion, EtagMoves::kAtCompletion},
      {sim::EtagMoves::kBoth, EtagMoves::kBoth}};
  for (const auto& [moves, expected] : etags) {
    for (const auto concurrent : {sim::ConcurrentWrites::kQueue, sim::ConcurrentWrites::kRefuse}) {
      for (const auto refusal :
           {sim::LimitRefusal::kAtOnce, sim::LimitRefusal::kFailedWorkRequest}) {
        sim::FakeLoadBalancerOptions options;
        options.etag_moves = moves;
        options.concurrent_writes = concurrent;
        options.limit_refusal = refusal;
        options.max_backends_per_set = 30;
        Make(options);
        options_.limits = true;
        const Calibration seen = Run();
        EXPECT_EQ(seen.ended, absl::OkStatus());
        EXPECT_THAT(seen.left_behind, IsEmpty());
        EXPECT_EQ(seen.etag, expected);
        EXPECT_EQ(seen.shown, ShownMeanwhile::kOldState);
        const bool queues = concurrent == sim::ConcurrentWrites::kQueue;
        EXPECT_EQ(seen.second, queues ? SecondWrite::kQueued : SecondWrite::kRefused);
        EXPECT_EQ(seen.old_etag_refused, true);
        EXPECT_THAT(seen.old_etag_error, HasSubstr("412"));
        EXPECT_THAT(seen.backend_times,
                    ElementsAre(kServiceTime, kServiceTime, kServiceTime, kServiceTime));
        EXPECT_THAT(seen.set_times, SizeIs(4));
        ASSERT_TRUE(seen.limit.has_value());
        EXPECT_EQ(seen.limit->most, 30);
        EXPECT_TRUE(seen.limit->is_limit);
        EXPECT_EQ(seen.limit->at_once, refusal == sim::LimitRefusal::kAtOnce);
        EXPECT_THAT(seen.limit->error, HasSubstr("exceeds the limit of 30"));
        EXPECT_THAT(FlagsFor(seen), ElementsAre(queues ? "--write_behind_foreign=membership"
                                                       : "--write_behind_foreign=never",
                                                "--max_backends_per_set=30"));
        ExpectAsBefore("after a configuration");
      }
    }
  }
}

TEST_F(Calibrate, WorkRequestsThatAreDoneAtOnceTellNothingOfWhatIsBetween) {
  MakeExactly({});
  const Calibration seen = Run();
  EXPECT_EQ(seen.ended, absl::OkStatus());
  EXPECT_EQ(seen.etag, EtagMoves::kUnknown);
  EXPECT_EQ(seen.shown, ShownMeanwhile::kUnknown);
  EXPECT_EQ(seen.second, SecondWrite::kUnknown);
  EXPECT_THAT(FlagsFor(seen), IsEmpty());
  EXPECT_THAT(FormatCalibration(options_, seen),
              AllOf(HasSubstr("not known: the work requests were done too soon"),
                    HasSubstr("not measured: give --url"), HasSubstr("not measured: give --limits"),
                    HasSubstr("the defaults"), HasSubstr("the backend set is as it was")));
  ExpectAsBefore("at once");
}

TEST_F(Calibrate, ALimitAboveTheGuessIsNotLookedFor) {
  Make();
  options_.limits = true;
  options_.limit_guess = 20;
  const Calibration seen = Run();
  EXPECT_EQ(seen.limit->most, 21);
  EXPECT_FALSE(seen.limit->is_limit);
  EXPECT_THAT(FormatCalibration(options_, seen), HasSubstr("21 or more"));
  EXPECT_THAT(FlagsFor(seen), ElementsAre("--write_behind_foreign=membership"));
  ExpectAsBefore("above the guess");
}

TEST_F(Calibrate, WhatMayNotBeWrittenToIsRefusedBeforeAnythingIsWritten) {
  Make();
  const auto expect = [&](const char* set, const char* why) {
    options_.set = oci::BackendSetName(set);
    const absl::Status status = Check();
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_TRUE(core_->writes().empty());
  };
  expect("bs_0123456789abcde", "is an ingress controller's");
  expect("default_ingress", "is an ingress controller's");
  expect("missing", "there are: other, scratch");
  const auto edit = [&](const std::function<void(rapidjson::Document&)>& change) {
    ASSERT_EQ(core_->EditNow(
                  kScratch,
                  [&](rapidjson::Document& lb) {
                    change(lb);
                    return sim::ApiError();
                  },
                  clock_->Now()),
              absl::OkStatus());
  };
  edit([](rapidjson::Document& lb) { lb["backendSets"]["other"]["backends"].Clear(); });
  expect("other", "has no backend");
  edit([](rapidjson::Document& lb) { lb["lifecycleState"].SetString("CREATING"); });
  expect("scratch", "is CREATING");
  edit([](rapidjson::Document& lb) { lb["lifecycleState"].SetString("ACTIVE"); });
  ASSERT_EQ(core_->QueueWrite(
                kScratch, "CreateListener", "rival",
                [](rapidjson::Document&) { return sim::ApiError(); }, clock_->Now()),
            absl::OkStatus());
  options_.set = oci::BackendSetName("scratch");
  EXPECT_THAT(std::string(Check().message()), HasSubstr("somebody else writes"));
  core_->RemoveLoadBalancer(kScratch);
  EXPECT_TRUE(absl::IsNotFound(Check()));
}

// Whatever call fails, and whether it was carried out or not, and wherever it
// is interrupted: the set is as it was.
TEST_F(Calibrate, TheSetIsPutBackWhicheverCallFails) {
  Make();
  options_.samples = 1;
  options_.limits = true;
  options_.limit_guess = 4;
  ASSERT_EQ(Run().ended, absl::OkStatus());
  const int calls = api_->calls();
  ASSERT_GT(calls, 40);
  for (const bool does_it : {false, true}) {
    for (int nth = 2; nth < calls; ++nth) {
      Make();
      options_.samples = 1;
      options_.limits = true;
      options_.limit_guess = 4;
      api_->Set({nth, does_it, absl::DeadlineExceededError("lost"), false});
      const Calibration seen = Run();
      EXPECT_THAT(seen.left_behind, IsEmpty()) << nth;
      ExpectAsBefore(absl::StrCat("call ", nth, does_it ? " done" : " not done"));
    }
  }
}

TEST_F(Calibrate, TheSetIsPutBackWhereverItIsInterruptedOrAWorkRequestFails) {
  for (int nth = 0; nth < 60; ++nth) {
    Make();
    options_.limits = true;
    options_.limit_guess = 4;
    int asked = 0;
    hooks_.is_over = [&] { return ++asked > nth; };
    const Calibration seen = Run();
    EXPECT_TRUE(absl::IsCancelled(seen.ended)) << nth << " " << seen.ended;
    EXPECT_THAT(seen.left_behind, IsEmpty()) << nth;
    ExpectAsBefore(absl::StrCat("interrupted at ", nth));
  }
  for (int nth = 0; nth < 12; ++nth) {
    Make();
    core_->AddWorkFault({.skip = nth});
    const Calibration seen = Run();
    EXPECT_THAT(seen.left_behind, IsEmpty()) << nth;
    ExpectAsBefore(absl::StrCat("failed work request ", nth));
  }
}

TEST_F(Calibrate, WhatCannotBePutBackIsNamed) {
  Make();
  options_.patience = absl::Minutes(1);
  // From the end of the first write on nobody answers.
  int reads = 0;
  hooks_.is_over = [&] {
    if (core_->writes().size() == 1 && core_->Idle() && reads++ == 0) {
      api_->Set({api_->calls(), false, absl::UnavailableError("nobody there"), true});
    }
    core_->Advance(clock_->Now());
    return false;
  };
  const Calibration seen = Run();
  EXPECT_FALSE(seen.ended.ok());
  ASSERT_THAT(seen.left_behind, Not(IsEmpty()));
  EXPECT_THAT(absl::StrJoin(seen.left_behind, "\n"),
              AllOf(HasSubstr("backend 10.0.0.1:80 has drain=true, "
                              "offline=false and had drain=false"),
                    HasSubstr("nobody there")));
  const std::string text = FormatCalibration(options_, seen);
  EXPECT_THAT(text, AllOf(HasSubstr("ended early: "), HasSubstr("left behind: "),
                          Not(HasSubstr("is as it was"))));
  const auto json = base::ParseJson(CalibrationJson(options_, seen), "calibration");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_GT((*json)["leftBehind"].Size(), 0u);
}

TEST_F(Calibrate, SomebodyElsesWriteStays) {
  Make();
  bool written = false;
  hooks_.is_over = [&] {
    if (core_->writes().size() == 3 && !std::exchange(written, true)) {
      EXPECT_EQ(core_->EditNow(
                    kScratch,
                    [](rapidjson::Document& lb) {
                      lb["backendSets"]["other"]["backends"][0]["weight"].SetInt(7);
                      return sim::ApiError();
                    },
                    clock_->Now()),
                absl::OkStatus());
    }
    return false;
  };
  const Calibration seen = Run();
  EXPECT_THAT(seen.left_behind, IsEmpty());
  const rapidjson::Value& lb = *core_->Applied(kScratch);
  EXPECT_EQ(lb["backendSets"]["other"]["backends"][0]["weight"].GetInt(), 7);
  EXPECT_FALSE(lb["backendSets"]["scratch"]["backends"][0]["drain"].GetBool());
}

TEST_F(Calibrate, WhatRequestsMeetDecidesHowSetsAreWritten) {
  for (const int64_t failed : {0, 3}) {
    Make();
    int run = 0;
    hooks_.traffic = [&](const std::function<void()>& during) -> absl::StatusOr<TrafficFigures> {
      during();
      return TrafficFigures{100, ++run == 1 ? 0 : failed, failed, 0};
    };
    const Calibration seen = Run();
    EXPECT_EQ(seen.ended, absl::OkStatus());
    EXPECT_EQ(run, 3) << "control, whole set, offline";
    EXPECT_THAT(FlagsFor(seen),
                ElementsAre("--write_behind_foreign=membership",
                            failed == 0 ? "--drain_write=auto" : "--drain_write=backend"));
    EXPECT_THAT(FormatCalibration(options_, seen),
                AllOf(HasSubstr(failed == 0 ? "loses nothing" : "loses requests: 3 of 100"),
                      HasSubstr(failed == 0 ? "keeps open connections" : "cuts open connections")));
    ExpectAsBefore("traffic");
  }
  Make();
  hooks_.traffic = [](const std::function<void()>&) { return TrafficFigures{10, 1, 0, 1}; };
  EXPECT_THAT(FormatCalibration(options_, Run()),
              HasSubstr("without a write 1 of 10 requests failed; mend --url first"));
  ExpectAsBefore("a control run that fails");
}

class CalibrateLive : public testing::Test {
 protected:
  void Make(absl::Duration service_time) {
    sim::ControllerWorldOptions options;
    options.load_balancer.min_service_time = service_time;
    options.load_balancer.max_service_time = service_time;
    world_ = std::make_unique<sim::ControllerWorld>(std::move(options));
    before_ = world_->oci().With([](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp&) {
      EXPECT_EQ(core.AddLoadBalancer(ScratchJson(), base::RealClock().Now()), absl::OkStatus());
      return base::WriteJson(*core.Applied(kScratch));
    });
  }

  std::string Now() {
    return world_->oci().With([](sim::FakeLoadBalancer& core, sim::FakeLoadBalancerHttp&) {
      core.Advance(base::RealClock().Now());
      return base::WriteJson(*core.Applied(kScratch));
    });
  }

  std::vector<std::string> Command(const std::vector<std::string>& flags) {
    std::vector<std::string> command = {"cmd/oci-drain", "calibrate",
                                        absl::StrCat("--lb=", kScratch), "--backend_set=scratch",
                                        "--calibrate_poll=10ms"};
    for (const std::string& flag : world_->ProgramFlags()) {
      if (!absl::StartsWith(flag, "--namespace")) command.push_back(flag);
    }
    command.insert(command.end(), flags.begin(), flags.end());
    return command;
  }

  cmd::Ran Call(const std::vector<std::string>& flags) {
    return RunProgram(absl::StrJoin(Command(flags), " "));
  }

  std::unique_ptr<sim::ControllerWorld> world_;
  std::string before_;
};

TEST_F(CalibrateLive, WithoutConsentNothingIsAskedAndNothingWritten) {
  Make(absl::Milliseconds(1));
  const Ran ran = Call({"--limits"});
  EXPECT_EQ(ran.status, 2) << ran.output;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("nothing was written"), HasSubstr("scratch"),
                                HasSubstr("--consent")));
  for (const sim::WorldCall& call : world_->Calls()) EXPECT_NE(call.to, sim::WorldCall::To::kOci);
  EXPECT_EQ(Call({"--consent", "--samples=0"}).status, 2);
  EXPECT_EQ(Call({"--consent", "--limit_guess=0"}).status, 2);
  EXPECT_EQ(Call({"--consent", "--backend_set=nobody"}).status, 2);
  EXPECT_THAT(world_->OciWrites(), IsEmpty());
}

TEST_F(CalibrateLive, ItMeasuresOverHttpAndSaysWhichFlagsFollow) {
  Make(absl::Milliseconds(300));
  // Whole-set writes beyond those that are timed lose requests from then on.
  auto server = sim::HttpServer::Start([this](const http::Request&) -> sim::Answer {
    const bool broken = world_->oci().With([](sim::FakeLoadBalancer& core, auto&) {
      int whole = 0;
      for (const sim::WriteRecord& write : core.writes()) whole += write.type == "UpdateBackendSet";
      return whole > 2;
    });
    return http::Response{.status = broken ? 503 : 200, .body = "x"};
  });
  ASSERT_TRUE(server.ok()) << server.status();
  const Ran ran = Call({"--consent", "--samples=1", "--limits", "--limit_guess=3",
                        absl::StrCat("--url=", (*server)->url(), "/")});
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr("is refused: UpdateBackend 10.0.0.1:80"), HasSubstr("loses requests"),
                    HasSubstr("4 or more"), HasSubstr("--drain_write=backend"),
                    HasSubstr("the backend set is as it was")));
  ExpectSame(Now(), before_, "at the end");
  for (const sim::WorldCall& call : world_->OciWrites()) {
    EXPECT_THAT(call.target, HasSubstr("/backendSets/scratch"));
    EXPECT_FALSE(call.if_match.empty());
  }
}

TEST_F(CalibrateLive, AnInterruptPutsTheSetBack) {
  Make(absl::Milliseconds(500));
  const std::string log = absl::StrCat(testing::TempDir(), "/calibrate.log");
  auto started = sim::ChildProcess::Start(Command({"--consent", "--samples=20"}), log);
  ASSERT_TRUE(started.ok()) << started.status();
  ASSERT_TRUE(world_->Await("a backend is drained", [&] { return Now() != before_; }));
  (*started)->Signal(SIGINT);
  ASSERT_TRUE(world_->Await("it has ended", [&] { return !(*started)->running(); }));
  const std::string output = sim::ReadFile(log).value_or("");
  EXPECT_EQ((*started)->Ending(), "exit status 130") << output;
  EXPECT_THAT(output, AllOf(HasSubstr("ended early: interrupted"), HasSubstr("is as it was")));
  ExpectSame(Now(), before_, "at the end");
}

}  // namespace
}  // namespace cmd

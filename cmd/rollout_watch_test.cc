#include "cmd/rollout_watch.h"

#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "annotations/table.h"
#include "base/json.h"
#include "cmd/run_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/controller_world.h"
#include "sim/http_server.h"

namespace cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kStart = absl::FromUnixSeconds(1796000000);

absl::Time At(int seconds) { return kStart + absl::Seconds(seconds); }

kube::Endpoint EndpointOf(const std::string& pod, bool ready = true) {
  return {.addresses = {"10.0.0.1"},
          .ready = ready,
          .serving = ready,
          .target_kind = "Pod",
          .target_namespace = "shop",
          .target_name = pod,
          .target_uid = absl::StrCat("uid-", pod)};
}

kube::EndpointSlice Slice(const std::string& name, std::vector<kube::Endpoint> endpoints,
                          const std::string& service = "web") {
  return {.key = {"shop", name}, .service = service, .endpoints = std::move(endpoints)};
}

kube::PodMetadata Pod(const std::string& name, bool deleted) {
  kube::PodMetadata pod;
  pod.key = {"shop", name};
  pod.uid = absl::StrCat("uid-", name);
  if (deleted) pod.deletion_timestamp = At(30);
  return pod;
}

kube::PodDetails Details(const std::string& name) {
  kube::PodDetails details;
  details.key = {"shop", name};
  details.uid = absl::StrCat("uid-", name);
  return details;
}

class Marks : public testing::Test {
 protected:
  std::vector<std::string> Told() const {
    std::vector<std::string> lines;
    for (const probe::Mark& mark : marks_.Take()) {
      lines.push_back(absl::StrCat(absl::ToInt64Seconds(mark.time - kStart), " ",
                                   probe::MarkName(mark.kind), " ", mark.pod));
    }
    return lines;
  }

  RolloutMarks marks_{{"shop", "web"}};
};

TEST_F(Marks, SayNothingOfWhatTheFirstListsShow) {
  marks_.OnSlice(Slice("web-1", {EndpointOf("a"), EndpointOf("b", false)}), At(0));
  marks_.OnPod(Pod("b", true), At(0));
  marks_.OnFirstSlices();
  marks_.OnFirstPods();
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(Marks, TellTheLifeOfAPodInItsOrder) {
  marks_.OnFirstSlices();
  marks_.OnFirstPods();
  marks_.OnSlice(Slice("web-1", {EndpointOf("a", false)}), At(1));
  EXPECT_FALSE(marks_.OnPod(Pod("a", false), At(1)));
  marks_.OnSlice(Slice("web-1", {EndpointOf("a")}), At(2));
  EXPECT_TRUE(marks_.OnPod(Pod("a", true), At(5))) << "it may be drained";
  kube::PodDetails details = Details("a");
  marks_.OnDetails(details, At(6));
  details.true_conditions = {std::string(annotations::kDrainedCondition)};
  marks_.OnDetails(details, At(7));
  marks_.OnDetails(details, At(8));
  EXPECT_FALSE(marks_.OnPod(Pod("a", true), At(8))) << "it is known to be drained";
  marks_.OnSlice(Slice("web-1", {}), At(9));
  marks_.OnPodGone({"shop", "a"}, "uid-a", At(10));
  EXPECT_THAT(Told(), ElementsAre("2 ready a", "5 deleted a", "7 drained a",
                                  "9 endpoint_withdrawn a", "10 exit a"));
}

TEST_F(Marks, LeaveOutThePodsOfOtherServices) {
  marks_.OnFirstSlices();
  marks_.OnFirstPods();
  marks_.OnSlice(Slice("other-1", {EndpointOf("x")}, "other"), At(1));
  EXPECT_FALSE(marks_.OnPod(Pod("x", true), At(2)));
  marks_.OnPodGone({"shop", "x"}, "uid-x", At(3));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(Marks, DoNotTakeAMoveToAnotherSliceForAWithdrawal) {
  marks_.OnSlice(Slice("web-1", {EndpointOf("a")}), At(0));
  marks_.OnFirstSlices();
  marks_.OnSlice(Slice("web-2", {EndpointOf("a")}), At(1));
  marks_.OnSliceGone({"shop", "web-1"}, At(2));
  EXPECT_THAT(Told(), IsEmpty());
  marks_.OnSliceGone({"shop", "web-2"}, At(3));
  EXPECT_THAT(Told(), ElementsAre("3 endpoint_withdrawn a"));
}

TEST_F(Marks, KnowAPodOfASuccessorWithItsName) {
  marks_.OnFirstPods();
  marks_.OnSlice(Slice("web-1", {EndpointOf("a")}), At(0));
  marks_.OnPod(Pod("a", true), At(1));
  kube::PodMetadata next = Pod("a", true);
  next.uid = "uid-of-another";
  EXPECT_FALSE(marks_.OnPod(next, At(2))) << "no endpoint yet";
  kube::PodDetails old = Details("a");
  old.true_conditions = {std::string(annotations::kDrainedCondition)};
  marks_.OnDetails(old, At(3));
  EXPECT_THAT(Told(), ElementsAre("1 deleted a"));
}

// The program, beside a cluster and a server that fails while a Pod is deleted.
class Watched : public testing::Test {
 protected:
  Watched() { web_ = world_.AddService({.name = "web", .pods = 2}); }

  Ran Probe(const std::string& url, const std::string& arguments) {
    return RunProgram(absl::StrCat("cmd/oci-drain probe ", url,
                                   "/ --clients=1 --control=0 --requests=20 --output=json ",
                                   world_.ProgramFlags()[0], " ", arguments));
  }

  // The probe has seen the deletion and asks for the Pod.
  bool AskedFor(const std::string& pod) {
    for (const sim::WorldCall& call : world_.Calls()) {
      if (call.method == "GET" && absl::EndsWith(call.target, absl::StrCat("/pods/", pod))) {
        return true;
      }
    }
    return false;
  }

  sim::ControllerWorld world_;
  sim::WorldService web_;
};

TEST_F(Watched, LinesFailuresUpWithWhatTheClusterTells) {
  std::atomic<int> asked = 0;
  const auto server = sim::HttpServer::Start([&](const http::Request&) {
    if (++asked != 10) return http::Response{.status = 200};
    world_.DeletePod(web_, "web-0");
    world_.Await("the probe asks for the Pod", [&] { return AskedFor("web-0"); });
    return http::Response{.status = 503};
  });
  ASSERT_TRUE(server.ok()) << server.status();
  const Ran ran = Probe((*server)->url(), "--watch=shop/web");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("after deleted")) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("\"deleted\":"));
}

TEST_F(Watched, SaysWhatIsWrongBeforeARequestIsMade) {
  std::atomic<int> asked = 0;
  const auto server = sim::HttpServer::Start([&](const http::Request&) {
    ++asked;
    return http::Response{.status = 200};
  });
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string url = (*server)->url();
  for (const auto& [value, message] :
       {std::pair("web", "--watch: web: expected NAMESPACE/SERVICE"),
        {"shop/nobody", "--watch: there is no Service shop/nobody"}}) {
    const Ran ran = Probe(url, absl::StrCat("--watch=", value));
    EXPECT_EQ(ran.status, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(message));
  }
  world_.cluster().With([](sim::FakeApiServer& server_core, sim::Controllers&) {
    server_core.Forbid({.resource = "endpointslices"});
  });
  const Ran ran = Probe(url, "--watch=shop/web");
  EXPECT_EQ(ran.status, 2) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("endpointslices"));
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace cmd

// The program as a user calls it.
#include <string>

#include "absl/strings/str_cat.h"
#include "cmd/run_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::HasSubstr;

constexpr char kCase[] = "testdata/drain/two_terminating_pods.in.json";

cmd::Ran Call(const std::string& arguments) {
  return cmd::RunProgram(absl::StrCat("cmd/oci-drain ", arguments));
}

TEST(OciDrain, PrintsThePlanOfASnapshot) {
  const cmd::Ran text = Call(absl::StrCat("plan --snapshot ", kCase));
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.output, HasSubstr("write bs_web: UpdateBackendSet, drain, if-match etag\n"));
  const cmd::Ran json = Call(absl::StrCat("plan --output=json --snapshot=", kCase));
  EXPECT_EQ(json.status, 0);
  EXPECT_THAT(json.output, HasSubstr("\"call\":\"UpdateBackendSet\""));
  EXPECT_EQ(json.output.find('\n'), json.output.size() - 1);
}

TEST(OciDrain, SaysWhetherARolloutFits) {
  const cmd::Ran fits = Call("capacity -f testdata/demo --in-use 400");
  EXPECT_EQ(fits.status, 0) << fits.output;
  EXPECT_THAT(fits.output, HasSubstr("Deployment demo/web: 10 replicas, maxSurge 3"));
  EXPECT_THAT(fits.output, HasSubstr("390 backends of others"));
  const cmd::Ran full = Call(
      "capacity --in-use=510 -f testdata/demo/deployment.yaml testdata/demo/service.yaml "
      "-f testdata/demo/ingress.yaml");
  EXPECT_EQ(full.status, 3) << full.output;
  EXPECT_THAT(full.output, HasSubstr("does not fit"));
  EXPECT_THAT(full.output, HasSubstr("to fit: Deployment demo/web with "));
  const cmd::Ran json = Call("capacity -f testdata/demo --in-use=510 --output=json");
  EXPECT_EQ(json.status, 3);
  EXPECT_THAT(json.output, HasSubstr("{\"fits\":false,"));
}

TEST(OciDrain, ExplainsAPodOfASnapshot) {
  const std::string snapshot = absl::StrCat(" --snapshot ", kCase);
  const cmd::Ran text = Call("explain pod shop/web-a" + snapshot);
  EXPECT_EQ(text.status, 0) << text.output;
  EXPECT_THAT(text.output, HasSubstr("  rule          2, its Pod is terminating\n"));
  EXPECT_THAT(text.output, HasSubstr("SIGKILL "));
  const cmd::Ran json = Call("explain pod shop/web-a --output=json" + snapshot);
  EXPECT_EQ(json.status, 0) << json.output;
  EXPECT_THAT(json.output, HasSubstr("\"rule_number\":\"2\""));
  EXPECT_THAT(json.output, HasSubstr("\"history\":null"));
  const cmd::Ran unknown = Call("explain pod shop/nobody" + snapshot);
  EXPECT_EQ(unknown.status, 4);
  EXPECT_THAT(unknown.output, HasSubstr("oci-drain: Pod shop/nobody: no backend set knows it"));
}

TEST(OciDrain, HelpTeaches) {
  const cmd::Ran help = Call("--help");
  EXPECT_EQ(help.status, 0);
  for (const char* word : {"oci-drain plan --snapshot=FILE", "oci-drain release",
                           "oci-drain capacity", "oci-drain status", "oci-drain explain pod",
                           "--address=VALUE", "--output=VALUE", "Exit status"}) {
    EXPECT_THAT(help.output, HasSubstr(word));
  }
}

TEST(OciDrain, AWrongCallIsOneClearLineAndStatusTwo) {
  const struct {
    const char* arguments;
    const char* line;
  } kCalls[] = {
      {"", "oci-drain: which command?"},
      {"paln",
       "oci-drain: paln: no such command; there are: plan, capacity, budget, status, "
       "explain, release"},
      {"plan --sync_within=soon --snapshot=x",
       "oci-drain: --sync_within=soon: expected a duration"},
      {"plan --snapshot", "oci-drain: --snapshot: a value must follow"},
      {"plan --snapshoot=x", "oci-drain: --snapshoot: no such flag"},
      {"plan x --snapshot=y", "oci-drain: plan: x: takes flags only"},
      {"plan --snapshot=/nowhere/x.json", "/nowhere/x.json"},
      {"plan --snapshot=testdata/drain", "testdata/drain"},
      {"plan --snapshot=testdata/drain/two_terminating_pods.plan.txt", "JSON error at byte 0"},
      {"capacity --in-use=3", "oci-drain: --in_use: is for capacity -f FILE"},
      {"capacity testdata/demo", "oci-drain: capacity: testdata/demo: takes flags only"},
      {"capacity -f", "oci-drain: -f: a file must follow"},
      {"plan -f x", "oci-drain: plan: takes no -f"},
      {"capacity -f /nowhere.yaml", "/nowhere.yaml"},
      {"capacity -f testdata/demo/service.yaml",
       "testdata/demo/service.yaml: there is no Deployment or StatefulSet in the manifests"},
      {"capacity -f testdata/demo --in-use=-2", "oci-drain: --in_use=-2: below 0"},
      {"capacity -f testdata/demo --in-use=many", "--in_use=many: not a int32"},
      {"capacity -f testdata/demo --startup=soon", "--startup=soon: expected a duration"},
      {"capacity -f testdata/demo --output=snapshot", "--output=snapshot: expected text or json"},
      {"capacity -f testdata/demo --max-backends-per-set=0", "must be above 0"},
      {"plan --output=yaml --snapshot=x",
       "oci-drain: --output=yaml: expected text, json or snapshot"},
  };
  for (const auto& call : kCalls) {
    const cmd::Ran ran = Call(call.arguments);
    EXPECT_EQ(ran.status, 2) << call.arguments;
    EXPECT_THAT(ran.output, HasSubstr(call.line)) << call.arguments;
    EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << ran.output;
  }
}

}  // namespace

// The program as a user calls it.
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::HasSubstr;

constexpr char kCase[] = "testdata/drain/two_terminating_pods.in.json";

struct Ran {
  int status = -1;
  std::string output;  // both streams
};

Ran Call(const std::string& arguments) {
  const std::string command = absl::StrCat("cmd/oci-drain ", arguments, " 2>&1");
  Ran ran;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  char buffer[4096];
  size_t read = 0;
  while ((read = fread(buffer, 1, sizeof(buffer), pipe)) > 0) ran.output.append(buffer, read);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
  return ran;
}

TEST(OciDrain, PrintsThePlanOfASnapshot) {
  const Ran text = Call(absl::StrCat("plan --snapshot ", kCase));
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.output, HasSubstr("write bs_web: UpdateBackendSet, drain, if-match etag\n"));
  const Ran json = Call(absl::StrCat("plan --output=json --snapshot=", kCase));
  EXPECT_EQ(json.status, 0);
  EXPECT_THAT(json.output, HasSubstr("\"call\":\"UpdateBackendSet\""));
  EXPECT_EQ(json.output.find('\n'), json.output.size() - 1);
}

TEST(OciDrain, HelpTeaches) {
  const Ran help = Call("--help");
  EXPECT_EQ(help.status, 0);
  for (const char* word :
       {"oci-drain plan --snapshot=FILE", "oci-drain release", "--output=VALUE", "Exit status"}) {
    EXPECT_THAT(help.output, HasSubstr(word));
  }
}

TEST(OciDrain, AWrongCallIsOneClearLineAndStatusTwo) {
  const struct {
    const char* arguments;
    const char* line;
  } kCalls[] = {
      {"", "oci-drain: which command?"},
      {"paln", "oci-drain: paln: no such command; there are: plan, release"},
      {"plan --sync_within=soon --snapshot=x",
       "oci-drain: --sync_within=soon: expected a duration"},
      {"plan --snapshot", "oci-drain: --snapshot: a value must follow"},
      {"plan --snapshoot=x", "oci-drain: --snapshoot: no such flag"},
      {"plan x --snapshot=y", "oci-drain: plan: x: takes flags only"},
      {"plan --snapshot=/nowhere/x.json", "/nowhere/x.json"},
      {"plan --snapshot=testdata/drain", "testdata/drain"},
      {"plan --snapshot=testdata/drain/two_terminating_pods.plan.txt", "JSON error at byte 0"},
      {"plan --output=yaml --snapshot=x",
       "oci-drain: --output=yaml: expected text, json or snapshot"},
  };
  for (const auto& call : kCalls) {
    const Ran ran = Call(call.arguments);
    EXPECT_EQ(ran.status, 2) << call.arguments;
    EXPECT_THAT(ran.output, HasSubstr(call.line)) << call.arguments;
    EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << ran.output;
  }
}

}  // namespace

// Every program says which version it is, and the changelog knows it.
#include <regex>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "cmd/run_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::MatchesRegex;

TEST(Version, IsSaidByEachProgramAndIsThatOfTheChangelog) {
  const std::string changelog = base::ReadFile("CHANGELOG.md").value();
  std::smatch newest;
  ASSERT_TRUE(
      std::regex_search(changelog, newest, std::regex("\n## \\[([0-9]+\\.[0-9]+\\.[0-9]+)\\] - ")));
  for (const std::string program : {"oci-drain", "oci-drain-controller", "drain-wait"}) {
    const cmd::Ran ran = cmd::RunProgram(absl::StrCat("cmd/", program, " --version"));
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_THAT(ran.output,
                MatchesRegex(absl::StrCat(program, " ", newest[1].str(), ", built by [^\n]+\n")));
  }
}

}  // namespace

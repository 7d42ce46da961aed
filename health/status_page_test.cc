#include "health/status_page.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "health/status_for_test.h"
#include "health/status_json.h"

namespace health {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kHostile[] = {
    "<script>document.title='owned'</script>",
    "\"><img src=x onerror=\"document.title='owned'\">",
    "' onmouseover='alert(1)",
    "</script><script>document.title='owned'</script>",
    "</title><svg onload=alert(1)>",
    "<!--",
    "&lt;b&gt;&amp;",
    "\u202E evil",
};

// As a browser compares it with the policy.
std::string HashOf(absl::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<unsigned char, 64> base64{};
  const int size = EVP_EncodeBlock(base64.data(), digest.data(), digest.size());
  return absl::StrCat("'sha256-", std::string(base64.begin(), base64.begin() + size), "'");
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(StatusPage, ThePolicyLetsTheOwnStyleAndScriptRunAndNothingElse) {
  EXPECT_THAT(std::string(StatusPagePolicy()),
              AllOf(HasSubstr("default-src 'none'"),
                    HasSubstr(absl::StrCat("style-src ", HashOf(StatusPageStyle()), ";")),
                    HasSubstr(absl::StrCat("script-src ", HashOf(StatusPageScript()), ";"))));
}

TEST(StatusPage, ShowsEveryPart) {
  const std::string page = StatusPage(OrdinaryStatus(), OrdinaryVitals());
  for (const char* text :
       {"<title>leads", "shop/web-6d5f7-9xkzt", "10.0.3.21:8080", "2.0 s late",
        "11.0 s left, tight", "34.0 s to spare", "at the latest in 27.0 s",
        "331 of 512 backends in use",
        "120 live, 14 draining, 0 foreign, 60 reserved, 378 free of 512",
        "and 1312 more older ones", "UpdateBackendSet, drain", "BAD_INPUT: backend 10.0.3.9:8080",
        "watch pods in namespace shop",
        "IngressClass <span class=\"text\">public, public-canary</span>", "0.1.0 (3f2a91c)",
        "<dt>Leader</dt><dd>this replica", "href=\"statusz.json\""}) {
    EXPECT_TRUE(absl::StrContains(page, text)) << text;
  }
}

TEST(StatusPage, NeedsNothingFromElsewhere) {
  const std::string page = StatusPage(OrdinaryStatus(), OrdinaryVitals());
  for (const char* text : {"http://", "https://", "src=", "@import", "<link", "style=\""}) {
    EXPECT_FALSE(absl::StrContains(page, text)) << text;
  }
}

TEST(StatusPage, SaysWhatIsStuck) {
  VitalsReport vitals = OrdinaryVitals();
  vitals.wedged = vitals.loops[1].stuck = true;
  vitals.ready = false;
  vitals.wedge = "worker-1 is stuck, for 10.2 s";
  vitals.loops[1].age = absl::Seconds(12);
  const std::string page = StatusPage(OrdinaryStatus(), vitals);
  EXPECT_TRUE(absl::StrContains(page, "<title>stuck"));
  EXPECT_TRUE(absl::StrContains(page, "role=\"alert\""));
  EXPECT_TRUE(absl::StrContains(page, "worker-1 is stuck, for 10.2 s"));
  EXPECT_TRUE(absl::StrContains(page, "12.0 s, stuck"));
}

TEST(StatusPage, AStandbyPointsToTheLeader) {
  Status status;
  status.at = kStatusNow;
  status.started = kStatusNow - absl::Minutes(5);
  status.elects = true;
  status.leader = "other_1";
  VitalsReport vitals;
  vitals.ready = true;
  const std::string page = StatusPage(status, vitals);
  EXPECT_TRUE(absl::StrContains(page, "stands by"));
  EXPECT_TRUE(absl::StrContains(page, "<dt>Leader</dt><dd><span class=\"id\">other_1"));
  EXPECT_TRUE(absl::StrContains(page, "No backend is draining."));
}

TEST(StatusPage, TextsStayTextsWhateverTheyHold) {
  const std::string plain = StatusPage(OrdinaryStatus(), OrdinaryVitals());
  for (const char* hostile : kHostile) {
    const std::string page = StatusPage(HostileStatus(hostile), HostileVitals(hostile));
    EXPECT_EQ(Count(page, "<script"), Count(plain, "<script")) << hostile;
    EXPECT_EQ(Count(page, "</script"), Count(plain, "</script")) << hostile;
    for (const char* tag : {"<img", "<svg onload", "<!--", "<b>", " onmouseover='", "onerror=\""}) {
      EXPECT_FALSE(absl::StrContains(page, tag)) << tag << " of " << hostile;
    }
  }
}

TEST(StatusJson, IsOneObjectWithoutWhatHtmlGivesAMeaning) {
  for (const char* hostile : kHostile) {
    const std::string json = StatusToJson(HostileStatus(hostile), HostileVitals(hostile));
    EXPECT_EQ(json.find_first_of("<>&"), std::string::npos) << json;
    const auto document = base::ParseJson(json, "status");
    ASSERT_TRUE(document.ok()) << document.status();
    const auto* drains = base::FindMember(*document, "drains");
    ASSERT_NE(drains, nullptr);
    EXPECT_EQ(base::ReadString((*drains)[0], "pod").value(), hostile);
  }
}

// docs/health.md promises these.
TEST(StatusJson, HasTheMembersOfItsSchema) {
  const auto document = base::ParseJson(StatusToJson(OrdinaryStatus(), OrdinaryVitals()), "status");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(base::ReadInt(*document, "schema").value(), 1);
  for (const char* name : {"at", "version", "started", "dry_run", "leader", "health", "queue",
                           "load_balancers", "more_load_balancers", "drains", "more_drains",
                           "work_requests", "more_work_requests", "decisions", "more_decisions"}) {
    EXPECT_NE(base::FindMember(*document, name), nullptr) << name;
  }
  const rapidjson::Value& late = (*base::FindMember(*document, "drains"))[0];
  EXPECT_EQ(base::FindMember(late, "slack_seconds")->GetDouble(), -2);
  EXPECT_EQ(base::ReadString(late, "state").value(), "written");
  const rapidjson::Value& kept = (*base::FindMember(*document, "drains"))[3];
  EXPECT_EQ(base::FindMember(kept, "slack_seconds")->GetDouble(), 34);
  const rapidjson::Value& running = (*base::FindMember(*document, "work_requests"))[0];
  EXPECT_EQ(base::FindMember(running, "took_seconds")->GetDouble(), 4);
  EXPECT_EQ(base::FindMember(running, "finished"), nullptr) << "null while it is under way";
}

TEST(ShownText, IsCutBetweenTwoCharacters) {
  EXPECT_EQ(ShownText("short"), "short");
  std::string text;
  while (text.size() < 2 * kMaxShownBytes) text += "\xC3\xA9";
  const std::string shown = ShownText(text);
  EXPECT_LE(shown.size(), kMaxShownBytes);
  EXPECT_THAT(shown, testing::EndsWith("\xC3\xA9..."));
}

TEST(Shown, CountsWhatIsBeyondItsBound) {
  Shown<int> shown;
  for (int i = 0; i < 5; ++i) shown.Add(i, 3);
  EXPECT_THAT(shown.items, testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(shown.more, 2u);
}

}  // namespace
}  // namespace health

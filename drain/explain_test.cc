// What people read: every rule, hold and notice has words of its own, and they name
// what they are about.
#include "drain/explain.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drain {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

const oci::Ocid kLoadBalancer("ocid1.loadbalancer.oc1.iad.a");
const absl::Time kNow = absl::FromUnixSeconds(1'796'000'000);

// Every value that has a name, in order; the one after them has none.
template <typename Enum, typename NameOf>
std::vector<Enum> AllOf(NameOf name_of) {
  std::vector<Enum> all;
  while (!absl::EqualsIgnoreCase(name_of(static_cast<Enum>(all.size())), "unknown")) {
    all.push_back(static_cast<Enum>(all.size()));
  }
  return all;
}

std::vector<NoticeKind> AllNotices() {
  return AllOf<NoticeKind>([](NoticeKind kind) { return ReasonOf(kind); });
}
std::vector<Rule> AllRules() {
  return AllOf<Rule>([](Rule rule) { return Name(rule); });
}
std::vector<Hold> AllHolds() {
  return AllOf<Hold>([](Hold hold) { return Name(hold); });
}

Notice SomeNotice(NoticeKind kind) {
  Notice notice;
  notice.kind = kind;
  notice.regarding = {"v1", "Service", {"shop", "web"}, "u"};
  notice.key = {oci::BackendSetName("bs_web"), oci::BackendName("10.0.0.1:8080")};
  notice.pod = "web-1";
  notice.took = absl::Milliseconds(12'345);
  notice.count = 7;
  notice.detail = "some detail";
  return notice;
}

TEST(Explain, EveryNoticeHasItsOwnReasonAndNamesTheLoadBalancer) {
  std::set<std::string> reasons;
  std::set<std::string> notes;
  const std::vector<NoticeKind> kinds = AllNotices();
  EXPECT_GE(kinds.size(), 17u);
  for (const NoticeKind kind : kinds) {
    reasons.emplace(ReasonOf(kind));
    const std::string note = Describe(SomeNotice(kind), kLoadBalancer);
    EXPECT_THAT(note, HasSubstr("backend 10.0.0.1:8080 of backend set bs_web of load balancer "
                                "ocid1.loadbalancer.oc1.iad.a"));
    EXPECT_LE(note.size(), 1024u) << "an Event's note holds no more";
    EXPECT_THAT(note, Not(HasSubstr("\n")));
    notes.insert(note);
  }
  EXPECT_EQ(reasons.size(), kinds.size());
  EXPECT_EQ(notes.size(), kinds.size());
  const auto none = static_cast<NoticeKind>(kinds.size());
  EXPECT_THAT(Describe(SomeNotice(none), kLoadBalancer), HasSubstr("load balancer"));
}

TEST(Explain, ANoticeSaysWhatPeopleNeed) {
  Notice drained = SomeNotice(NoticeKind::kBackendDrained);
  EXPECT_THAT(Describe(drained, kLoadBalancer),
              HasSubstr("is offline, 12.3s after the Pod's deletion"));
  drained.count = 0;
  EXPECT_THAT(Describe(drained, kLoadBalancer),
              HasSubstr("is drained, 12.3s after the Pod's deletion"));
  EXPECT_THAT(Describe(SomeNotice(NoticeKind::kWorkRequestFailed), kLoadBalancer),
              HasSubstr("\"some detail\""));
  EXPECT_THAT(Describe(SomeNotice(NoticeKind::kDrainBrakeEngaged), kLoadBalancer),
              HasSubstr("7 of its backends"));
  Notice of_all = SomeNotice(NoticeKind::kLoadBalancerNotActive);
  of_all.key = {};
  EXPECT_EQ(Describe(of_all, kLoadBalancer),
            "Nothing is written: load balancer ocid1.loadbalancer.oc1.iad.a is some detail, "
            "not ACTIVE");
}

TEST(Explain, WhatNeedsNobodyIsNoWarning) {
  std::set<NoticeKind> normal;
  for (const NoticeKind kind : AllNotices()) {
    if (!IsWarning(kind)) normal.insert(kind);
  }
  EXPECT_EQ(normal, (std::set{NoticeKind::kBackendDrained, NoticeKind::kForeignChangeRestored,
                              NoticeKind::kIngressControllerDrains}));
}

TEST(Explain, EveryRuleHoldAndReasonHasAWordOfItsOwn) {
  std::set<absl::string_view> sentences;
  std::set<absl::string_view> names;
  for (const Rule rule : AllRules()) {
    sentences.insert(Sentence(rule));
    names.insert(Name(rule));
  }
  EXPECT_GE(names.size(), 12u);
  EXPECT_EQ(sentences.size(), AllRules().size());
  EXPECT_EQ(names.size(), AllRules().size());
  EXPECT_EQ(Sentence(static_cast<Rule>(names.size())), "unknown");
  names.clear();
  for (const Hold hold : AllHolds()) names.insert(Name(hold));
  EXPECT_GE(names.size(), 12u);
  EXPECT_EQ(names.size(), AllHolds().size());
  const auto reasons = AllOf<WriteReason>([](WriteReason reason) { return Name(reason); });
  names.clear();
  for (const WriteReason reason : reasons) names.insert(Name(reason));
  EXPECT_GE(names.size(), 7u);
  EXPECT_EQ(names.size(), reasons.size());
  for (const absl::string_view name : names) {
    EXPECT_THAT(std::string(name), MatchesRegex("[a-z_]+"));
  }
}

TEST(Explain, EveryHoldIsExplainedWithItsEnd) {
  Input input;
  input.now = kNow;
  Plan plan;
  plan.next_look = absl::InfiniteFuture();
  std::set<std::string> texts;
  std::vector<Hold> holds = AllHolds();
  holds.push_back(static_cast<Hold>(holds.size()));
  for (const Hold hold : holds) {
    Decision decision;
    decision.key = {oci::BackendSetName("bs_web"), oci::BackendName("10.0.0.1:8080")};
    decision.in_set = decision.want_drained = true;
    decision.hold = hold;
    decision.until = kNow + absl::Seconds(5);
    plan.decisions = {decision};
    const std::string text = Explain(input, plan);
    EXPECT_THAT(text, HasSubstr("-> drain"));
    EXPECT_THAT(text, HasSubstr("next look never"));
    if (hold != Hold::kNone) {
      EXPECT_THAT(text, HasSubstr(", until in 5s"));
    }
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), holds.size());
}

TEST(Explain, EveryQuestionIsOnALineOfItsOwn) {
  Plan plan;
  plan.questions.own_work_request = plan.questions.work_requests = plan.questions.read = true;
  plan.questions.pods = {{"shop", "web-1"}};
  plan.questions.memberships = {{"shop", "web"}};
  plan.questions.health = {{oci::BackendSetName("bs_web"), oci::BackendName("10.0.0.1:8080")}};
  EXPECT_THAT(Explain(Input(), plan),
              HasSubstr("ask: our work request\nask: work requests\nask: load balancer\n"
                        "ask: Pod shop/web-1\nask: Endpoints shop/web\n"
                        "ask: health of 10.0.0.1:8080 in bs_web\n"));
}

TEST(Explain, TimesAreToldAsSeenFromNow) {
  Input input;
  input.now = kNow;
  Plan plan;
  plan.next_look = absl::InfinitePast();
  EXPECT_THAT(Explain(input, plan), HasSubstr("next look since ever"));
  plan.next_look = kNow - absl::Seconds(3);
  EXPECT_THAT(Explain(input, plan), HasSubstr("next look 3s ago"));
}

TEST(Summary, CountsWhatAWriteDoes) {
  Plan plan;
  EXPECT_EQ(Summary(plan), "no write");
  Write& write = plan.write.emplace();
  write.set = oci::BackendSetName("bs_web");
  write.reason = WriteReason::kUndrain;
  write.flips.resize(2);
  write.flips[1].drain = false;
  write.change.additions.emplace_back();
  write.change.removals = {oci::BackendName("a"), oci::BackendName("b")};
  EXPECT_EQ(Summary(plan),
            "write bs_web undrain UpdateBackend: 1 drains, 1 un-drains, 1 additions, 2 left out");
  write.whole_set = true;
  EXPECT_THAT(Summary(plan), HasSubstr("UpdateBackendSet"));
}

}  // namespace
}  // namespace drain

#include "kube/reflector.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/http_status.h"
#include "kube/recorded.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecordingSink final : public ReflectorSink {
 public:
  void OnListBegin() override { log.push_back("begin"); }
  void OnListEnd() override { log.push_back("end"); }
  void OnObject(Object object) override {
    log.push_back("+" + std::get<PodMetadata>(object).key.name);
  }
  void OnDeleted(const ObjectKey& key, const std::string& uid) override {
    log.push_back(absl::StrCat("-", key.name, " ", uid));
  }
  void OnBadObject(const ObjectKey& key, const absl::Status&) override {
    log.push_back("!" + key.name);
  }

  std::vector<std::string> log;
};

std::string Page(const std::vector<std::string>& names, int version,
                 absl::string_view continue_token = "") {
  std::vector<std::string> items;
  for (const std::string& name : names) {
    items.push_back(absl::StrCat(R"({"metadata":{"name":")", name, "\"}}"));
  }
  return absl::StrCat(R"({"metadata":{"resourceVersion":")", version, R"(","continue":")",
                      continue_token, R"("},"items":[)", absl::StrJoin(items, ","), "]}");
}

std::string Event(absl::string_view type, absl::string_view name, int version) {
  return absl::StrCat(R"({"type":")", type, R"(","object":{"metadata":{"name":")", name,
                      R"(","uid":"u","resourceVersion":")", version, "\"}}}\n");
}

constexpr char kExpiredEvent[] =
    R"({"type":"ERROR","object":{"code":410,"reason":"Expired","message":"too old"}})"
    "\n";

class ReflectorTest : public ::testing::Test {
 protected:
  using Kind = Reflector::StepKind;

  Kind Next() { return reflector_.Next(now_).kind; }
  std::string Token() { return reflector_.Next(now_).list.continue_token; }
  std::string Version() { return reflector_.Next(now_).watch.resource_version; }
  absl::Duration Wait() {
    const Reflector::Step step = reflector_.Next(now_);
    return step.kind == Kind::kWait ? step.until - now_ : absl::ZeroDuration();
  }
  void PassWait() { now_ += Wait(); }

  void List() {
    ASSERT_EQ(Next(), Kind::kList);
    reflector_.OnPage(Page({"a", "b"}, 10), now_);
    ASSERT_EQ(Next(), Kind::kWatch);
    now_ += absl::Seconds(5);
  }
  void ExpectListAnew() {
    EXPECT_EQ(Next(), Kind::kList);
    EXPECT_EQ(Token(), "");
  }

  absl::Time now_ = absl::FromUnixSeconds(1000000);
  base::Random random_{7};
  RecordingSink sink_;
  Reflector reflector_{{Resource::kPods, "shop"}, sink_, random_};
};

TEST_F(ReflectorTest, PagesThroughTheListThenWatchesFromItsVersion) {
  Reflector::Step step = reflector_.Next(now_);
  ASSERT_EQ(step.kind, Kind::kList);
  EXPECT_EQ(step.list.resource, Resource::kPods);
  EXPECT_EQ(step.list.ns, "shop");
  EXPECT_EQ(step.list.continue_token, "");
  EXPECT_EQ(step.list.limit, 500);
  reflector_.OnPage(Page({"a"}, 10, "next"), now_);
  EXPECT_FALSE(reflector_.synced());
  step = reflector_.Next(now_);
  ASSERT_EQ(step.kind, Kind::kList);
  EXPECT_EQ(step.list.continue_token, "next");
  reflector_.OnPage(Page({"b"}, 12), now_);
  EXPECT_TRUE(reflector_.synced());
  EXPECT_EQ(reflector_.last_heard(), now_);
  EXPECT_THAT(sink_.log, ElementsAre("begin", "+a", "+b", "end"));
  step = reflector_.Next(now_);
  ASSERT_EQ(step.kind, Kind::kWatch);
  EXPECT_EQ(step.watch.resource, Resource::kPods);
  EXPECT_EQ(step.watch.ns, "shop");
  EXPECT_EQ(step.watch.resource_version, "12");
  EXPECT_GE(step.watch.timeout, absl::Minutes(5));
  EXPECT_LE(step.watch.timeout, absl::Minutes(10));
}

TEST_F(ReflectorTest, ReadsRecordedListAndWatch) {
  reflector_.OnPage(ReadRecorded("pods-list-metadata").body, now_);
  for (const std::string& line : ReadRecorded("pods-watch-metadata").lines) {
    ASSERT_TRUE(reflector_.OnBytes(line + "\n", now_).ok());
  }
  EXPECT_THAT(sink_.log,
              ElementsAre("begin", "+shop-0", "+shop-1", "+shop-2", "end", "+shop-1", "+shop-1",
                          "+shop-1", "-shop-1 2dd81367-34df-4367-9456-a0594481a6fe"));
  EXPECT_EQ(Version(), "919") << "of the last bookmark";
}

TEST_F(ReflectorTest, ListsAnewAtOnceWhenAContinueTokenExpired) {
  reflector_.OnPage(Page({"a"}, 10, "next"), now_);
  reflector_.OnPage(absl::OutOfRangeError("expired"), now_);
  ExpectListAnew();
  reflector_.OnPage(Page({"a"}, 11, "next"), now_);
  reflector_.OnPage(absl::OutOfRangeError("expired"), now_);
  EXPECT_EQ(Next(), Kind::kWait) << "not a loop without a pause";
  PassWait();
  ExpectListAnew();
  reflector_.OnPage(Page({"b"}, 12), now_);
  EXPECT_THAT(sink_.log, ElementsAre("begin", "+a", "begin", "+a", "begin", "+b", "end"));
}

TEST_F(ReflectorTest, ListsAnewWhenAContinueTokenIsRefused) {
  reflector_.OnPage(Page({"a"}, 10, "next"), now_);
  reflector_.OnPage(absl::InvalidArgumentError("invalid continue token"), now_);
  PassWait();
  ExpectListAnew();
}

TEST_F(ReflectorTest, AsksForTheSamePageAgainAfterAPassingError) {
  reflector_.OnPage(Page({"a"}, 10, "next"), now_);
  reflector_.OnPage(absl::UnavailableError("503"), now_);
  EXPECT_EQ(reflector_.last_error(), absl::UnavailableError("503"));
  PassWait();
  EXPECT_EQ(Token(), "next");
  reflector_.OnPage(Page({"b"}, 10), now_);
  EXPECT_TRUE(reflector_.last_error().ok());
  EXPECT_THAT(sink_.log, ElementsAre("begin", "+a", "+b", "end"));
}

TEST_F(ReflectorTest, BacksOffLongerWithEachFailureUpToTheCapAndResetsOnSuccess) {
  absl::Duration longest;
  for (int failure = 1; failure <= 40; ++failure) {
    reflector_.OnPage(absl::PermissionDeniedError("no"), now_);
    const absl::Duration cap = std::min(absl::Seconds(30), absl::Seconds(1LL << (failure - 1)));
    EXPECT_LE(Wait(), cap);
    longest = std::max(longest, Wait());
    PassWait();
  }
  EXPECT_GT(longest, absl::Seconds(15));
  List();
  reflector_.OnWatchEnd(absl::UnavailableError("broken"), now_);
  EXPECT_LE(Wait(), absl::Seconds(1));
}

TEST_F(ReflectorTest, WaitsAsLongAsTheServerAsks) {
  ApiStatus busy;
  busy.code = 429;
  busy.retry_after = absl::Seconds(77);
  reflector_.OnPage(ToStatus(busy, "list", false), now_);
  EXPECT_EQ(Wait(), absl::Seconds(77));
}

TEST_F(ReflectorTest, WaitsAfterAPageThatCannotBeRead) {
  reflector_.OnPage(Page({"a"}, 10, "next"), now_);
  reflector_.OnPage(std::string("<html>"), now_);
  EXPECT_THAT(reflector_.last_error().message(), HasSubstr("list of pods: JSON error"));
  PassWait();
  ExpectListAnew();
}

TEST_F(ReflectorTest, ResumesFromTheLastVersionAfterACleanEnd) {
  List();
  ASSERT_TRUE(reflector_.OnBytes(Event("MODIFIED", "a", 11), now_).ok());
  EXPECT_EQ(reflector_.last_heard(), now_);
  reflector_.OnWatchEnd(absl::OkStatus(), now_);
  EXPECT_EQ(Next(), Kind::kWatch);
  EXPECT_EQ(Version(), "11");
}

TEST_F(ReflectorTest, ResumesFromTheLastVersionAfterABreakAndAfterSilence) {
  List();
  ASSERT_TRUE(reflector_.OnBytes(Event("MODIFIED", "a", 11) + R"({"type":"DEL)", now_).ok());
  reflector_.OnWatchEnd(absl::DeadlineExceededError("silent for 90 s"), now_);
  EXPECT_EQ(Next(), Kind::kWait);
  PassWait();
  EXPECT_EQ(Version(), "11");
  ASSERT_TRUE(reflector_.OnBytes(Event("DELETED", "a", 12), now_).ok())
      << "the half line before the break is forgotten";
  EXPECT_EQ(sink_.log.back(), "-a u");
}

TEST_F(ReflectorTest, ResumesFromABookmark) {
  List();
  ASSERT_TRUE(
      reflector_
          .OnBytes(
              "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"99\"}}}\n",
              now_)
          .ok());
  reflector_.OnWatchEnd(absl::UnavailableError("broken"), now_);
  PassWait();
  EXPECT_EQ(Version(), "99");
}

TEST_F(ReflectorTest, ListsAnewAtOnceWhenTheWatchExpiredAfterItWorked) {
  List();
  ASSERT_TRUE(reflector_.OnBytes(Event("ADDED", "c", 11), now_).ok());
  reflector_.OnWatchEnd(absl::OutOfRangeError("410 as HTTP status"), now_);
  ExpectListAnew();
  List();
  ASSERT_TRUE(reflector_.OnBytes(Event("ADDED", "c", 21), now_).ok());
  const absl::Status status = reflector_.OnBytes(kExpiredEvent, now_);
  EXPECT_TRUE(absl::IsOutOfRange(status));
  reflector_.OnWatchEnd(absl::CancelledError("as the transport may put it"), now_);
  ExpectListAnew();
}

TEST_F(ReflectorTest, PausesWhenEachListIsTooOldAtOnce) {
  for (int round = 1; round <= 20; ++round) {
    List();
    EXPECT_TRUE(absl::IsOutOfRange(reflector_.OnBytes(kExpiredEvent, now_)));
    reflector_.OnWatchEnd(absl::OutOfRangeError("410"), now_);
    EXPECT_EQ(Next(), Kind::kWait);
    PassWait();
  }
  EXPECT_GT(now_ - absl::FromUnixSeconds(1000000), absl::Minutes(3)) << "and longer each time";
}

TEST_F(ReflectorTest, PausesWhenAWatchEndsAtOnceWithoutAnEvent) {
  List();
  PassWait();
  reflector_.OnPage(Page({}, 10), now_);
  reflector_.OnWatchEnd(absl::OkStatus(), now_ + absl::Milliseconds(3));
  EXPECT_EQ(Next(), Kind::kWait);
  EXPECT_THAT(reflector_.last_error().message(), HasSubstr("watch pods: ended at once"));
  PassWait();
  EXPECT_EQ(Next(), Kind::kWatch);
}

TEST_F(ReflectorTest, ListsAnewAfterALineThatCannotBeRead) {
  List();
  const absl::Status status = reflector_.OnBytes("{\"type\":\n", now_);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  reflector_.OnWatchEnd(status, now_);
  EXPECT_EQ(Next(), Kind::kWait);
  PassWait();
  ExpectListAnew();
}

TEST_F(ReflectorTest, ListsAnewAfterALineThatIsTooLong) {
  List();
  const std::string piece(1 << 20, 'x');
  absl::Status status;
  for (int i = 0; i < 9 && status.ok(); ++i) status = reflector_.OnBytes(piece, now_);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  reflector_.OnWatchEnd(status, now_);
  PassWait();
  ExpectListAnew();
}

TEST_F(ReflectorTest, TellsABadObjectAndGoesOn) {
  List();
  ASSERT_TRUE(reflector_
                  .OnBytes(R"({"type":"MODIFIED","object":{"metadata":{"name":"a",)"
                           R"("resourceVersion":"11","deletionTimestamp":5}}})"
                           "\n" +
                               Event("MODIFIED", "b", 12),
                           now_)
                  .ok());
  EXPECT_THAT(sink_.log, ElementsAre("begin", "+a", "+b", "end", "!a", "+b"));
  EXPECT_EQ(Version(), "12");
}

TEST_F(ReflectorTest, GoesOnAfterARefusalOfTheWatch) {
  List();
  reflector_.OnWatchEnd(absl::PermissionDeniedError("no"), now_);
  EXPECT_EQ(reflector_.last_error(), absl::PermissionDeniedError("no"));
  EXPECT_TRUE(reflector_.synced());
  PassWait();
  EXPECT_EQ(Version(), "10");
}

TEST_F(ReflectorTest, StaysWhereItIsWhenCancelled) {
  List();
  reflector_.OnWatchEnd(absl::CancelledError("stopping"), now_);
  EXPECT_EQ(Next(), Kind::kWatch);
  EXPECT_TRUE(reflector_.last_error().ok());
}

}  // namespace
}  // namespace kube

#include "kube/event_recorder.h"

#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

// Keeps events as the API does; refuses what it is told to.
class EventStore final : public KubeApi {
 public:
  absl::StatusOr<std::string> List(const ListRequest&) override { return Unused(); }
  absl::Status Watch(const WatchRequest&, const std::function<absl::Status(absl::string_view)>&,
                     std::shared_ptr<http::Cancellation>) override {
    return Unused();
  }
  absl::StatusOr<PodDetails> GetPod(const ObjectKey&) override { return Unused(); }
  absl::StatusOr<Endpoints> GetEndpoints(const ObjectKey&) override { return Unused(); }
  absl::StatusOr<ConfigMap> GetConfigMap(const ObjectKey&) override { return Unused(); }
  absl::StatusOr<ConfigMap> PutConfigMap(const ConfigMap&) override { return Unused(); }
  absl::StatusOr<Lease> GetLease(const ObjectKey&) override { return Unused(); }
  absl::StatusOr<Lease> PutLease(const Lease&) override { return Unused(); }
  absl::StatusOr<std::string> ListObjects(Collection, const std::string&) override {
    return Unused();
  }
  absl::Status RemovePodLabel(const ObjectKey&, const std::string&, absl::string_view) override {
    return Unused();
  }

  absl::Status CreateEvent(const Event& event) override {
    ++calls;
    if (!answer.ok() && !lose_answer) return answer;
    const auto [it, is_new] = events.try_emplace(event.key, Stored{event, 1});
    if (!is_new) return absl::AlreadyExistsError(event.key.ToString());
    return answer;
  }
  absl::Status PatchEventSeries(const ObjectKey& key, int count, absl::Time) override {
    ++calls;
    if (!answer.ok()) return answer;
    const auto it = events.find(key);
    if (it == events.end()) return absl::NotFoundError(key.ToString());
    it->second.count = count;
    return absl::OkStatus();
  }

  absl::Status ApplyPodCondition(const PodCondition&) override { return Unused(); }

  std::vector<int> Counts() const {
    std::vector<int> counts;
    for (const auto& [key, stored] : events) counts.push_back(stored.count);
    return counts;
  }

  struct Stored {
    Event event;
    int count = 0;
  };
  std::map<ObjectKey, Stored> events;
  int calls = 0;
  absl::Status answer;
  bool lose_answer = false;  // `answer` is said though the event is stored

 private:
  static absl::Status Unused() { return absl::UnimplementedError("not about events"); }
};

class EventRecorderTest : public ::testing::Test {
 protected:
  static Occurrence Happening(std::string note_key = "", std::string object = "web") {
    Occurrence occurrence;
    occurrence.regarding = {"v1", "Service", {"shop", std::move(object)}, "uid"};
    occurrence.type = "Warning";
    occurrence.reason = "InvalidAnnotation";
    occurrence.action = "Parse";
    occurrence.note = "note of " + note_key;
    occurrence.note_key = std::move(note_key);
    return occurrence;
  }

  void Record(const Occurrence& occurrence) { recorder_.Record(occurrence, now_); }
  void Flush() { recorder_.Flush(api_, now_); }

  absl::Time now_ = absl::FromUnixSeconds(1000000);
  EventStore api_;
  EventRecorder recorder_{base::Random(1)};
};

TEST_F(EventRecorderTest, CreatesAnEventWithAUniqueName) {
  EXPECT_EQ(recorder_.NextFlush(), absl::InfiniteFuture());
  Record(Happening("a"));
  EXPECT_LE(recorder_.NextFlush(), now_);
  EXPECT_EQ(api_.calls, 0) << "Record does not call";
  Flush();
  ASSERT_THAT(api_.events, SizeIs(1));
  const Event& event = api_.events.begin()->second.event;
  EXPECT_EQ(event.key.ns, "shop");
  EXPECT_THAT(event.key.name, MatchesRegex("web\\.[0-9a-z]+"));
  EXPECT_EQ(event.regarding, Happening().regarding);
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.reason, "InvalidAnnotation");
  EXPECT_EQ(event.action, "Parse");
  EXPECT_EQ(event.note, "note of a");
  EXPECT_EQ(event.event_time, now_);
  EXPECT_EQ(recorder_.NextFlush(), absl::InfiniteFuture());
  Record(Happening("b"));
  Flush();
  EXPECT_THAT(api_.events, SizeIs(2));
}

TEST_F(EventRecorderTest, NamesAreTheSameForTheSameSeed) {
  EventStore other_api;
  EventRecorder other{base::Random(1)};
  for (const char* key : {"a", "b", "c"}) {
    Record(Happening(key));
    other.Record(Happening(key), now_);
  }
  Flush();
  other.Flush(other_api, now_);
  for (const auto& [key, stored] : api_.events) EXPECT_TRUE(other_api.events.contains(key));
}

TEST_F(EventRecorderTest, NamesFitTheApiWhateverTheObjectIsCalled) {
  Record(Happening("", std::string(199, 'a') + "." + std::string(53, 'b')));
  Record(Happening("", "-"));
  Flush();
  for (const auto& [key, stored] : api_.events) {
    EXPECT_LE(key.name.size(), 253u);
    EXPECT_THAT(key.name, MatchesRegex("[a-z]+\\.[0-9a-z]+"));
  }
}

TEST_F(EventRecorderTest, PutsEventsOfClusterScopedObjectsIntoTheDefaultNamespace) {
  Occurrence occurrence = Happening();
  occurrence.regarding = {"networking.k8s.io/v1", "IngressClass", {"", "oci"}, "uid"};
  Record(occurrence);
  Flush();
  EXPECT_EQ(api_.events.begin()->first.ns, "default");
}

TEST_F(EventRecorderTest, CountsRepetitionsWhenTheyDoubleOrAMinuteHasPassed) {
  Record(Happening());
  Flush();
  Record(Happening());
  Flush();
  EXPECT_THAT(api_.Counts(), ElementsAre(2)) << "doubled";
  Record(Happening());
  Flush();
  EXPECT_THAT(api_.Counts(), ElementsAre(2)) << "neither";
  EXPECT_EQ(recorder_.NextFlush(), now_ + absl::Minutes(1));
  now_ += absl::Minutes(1);
  Flush();
  EXPECT_THAT(api_.Counts(), ElementsAre(3));
  for (int i = 0; i < 1000; ++i) Record(Happening());
  Flush();
  EXPECT_THAT(api_.Counts(), ElementsAre(1003));
  EXPECT_EQ(api_.calls, 4);
}

TEST_F(EventRecorderTest, BeginsANewEventAfterALongSilence) {
  Record(Happening());
  Flush();
  now_ += absl::Minutes(11);
  Record(Happening());
  Flush();
  EXPECT_THAT(api_.Counts(), ElementsAre(1, 1));
}

TEST_F(EventRecorderTest, BeginsANewEventWhenTheOldOneHasExpired) {
  Record(Happening());
  Flush();
  api_.events.clear();
  Record(Happening());
  Flush();
  EXPECT_THAT(api_.Counts(), ElementsAre(1));
  Record(Happening());
  Flush();
  EXPECT_THAT(api_.Counts(), ElementsAre(2));
}

TEST_F(EventRecorderTest, LimitsTheCallsForEachObject) {
  for (int i = 0; i < 100; ++i) Record(Happening(absl::StrCat(i)));
  Record(Happening("", "another"));
  Flush();
  EXPECT_THAT(api_.events, SizeIs(26)) << "25 and the other object's";
  EXPECT_EQ(recorder_.counts().dropped, 75u);
  now_ += absl::Minutes(5);
  Record(Happening("later"));
  Record(Happening("later still"));
  Flush();
  EXPECT_THAT(api_.events, SizeIs(27));
}

TEST_F(EventRecorderTest, WhatIsFrequentDoesNotKeepOutWhatIsRare) {
  for (int i = 0; i < 100; ++i) Record(Happening(absl::StrCat(i)));
  kube::Occurrence rare = Happening("rare");
  rare.reason = "DrainDeadlineMissed";
  Record(rare);
  Flush();
  EXPECT_THAT(api_.events, SizeIs(26));
}

TEST_F(EventRecorderTest, DefersCountsThatAreOverTheLimitInsteadOfLosingThem) {
  for (int i = 0; i < 25; ++i) Record(Happening(absl::StrCat(i)));
  Record(Happening("0"));
  Flush();
  Flush();
  EXPECT_THAT(api_.events, SizeIs(25));
  EXPECT_EQ(api_.calls, 25);
  now_ += absl::Minutes(5);
  Flush();
  EXPECT_EQ(api_.calls, 26);
  EXPECT_EQ(recorder_.counts().sent, 26u);
}

TEST_F(EventRecorderTest, TriesAgainAfterAPassingErrorAndStopsThatFlush) {
  api_.answer = absl::UnavailableError("503");
  Record(Happening("a"));
  Record(Happening("b"));
  Flush();
  EXPECT_EQ(api_.calls, 1);
  api_.answer = absl::OkStatus();
  now_ += absl::Seconds(5);
  Flush();
  EXPECT_THAT(api_.events, SizeIs(2));
  EXPECT_EQ(recorder_.counts().failed, 0u);
}

TEST_F(EventRecorderTest, GivesUpAfterSomeAttempts) {
  api_.answer = absl::UnavailableError("503");
  Record(Happening());
  for (int i = 0; i < 100; ++i) {
    now_ += absl::Minutes(1);
    Flush();
  }
  EXPECT_EQ(api_.calls, 6);
  EXPECT_EQ(recorder_.counts().failed, 1u);
  EXPECT_EQ(recorder_.counts().last_failure, api_.answer);
  EXPECT_EQ(recorder_.NextFlush(), absl::InfiniteFuture());
}

TEST_F(EventRecorderTest, DropsWhatIsRefusedAndGoesOn) {
  api_.answer = absl::PermissionDeniedError("no right to create events");
  Record(Happening("a"));
  Record(Happening("b"));
  Flush();
  EXPECT_EQ(api_.calls, 2);
  EXPECT_EQ(recorder_.counts().failed, 2u);
  EXPECT_EQ(recorder_.NextFlush(), absl::InfiniteFuture());
}

TEST_F(EventRecorderTest, TakesAnotherNameWhenOneIsTaken) {
  EventRecorder same_seed{base::Random(1)};
  Record(Happening());
  same_seed.Record(Happening(), now_);
  Flush();
  same_seed.Flush(api_, now_);
  EXPECT_THAT(api_.events, SizeIs(2));
}

TEST_F(EventRecorderTest, DoesNotRepeatAnEventWhoseAnswerWasLost) {
  api_.answer = absl::DeadlineExceededError("lost");
  api_.lose_answer = true;
  Record(Happening());
  Flush();
  EXPECT_THAT(api_.events, SizeIs(1));
  api_.answer = absl::OkStatus();
  now_ += absl::Minutes(1);
  Flush();
  EXPECT_THAT(api_.events, SizeIs(1));
  EXPECT_EQ(recorder_.counts().sent, 1u);
}

TEST_F(EventRecorderTest, StaysWithinItsBounds) {
  EventRecorderOptions options;
  options.max_queued = 10;
  options.max_series = 5;
  options.max_objects = 7;
  options.max_calls_per_flush = 3;
  EventRecorder small{base::Random(1), options};
  for (int i = 0; i < 20; ++i) small.Record(Happening("", absl::StrCat("web-", i)), now_);
  EXPECT_EQ(small.counts().dropped, 10u) << "of the queue";
  small.Flush(api_, now_);
  EXPECT_EQ(small.counts().dropped, 15u) << "3 objects and 2 series too many";
  EXPECT_THAT(api_.events, SizeIs(3));
  small.Flush(api_, now_);
  EXPECT_THAT(api_.events, SizeIs(5));
}

TEST_F(EventRecorderTest, RecordsFromManyThreads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 100; ++i) Record(Happening("", absl::StrCat("web-", thread)));
    });
  }
  for (int i = 0; i < 20; ++i) Flush();
  for (std::thread& thread : threads) thread.join();
  now_ += absl::Minutes(2);
  Flush();
  Flush();
  EXPECT_THAT(api_.Counts(), ElementsAre(100, 100, 100, 100));
}

}  // namespace
}  // namespace kube

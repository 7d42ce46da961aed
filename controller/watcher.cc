#include "controller/watcher.h"

#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/heap.h"
#include "controller/supervised_api.h"
#include "glog/logging.h"
#include "health/this_loop.h"
#include "kube/metadata_decoder.h"

namespace controller {
namespace {

// How many pages of Pods are read and decoded at a time in this process, each with the
// next one on its way. One is a megabyte: those of all namespaces at once would be the
// most memory that it ever takes.
constexpr int kListsAtOnce = 2;

// A thread that waits for its turn ticks so often.
constexpr absl::Duration kTurnPoll = absl::Milliseconds(500);

class Turns {
 public:
  // False: nobody made room within kTurnPoll.
  bool Take() {
    absl::MutexLock lock(&mutex_);
    const auto has_room = [this] {
      mutex_.AssertHeld();
      return taken_ < kListsAtOnce;
    };
    if (!mutex_.AwaitWithTimeout(absl::Condition(&has_room), kTurnPoll)) return false;
    ++taken_;
    return true;
  }
  void GiveBack() {
    absl::MutexLock lock(&mutex_);
    --taken_;
  }

 private:
  absl::Mutex mutex_;
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

Turns& ListTurns() {
  static auto* const turns = new Turns;
  return *turns;
}

// The pages of a list. One is as long on its way as it takes to be read: each is asked
// for while the one before it is read, on a thread of its own.
class Pages {
 public:
  explicit Pages(const Watcher::Parts& parts) : parts_(parts) {}

  // The page, and with `ahead` the next one is asked for.
  absl::StatusOr<std::string> Get(const kube::ListRequest& request, bool ahead) {
    absl::StatusOr<std::string> page = absl::UnavailableError("not asked for");
    if (next_page_.valid() && next_.continue_token == request.continue_token) {
      const health::DeclaredWait wait(parts_.clock.Monotonic() + kListBound);
      page = next_page_.get();
    } else {
      page = parts_.api.List(request);
    }
    next_page_ = {};
    next_ = request;
    next_.continue_token = page.ok() && ahead ? kube::ContinueTokenAhead(*page) : "";
    if (!next_.continue_token.empty()) {
      next_page_ = std::async(std::launch::async, [this] { return parts_.api.List(next_); });
    }
    return page;
  }

 private:
  const Watcher::Parts& parts_;
  kube::ListRequest next_;
  std::future<absl::StatusOr<std::string>> next_page_;  // of next_
};

}  // namespace

std::string Watcher::Target::ToString() const {
  return absl::StrCat(kube::ResourceName(resource), ns.empty() ? "" : " in namespace ", ns);
}

Watcher::Watcher(const Parts& parts, const Target& target,
                 std::unique_ptr<kube::ReflectorSink> sink, uint64_t seed)
    : parts_(parts),
      target_(target),
      sink_(std::move(sink)),
      random_(seed),
      reflector_({target.resource, target.ns, target.name}, *sink_, random_),
      cancellation_(std::make_shared<http::Cancellation>()),
      thread_([this] { Run(); }) {}

Watcher::~Watcher() { Stop(); }

void Watcher::Cancel() {
  if (!cancelled_.test_and_set()) stop_.Notify();
  cancellation_->Cancel();
}

void Watcher::Stop() {
  Cancel();
  if (thread_.joinable()) thread_.join();
}

Watcher::State Watcher::state() const {
  absl::MutexLock lock(&mutex_);
  return state_;
}

void Watcher::Publish() {
  absl::Status error = reflector_.last_error();
  bool news = false;
  {
    absl::MutexLock lock(&mutex_);
    news = !error.ok() && error != state_.last_error;
    state_ = {reflector_.synced(), reflector_.last_heard(), error};
  }
  if (news) {
    LOG(WARNING) << "watch of " << target_.ToString() << ": " << error;
  }
}

void Watcher::Watch(const kube::WatchRequest& request) {
  const absl::Status status = parts_.api.Watch(
      request,
      [&](absl::string_view bytes) { return reflector_.OnBytes(bytes, parts_.clock.Now()); },
      cancellation_);
  reflector_.OnWatchEnd(status, parts_.clock.Now());
}

void Watcher::Run() {
  const health::ThisLoop loop(parts_.vitals, absl::StrCat("watch ", target_.ToString()));
  Pages pages(parts_);
  while (!stop_.HasBeenNotified()) {
    health::Tick();
    const kube::Reflector::Step step = reflector_.Next(parts_.clock.Now());
    switch (step.kind) {
      case kube::Reflector::StepKind::kList: {
        const bool waits = target_.resource == kube::Resource::kPods;
        if (waits && !ListTurns().Take()) break;
        reflector_.OnPage(pages.Get(step.list, !stop_.HasBeenNotified()), parts_.clock.Now());
        if (waits) ListTurns().GiveBack();
        const kube::Reflector::Step next = reflector_.Next(parts_.clock.Now());
        if (waits && next.kind == kube::Reflector::StepKind::kWatch) base::GiveBackMemory();
        break;
      }
      case kube::Reflector::StepKind::kWatch:
        Watch(step.watch);
        break;
      case kube::Reflector::StepKind::kWait: {
        const absl::Duration wait = step.until - parts_.clock.Now();
        const health::DeclaredWait declared(parts_.clock.Monotonic() + wait);
        stop_.WaitForNotificationWithTimeout(wait);
        break;
      }
    }
    Publish();
  }
}

}  // namespace controller

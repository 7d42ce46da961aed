#include "controller/watcher.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "health/this_loop.h"

namespace controller {

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
  while (!stop_.HasBeenNotified()) {
    health::Tick();
    const kube::Reflector::Step step = reflector_.Next(parts_.clock.Now());
    switch (step.kind) {
      case kube::Reflector::StepKind::kList:
        reflector_.OnPage(parts_.api.List(step.list), parts_.clock.Now());
        break;
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

#include "controller/watcher.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace controller {

Watcher::Watcher(kube::KubeApi& api, base::Clock& clock, const Target& target,
                 std::unique_ptr<kube::ReflectorSink> sink, uint64_t seed)
    : api_(api),
      clock_(clock),
      target_(target),
      sink_(std::move(sink)),
      random_(seed),
      reflector_(target.resource, target.ns, *sink_, random_),
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
    LOG(WARNING) << "watch of " << kube::ResourceName(target_.resource)
                 << (target_.ns.empty() ? "" : " in namespace ") << target_.ns << ": " << error;
  }
}

void Watcher::Watch(const kube::WatchRequest& request) {
  const absl::Status status = api_.Watch(
      request, [&](absl::string_view bytes) { return reflector_.OnBytes(bytes, clock_.Now()); },
      cancellation_);
  reflector_.OnWatchEnd(status, clock_.Now());
}

void Watcher::Run() {
  while (!stop_.HasBeenNotified()) {
    const kube::Reflector::Step step = reflector_.Next(clock_.Now());
    switch (step.kind) {
      case kube::Reflector::StepKind::kList:
        reflector_.OnPage(api_.List(step.list), clock_.Now());
        break;
      case kube::Reflector::StepKind::kWatch:
        Watch(step.watch);
        break;
      case kube::Reflector::StepKind::kWait:
        stop_.WaitForNotificationWithTimeout(step.until - clock_.Now());
        break;
    }
    Publish();
  }
}

}  // namespace controller

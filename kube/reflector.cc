#include "kube/reflector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/http_status.h"

namespace kube {
namespace {

// A watch that ends in an orderly way this soon and without an event would
// otherwise be repeated without a pause.
constexpr absl::Duration kShortestGoodWatch = absl::Seconds(1);

// Watches end at different times, so that they do not all come back at once.
constexpr int64_t kMinWatchSeconds = 300;
constexpr int64_t kMaxWatchSeconds = 600;

// Whether the same page may be asked for again.
bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsUnauthenticated(status);
}

}  // namespace

Reflector::Reflector(Scope scope, ReflectorSink& sink, base::Random& random)
    : scope_(std::move(scope)),
      sink_(sink),
      random_(random),
      decoder_(scope_.resource, kMaxLineBytes) {}

Reflector::Step Reflector::Next(absl::Time now) const {
  Step step;
  if (now < wait_until_) {
    step.kind = StepKind::kWait;
    step.until = wait_until_;
  } else if (watching_) {
    step.kind = StepKind::kWatch;
    step.watch.resource = scope_.resource;
    step.watch.ns = scope_.ns;
    step.watch.name = scope_.name;
    step.watch.resource_version = resource_version_;
    step.watch.timeout = watch_timeout_;
  } else {
    step.kind = StepKind::kList;
    step.list.resource = scope_.resource;
    step.list.ns = scope_.ns;
    step.list.name = scope_.name;
    step.list.continue_token = continue_token_;
  }
  return step;
}

void Reflector::OnPage(const absl::StatusOr<std::string>& page, absl::Time now) {
  if (!page.ok()) return ListFailed(page.status(), now);
  absl::StatusOr<ListPage> decoded = DecodeListPage(scope_.resource, *page);
  if (!decoded.ok()) return ListFailed(decoded.status(), now);
  last_heard_ = now;
  last_error_ = absl::OkStatus();
  ReadPage(*std::move(decoded));
}

void Reflector::ReadPage(ListPage page) {
  if (!list_begun_) {
    list_begun_ = true;
    sink_.OnListBegin();
  }
  for (Object& object : page.objects) sink_.OnObject(std::move(object));
  for (const BadObject& bad : page.bad) sink_.OnBadObject(bad.key, bad.why);
  continue_token_ = std::move(page.continue_token);
  if (!continue_token_.empty()) return;

  sink_.OnListEnd();
  list_begun_ = false;
  list_failures_ = 0;
  synced_ = true;
  watching_ = true;
  heard_in_watch_ = false;
  heard_since_list_ = false;
  resource_version_ = std::move(page.resource_version);
  watch_timeout_ = absl::Seconds(random_.Between(kMinWatchSeconds, kMaxWatchSeconds));
}

void Reflector::ListFailed(const absl::Status& why, absl::Time now) {
  const bool token_expired = absl::IsOutOfRange(why) && !continue_token_.empty();
  if (!IsPassing(why)) ListAnew();
  ++list_failures_;
  // A list that took too long starts over at once, but only once.
  if (token_expired && list_failures_ == 1) {
    last_error_ = why;
    return;
  }
  WaitAfter(why, list_failures_, now);
}

absl::Status Reflector::OnBytes(absl::string_view bytes, absl::Time now) {
  stream_error_ =
      decoder_.Feed(bytes, [&](WatchEvent event) { return TakeEvent(std::move(event), now); });
  return stream_error_;
}

absl::Status Reflector::TakeEvent(WatchEvent event, absl::Time now) {
  last_heard_ = now;
  if (event.type == WatchEventType::kError) return event.error;
  heard_in_watch_ = true;
  heard_since_list_ = true;
  watch_failures_ = 0;
  last_error_ = absl::OkStatus();
  if (event.type == WatchEventType::kDeleted) {
    sink_.OnDeleted(event.key, event.uid);
  } else if (event.object.has_value()) {
    sink_.OnObject(*std::move(event.object));
  } else if (!event.error.ok()) {
    sink_.OnBadObject(event.key, event.error);
  }
  if (!event.resource_version.empty()) resource_version_ = std::move(event.resource_version);
  return absl::OkStatus();
}

void Reflector::OnWatchEnd(const absl::Status& status, absl::Time now) {
  // The transport may have answered with words of its own.
  const absl::Status why = stream_error_.ok() ? status : stream_error_;
  const absl::Time began = std::max(last_heard_, wait_until_);
  const bool heard = std::exchange(heard_in_watch_, false);
  stream_error_ = absl::OkStatus();
  decoder_.Reset();
  if (absl::IsCancelled(why)) return;
  if (!why.ok()) return WatchFailed(why, now);
  if (!heard && now - began < kShortestGoodWatch) {
    return WatchFailed(absl::UnavailableError(absl::StrCat("watch ", ResourceName(scope_.resource),
                                                           ": ended at once, without an event")),
                       now);
  }
  last_heard_ = now;
  last_error_ = absl::OkStatus();
  watch_failures_ = 0;
  watch_timeout_ = absl::Seconds(random_.Between(kMinWatchSeconds, kMaxWatchSeconds));
}

void Reflector::WatchFailed(const absl::Status& why, absl::Time now) {
  const bool expired = absl::IsOutOfRange(why);
  const bool unreadable = absl::IsInvalidArgument(why) || absl::IsResourceExhausted(why);
  if (expired || unreadable) ListAnew();
  ++watch_failures_;
  // What a watch has missed while it was away is listed at once; a list that is
  // too old as soon as it was read is not repeated without a pause.
  if (expired && heard_since_list_) {
    last_error_ = why;
    return;
  }
  WaitAfter(why, watch_failures_, now);
}

void Reflector::ListAnew() {
  watching_ = false;
  list_begun_ = false;
  continue_token_.clear();
}

void Reflector::WaitAfter(const absl::Status& why, int failures, absl::Time now) {
  last_error_ = why;
  const absl::Duration asked = RetryAfter(why).value_or(absl::ZeroDuration());
  wait_until_ = now + std::max(asked, base::FullJitter(kBackoff, failures, random_));
}

}  // namespace kube

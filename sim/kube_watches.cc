#include "sim/kube_watches.h"

#include <algorithm>
#include <utility>

namespace sim {
namespace {

using State = KubeWatchBytes::State;

// A real server sends a last bookmark so long before it ends a watch.
constexpr absl::Duration kLastBookmark = absl::Seconds(2);

bool IsSeen(const KubeWatchOptions& options, const KubeObject& object) {
  return object != nullptr &&
         (options.ns.empty() || (*object)["metadata"]["namespace"].AsString() == options.ns) &&
         options.selector.Matches(*object);
}

// An object that stops matching the selector is deleted to this watch.
absl::string_view TypeFor(const KubeWatchOptions& options, const KubeChange& change) {
  const bool before = IsSeen(options, change.before);
  const bool after = change.type != KubeChange::Type::kDeleted && IsSeen(options, change.object);
  if (before && after) return "MODIFIED";
  if (after) return "ADDED";
  return before ? "DELETED" : "";
}

}  // namespace

KubeWatches::KubeWatches(const KubeStore& store, KubeFaults& faults,
                         absl::Duration bookmark_interval)
    : store_(store), faults_(faults), bookmark_interval_(bookmark_interval) {}

int64_t KubeWatches::Open(KubeWatchOptions options, absl::Time now) {
  const int64_t id = next_id_++;
  Watch& watch = watches_[id];
  watch.options = std::move(options);
  watch.delivered = watch.options.after;
  const int64_t oldest = store_.Compacted(*watch.options.resource);
  if (watch.options.after == 0) {
    QueueInitial(watch);
  } else if (watch.options.after < oldest) {
    watch.queued =
        RenderEvent("ERROR", kube_error::Expired(watch.options.after, oldest).ToJson().Dump());
    watch.state = State::kEnded;
    return id;
  } else {
    watch.seen = watch.options.after;
  }
  PlanBookmark(watch, now);
  QueueChanges(watch, now);
  QueueDue(watch, now);
  return id;
}

KubeWatchBytes KubeWatches::Take(int64_t id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return {"", State::kCut};
  KubeWatchBytes out{std::exchange(found->second.queued, ""), found->second.state};
  if (out.state != State::kOpen) watches_.erase(found);
  return out;
}

bool KubeWatches::HasNews(int64_t id) const {
  const auto found = watches_.find(id);
  return found == watches_.end() || !found->second.queued.empty() ||
         found->second.state != State::kOpen;
}

void KubeWatches::Close(int64_t id) { watches_.erase(id); }

void KubeWatches::Advance(absl::Time now) {
  for (auto& [id, watch] : watches_) {
    if (watch.state != State::kOpen) continue;
    if (watch.seen < store_.resource_version()) QueueChanges(watch, now);
    QueueDue(watch, now);
    if (watch.queued.size() > kMaxQueuedBytes) watch.state = State::kCut;
  }
}

absl::Time KubeWatches::NextDue() const {
  absl::Time due = absl::InfiniteFuture();
  for (const auto& [id, watch] : watches_) {
    if (watch.state != State::kOpen) continue;
    due = std::min({due, watch.next_bookmark, watch.options.end});
    if (!watch.held.empty()) due = std::min(due, watch.held.front().until);
  }
  return due;
}

void KubeWatches::QueueInitial(Watch& watch) {
  for (const KubeObject& object : store_.List(*watch.options.resource, watch.options.ns)) {
    if (!IsSeen(watch.options, object)) continue;
    watch.queued +=
        RenderEvent("ADDED", RenderObject(*watch.options.resource, *object, watch.options.view));
  }
  watch.seen = watch.delivered = store_.resource_version();
}

void KubeWatches::QueueChanges(Watch& watch, absl::Time now) {
  const auto& history = store_.History(*watch.options.resource);
  auto it = std::upper_bound(
      history.begin(), history.end(), watch.seen,
      [](int64_t seen, const KubeChange& change) { return seen < change.resource_version; });
  for (; it != history.end(); ++it) QueueChange(watch, *it, now);
  watch.seen = std::max(watch.seen, store_.resource_version());
}

void KubeWatches::QueueChange(Watch& watch, const KubeChange& change, absl::Time now) {
  const absl::string_view type = TypeFor(watch.options, change);
  if (type.empty()) return;
  const std::optional<KubeWatchFault> fault = faults_.Hit(*watch.options.resource, change);
  if (fault.has_value() && fault->kind == KubeWatchFault::Kind::kDrop) return;
  std::string line =
      RenderEvent(type, RenderObject(*watch.options.resource, *change.object, watch.options.view));
  if (fault.has_value() && fault->kind == KubeWatchFault::Kind::kRepeat) line += line;
  absl::Time until = now;
  if (fault.has_value() && fault->kind == KubeWatchFault::Kind::kDelay) until += fault->delay;
  if (!watch.held.empty()) until = std::max(until, watch.held.back().until);
  watch.held.push_back({until, std::move(line), change.resource_version});
}

void KubeWatches::QueueDue(Watch& watch, absl::Time now) {
  while (!watch.held.empty() && watch.held.front().until <= now) {
    watch.queued += watch.held.front().line;
    watch.delivered = watch.held.front().resource_version;
    watch.held.pop_front();
  }
  if (watch.held.empty()) watch.delivered = std::max(watch.delivered, watch.seen);
  if (watch.next_bookmark <= now) {
    watch.queued += RenderEvent(
        "BOOKMARK", RenderBookmark(*watch.options.resource, watch.delivered, watch.options.view));
    PlanBookmark(watch, now);
  }
  if (watch.options.end <= now) watch.state = State::kEnded;
}

void KubeWatches::PlanBookmark(Watch& watch, absl::Time now) {
  watch.next_bookmark = absl::InfiniteFuture();
  if (!watch.options.bookmarks) return;
  watch.next_bookmark = now + bookmark_interval_;
  const absl::Time last = watch.options.end - kLastBookmark;
  if (last > now) watch.next_bookmark = std::min(watch.next_bookmark, last);
}

template <typename Action>
void KubeWatches::ForEach(absl::string_view resource, Action action) {
  for (auto& [id, watch] : watches_) {
    if (watch.state == State::kOpen &&
        (resource.empty() || watch.options.resource->plural == resource)) {
      action(watch);
    }
  }
}

void KubeWatches::Cut(absl::string_view resource) {
  ForEach(resource, [](Watch& watch) { watch.state = State::kCut; });
}

void KubeWatches::End(absl::string_view resource) {
  ForEach(resource, [](Watch& watch) { watch.state = State::kEnded; });
}

void KubeWatches::Expire(absl::string_view resource) {
  ForEach(resource, [&](Watch& watch) {
    const KubeError error = kube_error::Expired(watch.delivered, store_.resource_version());
    watch.queued += RenderEvent("ERROR", error.ToJson().Dump());
    watch.state = State::kEnded;
  });
}

void KubeWatches::Inject(absl::string_view resource, absl::string_view bytes) {
  ForEach(resource, [&](Watch& watch) { watch.queued.append(bytes.data(), bytes.size()); });
}

}  // namespace sim

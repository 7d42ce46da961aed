#include "cmd/rollout_watch.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "annotations/table.h"
#include "base/random.h"
#include "controller/watcher.h"
#include "health/vitals.h"
#include "kube/decoder.h"
#include "kube/reflector.h"

namespace cmd {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(20);
// Nothing here is judged by it.
constexpr absl::Duration kNeverStuck = absl::InfiniteDuration();

// The half of a sink that finds out what a later list does not show any more.
class ListingSink : public kube::ReflectorSink {
 public:
  void OnListBegin() final { seen_.clear(); }
  void OnListEnd() final {
    std::erase_if(there_, [this](const auto& item) {
      if (seen_.count(item.first) != 0) return false;
      Gone(item.first, item.second);
      return true;
    });
    Listed();
  }
  void OnObject(kube::Object object) final {
    const auto [key, uid] = Put(std::move(object));
    seen_.insert(key);
    const auto [known, first] = there_.try_emplace(key, uid);
    if (!first && known->second != uid) Gone(key, std::exchange(known->second, uid));
  }
  void OnDeleted(const kube::ObjectKey& key, const std::string&) final {
    const auto known = there_.find(key);
    if (known == there_.end()) return;
    Gone(key, known->second);
    there_.erase(known);
  }
  // It stays as it was.
  void OnBadObject(const kube::ObjectKey& key, const absl::Status&) final { seen_.insert(key); }

 private:
  // Answers the object's key and UID; empty where the kind has none here.
  virtual std::pair<kube::ObjectKey, std::string> Put(kube::Object object) = 0;
  virtual void Gone(const kube::ObjectKey& key, const std::string& uid) = 0;
  virtual void Listed() {}

  std::map<kube::ObjectKey, std::string> there_;
  std::set<kube::ObjectKey> seen_;
};

class SliceSink final : public ListingSink {
 public:
  SliceSink(RolloutMarks& marks, base::Clock& clock) : marks_(marks), clock_(clock) {}

 private:
  std::pair<kube::ObjectKey, std::string> Put(kube::Object object) override {
    const auto& slice = std::get<kube::EndpointSlice>(object);
    marks_.OnSlice(slice, clock_.Now());
    return {slice.key, ""};
  }
  void Gone(const kube::ObjectKey& key, const std::string&) override {
    marks_.OnSliceGone(key, clock_.Now());
  }
  void Listed() override { marks_.OnFirstSlices(); }

  RolloutMarks& marks_;
  base::Clock& clock_;
};

class PodSink final : public ListingSink {
 public:
  PodSink(RolloutMarks& marks, kube::KubeApi& api, base::Clock& clock)
      : marks_(marks), api_(api), clock_(clock) {}

 private:
  std::pair<kube::ObjectKey, std::string> Put(kube::Object object) override {
    const auto& pod = std::get<kube::PodMetadata>(object);
    if (marks_.OnPod(pod, clock_.Now())) {
      // Where it fails, the Pod's next change asks again.
      const auto details = api_.GetPod(pod.key);
      if (details.ok()) marks_.OnDetails(*details, clock_.Now());
    }
    return {pod.key, pod.uid};
  }
  void Listed() override { marks_.OnFirstPods(); }
  void Gone(const kube::ObjectKey& key, const std::string& uid) override {
    marks_.OnPodGone(key, uid, clock_.Now());
  }

  RolloutMarks& marks_;
  kube::KubeApi& api_;
  base::Clock& clock_;
};

class TwoWatches final : public RolloutWatch {
 public:
  TwoWatches(kube::KubeApi& api, base::Clock& clock, const kube::ObjectKey& service)
      : vitals_(kNeverStuck),
        marks_(service),
        slices_({api, clock, vitals_}, {kube::Resource::kEndpointSlices, service.ns},
                std::make_unique<SliceSink>(marks_, clock), base::SeedFromSystem()),
        pods_({api, clock, vitals_}, {kube::Resource::kPods, service.ns},
              std::make_unique<PodSink>(marks_, api, clock), base::SeedFromSystem()) {}
  ~TwoWatches() override {
    slices_.Cancel();
    pods_.Cancel();
  }

  std::vector<probe::Mark> Marks() const override { return marks_.Take(); }

  absl::Status AwaitLists(base::Clock& clock, absl::Duration patience) {
    const absl::Time end = clock.Now() + patience;
    for (;;) {
      const controller::Watcher* missing = nullptr;
      for (const controller::Watcher* watch : {&slices_, &pods_}) {
        if (!watch->state().synced) missing = watch;
      }
      if (missing == nullptr) return absl::OkStatus();
      const absl::Status error = missing->state().last_error;
      if (clock.Now() >= end || absl::IsPermissionDenied(error)) {
        return error.ok() ? absl::DeadlineExceededError(
                                absl::StrCat(missing->target().ToString(), ": not listed within ",
                                             absl::FormatDuration(patience)))
                          : error;
      }
      clock.SleepFor(kLook);
    }
  }

 private:
  health::Vitals vitals_;
  RolloutMarks marks_;
  controller::Watcher slices_;
  controller::Watcher pods_;
};

absl::Status FindService(kube::KubeApi& api, const kube::ObjectKey& service) {
  const auto page = api.List(
      {.resource = kube::Resource::kServices, .ns = service.ns, .limit = 1, .name = service.name});
  if (!page.ok()) return page.status();
  const auto services = kube::DecodeListPage(kube::Resource::kServices, *page);
  if (!services.ok()) return services.status();
  if (!services->objects.empty() || !services->bad.empty()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("there is no Service ", service.ToString(), "; NAMESPACE/NAME is expected"));
}

}  // namespace

void RolloutMarks::OnSlice(const kube::EndpointSlice& slice, absl::Time now) {
  if (slice.key.ns != service_.ns || slice.service != service_.name) return;
  absl::MutexLock lock(&mutex_);
  Endpoints& own = slices_[slice.key];
  own.clear();
  for (const kube::Endpoint& endpoint : slice.endpoints) {
    if (endpoint.target_uid.empty()) continue;
    own[endpoint.target_uid] = {endpoint.target_name, endpoint.ready, endpoint.serving};
    known_.insert(endpoint.target_uid);
  }
  Compare(now);
}

void RolloutMarks::OnSliceGone(const kube::ObjectKey& slice, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (slices_.erase(slice) != 0) Compare(now);
}

void RolloutMarks::OnFirstSlices() {
  absl::MutexLock lock(&mutex_);
  slices_listed_ = true;
}

void RolloutMarks::OnFirstPods() {
  absl::MutexLock lock(&mutex_);
  pods_listed_ = true;
}

void RolloutMarks::Compare(absl::Time now) {
  Endpoints all;
  // An endpoint that moves from slice to slice is in both for a while, or in neither.
  for (const auto& [slice, endpoints] : slices_) {
    for (const auto& [uid, endpoint] : endpoints) {
      Endpoint& sum = all[uid];
      sum.pod = endpoint.pod;
      sum.ready |= endpoint.ready;
      sum.serving |= endpoint.serving;
    }
  }
  if (slices_listed_) {
    for (const auto& [uid, endpoint] : all) {
      const auto old = endpoints_.find(uid);
      if (endpoint.serving && (old == endpoints_.end() || !old->second.serving)) {
        Add(probe::MarkKind::kReady, uid, endpoint.pod, now);
      }
    }
    for (const auto& [uid, old] : endpoints_) {
      const auto endpoint = all.find(uid);
      if (old.ready && (endpoint == all.end() || !endpoint->second.ready)) {
        Add(probe::MarkKind::kEndpointWithdrawn, uid, old.pod, now);
      }
    }
  }
  endpoints_ = std::move(all);
}

bool RolloutMarks::OnPod(const kube::PodMetadata& pod, absl::Time now) {
  if (!pod.deleted()) return false;
  absl::MutexLock lock(&mutex_);
  Terminating& terminating = terminating_[pod.key];
  if (terminating.uid != pod.uid) {
    terminating = {pod.uid};
    if (pods_listed_) Add(probe::MarkKind::kDeleted, pod.uid, pod.key.name, now);
  }
  return !terminating.drained && known_.count(pod.uid) != 0;
}

void RolloutMarks::OnDetails(const kube::PodDetails& pod, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  const auto found = terminating_.find(pod.key);
  const auto& conditions = pod.true_conditions;
  if (found == terminating_.end() || found->second.uid != pod.uid || found->second.drained ||
      std::find(conditions.begin(), conditions.end(), annotations::kDrainedCondition) ==
          conditions.end()) {
    return;
  }
  found->second.drained = true;
  Add(probe::MarkKind::kDrained, pod.uid, pod.key.name, now);
}

void RolloutMarks::OnPodGone(const kube::ObjectKey& pod, const std::string& uid, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  terminating_.erase(pod);
  Add(probe::MarkKind::kExit, uid, pod.name, now);
}

void RolloutMarks::Add(probe::MarkKind kind, const std::string& uid, const std::string& name,
                       absl::Time now) {
  if (told_.size() < probe::kMaxMarks) told_.push_back({{now, kind, name}, uid});
}

std::vector<probe::Mark> RolloutMarks::Take() const {
  absl::MutexLock lock(&mutex_);
  std::vector<probe::Mark> marks;
  for (const Told& told : told_) {
    if (known_.count(told.uid) != 0) marks.push_back(told.mark);
  }
  probe::SortMarks(marks);
  return marks;
}

absl::StatusOr<std::unique_ptr<RolloutWatch>> RolloutWatch::Start(kube::KubeApi& api,
                                                                  base::Clock& clock,
                                                                  const kube::ObjectKey& service,
                                                                  absl::Duration patience) {
  if (absl::Status status = FindService(api, service); !status.ok()) return status;
  auto watch = std::make_unique<TwoWatches>(api, clock, service);
  if (absl::Status status = watch->AwaitLists(clock, patience); !status.ok()) return status;
  return std::unique_ptr<RolloutWatch>(std::move(watch));
}

}  // namespace cmd

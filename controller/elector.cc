#include "controller/elector.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "health/this_loop.h"

namespace controller {
namespace {

// Its thread ticks at least so often, and looks whether the process is at rest.
constexpr absl::Duration kHousekeeping = absl::Seconds(1);

}  // namespace

// What the watch of the Lease shows. A list that does not hold it says that it does
// not exist; whether it is so, the election finds out by writing it.
class Elector::Sink final : public kube::ReflectorSink {
 public:
  explicit Sink(Elector& elector) : elector_(elector) {}

  void OnListBegin() override { seen_ = false; }
  void OnListEnd() override {
    if (!seen_) elector_.Observe(std::nullopt);
  }
  void OnObject(kube::Object object) override {
    seen_ = true;
    if (const auto* lease = std::get_if<kube::Lease>(&object)) elector_.Observe(*lease);
  }
  void OnDeleted(const kube::ObjectKey&, const std::string&) override {
    elector_.Observe(std::nullopt);
  }
  void OnBadObject(const kube::ObjectKey& key, const absl::Status& why) override {
    LOG(ERROR) << "Lease " << key.ToString() << " cannot be read: " << why.message()
               << "; delete it";
  }

 private:
  Elector& elector_;
  bool seen_ = false;
};

Elector::Elector(const Parts& parts, const ElectionOptions& options, Callbacks callbacks,
                 uint64_t seed)
    : parts_(parts),
      options_(options),
      callbacks_(std::move(callbacks)),
      seed_(seed),
      election_(options) {}

Elector::~Elector() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = news_ = true;
  }
  if (watcher_ != nullptr) watcher_->Cancel();
  if (thread_.joinable()) thread_.join();
}

void Elector::Start(absl::string_view address) {
  {
    absl::MutexLock lock(&mutex_);
    election_.Advertise(address);
  }
  const Watcher::Target target{kube::Resource::kLeases, options_.lease.ns, options_.lease.name};
  watcher_ = std::make_unique<Watcher>(Watcher::Parts{parts_.api, parts_.clock, parts_.vitals},
                                       target, std::make_unique<Sink>(*this), seed_);
  thread_ = std::thread([this] { Run(); });
}

void Elector::Observe(const std::optional<kube::Lease>& lease) {
  absl::MutexLock lock(&mutex_);
  election_.Observe(lease, parts_.clock.Monotonic());
  news_ = true;
}

void Elector::Resign() {
  absl::MutexLock lock(&mutex_);
  resign_ = news_ = true;
}

bool Elector::AwaitResigned(absl::Duration patience) {
  return resigned_.WaitForNotificationWithTimeout(patience);
}

std::string Elector::holder() const {
  absl::MutexLock lock(&mutex_);
  return election_.holder();
}

std::string Elector::identity() const {
  absl::MutexLock lock(&mutex_);
  return election_.identity();
}

int Elector::terms() const {
  absl::MutexLock lock(&mutex_);
  return election_.terms();
}

void Elector::Run() {
  const health::ThisLoop loop(parts_.vitals, "lease");
  for (;;) {
    health::Tick();
    const bool at_rest = callbacks_.at_rest();
    ElectionStep step;
    {
      absl::MutexLock lock(&mutex_);
      if (stopping_) break;
      news_ = false;
      step = election_.Next({at_rest, resign_}, parts_.clock.Monotonic(), parts_.clock.Now());
    }
    Publish();
    if (step.kind == ElectionStep::Kind::kEnd) break;
    Do(step);
    Publish();
  }
  resigned_.Notify();
}

void Elector::Do(const ElectionStep& step) {
  switch (step.kind) {
    case ElectionStep::Kind::kWait: {
      absl::MutexLock lock(&mutex_);
      const absl::Duration wait = step.until - parts_.clock.Monotonic();
      mutex_.AwaitWithTimeout(absl::Condition(&news_), std::min(wait, kHousekeeping));
      return;
    }
    case ElectionStep::Kind::kRead: {
      const absl::StatusOr<kube::Lease> lease = parts_.api.GetLease(options_.lease);
      if (!lease.ok() && !absl::IsNotFound(lease.status())) {
        LOG(WARNING) << "leader election: " << lease.status();
      }
      absl::MutexLock lock(&mutex_);
      election_.OnRead(lease, parts_.clock.Monotonic());
      return;
    }
    case ElectionStep::Kind::kWrite: {
      const absl::Duration sent_at = parts_.clock.Monotonic();
      const absl::StatusOr<kube::Lease> stored = parts_.api.PutLease(step.lease);
      if (!stored.ok() && !absl::IsAborted(stored.status())) {
        LOG(WARNING) << "leader election: " << stored.status();
      }
      absl::MutexLock lock(&mutex_);
      election_.OnWritten(step, stored, sent_at, parts_.clock.Monotonic());
      return;
    }
    case ElectionStep::Kind::kEnd:
      return;
  }
}

void Elector::Publish() {
  bool leads = false;
  std::string holder;
  {
    absl::MutexLock lock(&mutex_);
    parts_.fence.OpenUntil(election_.write_until());
    leads = election_.leads();
    holder = election_.holder();
  }
  const std::string note = leads            ? "leads"
                           : holder.empty() ? "stands by; nobody leads"
                                            : absl::StrCat("stands by; ", holder, " leads");
  parts_.vitals.SetPart("leader election", true, note);
  if (leads == std::exchange(told_leading_, leads)) return;
  LOG(INFO) << "leader election: " << identity() << (leads ? " leads" : " leads no more");
  leads ? callbacks_.on_begin() : callbacks_.on_end();
}

}  // namespace controller

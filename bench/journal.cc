#include "bench/journal.h"

#include <utility>

#include "absl/strings/match.h"
#include "http/transport.h"

namespace bench {
namespace {

Entry::Kind KindOf(const sim::KubeRequestRecord& record) {
  if (record.method == "GET") return Entry::Kind::kKubeOther;
  if (absl::StrContains(record.target, "/configmaps")) return Entry::Kind::kLedgerWrite;
  if (absl::StrContains(record.target, "/events")) return Entry::Kind::kEventWrite;
  return Entry::Kind::kKubeOther;
}

Entry::Kind KindOf(const http::Request& request) {
  if (request.method == "PUT") {
    return absl::StrContains(request.target, "/backends/") ? Entry::Kind::kUpdateBackend
                                                           : Entry::Kind::kUpdateBackendSet;
  }
  if (absl::StrContains(request.target, "/loadBalancerWorkRequests/")) {
    return Entry::Kind::kGetWorkRequest;
  }
  if (absl::StrContains(request.target, "/workRequests")) return Entry::Kind::kListWorkRequests;
  if (absl::StrContains(request.target, "/backendSets/")) return Entry::Kind::kOciOther;
  return Entry::Kind::kGetLoadBalancer;
}

}  // namespace

absl::string_view Name(Entry::Kind kind) {
  switch (kind) {
    case Entry::Kind::kWatchBytes:
      return "watch writes";
    case Entry::Kind::kLedgerWrite:
      return "ledger writes";
    case Entry::Kind::kEventWrite:
      return "Event writes";
    case Entry::Kind::kKubeOther:
      return "other Kubernetes calls";
    case Entry::Kind::kUpdateBackend:
      return "UpdateBackend";
    case Entry::Kind::kUpdateBackendSet:
      return "UpdateBackendSet";
    case Entry::Kind::kGetLoadBalancer:
      return "GetLoadBalancer";
    case Entry::Kind::kListWorkRequests:
      return "ListWorkRequests";
    case Entry::Kind::kGetWorkRequest:
      return "GetWorkRequest";
    case Entry::Kind::kOciOther:
      return "other OCI calls";
  }
  return "";
}

void Journal::Add(Entry entry) {
  absl::MutexLock lock(&mutex_);
  ++counts_[entry.kind];
  entries_.push_back(std::move(entry));
}

void Journal::AddWatchBytes(absl::Time before, absl::string_view bytes) {
  Add({.kind = Entry::Kind::kWatchBytes, .time = before, .body = std::string(bytes)});
}

void Journal::AddKube(const sim::KubeRequestRecord& record) {
  Add({.kind = KindOf(record),
       .time = record.time,
       .target = record.target,
       .body = record.body,
       .status = record.status});
}

void Journal::AddOci(const sim::RequestRecord& record) {
  Add({.kind = KindOf(record.request),
       .time = record.time,
       .target = record.request.target,
       .body = record.request.body,
       .if_match = std::string(http::FindHeader(record.request.headers, "if-match")),
       .status = record.status});
}

void Journal::Clear() {
  absl::MutexLock lock(&mutex_);
  entries_.clear();
}

std::vector<Entry> Journal::entries() const {
  absl::MutexLock lock(&mutex_);
  return entries_;
}

std::map<Entry::Kind, int64_t> Journal::counts() const {
  absl::MutexLock lock(&mutex_);
  return counts_;
}

bool Journal::Await(const Predicate& done, absl::Duration patience) const {
  absl::MutexLock lock(&mutex_);
  const auto is_done = [&] {
    mutex_.AssertHeld();
    return done(entries_);
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&is_done), patience);
}

}  // namespace bench

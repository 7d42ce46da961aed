#include "sim/fake_load_balancer.h"

#include <algorithm>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "sim/load_balancer_document.h"

namespace sim {
namespace {

using rapidjson::Value;

// A limit's refusal at acceptance, or an edit's at completion, as errorDetails.
constexpr absl::string_view kBadInput = "BAD_INPUT";

FakeLoadBalancer::Edit ReplaceSet(std::string set, std::shared_ptr<rapidjson::Document> body) {
  return [set = std::move(set), body = std::move(body)](rapidjson::Document& lb) -> ApiError {
    Value* old = FindBackendSet(lb, set);
    if (old == nullptr) return NotThere();
    *old = MakeBackendSet(set, *body, lb.GetAllocator());
    return {};
  };
}

FakeLoadBalancer::Edit ChangeBackend(std::string set, std::string backend,
                                     std::shared_ptr<rapidjson::Document> body) {
  return [set = std::move(set), backend = std::move(backend),
          body = std::move(body)](rapidjson::Document& lb) -> ApiError {
    Value* in = FindBackendSet(lb, set);
    Value* found = in == nullptr ? nullptr : FindBackend(*in, backend);
    if (found == nullptr) {
      return {404, std::string(kBadInput),
              absl::StrCat("Backend ", backend, " was not found in backend set ", set)};
    }
    ApplyBackendUpdate(*body, *found, lb.GetAllocator());
    return {};
  };
}

}  // namespace

struct FakeLoadBalancer::Work {
  size_t write = 0;  // index in writes_
  absl::Duration service_time;
  Edit edit;
};

struct FakeLoadBalancer::LoadBalancer {
  rapidjson::Document document;
  std::string text;  // of the document; empty until somebody reads it
  std::string etag;
  int64_t version = 1;
  std::deque<Work> queue;  // the first one is worked on from `starts`
  absl::Time starts = absl::InfiniteFuture();
  absl::Time finishes = absl::InfiniteFuture();
  std::deque<size_t> listed;  // indexes in writes_, oldest first
  BackendHealthBook health;
  absl::Time next_check;
};

FakeLoadBalancer::FakeLoadBalancer(FakeLoadBalancerOptions options)
    : options_(options), random_(options.seed) {}

FakeLoadBalancer::~FakeLoadBalancer() = default;

FakeLoadBalancer::LoadBalancer* FakeLoadBalancer::Find(const std::string& ocid) const {
  const auto found = load_balancers_.find(ocid);
  return found == load_balancers_.end() ? nullptr : found->second.get();
}

void FakeLoadBalancer::MoveEtag(LoadBalancer& lb) {
  lb.etag = base::Random(options_.seed ^ (++etags_made_ << 20)).Token(32);
}

// The world.

absl::Status FakeLoadBalancer::AddLoadBalancer(absl::string_view json, absl::Time now) {
  Advance(now);
  auto parsed = base::ParseJson(json, "load balancer");
  if (!parsed.ok()) return parsed.status();
  if (absl::Status status = CheckLoadBalancer(*parsed); !status.ok()) return status;
  auto lb = std::make_unique<LoadBalancer>();
  lb->document = *std::move(parsed);
  lb->next_check = now_ + options_.health_check_interval;
  lb->health.Follow(lb->document);
  MoveEtag(*lb);
  const std::string ocid(base::StringOf(lb->document["id"]));
  load_balancers_[ocid] = std::move(lb);
  return absl::OkStatus();
}

void FakeLoadBalancer::RemoveLoadBalancer(const std::string& ocid) { load_balancers_.erase(ocid); }

void FakeLoadBalancer::FixHealth(const std::string& ocid, const std::string& set,
                                 const std::string& backend, std::optional<Health> health) {
  LoadBalancer* lb = Find(ocid);
  if (lb != nullptr) lb->health.Fix(set, backend, health);
}

absl::Status FakeLoadBalancer::EditNow(const std::string& ocid, const Edit& edit, absl::Time now) {
  Advance(now);
  LoadBalancer* lb = Find(ocid);
  if (lb == nullptr) return absl::NotFoundError(absl::StrCat("no load balancer ", ocid));
  WriteRecord unlogged;
  absl::Status status = Apply(*lb, edit, "", unlogged);
  if (status.ok()) MoveEtag(*lb);
  return status;
}

absl::Status FakeLoadBalancer::QueueWrite(const std::string& ocid, std::string type,
                                          std::string client, Edit edit, absl::Time now) {
  Advance(now);
  LoadBalancer* lb = Find(ocid);
  if (lb == nullptr) return absl::NotFoundError(absl::StrCat("no load balancer ", ocid));
  WriteRecord record;
  record.load_balancer = ocid;
  record.type = std::move(type);
  record.client = std::move(client);
  Enqueue(*lb, std::move(record), std::move(edit));
  Advance(now);
  return absl::OkStatus();
}

void FakeLoadBalancer::Freeze(absl::Time until, absl::Time now) {
  Advance(now);
  if (until <= now_) return;
  frozen_until_ = until;
  for (auto& [ocid, lb] : load_balancers_) {
    if (lb->queue.empty()) continue;
    const absl::Time worked_until = std::max(lb->starts, now_);
    const absl::Duration left = lb->finishes - worked_until;
    if (lb->starts > now_) lb->starts = until;
    lb->finishes = until + left;
  }
}

void FakeLoadBalancer::SetOnFinished(std::function<void(const WriteRecord&)> callback) {
  on_finished_ = std::move(callback);
}

// Time.

absl::Time FakeLoadBalancer::NextEventTime() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [ocid, lb] : load_balancers_) {
    next = std::min({next, lb->finishes, lb->next_check});
  }
  return next;
}

bool FakeLoadBalancer::Idle() const {
  return std::all_of(load_balancers_.begin(), load_balancers_.end(),
                     [](const auto& entry) { return entry.second->queue.empty(); });
}

void FakeLoadBalancer::Advance(absl::Time now) {
  now = std::max(now, now_);
  while (true) {
    LoadBalancer* due = nullptr;
    for (auto& [ocid, lb] : load_balancers_) {
      if (lb->finishes <= now && (due == nullptr || lb->finishes < due->finishes)) due = lb.get();
    }
    const absl::Time until = due == nullptr ? now : due->finishes;
    for (auto& [ocid, lb] : load_balancers_) CheckHealth(*lb, until);
    now_ = std::max(now_, until);
    if (due == nullptr) break;
    Finish(*due);
  }
  for (auto& [ocid, lb] : load_balancers_) {
    if (lb->queue.empty() || lb->starts > now_) continue;
    writes_[lb->queue.front().write].state = WorkState::kInProgress;
  }
}

// Of the rounds that are due only the last one is left to be seen.
void FakeLoadBalancer::CheckHealth(LoadBalancer& lb, absl::Time until) {
  if (lb.next_check > until) return;
  const int64_t missed = (until - lb.next_check) / options_.health_check_interval;
  lb.next_check += missed * options_.health_check_interval;
  lb.health.Check(lb.document, serving_, lb.next_check);
  lb.next_check += options_.health_check_interval;
}

WriteRecord& FakeLoadBalancer::Enqueue(LoadBalancer& lb, WriteRecord record, Edit edit) {
  const size_t index = writes_.size();
  record.work_request_id = absl::StrCat("ocid1.loadbalancerworkrequest.oc1..example",
                                        absl::Dec(index + 1, absl::kZeroPad6));
  record.accepted = now_;
  write_of_work_request_[record.work_request_id] = index;
  writes_.push_back(std::move(record));
  const int64_t min_ms = absl::ToInt64Milliseconds(options_.min_service_time);
  const int64_t max_ms = absl::ToInt64Milliseconds(options_.max_service_time);
  const absl::Duration service_time =
      absl::Milliseconds(random_.Between(min_ms, std::max(min_ms, max_ms)));
  lb.queue.push_back(Work{index, service_time, std::move(edit)});
  lb.listed.push_back(index);
  while (lb.listed.size() > options_.kept_work_requests && writes_[lb.listed.front()].done()) {
    lb.listed.pop_front();
  }
  if (options_.etag_moves != EtagMoves::kAtCompletion) MoveEtag(lb);
  if (lb.queue.size() == 1) Start(lb, now_);
  return writes_[index];
}

void FakeLoadBalancer::Start(LoadBalancer& lb, absl::Time now) {
  lb.starts = std::max(now, frozen_until_);
  lb.finishes = lb.starts + lb.queue.front().service_time;
}

void FakeLoadBalancer::Finish(LoadBalancer& lb) {
  const Work work = std::move(lb.queue.front());
  lb.queue.pop_front();
  WriteRecord& record = writes_[work.write];
  record.finished = lb.finishes;
  if (const WorkFault* fault = TakeWorkFault(record); fault != nullptr) {
    record.error_code = fault->code;
    record.error_message = fault->message;
    record.state = WorkState::kFailed;
  } else if (absl::Status status = Apply(lb, work.edit, record.backend_set, record); !status.ok()) {
    record.error_code = std::string(kBadInput);
    record.error_message = std::string(status.message());
    record.state = WorkState::kFailed;
  } else {
    record.state = WorkState::kSucceeded;
    if (options_.etag_moves != EtagMoves::kAtAcceptance) MoveEtag(lb);
  }
  const absl::Time finished = lb.finishes;
  lb.starts = lb.finishes = absl::InfiniteFuture();
  if (!lb.queue.empty()) Start(lb, finished);
  if (on_finished_) on_finished_(record);
}

const WorkFault* FakeLoadBalancer::TakeWorkFault(const WriteRecord& record) {
  for (WorkFault& fault : work_faults_) {
    if (fault.times <= 0 || (fault.matches && !fault.matches(record))) continue;
    if (fault.skip > 0) {
      --fault.skip;
      continue;
    }
    --fault.times;
    return &fault;
  }
  return nullptr;
}

absl::Status FakeLoadBalancer::Apply(LoadBalancer& lb, const Edit& edit, const std::string& set,
                                     WriteRecord& record) {
  // A fresh copy, so that neither a refused edit nor the allocator leaves a trace.
  rapidjson::Document after;
  after.CopyFrom(lb.document, after.GetAllocator());
  if (ApiError error = edit(after); !error.ok()) return absl::InvalidArgumentError(error.message);
  if (absl::Status status = CheckLoadBalancer(after); !status.ok()) return status;
  if (const Value* changed = FindBackendSet(after, set); changed != nullptr) {
    ApiError error = CheckLimits(lb.document, *changed, set);
    if (!error.ok()) return absl::ResourceExhaustedError(error.message);
  }
  record.effect = DiffLoadBalancers(lb.document, after);
  lb.document.Swap(after);
  lb.text.clear();
  ++lb.version;
  lb.health.Follow(lb.document);
  return absl::OkStatus();
}

// Reads.

ApiReply FakeLoadBalancer::Read(LoadBalancer& lb, std::string body) const {
  ApiReply reply;
  reply.body = std::move(body);
  reply.etag = lb.etag;
  return reply;
}

ApiReply FakeLoadBalancer::GetLoadBalancer(const std::string& ocid, absl::Time now) {
  Advance(now);
  LoadBalancer* lb = Find(ocid);
  if (lb == nullptr) return Refusal(NotThere());
  if (lb->text.empty()) lb->text = base::WriteJson(lb->document);
  return Read(*lb, lb->text);
}

ApiReply FakeLoadBalancer::GetBackendSet(const std::string& ocid, const std::string& set,
                                         absl::Time now) {
  Advance(now);
  LoadBalancer* lb = Find(ocid);
  const Value* found = lb == nullptr ? nullptr : FindBackendSet(std::as_const(lb->document), set);
  return found == nullptr ? Refusal(NotThere()) : Read(*lb, base::WriteJson(*found));
}

ApiReply FakeLoadBalancer::GetBackend(const std::string& ocid, const std::string& set,
                                      const std::string& backend, absl::Time now) {
  Advance(now);
  LoadBalancer* lb = Find(ocid);
  const Value* in = lb == nullptr ? nullptr : FindBackendSet(std::as_const(lb->document), set);
  const Value* found = in == nullptr ? nullptr : FindBackend(*in, backend);
  return found == nullptr ? Refusal(NotThere()) : Read(*lb, base::WriteJson(*found));
}

ApiReply FakeLoadBalancer::GetLoadBalancerHealth(const std::string& ocid, absl::Time now) {
  Advance(now);
  LoadBalancer* lb = Find(ocid);
  return lb == nullptr ? Refusal(NotThere()) : Read(*lb, lb->health.LoadBalancerJson(lb->document));
}

ApiReply FakeLoadBalancer::GetBackendSetHealth(const std::string& ocid, const std::string& set,
                                               absl::Time now) {
  Advance(now);
  LoadBalancer* lb = Find(ocid);
  if (lb == nullptr || FindBackendSet(lb->document, set) == nullptr) return Refusal(NotThere());
  return Read(*lb, lb->health.BackendSetJson(lb->document, set));
}

ApiReply FakeLoadBalancer::GetBackendHealth(const std::string& ocid, const std::string& set,
                                            const std::string& backend, absl::Time now) {
  Advance(now);
  LoadBalancer* lb = Find(ocid);
  Value* in = lb == nullptr ? nullptr : FindBackendSet(lb->document, set);
  if (in == nullptr || FindBackend(*in, backend) == nullptr) return Refusal(NotThere());
  return Read(*lb, lb->health.BackendJson(set, backend));
}

ApiReply FakeLoadBalancer::GetWorkRequest(const std::string& id, absl::Time now) {
  Advance(now);
  const auto found = write_of_work_request_.find(id);
  if (found == write_of_work_request_.end()) return Refusal(NotThere());
  ApiReply reply;
  reply.body = WorkRequestJson(writes_[found->second]);
  return reply;
}

std::string FakeLoadBalancer::TextOf(size_t write) {
  if (!writes_[write].done()) return WorkRequestJson(writes_[write]);
  std::string& text = finished_texts_[write];
  if (text.empty()) text = WorkRequestJson(writes_[write]);
  return text;
}

ApiReply FakeLoadBalancer::ListWorkRequests(const std::string& ocid, int limit,
                                            const std::string& page, absl::Time now) {
  Advance(now);
  LoadBalancer* lb = Find(ocid);
  if (lb == nullptr) return Refusal(NotThere());
  if (limit < 0 || limit > 1000) {
    return Refusal({400, "InvalidParameter", "limit must be between 1 and 1000"});
  }
  // A page begins at an index in writes_, so that new entries do not shift it.
  size_t at_most = writes_.size();
  if (!page.empty() && !absl::SimpleAtoi(page, &at_most)) {
    return Refusal({400, "InvalidParameter", absl::StrCat("Invalid page ", page)});
  }
  const size_t size = limit == 0 ? options_.default_page_size : limit;
  ApiReply reply;
  reply.body = "[";
  size_t count = 0;
  for (auto index = lb->listed.rbegin(); index != lb->listed.rend(); ++index) {
    if (*index > at_most) continue;
    if (count == size) {
      reply.next_page = absl::StrCat(*index);
      break;
    }
    absl::StrAppend(&reply.body, count++ == 0 ? "" : ",", TextOf(*index));
  }
  reply.body += "]";
  return reply;
}

// Writes.

ApiReply FakeLoadBalancer::UpdateBackendSet(const BackendPath& path, absl::string_view body,
                                            const WriteHeaders& headers, absl::Time now) {
  return Write(BackendPath{path.load_balancer, path.backend_set, ""}, body, headers, now);
}

ApiReply FakeLoadBalancer::UpdateBackend(const BackendPath& path, absl::string_view body,
                                         const WriteHeaders& headers, absl::Time now) {
  if (path.backend.empty()) return Refusal(NotThere());
  return Write(path, body, headers, now);
}

ApiReply FakeLoadBalancer::Write(const BackendPath& path, absl::string_view body,
                                 const WriteHeaders& headers, absl::Time now) {
  Advance(now);
  const bool whole_set = path.backend.empty();
  LoadBalancer* lb = Find(path.load_balancer);
  if (lb == nullptr) return Refusal(NotThere());
  const size_t request_hash =
      std::hash<std::string>()(absl::StrCat(path.backend_set, "\n", path.backend, "\n", body));
  const std::string token_key = absl::StrCat(path.load_balancer, "\n", headers.retry_token);
  if (const auto seen = tokens_.find(token_key);
      seen != tokens_.end() && seen->second.expires > now_) {
    if (seen->second.request_hash != request_hash) {
      return Refusal({409, "InvalidatedRetryToken",
                      "The retry token was already used for a different request"});
    }
    return ApiReply{204, "", "", seen->second.work_request_id, ""};
  }
  auto parsed = std::make_shared<rapidjson::Document>();
  ApiError error = ParseBody(body, *parsed);
  if (error.ok()) {
    error = whole_set ? CheckBackendSetUpdate(*parsed, options_.body_rules)
                      : CheckBackendUpdate(*parsed, options_.body_rules);
  }
  if (error.ok()) error = CheckTarget(*lb, path, *parsed);
  if (error.ok()) error = CheckGuards(*lb, headers);
  if (error.ok() && whole_set && options_.limit_refusal == LimitRefusal::kAtOnce) {
    error = CheckLimits(lb->document, *parsed, path.backend_set);
  }
  if (!error.ok()) return Refusal(error);

  WriteRecord record;
  record.load_balancer = path.load_balancer;
  record.backend_set = path.backend_set;
  record.type = whole_set ? "UpdateBackendSet" : "UpdateBackend";
  record.client = headers.client;
  record.request_id = headers.request_id;
  record.if_match = headers.if_match.value_or("");
  record.body = std::string(body);
  const std::string id =
      Enqueue(*lb, std::move(record),
              whole_set ? ReplaceSet(path.backend_set, std::move(parsed))
                        : ChangeBackend(path.backend_set, path.backend, std::move(parsed)))
          .work_request_id;
  if (!headers.retry_token.empty()) {
    tokens_[token_key] = SeenToken{request_hash, id, now_ + absl::Hours(24)};
  }
  Advance(now_);
  return ApiReply{204, "", "", id, ""};
}

ApiError FakeLoadBalancer::CheckGuards(const LoadBalancer& lb, const WriteHeaders& headers) const {
  const absl::string_view state = base::StringOf(lb.document["lifecycleState"]);
  if (state != "ACTIVE") {
    return {409, "IncorrectState", absl::StrCat("The load balancer is in state ", state)};
  }
  if (headers.if_match.has_value() && *headers.if_match != lb.etag) {
    return {412, "NoEtagMatch",
            "The if-match header does not match the current etag of the load balancer"};
  }
  if (options_.concurrent_writes == ConcurrentWrites::kRefuse && !lb.queue.empty()) {
    return {409, "IncorrectState",
            absl::StrCat("Work request ", writes_[lb.queue.front().write].work_request_id,
                         " is in progress")};
  }
  return {};
}

ApiError FakeLoadBalancer::CheckTarget(const LoadBalancer& lb, const BackendPath& path,
                                       const Value& body) const {
  const Value* set = FindBackendSet(lb.document, path.backend_set);
  if (set == nullptr) return NotThere();
  if (path.backend.empty()) return {};
  return FindBackend(*set, path.backend) == nullptr ? NotThere() : CheckBackupAllowed(body, *set);
}

// A write that adds nothing is not refused, whatever the limit is by now.
ApiError FakeLoadBalancer::CheckLimits(const Value& before, const Value& after_set,
                                       const std::string& set) const {
  const Value* old_set = FindBackendSet(before, set);
  const int old_count = old_set == nullptr ? 0 : CountBackends(*old_set);
  const int in_set = CountBackends(after_set);
  if (in_set <= old_count) return {};
  if (in_set > options_.max_backends_per_set) {
    return {400, "LimitExceeded",
            absl::StrCat("The number of backends in the backend set, ", in_set,
                         ", exceeds the limit of ", options_.max_backends_per_set)};
  }
  const int in_all = CountBackendsOfAllSets(before) - old_count + in_set;
  if (in_all > options_.max_backends_per_load_balancer) {
    return {400, "LimitExceeded",
            absl::StrCat("The number of backends in the load balancer, ", in_all,
                         ", exceeds the limit of ", options_.max_backends_per_load_balancer)};
  }
  return {};
}

// For assertions.

const Value* FakeLoadBalancer::Applied(const std::string& ocid) const {
  const LoadBalancer* lb = Find(ocid);
  return lb == nullptr ? nullptr : &lb->document;
}

int64_t FakeLoadBalancer::StateVersion(const std::string& ocid) const {
  const LoadBalancer* lb = Find(ocid);
  return lb == nullptr ? 0 : lb->version;
}

std::string FakeLoadBalancer::Etag(const std::string& ocid) const {
  const LoadBalancer* lb = Find(ocid);
  return lb == nullptr ? "" : lb->etag;
}

}  // namespace sim

// The OCI Load Balancer API as a state machine: documents, ETags, work requests
// and health. No clock, thread or socket: every call is told the time, and two
// runs with the same calls are the same run.
//
// fake_load_balancer_http.h speaks HTTP for it; fake_load_balancer_server.h puts
// that on a socket.
#ifndef OCI_BACKEND_DRAIN_SIM_FAKE_LOAD_BALANCER_H_
#define OCI_BACKEND_DRAIN_SIM_FAKE_LOAD_BALANCER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "rapidjson/document.h"
#include "sim/api_reply.h"
#include "sim/backend_health.h"
#include "sim/load_balancer_body.h"
#include "sim/write_record.h"

namespace sim {

// When a write moves the load balancer's ETag; Oracle does not document it.
enum class EtagMoves { kAtAcceptance, kAtCompletion, kBoth };

// How a write that exceeds a limit ends; not documented either.
enum class LimitRefusal { kAtOnce, kFailedWorkRequest };

// What a write meets while another is unfinished: the load balancer queues it; the
// network load balancer refuses it with 409.
enum class ConcurrentWrites { kQueue, kRefuse };

struct FakeLoadBalancerOptions {
  // A work request takes a time uniform in [min, max], in whole milliseconds.
  // Zero: it has succeeded when the call returns.
  absl::Duration min_service_time = absl::ZeroDuration();
  absl::Duration max_service_time = absl::ZeroDuration();
  EtagMoves etag_moves = EtagMoves::kBoth;
  int max_backends_per_set = 512;
  int max_backends_per_load_balancer = 512;
  LimitRefusal limit_refusal = LimitRefusal::kAtOnce;
  ConcurrentWrites concurrent_writes = ConcurrentWrites::kQueue;
  BodyRules body_rules;
  absl::Duration health_check_interval = absl::Seconds(10);
  int default_page_size = 100;       // of ListWorkRequests
  size_t kept_work_requests = 1000;  // per load balancer, finished ones
  uint64_t seed = 1;
};

struct WriteHeaders {
  std::optional<std::string> if_match = std::nullopt;  // absent: the write is not guarded
  std::string retry_token = {};                        // empty: absent
  std::string request_id = {};
  std::string client = {};  // who writes, for the log
};

// Makes accepted writes fail at their completion.
struct WorkFault {
  std::function<bool(const WriteRecord&)> matches = nullptr;  // empty: every write
  int skip = 0;                                               // so many matching ones succeed first
  int times = 1;                                              // then so many fail
  std::string code = "INTERNAL_ERROR";
  std::string message = "An internal error occurred";
};

// Not thread-safe. `now` never goes back; an earlier one counts as the last one.
class FakeLoadBalancer {
 public:
  // Changes the document of a load balancer; an error fails the work request and
  // drops the change.
  using Edit = std::function<ApiError(rapidjson::Document& load_balancer)>;

  explicit FakeLoadBalancer(FakeLoadBalancerOptions options = {});
  ~FakeLoadBalancer();
  FakeLoadBalancer(const FakeLoadBalancer&) = delete;
  FakeLoadBalancer& operator=(const FakeLoadBalancer&) = delete;

  // The world.

  // InvalidArgument names what the document lacks. An OCID that exists is replaced.
  absl::Status AddLoadBalancer(absl::string_view json, absl::Time now);
  void RemoveLoadBalancer(const std::string& ocid);
  // Who answers health checks; until then everybody does.
  void SetServing(ServingFunction serving) { serving_ = std::move(serving); }
  void FixHealth(const std::string& ocid, const std::string& set, const std::string& backend,
                 std::optional<Health> health);
  // An operator's change, applied at once and without a work request; moves the ETag.
  absl::Status EditNow(const std::string& ocid, const Edit& edit, absl::Time now);
  // A write of somebody else through the queue, of any type ("CreateListener").
  // NotFound without such a load balancer.
  absl::Status QueueWrite(const std::string& ocid, std::string type, std::string client, Edit edit,
                          absl::Time now);
  // No work request makes progress before `until`.
  void Freeze(absl::Time until, absl::Time now);
  void AddWorkFault(WorkFault fault) { work_faults_.push_back(std::move(fault)); }
  // Called after each write has ended, whether it succeeded or failed.
  void SetOnFinished(std::function<void(const WriteRecord&)> callback);
  FakeLoadBalancerOptions& options() { return options_; }

  // Time.

  // Applies what is due at or before `now`, in the order of time.
  void Advance(absl::Time now);
  // When a work request ends or a health check runs; InfiniteFuture() if nothing will.
  absl::Time NextEventTime() const;
  // Whether no work request is unfinished.
  bool Idle() const;

  // The API. Each call first advances to `now`.

  ApiReply GetLoadBalancer(const std::string& ocid, absl::Time now);
  ApiReply GetBackendSet(const std::string& ocid, const std::string& set, absl::Time now);
  ApiReply GetBackend(const std::string& ocid, const std::string& set, const std::string& backend,
                      absl::Time now);
  ApiReply GetLoadBalancerHealth(const std::string& ocid, absl::Time now);
  ApiReply GetBackendSetHealth(const std::string& ocid, const std::string& set, absl::Time now);
  ApiReply GetBackendHealth(const std::string& ocid, const std::string& set,
                            const std::string& backend, absl::Time now);
  ApiReply GetWorkRequest(const std::string& id, absl::Time now);
  // Newest first. `limit` 0: the default; `page` from an earlier reply, or empty.
  ApiReply ListWorkRequests(const std::string& ocid, int limit, const std::string& page,
                            absl::Time now);

  struct BackendPath {
    std::string load_balancer;
    std::string backend_set;
    std::string backend = {};  // empty for UpdateBackendSet
  };
  ApiReply UpdateBackendSet(const BackendPath& path, absl::string_view body,
                            const WriteHeaders& headers, absl::Time now);
  ApiReply UpdateBackend(const BackendPath& path, absl::string_view body,
                         const WriteHeaders& headers, absl::Time now);

  // For assertions.

  // Every accepted write, in the order of acceptance.
  const std::deque<WriteRecord>& writes() const { return writes_; }
  // The applied state. nullptr if there is none; valid until the next call.
  const rapidjson::Value* Applied(const std::string& ocid) const;
  // Grows whenever the applied state of the load balancer changes.
  int64_t StateVersion(const std::string& ocid) const;
  std::string Etag(const std::string& ocid) const;

 private:
  struct Work;
  struct LoadBalancer;
  // A retry token says: the same request again, for a day.
  struct SeenToken {
    size_t request_hash;
    std::string work_request_id;
    absl::Time expires;
  };

  LoadBalancer* Find(const std::string& ocid) const;
  ApiReply Read(LoadBalancer& lb, std::string body) const;
  ApiReply Write(const BackendPath& path, absl::string_view body, const WriteHeaders& headers,
                 absl::Time now);
  ApiError CheckTarget(const LoadBalancer& lb, const BackendPath& path,
                       const rapidjson::Value& body) const;
  ApiError CheckGuards(const LoadBalancer& lb, const WriteHeaders& headers) const;
  ApiError CheckLimits(const rapidjson::Value& before, const rapidjson::Value& after_set,
                       const std::string& set) const;
  WriteRecord& Enqueue(LoadBalancer& lb, WriteRecord record, Edit edit);
  void Start(LoadBalancer& lb, absl::Time now);
  void Finish(LoadBalancer& lb);
  void CheckHealth(LoadBalancer& lb, absl::Time until);
  absl::Status Apply(LoadBalancer& lb, const Edit& edit, const std::string& set,
                     WriteRecord& record);
  const WorkFault* TakeWorkFault(const WriteRecord& record);
  void MoveEtag(LoadBalancer& lb);
  // As the API shows it.
  std::string TextOf(size_t write);

  FakeLoadBalancerOptions options_;
  base::Random random_;
  absl::Time now_ = absl::InfinitePast();
  absl::Time frozen_until_ = absl::InfinitePast();
  ServingFunction serving_;
  std::vector<WorkFault> work_faults_;
  std::function<void(const WriteRecord&)> on_finished_;
  std::map<std::string, std::unique_ptr<LoadBalancer>> load_balancers_;
  std::deque<WriteRecord> writes_;
  std::map<std::string, size_t> write_of_work_request_;  // index in writes_
  std::map<size_t, std::string> finished_texts_;         // they do not change any more
  std::map<std::string, SeenToken> tokens_;
  uint64_t etags_made_ = 0;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_FAKE_LOAD_BALANCER_H_

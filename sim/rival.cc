#include "sim/rival.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "sim/rival_body.h"

namespace sim {
namespace {

using rapidjson::Value;

constexpr char kBasePath[] = "/20170115";
constexpr absl::Duration kWorkRequestTimeout = absl::Minutes(5);
constexpr int kSdkAttempts = 8;
constexpr int kQueueRetries = 5;
// What the calls of a pass take. It matters for the order of things only: the retry of
// a pass that a tick began comes after the next tick, as a pass of its own.
constexpr absl::Duration kPassTime = absl::Milliseconds(100);

std::string NameOf(const RivalEndpoint& endpoint) {
  return absl::StrCat(endpoint.ip, ":", endpoint.port);
}

std::string ErrorCode(const http::Response& response) {
  const auto parsed = base::ParseJson(response.body, "error");
  if (!parsed.ok()) return "";
  const Value* code = base::FindMember(*parsed, "code");
  return code == nullptr ? "" : std::string(base::StringOf(*code));
}

// What the SDK repeats by itself, with the same bytes and the same if-match.
bool SdkRetries(const absl::StatusOr<http::Response>& response) {
  if (!response.ok() || response->status == 429) return true;
  if (response->status >= 500 && response->status <= 504) return response->status != 501;
  return response->status == 409 && ErrorCode(*response) == "IncorrectState";
}

// nullptr if the document has no such set.
const Value* SetOf(const rapidjson::Document& load_balancer, const std::string& name) {
  const Value* set = base::FindPath(load_balancer, {"backendSets", name});
  const Value* backends = set == nullptr ? nullptr : base::FindMember(*set, "backends");
  return backends != nullptr && backends->IsArray() ? set : nullptr;
}

}  // namespace

struct Rival::Cached {
  rapidjson::Document document;
  std::string etag;
  absl::Time read_at;
};

struct Rival::Worker {
  enum class Phase { kIdle, kReading, kWriting, kPolling, kRefreshing, kCheckingHealth };

  RivalClass ingress_class;  // as of the last tick
  bool queued = false;

  // Of the pass that is running.
  RivalClass pass;
  size_t path = 0;
  std::vector<RivalEndpoint> endpoints;
  Phase phase = Phase::kIdle;
  bool wrote_one_backend = false;
  http::Request request;  // what is sent next
  int attempt = 0;
  absl::Time wake = absl::InfinitePast();  // when it is sent
  absl::Time give_up = absl::InfiniteFuture();

  int failures = 0;
  absl::Time retry_at = absl::InfiniteFuture();

  const RivalPath& current() const { return pass.paths[path]; }
  std::string SetTarget() const {
    return absl::StrCat(kBasePath, "/loadBalancers/", pass.load_balancer, "/backendSets/",
                        current().backend_set);
  }
  std::string LoadBalancerTarget() const {
    return absl::StrCat(kBasePath, "/loadBalancers/", pass.load_balancer);
  }
};

Rival::Rival(RivalOptions options, RivalWorld& world, http::Transport& transport, absl::Time start)
    : options_(std::move(options)),
      world_(world),
      transport_(transport),
      random_(options_.seed),
      next_tick_(start) {}

Rival::~Rival() = default;

absl::Time Rival::Step(absl::Time now) {
  if (next_tick_ <= now) Tick(now);
  absl::Time next = next_tick_;
  for (auto& [name, worker] : workers_) {
    if (worker->retry_at <= now) {
      worker->queued = true;
      worker->retry_at = absl::InfiniteFuture();
    }
    Run(*worker, now);
    next = std::min(next, worker->retry_at);
    if (worker->phase != Worker::Phase::kIdle) next = std::min(next, worker->wake);
  }
  return next;
}

void Rival::Notify() {
  if (options_.variant != RivalVariant::kDrainsByItself) return;
  for (auto& [name, worker] : workers_) worker->queued = true;
}

// A class that is being worked on is looked at again right afterwards; several
// ticks in the meantime count as one.
void Rival::Tick(absl::Time now) {
  while (next_tick_ <= now) next_tick_ += options_.tick;
  const auto classes = world_.Classes();
  if (!classes.ok()) return;
  for (const RivalClass& ingress_class : *classes) {
    auto& worker = workers_[ingress_class.name];
    if (worker == nullptr) worker = std::make_unique<Worker>();
    worker->ingress_class = ingress_class;
    worker->queued = true;
  }
}

void Rival::Run(Worker& worker, absl::Time now) {
  while (true) {
    if (worker.phase == Worker::Phase::kIdle) {
      if (!worker.queued) return;
      Begin(worker, now);
      continue;
    }
    if (worker.wake > now) return;
    http::Request request = worker.request;
    if (options_.sign) options_.sign(request);
    const absl::StatusOr<http::Response> response = transport_.Send(request);
    if (SdkRetries(response) && ++worker.attempt < kSdkAttempts) {
      const absl::Duration wait =
          std::min(absl::Seconds(1 << (worker.attempt - 1)), absl::Seconds(30)) +
          absl::Seconds(1) * random_.Fraction();
      worker.wake = now + wait;
      continue;
    }
    if (!response.ok()) {
      Fail(worker, now);
      continue;
    }
    Take(worker, *response, now);
  }
}

void Rival::Begin(Worker& worker, absl::Time now) {
  worker.queued = false;
  worker.pass = worker.ingress_class;
  worker.path = 0;
  if (worker.pass.load_balancer.empty()) return;
  ++counts_.passes;
  Visit(worker, now);
}

// Begins the current path, or ends the pass.
void Rival::Visit(Worker& worker, absl::Time now) {
  if (worker.path == worker.pass.paths.size()) {
    worker.phase = Worker::Phase::kIdle;
    worker.failures = 0;
    return;
  }
  auto endpoints = world_.Endpoints(worker.pass, worker.current());
  if (!endpoints.ok()) return Fail(worker, now);
  worker.endpoints = *std::move(endpoints);
  const auto cached = cache_.find(worker.pass.load_balancer);
  if (cached != cache_.end() && now - cached->second->read_at < options_.cache_age) {
    return Compare(worker, now);
  }
  worker.phase = Worker::Phase::kReading;
  Ask(worker, worker.LoadBalancerTarget());
}

void Rival::Compare(Worker& worker, absl::Time now) {
  const Value* set =
      SetOf(cache_[worker.pass.load_balancer]->document, worker.current().backend_set);
  if (set == nullptr) return Fail(worker, now);
  std::set<std::string> wanted;
  for (const RivalEndpoint& endpoint : worker.endpoints) wanted.insert(NameOf(endpoint));
  std::set<std::string> present;
  for (const Value& backend : (*set)["backends"].GetArray()) {
    const Value* name = base::FindMember(backend, "name");
    if (name != nullptr) present.insert(std::string(base::StringOf(*name)));
  }
  worker.phase = Worker::Phase::kWriting;
  worker.wrote_one_backend = wanted == present;
  if (wanted != present) return WriteSet(worker, *set);
  if (!WriteNextDrain(worker, *set)) CheckHealth(worker);
}

// One UpdateBackend follows the other; after a whole set the path is done, even if
// somebody else has changed it meanwhile.
void Rival::GoOnAfterWrite(Worker& worker, absl::Time now) {
  const Value* set =
      SetOf(cache_[worker.pass.load_balancer]->document, worker.current().backend_set);
  if (set == nullptr) return Fail(worker, now);
  worker.phase = Worker::Phase::kWriting;
  if (!worker.wrote_one_backend || !WriteNextDrain(worker, *set)) CheckHealth(worker);
}

void Rival::CheckHealth(Worker& worker) {
  worker.phase = Worker::Phase::kCheckingHealth;
  Ask(worker, absl::StrCat(worker.SetTarget(), "/health"));
}

bool Rival::Desired(const RivalPath& path, const RivalEndpoint& endpoint) const {
  if (options_.variant != RivalVariant::kDrainsByItself || !path.drains) return false;
  // An address whose Pod it cannot see is drained until it can.
  return endpoint.terminating || !endpoint.pod_known;
}

void Rival::WriteSet(Worker& worker, const Value& set) {
  std::vector<RivalBackend> backends;
  for (const RivalEndpoint& endpoint : worker.endpoints) {
    backends.push_back({endpoint.ip, endpoint.port, Desired(worker.current(), endpoint)});
  }
  Put(worker, worker.SetTarget(), RivalBackendSetBody(set, backends));
}

// Writes the first backend whose drain flag differs; false if there is none, or if
// this controller does not look at drain flags.
bool Rival::WriteNextDrain(Worker& worker, const Value& set) {
  if (options_.variant != RivalVariant::kDrainsByItself || !worker.current().drains) return false;
  std::map<std::string, bool> wanted;
  for (const RivalEndpoint& endpoint : worker.endpoints) {
    wanted[NameOf(endpoint)] = Desired(worker.current(), endpoint);
  }
  for (const Value& backend : set["backends"].GetArray()) {
    const Value* name = base::FindMember(backend, "name");
    const auto found =
        name == nullptr ? wanted.end() : wanted.find(std::string(base::StringOf(*name)));
    const Value* drain = base::FindMember(backend, "drain");
    if (found == wanted.end() || found->second == (drain != nullptr && drain->IsTrue())) continue;
    Put(worker, absl::StrCat(worker.SetTarget(), "/backends/", found->first),
        RivalBackendBody(backend, found->second));
    return true;
  }
  return false;
}

void Rival::Take(Worker& worker, const http::Response& response, absl::Time now) {
  switch (worker.phase) {
    case Worker::Phase::kIdle:
      return;
    case Worker::Phase::kReading:
      if (!Store(worker.pass.load_balancer, response, now)) return Fail(worker, now);
      return Compare(worker, now);
    case Worker::Phase::kRefreshing:
      if (!Store(worker.pass.load_balancer, response, now)) return Fail(worker, now);
      return GoOnAfterWrite(worker, now);
    case Worker::Phase::kWriting:
      return TakeWriteAnswer(worker, response, now);
    case Worker::Phase::kPolling:
      return TakeWorkRequest(worker, response, now);
    case Worker::Phase::kCheckingHealth: {
      if (response.status != 200) return Fail(worker, now);
      const bool all_known =
          std::all_of(worker.endpoints.begin(), worker.endpoints.end(),
                      [](const RivalEndpoint& endpoint) { return endpoint.pod_known; });
      if (!all_known && options_.variant != RivalVariant::kDrainsByItself) {
        return Fail(worker, now);
      }
      ++worker.path;
      return Visit(worker, now);
    }
  }
}

void Rival::TakeWriteAnswer(Worker& worker, const http::Response& response, absl::Time now) {
  if (response.status == 409) ++counts_.conflicts_409;
  if (response.status == 412) ++counts_.conflicts_412;
  if (response.status == 409 || response.status == 412) {
    if (options_.variant == RivalVariant::kDropsCacheOnConflict) {
      cache_.erase(worker.pass.load_balancer);
    }
    return Fail(worker, now);
  }
  const absl::string_view work_request = http::FindHeader(response.headers, "opc-work-request-id");
  if (response.status >= 300 || work_request.empty()) return Fail(worker, now);
  ++counts_.writes_accepted;
  worker.phase = Worker::Phase::kPolling;
  worker.give_up = now + kWorkRequestTimeout;
  Ask(worker, absl::StrCat(kBasePath, "/loadBalancerWorkRequests/", work_request));
}

void Rival::TakeWorkRequest(Worker& worker, const http::Response& response, absl::Time now) {
  const auto parsed = base::ParseJson(response.body, "work request");
  if (response.status != 200 || !parsed.ok()) return Fail(worker, now);
  const Value* state = base::FindMember(*parsed, "lifecycleState");
  if (state == nullptr || base::StringOf(*state) == "FAILED") return Fail(worker, now);
  if (base::StringOf(*state) == "SUCCEEDED") {
    worker.phase = Worker::Phase::kRefreshing;
    return Ask(worker, worker.LoadBalancerTarget());
  }
  if (now + options_.poll > worker.give_up) return Fail(worker, now);
  worker.attempt = 0;
  worker.wake = now + options_.poll;
}

bool Rival::Store(const std::string& load_balancer, const http::Response& response,
                  absl::Time now) {
  auto parsed = base::ParseJson(response.body, "load balancer");
  if (response.status != 200 || !parsed.ok()) return false;
  std::unique_ptr<Cached>& cached = cache_[load_balancer];
  const absl::Time read_at = cached == nullptr ? now - options_.first_copy_age : now;
  cached = std::make_unique<Cached>(
      Cached{*std::move(parsed), std::string(http::FindHeader(response.headers, "etag")), read_at});
  return true;
}

void Rival::Ask(Worker& worker, std::string target) {
  worker.request = {.method = "GET", .target = std::move(target), .headers = {}, .body = ""};
  worker.attempt = 0;
  worker.wake = absl::InfinitePast();
}

void Rival::Put(Worker& worker, std::string target, std::string body) {
  ++counts_.writes_sent;
  worker.request = {.method = "PUT",
                    .target = std::move(target),
                    .headers = {{"if-match", cache_[worker.pass.load_balancer]->etag},
                                {"opc-retry-token", random_.Token(32)}},
                    .body = std::move(body)};
  worker.attempt = 0;
  worker.wake = absl::InfinitePast();
}

// Ends the pass. The queue tries again by itself for a while; the tick does anyway.
void Rival::Fail(Worker& worker, absl::Time now) {
  if (worker.current().is_default && options_.variant != RivalVariant::kDrainsByItself) {
    ++worker.path;
    return Visit(worker, now);
  }
  ++counts_.failed_passes;
  worker.phase = Worker::Phase::kIdle;
  if (++worker.failures > kQueueRetries) {
    worker.failures = 0;
    return;
  }
  // What waits in the queue already keeps its time if that is earlier.
  const absl::Duration wait =
      std::min(absl::Seconds(10) * (1 << (worker.failures - 1)), absl::Minutes(5));
  worker.retry_at = std::min(worker.retry_at, now + kPassTime + wait);
}

}  // namespace sim

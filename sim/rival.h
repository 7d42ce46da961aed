// The other writer: the native ingress controller as it behaves toward the load
// balancer, without the Kubernetes half. One thread, no clock; time is told.
//
// What matters about it, and is reproduced: every 10 s it compares the names of
// the published endpoints with the names of the backends, nothing else; where
// they differ it writes the whole set with drain=false and with only the fields
// it knows; it decides and writes on a copy of the load balancer that it keeps
// for 60 s and does not drop when a write is refused with 412; it waits for its
// own work requests, looking every 10 s, and reads again after a success. The
// first failing set ends the pass of its class.
#ifndef OCI_BACKEND_DRAIN_SIM_RIVAL_H_
#define OCI_BACKEND_DRAIN_SIM_RIVAL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "http/transport.h"
#include "rapidjson/document.h"

namespace sim {

enum class RivalVariant {
  kUnmodified,
  kDropsCacheOnConflict,  // its pull request 149
  kDrainsByItself,        // its pull request 160
};

// One address that core Endpoints publishes, ready or not.
struct RivalEndpoint {
  std::string ip;
  int port = 0;
  bool terminating = false;  // its Pod has a deletionTimestamp
  bool pod_known = true;     // the Pod is in the controller's cache
};

// One Ingress path, or the default backend, whose errors are dropped: the pass
// goes on after them.
struct RivalPath {
  std::string backend_set;
  bool is_default = false;
  bool drains = false;  // the Service asks for draining; only kDrainsByItself looks
  // What the Ingress names; for the world alone.
  std::string ns = {};
  std::string service = {};
  int port = 0;
  std::string port_name = {};
};

struct RivalClass {
  std::string name;                   // of the IngressClass
  std::string load_balancer;          // OCID; empty: not ready, skipped
  std::vector<RivalPath> paths = {};  // in the order of a pass
};

// What the controller sees of the cluster.
class RivalWorld {
 public:
  virtual ~RivalWorld() = default;
  virtual absl::StatusOr<std::vector<RivalClass>> Classes() = 0;
  // In Endpoints' order, duplicates included. An error ends the pass of the class.
  virtual absl::StatusOr<std::vector<RivalEndpoint>> Endpoints(const RivalClass& ingress_class,
                                                               const RivalPath& path) = 0;
};

struct RivalOptions {
  RivalVariant variant = RivalVariant::kUnmodified;
  absl::Duration tick = absl::Seconds(10);
  absl::Duration cache_age = absl::Seconds(60);
  absl::Duration poll = absl::Seconds(10);
  // How old its first copy of a load balancer is taken to be: a run need not start
  // where the life of a copy does.
  absl::Duration first_copy_age = absl::ZeroDuration();
  uint64_t seed = 1;
  // Signs a request before it is sent; empty: requests go unsigned.
  std::function<void(http::Request&)> sign = nullptr;
};

struct RivalCounts {
  int64_t passes = 0;
  int64_t writes_sent = 0;
  int64_t writes_accepted = 0;
  int64_t conflicts_412 = 0;
  int64_t conflicts_409 = 0;
  int64_t failed_passes = 0;
};

// Not thread-safe. `world` and `transport` must outlive it.
class Rival {
 public:
  // The first tick is at `start`.
  Rival(RivalOptions options, RivalWorld& world, http::Transport& transport, absl::Time start);
  ~Rival();

  // Does what is due at `now` and returns when it wants to be called next. Calls
  // go through the transport on this thread.
  absl::Time Step(absl::Time now);

  // A Pod or its Endpoints changed. Only kDrainsByItself cares: its pass is due
  // with the next Step.
  void Notify();

  const RivalCounts& counts() const { return counts_; }

 private:
  struct Cached;
  struct Worker;

  void Tick(absl::Time now);
  void Run(Worker& worker, absl::Time now);
  void Begin(Worker& worker, absl::Time now);
  void Visit(Worker& worker, absl::Time now);
  void Compare(Worker& worker, absl::Time now);
  void WriteSet(Worker& worker, const rapidjson::Value& set);
  bool WriteNextDrain(Worker& worker, const rapidjson::Value& set);
  void GoOnAfterWrite(Worker& worker, absl::Time now);
  void CheckHealth(Worker& worker);
  void Take(Worker& worker, const http::Response& response, absl::Time now);
  void TakeWriteAnswer(Worker& worker, const http::Response& response, absl::Time now);
  void TakeWorkRequest(Worker& worker, const http::Response& response, absl::Time now);
  bool Store(const std::string& load_balancer, const http::Response& response, absl::Time now);
  bool Desired(const RivalPath& path, const RivalEndpoint& endpoint) const;
  void Ask(Worker& worker, std::string target);
  void Put(Worker& worker, std::string target, std::string body);
  void Fail(Worker& worker, absl::Time now);

  RivalOptions options_;
  RivalWorld& world_;
  http::Transport& transport_;
  base::Random random_;
  absl::Time next_tick_;
  std::map<std::string, std::unique_ptr<Worker>> workers_;  // by class
  std::map<std::string, std::unique_ptr<Cached>> cache_;    // by load balancer
  RivalCounts counts_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_RIVAL_H_

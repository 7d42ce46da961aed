// A Kubernetes API server with its state, on one thread and in given time.
//
//   FakeApiServer server;
//   KubeAnswer answer = server.Handle({.method = "GET", .target = "/api/v1/pods"}, now);
//
// It stores and refuses what kube-apiserver 1.36 does for the resources in
// kube_resources.h: list with paging, watch with bookmarks and expiry, create,
// update, patch, server-side apply, graceful deletion, preconditions. It has no
// controllers: controllers.h are those. fake_api_server_http.h puts it on a socket.
#ifndef OCI_BACKEND_DRAIN_SIM_FAKE_API_SERVER_H_
#define OCI_BACKEND_DRAIN_SIM_FAKE_API_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "http/transport.h"
#include "sim/json_tree.h"
#include "sim/kube_error.h"
#include "sim/kube_faults.h"
#include "sim/kube_objects.h"
#include "sim/kube_resources.h"
#include "sim/kube_store.h"
#include "sim/kube_watches.h"

namespace sim {

struct FakeApiServerOptions {
  // User by bearer token. Empty: no token is asked for, everyone is "admin".
  std::map<std::string, std::string> users_by_token = {};
  // Who speaks without any token although tokens are asked for; empty: 401. Set it
  // where the connection has authenticated the client.
  std::string user_without_token = {};
  absl::Duration bookmark_interval = absl::Minutes(1);
  // Of a watch that names no timeoutSeconds.
  absl::Duration watch_timeout = absl::Minutes(40);
  // What was before is too old to watch from.
  int64_t first_resource_version = 300;
  size_t history_per_resource = 50'000;
  size_t log_limit = 100'000;
  // Off: no metadata.managedFields is kept, which saves a simulation a third of
  // its time and takes server-side apply away.
  bool field_ownership = true;
  uint64_t seed = 1;
  absl::Time start = absl::UnixEpoch();
};

// What a user may do; empty members mean any.
struct KubeAccessRule {
  std::string verb = {};
  std::string resource = {};  // plural, with "/status" for a subresource
  std::string ns = {};
};

struct KubeRequestRecord {
  absl::Time time;
  std::string user;
  std::string verb;  // as in KubeRequestInfo
  std::string method;
  std::string target;
  std::string user_agent;
  std::string body;
  int status = 0;  // 0: the connection was closed instead
};

struct KubeAnswer {
  http::Response response = {};
  // The response is the head of this stream: take its bytes with TakeWatch.
  std::optional<int64_t> watch = {};
  absl::Duration delay = {};  // to wait before answering
  bool lose = false;          // close the connection instead of answering
};

// Not thread-safe. `now` never goes back.
class FakeApiServer {
 public:
  // The namespaces default, kube-system, kube-public and kube-node-lease exist.
  explicit FakeApiServer(FakeApiServerOptions options = {});

  KubeAnswer Handle(const http::Request& request, absl::Time now);

  KubeWatchBytes TakeWatch(int64_t id) { return watches_.Take(id); }
  // Whether TakeWatch would answer anything but an open watch without bytes.
  bool HasWatchBytes(int64_t id) const { return watches_.HasNews(id); }
  void CloseWatch(int64_t id) { watches_.Close(id); }
  size_t open_watches() const { return watches_.count(); }

  // Gives the watches what others wrote to objects() and what has become due.
  void Advance(absl::Time now) { watches_.Advance(now); }
  // When Advance has something to do if nothing else happens.
  absl::Time NextDue() const { return watches_.NextDue(); }

  // Direct access for controllers and tests. Call Advance afterwards.
  KubeObjects& objects() { return objects_; }
  const KubeStore& store() const { return store_; }

  // Creates, in its own namespace (created if missing) or the given one, what a
  // manifest says.
  KubeResult ApplyManifest(const JsonTree& manifest, absl::Time now);

  // From now on `user` may do only what one of the rules says.
  void Restrict(const std::string& user, std::vector<KubeAccessRule> rules);
  // Nobody may do this.
  void Forbid(KubeAccessRule rule) { forbidden_.push_back(std::move(rule)); }
  void PermitAll();

  KubeFaults& faults() { return faults_; }
  KubeWatches& watches() { return watches_; }
  // All connections break; afterwards old resourceVersions are too old.
  void Restart();

  // Oldest first, the last log_limit of them.
  const std::deque<KubeRequestRecord>& log() const { return log_; }
  // Called with each entry of the log as it is made.
  void OnRequest(std::function<void(const KubeRequestRecord&)> callback) {
    on_request_ = std::move(callback);
  }

 private:
  KubeAnswer Serve(const http::Request& request, const KubeRequestInfo& info, absl::Time now,
                   KubeRequestRecord& record);
  KubeAnswer ServeResource(const http::Request& request, const KubeRequestInfo& info,
                           absl::Time now);
  KubeAnswer OpenWatch(const http::Request& request, const KubeRequestInfo& info, absl::Time now);
  http::Response Write(const http::Request& request, const KubeRequestInfo& info, absl::Time now);
  http::Response DeleteObject(const http::Request& request, const KubeRequestInfo& info,
                              absl::Time now);
  http::Response ReviewToken(const http::Request& request, absl::Time now) const;
  // By the rules that its own answers follow.
  http::Response ReviewAccess(const http::Request& request, const std::string& user,
                              absl::Time now) const;
  // nullopt: no or an unknown token.
  std::optional<std::string> UserOf(const http::Request& request) const;
  bool IsAllowed(const std::string& user, const KubeRequestInfo& info) const;

  const FakeApiServerOptions options_;
  KubeStore store_;
  KubeObjects objects_;
  KubeFaults faults_;
  KubeWatches watches_;
  std::map<std::string, std::vector<KubeAccessRule>> allowed_;
  std::vector<KubeAccessRule> forbidden_;
  std::deque<KubeRequestRecord> log_;
  std::function<void(const KubeRequestRecord&)> on_request_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_FAKE_API_SERVER_H_

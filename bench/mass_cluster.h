// A large cluster on loopback: many Pods, few of them published, rendered before
// anybody asks, so that the serving costs next to nothing beside the reading.
//
// Each object is a recorded one (testdata/kube-1.36), managedFields and all, under
// other names. Nothing happens in it by itself: events are sent when they are told to
// be.
#ifndef OCI_BACKEND_DRAIN_BENCH_MASS_CLUSTER_H_
#define OCI_BACKEND_DRAIN_BENCH_MASS_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "bench/mass_table.h"
#include "sim/http_server.h"
#include "sim/json_tree.h"

namespace bench {

// Load balancer `i` and its Services are in namespace `i % namespaces`; the Pods that
// are not published are spread over all of them.
struct MassShape {
  int load_balancers = 1;
  int services = 16;    // of each load balancer, and backend sets
  int published = 512;  // Pods of each load balancer
  int pods = 1000;      // in all
  int namespaces = 1;

  int published_each() const { return published / services; }
};

// A published Pod: the `pod`th of the `service`th Service of a load balancer.
struct MassPod {
  int load_balancer = 0;
  int service = 0;
  int pod = 0;
};

class MassCluster {
 public:
  // A ConfigMap was created or replaced; on a thread of the server.
  using OnLedger = std::function<void(const std::string& name, absl::Time received)>;

  static absl::StatusOr<std::unique_ptr<MassCluster>> Start(const MassShape& shape,
                                                            OnLedger on_ledger = nullptr);
  ~MassCluster();

  std::string url() const { return server_->url(); }
  int port() const { return server_->port(); }

  // Waits until so many watches of Pods, and one of each other resource, are open;
  // false after `patience`.
  bool AwaitWatched(int pod_watches, absl::Duration patience) const;
  absl::Time last_watch_began() const {
    absl::MutexLock lock(&mutex_);
    return last_watch_began_;
  }
  // Of Pods, answered so far.
  size_t list_bytes() const {
    absl::MutexLock lock(&mutex_);
    return list_bytes_;
  }

  // Targets of the pages of the Pods, in order: of each namespace, or of all.
  std::vector<std::string> PodPages(bool by_namespace) const;

  // The Pod's deletion, as the watch shows it. Answers when its bytes were written.
  absl::Time Delete(const MassPod& pod, absl::Duration grace);
  // A status update of the `i`th Pod that is not published.
  void Touch(int i);
  // The Deployment of a Service is scaled to none.
  void ScaleToZero(int load_balancer, int service);

  static std::string Ocid(int load_balancer);
  std::string SetName(int load_balancer, int service) const;
  static std::string IpOf(const MassPod& pod);
  // What a GetLoadBalancer shows: every published Pod is in its set.
  std::string LoadBalancerJson(int load_balancer) const;

 private:
  struct Names;
  struct Watch {
    std::string resource;
    std::string ns;
    sim::StreamWriter* writer = nullptr;
  };

  MassCluster(const MassShape& shape, OnLedger on_ledger);

  void RenderClass(int load_balancer);
  void RenderService(int load_balancer, int service);
  void RenderPods();
  std::string RenderPod(const Names& names, absl::string_view deletion) const;
  Names NamesOf(const MassPod& pod) const;
  Names NamesOfBystander(int i) const;
  std::string Namespace(int load_balancer) const;
  std::string ServiceName(int load_balancer, int service) const;

  sim::Answer Handle(const http::Request& request);
  sim::Answer List(const std::string& resource, const std::string& ns,
                   absl::string_view query) const;
  sim::Answer WatchOf(const std::string& resource, const std::string& ns);
  sim::Answer Store(const http::Request& request, const std::string& resource,
                    absl::string_view path);
  http::Response EndpointsOf(const std::string& ns, const std::string& service) const;
  void Send(absl::string_view resource, absl::string_view ns, absl::string_view line);

  const MassShape shape_;
  const OnLedger on_ledger_;
  // The text of a Pod in pieces: what stands between the fields that differ.
  std::vector<std::string> pod_pieces_;
  std::map<std::string, MassTable> tables_;  // by the resource's plural
  std::map<std::string, sim::JsonTree> templates_;
  std::map<std::pair<int, int>, sim::JsonTree> deployments_;

  mutable absl::Mutex mutex_;
  std::set<Watch*> watches_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, sim::JsonTree> stored_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_watch_began_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  mutable size_t list_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t version_ ABSL_GUARDED_BY(mutex_) = 10'000'000;
  std::unique_ptr<sim::HttpServer> server_;
};

}  // namespace bench

#endif  // OCI_BACKEND_DRAIN_BENCH_MASS_CLUSTER_H_

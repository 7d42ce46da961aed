// The fake cluster on a socket of the loopback interface, in real time.
//
//   auto cluster = sim::FakeCluster::Start({}, base::RealClock());
//   (*cluster)->With([&](sim::FakeApiServer& server, sim::Controllers&) {
//     server.ApplyManifest(manifest, base::RealClock().Now());
//   });
//   ... speak to (*cluster)->url() ...
#ifndef OCI_BACKEND_DRAIN_SIM_FAKE_API_SERVER_HTTP_H_
#define OCI_BACKEND_DRAIN_SIM_FAKE_API_SERVER_HTTP_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/transport.h"
#include "sim/controllers.h"
#include "sim/fake_api_server.h"
#include "sim/http_server.h"

namespace sim {

struct FakeClusterOptions {
  FakeApiServerOptions server = {};
  ControllersOptions controllers = {};
  ServerOptions socket = {};
  // False: they run only when a function given to With calls their Step.
  bool controllers_run = true;
  // Of the Date header, before the real clock.
  absl::Duration clock_ahead = absl::ZeroDuration();
  // Called on a connection's thread after bytes of a watch went out, with the time
  // just before.
  std::function<void(absl::Time before, absl::string_view bytes)> on_watch_written = {};
};

// Thread-safe. A thread of its own runs the controllers when they are due.
class FakeCluster {
 public:
  // Status as of HttpServer::Start. `clock` tells the time and must outlive the
  // cluster; waiting is done in real time, so it must run as real time does.
  static absl::StatusOr<std::unique_ptr<FakeCluster>> Start(FakeClusterOptions options,
                                                            base::Clock& clock);
  // Ends every watch and joins every thread.
  ~FakeCluster();
  FakeCluster(const FakeCluster&) = delete;
  FakeCluster& operator=(const FakeCluster&) = delete;

  std::string url() const { return http_->url(); }
  int port() const { return http_->port(); }
  HttpServer& http_server() { return *http_; }

  // Calls `function(FakeApiServer&, Controllers&)` while nothing else touches
  // them, and returns what it returns; the controllers run afterwards. It must not
  // call the cluster.
  template <typename Function>
  auto With(Function&& function) {
    std::lock_guard<std::mutex> lock(mutex_);
    touched_ = true;
    woken_.notify_all();
    return std::forward<Function>(function)(server_, controllers_);
  }

  // As a restart of the real one: every connection breaks, old versions expire.
  void Restart();

 private:
  FakeCluster(FakeClusterOptions options, base::Clock& clock);

  Answer Handle(const http::Request& request);
  void ServeWatch(int64_t watch, StreamWriter& writer);
  void RunControllers();
  // Does what is due; answers when to come again. With mutex_ held.
  absl::Time Step(absl::Time now);

  base::Clock& clock_;
  const bool controllers_run_;
  const absl::Duration clock_ahead_;
  const std::function<void(absl::Time, absl::string_view)> on_watch_written_;
  // Not absl's: ThreadSanitizer does not see into the system's libabsl.
  std::mutex mutex_;               // guards what follows up to http_
  std::condition_variable woken_;  // there may be work for the controllers or a watch
  FakeApiServer server_;
  Controllers controllers_;
  bool touched_ = true;  // since the controllers ran
  bool stopping_ = false;
  std::unique_ptr<HttpServer> http_;
  std::thread driver_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_FAKE_API_SERVER_HTTP_H_

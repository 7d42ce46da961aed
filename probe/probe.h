// HTTP/1.1 clients that keep their connections, as those of a load balancer do, and
// write down every request that failed.
//
//   probe::Options options;
//   options.host = "127.0.0.1";
//   options.port = 8080;
//   options.duration = absl::Seconds(110);
//   auto figures = probe::Run(options, clock);
#ifndef OCI_BACKEND_DRAIN_PROBE_PROBE_H_
#define OCI_BACKEND_DRAIN_PROBE_PROBE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "probe/figures.h"

namespace probe {

struct Options {
  // Bounds on what may be asked for.
  static constexpr int kMaxClients = 10'000;
  static constexpr int64_t kMaxRequests = 10'000'000'000;
  static constexpr absl::Duration kMaxDuration = absl::Hours(24);

  std::string host;
  int port = 80;
  bool tls = false;
  std::string target = "/";
  std::string host_header = {};  // empty: host and port

  int clients = 20;
  // The run begins no request after the first of these; one of them must be set.
  absl::Duration duration = absl::ZeroDuration();  // 0: an hour
  int64_t requests = 0;                            // 0: any number
  // Of all clients together, at most; 0: each asks again as soon as it is answered.
  double rate = 0;
  // From the beginning, with the connect if there is one, to the whole response.
  absl::Duration timeout = absl::Seconds(10);
  int64_t max_response_bytes = 16 << 20;

  double slow_fraction = 0;  // of the requests ask for this target
  std::string slow_target = "/slow";
  bool new_connections = false;  // one for each request, with Connection: close
  bool cookies = false;          // each client sends back what it was given
  std::string ca_file = {};      // TLS: empty: the system's authorities
  bool insecure = false;         // TLS: any certificate will do
  uint64_t seed = 1;
};

// What the run calls while it goes on, on the thread that called Run.
struct Observer {
  // Every second.
  std::function<void(const RunFigures&, absl::Time now)> on_progress = nullptr;
  // As soon as it is noticed.
  std::function<void(const Failure&)> on_failure = nullptr;
  // Looked at every 20 ms: ends the run as if its time were over.
  const std::atomic<bool>* interrupted = nullptr;
};

// InvalidArgument names the option, what is wrong and what is allowed. A run without an
// end is refused.
absl::Status CheckOptions(const Options& options);

// Blocks until no request is open after the end, so at most `timeout` longer. A client
// whose request failed waits 50 ms before the next, so that a server that refuses is not
// asked more often than one that answers. Unavailable if the host has no address,
// InvalidArgument as above or for a CA file that cannot be used.
absl::StatusOr<RunFigures> Run(const Options& options, base::Clock& clock,
                               const Observer& observer = {});

}  // namespace probe

#endif  // OCI_BACKEND_DRAIN_PROBE_PROBE_H_

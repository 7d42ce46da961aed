// /livez, /readyz, /metrics and what else is to be seen, on a thread that does nothing else but
// look.
#ifndef OCI_BACKEND_DRAIN_HEALTH_PROBE_SERVER_H_
#define OCI_BACKEND_DRAIN_HEALTH_PROBE_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "health/http_server.h"
#include "health/vitals.h"

namespace health {

// What each path says of a report. /livez: 200 unless the process is wedged. /readyz:
// 200 if it is ready. Otherwise 503, and the first line of the body names what is
// wrong. With ?verbose the body has a line for each part and each loop, "[+]" or
// "[-]", with its age. /metrics: what `metrics` makes, in Prometheus' text format. Any
// other path: what `pages` has there.
using MetricsText = std::function<std::string(const VitalsReport& report)>;
using Pages =
    std::function<std::optional<HttpAnswer>(absl::string_view target, const VitalsReport& report)>;
HttpAnswer AnswerProbe(absl::string_view target, const VitalsReport& report,
                       const MetricsText& metrics, const Pages& pages = nullptr);

struct ProbeOptions {
  HttpServerOptions http;
  // For /metrics; must not wait for a lock that other code holds while it waits.
  MetricsText metrics;
  // The same holds for these.
  Pages pages;
  // Called about once a second: to have something that has no loop of its own tick.
  std::function<void()> poke;
  // The process is wedged: called once, as soon as it is seen. Must not wait: other
  // threads may hold any lock, also that of the log.
  std::function<void(const std::string& wedge)> on_wedge;
  // Called once, so long after that.
  absl::Duration farewell = absl::Seconds(30);
  std::function<void()> on_farewell_over;
};

// The functions are called on the server's thread.
class ProbeServer {
 public:
  // How often it looks by itself.
  static constexpr absl::Duration kLook = absl::Milliseconds(200);

  // `vitals` and `clock` must outlive it. Errors as HttpServer::Start.
  static absl::StatusOr<std::unique_ptr<ProbeServer>> Start(Vitals& vitals, base::Clock& clock,
                                                            ProbeOptions options);

  int port() const { return http_->port(); }

 private:
  ProbeServer(Vitals& vitals, base::Clock& clock, ProbeOptions options)
      : vitals_(vitals), clock_(clock), options_(std::move(options)) {}

  VitalsReport Look();

  Vitals& vitals_;
  base::Clock& clock_;
  const ProbeOptions options_;
  // The server's thread's own.
  bool wedge_told_ = false;
  bool farewell_over_ = false;
  absl::Duration wedged_at_;
  std::unique_ptr<HttpServer> http_;  // the last member: its thread uses the others
};

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_PROBE_SERVER_H_

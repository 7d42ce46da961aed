// HAProxy as the data plane of a laboratory: one listener, one backend of slots, driven
// through its runtime socket as an OCI load balancer's data plane is by work requests.
#ifndef OCI_BACKEND_DRAIN_SIM_LAB_HAPROXY_H_
#define OCI_BACKEND_DRAIN_SIM_LAB_HAPROXY_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/child_process.h"

namespace sim {

// A server of the load balancer as it is to be.
enum class ServerState {
  kReady,
  kDrain,  // no new request; what is open goes on
  kMaint,  // the same for persisted sessions
};

// Used by one thread, which must live as long as it does: see ChildProcess.
class Haproxy {
 public:
  struct Options {
    std::string folder;  // that exists: for configuration and log
    int slots = 64;
    std::string program = "/usr/sbin/haproxy";
    // HAProxy's own default is 3; at 0 a request that meets a closed port is answered
    // with 503, and not tried a second later on the same server.
    int retries = 0;
  };
  // NotFound without the program, Unavailable if it does not take requests after 10 s.
  static absl::StatusOr<std::unique_ptr<Haproxy>> Start(const Options& options);
  // Ends it.
  ~Haproxy();
  Haproxy(const Haproxy&) = delete;
  Haproxy& operator=(const Haproxy&) = delete;

  // On 127.0.0.1.
  int port() const { return port_; }

  // Makes the backend exactly these servers, "127.0.0.5:4711" each. A server that is not
  // among them any more gets no new request. ResourceExhausted if there are more than
  // slots; Unavailable if HAProxy does not answer, or refuses.
  absl::Status Apply(const std::map<std::string, ServerState>& servers);

  // What HAProxy says to a command of its runtime API. Unavailable as above.
  absl::StatusOr<std::string> Ask(const std::string& command);

 private:
  struct Slot {
    int number = 0;
    ServerState state = ServerState::kReady;
  };

  explicit Haproxy(const Options& options) : options_(options) {}
  absl::Status Launch();
  absl::Status WriteConfiguration(int listener);
  absl::Status WaitUntilItAnswers();
  absl::Status Command(const std::string& command);
  absl::Status Set(const std::string& endpoint, ServerState state);

  const Options options_;
  std::string socket_;  // an abstract one, without HAProxy's prefix
  int port_ = 0;
  std::unique_ptr<ChildProcess> process_;
  std::map<std::string, Slot> used_;
  // The one that was freed longest ago comes first: what is still open on it ends.
  std::deque<int> free_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LAB_HAPROXY_H_

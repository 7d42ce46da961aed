// The drain barrier: a Pod's preStop hook asks here whether its process may end.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_SERVER_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "controller/drain_board.h"

namespace controller {

struct BarrierOptions {
  std::string address = "0.0.0.0";
  uint16_t port = 8090;  // 0: any free one
  // For a request's head to arrive, and for an answer to be taken.
  absl::Duration patience = absl::Seconds(10);
  // Waiters and those whose head is still to come; more are closed at once.
  int max_connections = static_cast<int>(DrainBoard::kMaxWaiters) + 1000;
  // Where the replica that leads has its barrier, which is asked instead of the board
  // here: that one's plans know who waits. Empty: it is this one, or not known. Called
  // by the server's thread.
  std::function<std::string()> leader = nullptr;
};

// Plain HTTP, read only; barrier_request.h has the paths and the answers. One thread
// of its own serves all connections; it makes no calls and takes no lock for longer
// than a look at the board, so nothing that is asked here holds up a pass.
class BarrierServer {
 public:
  // A head of more is answered with 431.
  static constexpr size_t kMaxHeadBytes = 8 << 10;

  // Listens and serves. Raises the limit of open files as far as it may. `board` and
  // `clock` must outlive it. Unavailable if the address is taken, InvalidArgument if
  // it is none.
  static absl::StatusOr<std::unique_ptr<BarrierServer>> Start(DrainBoard& board, base::Clock& clock,
                                                              const BarrierOptions& options);
  // Closes every connection; who waits asks again elsewhere.
  ~BarrierServer();
  BarrierServer(const BarrierServer&) = delete;
  BarrierServer& operator=(const BarrierServer&) = delete;

  int port() const;

 private:
  class Impl;
  explicit BarrierServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_SERVER_H_

// One client of a run: a connection, at most one request open on it.
#ifndef OCI_BACKEND_DRAIN_PROBE_CLIENT_H_
#define OCI_BACKEND_DRAIN_PROBE_CLIENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/clock.h"
#include "base/random.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/steady_timer.hpp"
#include "probe/figures.h"
#include "probe/probe.h"
#include "probe/response_parser.h"
#include "probe/stream.h"

namespace probe {

// What the clients of a run share.
struct RunShared {
  const Options& options;
  base::Clock& clock;
  boost::asio::io_context& io;
  std::vector<boost::asio::ip::tcp::endpoint> endpoints;
  std::function<std::shared_ptr<Stream>()> make_stream;
  std::function<void(const Failure&)> on_failure;
  std::function<void()> on_client_ended;
  RunFigures figures = {};
  int64_t begun = 0;    // requests
  bool ending = false;  // nothing is begun any more
};

// On the thread of the run's io_context.
class Client {
 public:
  // `shared` must outlive it; `index` from 0.
  Client(RunShared& shared, int index);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The first request is begun after `delay`.
  void Start(absl::Duration delay);
  // Called every few ten milliseconds: ends a request that takes too long, and the
  // client if the run ends.
  void Look(absl::Duration now);
  // A request is open.
  bool busy() const { return busy_; }

 private:
  void Wait(absl::Duration pause);
  void Begin();
  void Connect();
  void Send();
  void ReadOn();
  void OnConnected(const Stream::Code& code);
  void OnRead(const Stream::Code& code, size_t size);
  void OnClosed(const Stream::Code& code);
  void OnResponse();
  void TakeCookies();
  std::string MakeRequest(bool slow) const;
  void Fail(FailureClass failure, std::string detail);
  void CloseStream();
  void End();
  // Of the next request, after one that took until `now`.
  absl::Duration PauseAt(absl::Duration now) const;

  RunShared& shared_;
  const int index_;
  base::Random random_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<Stream> stream_;
  ResponseParser parser_;
  std::array<char, 16 << 10> buffer_;
  std::string request_;
  std::string slow_request_;
  std::vector<std::string> cookies_;  // "name=value"
  size_t next_endpoint_;
  bool busy_ = false;
  bool connected_ = false;
  bool slow_ = false;
  bool ended_ = false;
  // On the monotonic clock.
  absl::Duration connected_at_;
  absl::Duration begun_at_;
  int64_t requests_on_connection_ = 0;
};

}  // namespace probe

#endif  // OCI_BACKEND_DRAIN_PROBE_CLIENT_H_

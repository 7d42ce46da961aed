// A question that a replica passes on to the drain barrier of the one that leads.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_RELAY_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_RELAY_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace controller {

// A question with this header is answered where it arrives, so that two replicas that
// each take the other for the leader do not send it round.
inline constexpr char kRelayedHeader[] = "Oci-Drain-Relayed";

// "10.0.0.7:8090" or "[fd00::7]:8090". InvalidArgument for anything else.
absl::StatusOr<boost::asio::ip::tcp::endpoint> ParseBarrierAddress(absl::string_view address);

// Belongs to one thread, that of its executor, and lives until it is done.
class BarrierRelay : public std::enable_shared_from_this<BarrierRelay> {
 public:
  // What the leader answered, as a barrier answers; empty: nothing of that kind.
  using Done = std::function<void(std::string answer)>;

  // A connection or an answer's bytes may be waited for so long, beyond the time for
  // which the leader may keep the answer back.
  static constexpr absl::Duration kPatience = absl::Seconds(2);
  static constexpr size_t kMaxAnswerBytes = 256 << 10;

  // Asks for `target`; the answer may be kept back for `hold`. `done` is called once,
  // unless Cancel comes before.
  static std::shared_ptr<BarrierRelay> Start(const boost::asio::any_io_executor& executor,
                                             const boost::asio::ip::tcp::endpoint& leader,
                                             absl::string_view target, absl::Duration hold,
                                             Done done);
  BarrierRelay(const boost::asio::any_io_executor& executor, absl::string_view target, Done done);
  // Closes the connection: the leader sees that nobody waits any more.
  void Cancel();

 private:
  void Send(absl::Duration hold);
  void Read();
  void ReadBody();
  void End(std::string answer);

  boost::beast::tcp_stream stream_;
  boost::beast::http::request<boost::beast::http::empty_body> request_;
  boost::beast::flat_buffer buffer_;
  boost::beast::http::response_parser<boost::beast::http::string_body> parser_;
  Done done_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_BARRIER_RELAY_H_

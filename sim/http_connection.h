// One accepted connection of an HttpServer. Private to http_server.cc.
#ifndef OCI_BACKEND_DRAIN_SIM_HTTP_CONNECTION_H_
#define OCI_BACKEND_DRAIN_SIM_HTTP_CONNECTION_H_

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "absl/time/time.h"
#include "sim/http_server.h"

namespace sim {

// True once the peer of `socket` has left or either side was shut down, or
// `wakeup` (an eventfd, or -1 for none) was written; waits for it.
bool WaitGone(int socket, int wakeup, absl::Duration at_most);

// Serves `socket` until either side closes. `context` is null without TLS.
// The socket is left open: closing it is up to the caller.
void ServeConnection(boost::asio::ip::tcp::socket& socket, boost::asio::ssl::context* context,
                     const Handler& handler, std::atomic<int64_t>& requests);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_HTTP_CONNECTION_H_

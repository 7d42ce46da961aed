// Accepts connections on one io_context: what the servers of this process share.
#ifndef OCI_BACKEND_DRAIN_HEALTH_HTTP_LISTENER_H_
#define OCI_BACKEND_DRAIN_HEALTH_HTTP_LISTENER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace health {

// Everything happens on the thread that runs `io`.
class HttpListener {
 public:
  // Takes a connection, or closes it by dropping it.
  using OnSocket = std::function<void(boost::asio::ip::tcp::socket)>;

  // `io` must outlive it, and must not run any more when it is destroyed.
  HttpListener(boost::asio::io_context& io, OnSocket on_socket);
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  // Begins to accept, once; port 0 is any free one. Unavailable if the address is
  // taken, InvalidArgument if it is none. To be called before `io` runs.
  absl::Status Listen(const std::string& address, uint16_t port, int backlog);
  // Of the address that it listens on.
  int port() const { return port_; }

 private:
  void Accept();
  void Pause();

  const OnSocket on_socket_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  int port_ = 0;
};

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_HTTP_LISTENER_H_

#include "health/http_listener.h"

#include <boost/asio/ip/address.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace health {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

// Without a free file there is no sense in accepting at once again.
constexpr absl::Duration kAcceptPause = absl::Milliseconds(100);

}  // namespace

HttpListener::HttpListener(boost::asio::io_context& io, OnSocket on_socket)
    : on_socket_(std::move(on_socket)), acceptor_(io), pause_(io) {}

absl::Status HttpListener::Listen(const std::string& address, uint16_t port, int backlog) {
  error_code error;
  const boost::asio::ip::address parsed = boost::asio::ip::make_address(address, error);
  if (error) {
    return absl::InvalidArgumentError(absl::StrCat("\"", address, "\": expected an IP address"));
  }
  const tcp::endpoint endpoint(parsed, port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(backlog, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, " port ", port, ": ", error.message()));
  }
  port_ = acceptor_.local_endpoint().port();
  Accept();
  return absl::OkStatus();
}

void HttpListener::Accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (error) return Pause();
    on_socket_(std::move(socket));
    Accept();
  });
}

void HttpListener::Pause() {
  pause_.expires_after(absl::ToChronoMilliseconds(kAcceptPause));
  pause_.async_wait([this](error_code) { Accept(); });
}

}  // namespace health

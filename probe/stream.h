// One TCP connection of a client, with TLS or without.
#ifndef OCI_BACKEND_DRAIN_PROBE_STREAM_H_
#define OCI_BACKEND_DRAIN_PROBE_STREAM_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ssl/context.hpp"
#include "probe/failure.h"

namespace probe {

// All on the thread of its io_context. Callbacks come from there, never from within the
// call, and not after Close.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using Code = boost::system::error_code;
  using OnConnected = std::function<void(const Code&)>;
  using OnWritten = std::function<void(const Code&)>;
  using OnRead = std::function<void(const Code&, size_t)>;

  virtual ~Stream() = default;
  // With the TLS handshake, if there is one.
  virtual void Connect(const boost::asio::ip::tcp::endpoint& endpoint, OnConnected done) = 0;
  // All of it; `data` must stay until `done`.
  virtual void Write(const char* data, size_t size, OnWritten done) = 0;
  // At least one byte, or an error.
  virtual void Read(char* data, size_t size, OnRead done) = 0;
  // Ends it without a word of TLS. Idempotent.
  virtual void Close() = 0;
  virtual bool in_handshake() const { return false; }
};

// What an error of a stream means.
FailureClass ClassifyError(const boost::system::error_code& code, Phase phase);

std::shared_ptr<Stream> MakePlainStream(boost::asio::io_context& io);
// `context` must outlive it. `host` is sent as the server's name and is what the
// certificate must be for, if the context verifies.
std::shared_ptr<Stream> MakeTlsStream(boost::asio::io_context& io,
                                      boost::asio::ssl::context& context, const std::string& host);

}  // namespace probe

#endif  // OCI_BACKEND_DRAIN_PROBE_STREAM_H_

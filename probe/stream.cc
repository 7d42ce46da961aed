#include "probe/stream.h"

#include <fcntl.h>
#include <openssl/ssl.h>

#include <utility>

#include "boost/asio/buffer.hpp"
#include "boost/asio/ssl/error.hpp"
#include "boost/asio/ssl/host_name_verification.hpp"
#include "boost/asio/ssl/stream.hpp"
#include "boost/asio/write.hpp"

namespace probe {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Opens here, so that a lack of file descriptors is told by this error.
Stream::Code Prepare(tcp::socket::lowest_layer_type& socket, const tcp::endpoint& endpoint) {
  Stream::Code code;
  socket.open(endpoint.protocol(), code);
  // A program that is started meanwhile would keep the connection open.
  if (!code) fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!code) socket.set_option(tcp::no_delay(true), code);
  return code;
}

// `Layer`: a socket, or TLS over one.
template <typename Layer>
class LayerStream : public Stream {
 public:
  template <typename... Arguments>
  explicit LayerStream(Arguments&... arguments) : layer_(arguments...) {}

  void Connect(const tcp::endpoint& endpoint, OnConnected done) override {
    auto& socket = layer_.lowest_layer();
    if (const Code code = Prepare(socket, endpoint)) {
      asio::post(layer_.get_executor(), [self = shared_from_this(), code, done] { done(code); });
      return;
    }
    socket.async_connect(
        endpoint, [self = shared_from_this(), done = std::move(done), this](const Code& code) {
          if (closed_) return;
          if (code) return done(code);
          Greet(done);
        });
  }

  void Write(const char* data, size_t size, OnWritten done) override {
    asio::async_write(
        layer_, asio::buffer(data, size),
        [self = shared_from_this(), done = std::move(done), this](const Code& code, size_t) {
          if (!closed_) done(code);
        });
  }

  void Read(char* data, size_t size, OnRead done) override {
    layer_.async_read_some(
        asio::buffer(data, size),
        [self = shared_from_this(), done = std::move(done), this](const Code& code, size_t read) {
          if (!closed_) done(code, read);
        });
  }

  void Close() override {
    closed_ = true;
    Code ignored;
    layer_.lowest_layer().close(ignored);
  }

 protected:
  Layer& layer() { return layer_; }
  bool closed() const { return closed_; }

 private:
  // What is left to do once TCP is connected.
  virtual void Greet(const OnConnected& done) { done(Code()); }

  Layer layer_;
  bool closed_ = false;
};

using PlainStream = LayerStream<tcp::socket>;

class TlsStream final : public LayerStream<asio::ssl::stream<tcp::socket>> {
 public:
  TlsStream(asio::io_context& io, asio::ssl::context& context, const std::string& host)
      : LayerStream(io, context) {
    SSL_set_tlsext_host_name(layer().native_handle(), host.c_str());
    if ((SSL_CTX_get_verify_mode(context.native_handle()) & SSL_VERIFY_PEER) != 0) {
      layer().set_verify_callback(asio::ssl::host_name_verification(host));
    }
  }

  bool in_handshake() const override { return in_handshake_; }

 private:
  void Greet(const OnConnected& done) override {
    in_handshake_ = true;
    layer().async_handshake(asio::ssl::stream_base::client,
                            [self = shared_from_this(), done, this](const Code& code) {
                              if (closed()) return;
                              if (!code) in_handshake_ = false;
                              done(code);
                            });
  }

  bool in_handshake_ = false;
};

}  // namespace

FailureClass ClassifyError(const boost::system::error_code& code, Phase phase) {
  if (code.category() == boost::system::system_category()) {
    return ClassifyErrno(code.value(), phase);
  }
  // A peer that ends TCP without a word of TLS has closed like any other.
  if (code == asio::error::eof || code == asio::ssl::error::stream_truncated) {
    return ClassifyErrno(0, phase);
  }
  return FailureClass::kTls;
}

std::shared_ptr<Stream> MakePlainStream(asio::io_context& io) {
  return std::make_shared<PlainStream>(io);
}

std::shared_ptr<Stream> MakeTlsStream(asio::io_context& io, asio::ssl::context& context,
                                      const std::string& host) {
  return std::make_shared<TlsStream>(io, context, host);
}

}  // namespace probe

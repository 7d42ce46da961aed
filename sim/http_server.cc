#include "sim/http_server.h"

#include <sys/socket.h>

#include <list>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "sim/http_connection.h"

namespace sim {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

absl::StatusOr<std::unique_ptr<asio::ssl::context>> MakeContext(const ServerTls& tls) {
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  error_code error;
  context->use_certificate_chain(asio::buffer(tls.certificate_pem), error);
  if (error) {
    return absl::InvalidArgumentError(absl::StrCat("server certificate: ", error.message()));
  }
  context->use_private_key(asio::buffer(tls.key_pem), asio::ssl::context::pem, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat("server key: ", error.message()));
  if (!tls.client_ca_pem.empty()) {
    context->add_certificate_authority(asio::buffer(tls.client_ca_pem), error);
    if (error) return absl::InvalidArgumentError(absl::StrCat("client CA: ", error.message()));
    context->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  }
  return context;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Handler handler, std::unique_ptr<asio::ssl::context> context)
      : handler_(std::move(handler)), context_(std::move(context)), acceptor_(io_) {}

  absl::Status Listen(uint16_t port) {
    error_code error;
    acceptor_.open(tcp::v4(), error);
    acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    acceptor_.bind({asio::ip::address_v4::loopback(), port}, error);
    if (!error) acceptor_.listen(1024, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on 127.0.0.1:", port, ": ", error.message()));
    }
    port_ = acceptor_.local_endpoint().port();
    accepting_ = std::thread([this] { Accept(); });
    return absl::OkStatus();
  }

  void DropConnections() {
    absl::MutexLock lock(&mutex_);
    for (Connection& connection : connections_) {
      if (connection.open) shutdown(connection.socket.native_handle(), SHUT_RDWR);
    }
  }

  void Stop() {
    {
      absl::MutexLock lock(&mutex_);
      if (std::exchange(stopping_, true)) return;
    }
    // Wakes a blocked accept, which closing the descriptor would not.
    shutdown(acceptor_.native_handle(), SHUT_RDWR);
    accepting_.join();
    DropConnections();
    for (Connection& connection : connections_) connection.thread.join();
    connections_.clear();
    error_code ignored;
    acceptor_.close(ignored);
  }

  int port() const { return port_; }
  bool tls() const { return context_ != nullptr; }
  int64_t accepted() const { return accepted_.load(std::memory_order_relaxed); }
  int64_t requests() const { return requests_.load(std::memory_order_relaxed); }

 private:
  struct Connection {
    explicit Connection(tcp::socket s) : socket(std::move(s)) {}
    tcp::socket socket;
    bool open = true;  // guarded by mutex_; the socket is closed with it held
    std::thread thread;
  };

  void Accept() {
    for (;;) {
      error_code error;
      tcp::socket socket = acceptor_.accept(error);
      absl::MutexLock lock(&mutex_);
      if (stopping_) return;
      JoinClosed();
      if (error) continue;
      accepted_.fetch_add(1, std::memory_order_relaxed);
      Connection& connection = connections_.emplace_back(std::move(socket));
      connection.thread = std::thread([this, &connection] { Serve(connection); });
    }
  }

  void Serve(Connection& connection) {
    ServeConnection(connection.socket, context_.get(), handler_, requests_);
    absl::MutexLock lock(&mutex_);
    error_code ignored;
    connection.socket.close(ignored);
    connection.open = false;
  }

  // A thread whose connection is closed has nothing left to do but return.
  void JoinClosed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (auto it = connections_.begin(); it != connections_.end();) {
      if (it->open) {
        ++it;
        continue;
      }
      it->thread.join();
      it = connections_.erase(it);
    }
  }

  const Handler handler_;
  const std::unique_ptr<asio::ssl::context> context_;
  asio::io_context io_;
  tcp::acceptor acceptor_;
  int port_ = 0;
  std::thread accepting_;
  std::atomic<int64_t> accepted_{0};
  std::atomic<int64_t> requests_{0};
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Stable addresses. Only the accepting thread adds and removes until it ends.
  std::list<Connection> connections_;
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Handler handler,
                                                              ServerOptions options) {
  std::unique_ptr<asio::ssl::context> context;
  if (options.tls.has_value()) {
    auto made = MakeContext(*options.tls);
    if (!made.ok()) return made.status();
    context = *std::move(made);
  }
  auto impl = std::make_unique<Impl>(std::move(handler), std::move(context));
  if (absl::Status status = impl->Listen(options.port); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(); }

int HttpServer::port() const { return impl_->port(); }
std::string HttpServer::url() const {
  return absl::StrCat(impl_->tls() ? "https" : "http", "://127.0.0.1:", port());
}
int64_t HttpServer::connections_accepted() const { return impl_->accepted(); }
int64_t HttpServer::requests_received() const { return impl_->requests(); }
void HttpServer::DropConnections() { impl_->DropConnections(); }
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace sim

#include "health/http_server.h"

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <deque>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "health/http_listener.h"

namespace health {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using boost::system::error_code;

// Of an answered connection, until the peer has taken the answer and closed.
constexpr absl::Duration kFarewell = absl::Seconds(1);
// What a peer may send after its request without being cut off.
constexpr size_t kMaxExcessBytes = 4 << 10;

// Header and body in one write.
std::string Encode(const HttpAnswer& answer) {
  const beast::string_view reason = beast::http::obsolete_reason(
      beast::http::int_to_status(static_cast<unsigned>(answer.status)));
  return absl::StrCat(
      "HTTP/1.1 ", answer.status, " ", absl::string_view(reason.data(), reason.size()),
      "\r\nContent-Type: ", answer.content_type, "\r\nContent-Length: ", answer.body.size(),
      "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff",
      answer.content_security_policy.empty() ? "" : "\r\nContent-Security-Policy: ",
      answer.content_security_policy, "\r\nConnection: close\r\n\r\n", answer.body);
}

// What the sessions share; touched by the server's thread only.
struct Shared {
  const HttpServer::Handler handler;
  const HttpServerOptions options;
  int sessions = 0;
};

// One connection: a head and an answer. Lives as long as an operation of it is
// pending.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Shared& shared)
      : shared_(shared), stream_(std::move(socket)), timer_(stream_.get_executor()) {
    ++shared_.sessions;
    parser_.header_limit(HttpServer::kMaxHeadBytes);
  }
  ~Session() { --shared_.sessions; }

  void Start() {
    error_code ignored;
    stream_.socket().set_option(tcp::no_delay(true), ignored);
    stream_.expires_after(absl::ToChronoMilliseconds(shared_.options.patience));
    beast::http::async_read_header(
        stream_, buffer_, parser_,
        [self = shared_from_this()](error_code error, size_t) { self->OnHead(error); });
  }

 private:
  void OnHead(error_code error) {
    if (error == beast::http::error::header_limit || error == beast::http::error::buffer_overflow) {
      return Answer({.status = 431, .body = "the head of the request is too large\n"});
    }
    const auto& malformed = beast::http::make_error_code(beast::http::error::bad_method).category();
    if (error.category() == malformed && error != beast::http::error::end_of_stream &&
        error != beast::http::error::partial_message) {
      return Answer({.status = 400, .body = absl::StrCat(error.message(), "\n")});
    }
    if (error) return;
    if (parser_.get().method() != beast::http::verb::get) {
      return Answer({.status = 405, .body = "GET is allowed\n"});
    }
    const beast::string_view target = parser_.get().target();
    Answer(shared_.handler({target.data(), target.size()}));
  }

  void Answer(const HttpAnswer& answer) {
    answer_ = Encode(answer);
    stream_.expires_after(absl::ToChronoMilliseconds(shared_.options.patience));
    asio::async_write(stream_, asio::buffer(answer_),
                      [self = shared_from_this()](error_code error, size_t) {
                        if (error) return self->stream_.close();
                        self->SayFarewell();
                      });
  }

  // Closing at once would reset the connection under an answer that is not read yet
  // where the peer has sent more than its head.
  void SayFarewell() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    timer_.expires_after(absl::ToChronoMilliseconds(kFarewell));
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->stream_.close();
    });
    ReadExcess();
  }

  void ReadExcess() {
    stream_.async_read_some(asio::buffer(excess_),
                            [self = shared_from_this()](error_code error, size_t bytes) {
                              self->excess_bytes_ += bytes;
                              if (error || self->excess_bytes_ > kMaxExcessBytes) {
                                self->timer_.cancel();
                                self->stream_.close();
                                return;
                              }
                              self->ReadExcess();
                            });
  }

  Shared& shared_;
  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  beast::flat_static_buffer<HttpServer::kMaxHeadBytes> buffer_;
  beast::http::request_parser<beast::http::empty_body> parser_;
  std::array<char, 256> excess_;
  size_t excess_bytes_ = 0;
  std::string answer_;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Handler handler, std::vector<Chore> chores, const HttpServerOptions& options)
      : shared_{std::move(handler), options},
        listener_(io_, [this](tcp::socket socket) { Serve(std::move(socket)); }) {
    for (Chore& chore : chores) chores_.emplace_back(std::move(chore), io_);
  }

  ~Impl() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Listen() {
    const HttpServerOptions& options = shared_.options;
    const absl::Status status =
        listener_.Listen(options.address, options.port, options.max_connections);
    if (!status.ok()) return status;
    for (TimedChore& chore : chores_) Repeat(chore);
    thread_ = std::thread([this] { io_.run(); });
    return absl::OkStatus();
  }

  int port() const { return listener_.port(); }

 private:
  struct TimedChore {
    TimedChore(Chore its_chore, asio::io_context& io) : chore(std::move(its_chore)), timer(io) {}
    Chore chore;
    asio::steady_timer timer;
  };

  void Serve(tcp::socket socket) {
    if (shared_.sessions >= shared_.options.max_connections) return;
    std::make_shared<Session>(std::move(socket), shared_)->Start();
  }

  void Repeat(TimedChore& chore) {
    chore.timer.expires_after(absl::ToChronoMilliseconds(chore.chore.period));
    chore.timer.async_wait([this, &chore](error_code error) {
      if (error) return;
      chore.chore.run();
      Repeat(chore);
    });
  }

  Shared shared_;
  // Sessions are destroyed with it, by then only this thread is left.
  asio::io_context io_{1};
  HttpListener listener_;
  std::deque<TimedChore> chores_;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Handler handler,
                                                              std::vector<Chore> chores,
                                                              const HttpServerOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(handler), std::move(chores), options);
  if (absl::Status status = impl->Listen(); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->port(); }

}  // namespace health

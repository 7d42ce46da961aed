#include "controller/barrier_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/barrier_relay.h"
#include "controller/barrier_request.h"
#include "glog/logging.h"
#include "health/http_listener.h"

namespace controller {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using boost::system::error_code;

// Of an answered connection, until the peer has taken the answer and closed.
constexpr absl::Duration kFarewell = absl::Seconds(1);
// What a peer may send after its request without being cut off.
constexpr size_t kMaxExcessBytes = 4 << 10;
// Files of the process beside those connections.
constexpr rlim_t kOtherFiles = 1000;

class Session;

// What the sessions share; touched by the server's thread only.
struct Shared {
  DrainBoard& board;
  base::Clock& clock;
  const BarrierOptions options;
  std::set<Session*> sessions;
};

// One connection: a head, a wait, an answer. Lives as long as an operation of it is
// pending.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Shared& shared)
      : shared_(shared), stream_(std::move(socket)), timer_(stream_.get_executor()) {
    shared_.sessions.insert(this);
    parser_.header_limit(BarrierServer::kMaxHeadBytes);
  }
  ~Session() {
    Leave(/*let_go=*/false);
    shared_.sessions.erase(this);
  }

  // The board does not call it any more.
  void Leave(bool let_go) {
    if (!waiter_.has_value()) return;
    shared_.board.Leave(*waiter_, let_go, shared_.clock.Now());
    waiter_.reset();
  }

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
      return Answer(EncodeBarrierError(431, "the head of the request is too large"));
    }
    const auto& malformed = beast::http::make_error_code(beast::http::error::bad_method).category();
    if (error.category() == malformed && error != beast::http::error::end_of_stream &&
        error != beast::http::error::partial_message) {
      return Answer(EncodeBarrierError(400, error.message()));
    }
    if (error) return;
    if (parser_.get().method() != beast::http::verb::get) {
      return Answer(EncodeBarrierError(405, "GET is allowed"));
    }
    const beast::string_view target = parser_.get().target();
    auto request = ParseBarrierTarget({target.data(), target.size()});
    if (!request.ok()) {
      const int status = absl::IsNotFound(request.status()) ? 404 : 400;
      return Answer(EncodeBarrierError(status, request.status().message()));
    }
    pod_ = std::move(request->pod);
    const absl::Time now = shared_.clock.Now();
    until_ = now + request->hold;
    if (request->confirm) look_since_ = now;
    if (!PassOn(request->hold)) Join();
  }

  // Whether the replica that leads is asked. If it cannot answer, this one does.
  bool PassOn(absl::Duration hold) {
    const auto& head = parser_.get();
    if (shared_.options.leader == nullptr || head.find(kRelayedHeader) != head.end()) return false;
    const auto leader = ParseBarrierAddress(shared_.options.leader());
    if (!leader.ok()) return false;
    relay_ = BarrierRelay::Start(stream_.get_executor(), *leader,
                                 {head.target().data(), head.target().size()}, hold,
                                 [weak = weak_from_this()](std::string answer) {
                                   const std::shared_ptr<Session> self = weak.lock();
                                   if (self == nullptr) return;
                                   self->relay_.reset();
                                   if (answer.empty()) return self->Join();
                                   self->Answer(std::move(answer));
                                 });
    stream_.expires_never();
    WatchPeer();
    return true;
  }

  void Join() {
    auto waiter = shared_.board.Join(
        pod_,
        [weak = weak_from_this(), executor = stream_.get_executor(), news = news_] {
          if (news->exchange(true)) return;
          asio::post(executor, [weak, news] {
            news->store(false);
            if (const std::shared_ptr<Session> self = weak.lock()) self->Look();
          });
        },
        look_since_);
    if (!waiter.ok()) return Answer(EncodeBarrierError(503, waiter.status().message()));
    waiter_ = *waiter;
    stream_.expires_never();
    if (!watching_) WatchPeer();
    Look();
  }

  // Answers if there is an end to tell or no time left, else waits on.
  void Look() {
    if (!waiter_.has_value()) return;
    const absl::Time now = shared_.clock.Now();
    const DrainAnswer answer = shared_.board.Look(pod_, now, look_since_);
    const bool ended = answer.outcome != DrainOutcome::kWaiting;
    if (ended || answer.refused || now >= until_) {
      Leave(/*let_go=*/ended);
      return Answer(EncodeBarrierAnswer(answer));
    }
    const absl::Duration wait = std::min(until_, answer.look_again) - now;
    timer_.expires_after(absl::ToChronoMilliseconds(
        std::clamp(absl::Ceil(wait, absl::Milliseconds(1)), absl::Milliseconds(1), kLongestHold)));
    timer_.async_wait([weak = weak_from_this()](error_code error) {
      const std::shared_ptr<Session> self = weak.lock();
      if (!error && self != nullptr) self->Look();
    });
  }

  // Notices a peer that leaves, and keeps the session alive while it stays.
  void WatchPeer() {
    watching_ = true;
    stream_.async_read_some(asio::buffer(excess_),
                            [self = shared_from_this()](error_code error, size_t bytes) {
                              self->excess_bytes_ += bytes;
                              if (error || self->excess_bytes_ > kMaxExcessBytes) {
                                self->timer_.cancel();
                                if (self->relay_ != nullptr) self->relay_->Cancel();
                                self->stream_.close();
                                return;
                              }
                              self->WatchPeer();
                            });
  }

  void Answer(std::string bytes) {
    timer_.cancel();
    answer_ = std::move(bytes);
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
    if (!watching_) WatchPeer();
  }

  Shared& shared_;
  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  beast::flat_static_buffer<BarrierServer::kMaxHeadBytes> buffer_;
  beast::http::request_parser<beast::http::empty_body> parser_;
  std::array<char, 256> excess_;
  size_t excess_bytes_ = 0;
  bool watching_ = false;
  PodId pod_;
  absl::Time until_;
  absl::Time look_since_ = absl::InfinitePast();  // of a Pod that asks again
  std::optional<int64_t> waiter_;
  std::shared_ptr<BarrierRelay> relay_;  // while the leader is asked
  // Whether Look is posted already. Outlives the session with the board's callback.
  std::shared_ptr<std::atomic<bool>> news_ = std::make_shared<std::atomic<bool>>(false);
  std::string answer_;
};

void RaiseFileLimit(int connections) {
  rlimit files{};
  const rlim_t wanted = static_cast<rlim_t>(connections) + kOtherFiles;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted) return;
  files.rlim_cur = std::min(wanted, files.rlim_max);
  setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < wanted) {
    LOG(WARNING) << "the drain barrier may run out of files: " << files.rlim_cur
                 << " are allowed, it can need " << wanted << "; raise ulimit -n";
  }
}

}  // namespace

class BarrierServer::Impl {
 public:
  Impl(DrainBoard& board, base::Clock& clock, const BarrierOptions& options)
      : shared_{board, clock, options, {}},
        listener_(io_, [this](tcp::socket socket) { Serve(std::move(socket)); }) {}

  ~Impl() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
    // Before the context goes: a report of this moment would post to it.
    for (Session* session : shared_.sessions) session->Leave(/*let_go=*/false);
  }

  absl::Status Listen() {
    const BarrierOptions& options = shared_.options;
    const absl::Status status =
        listener_.Listen(options.address, options.port, options.max_connections);
    if (!status.ok()) return status;
    RaiseFileLimit(options.max_connections);
    thread_ = std::thread([this] { io_.run(); });
    return absl::OkStatus();
  }

  int port() const { return listener_.port(); }

 private:
  void Serve(tcp::socket socket) {
    if (static_cast<int>(shared_.sessions.size()) >= shared_.options.max_connections) return;
    std::make_shared<Session>(std::move(socket), shared_)->Start();
  }

  Shared shared_;
  // Sessions are destroyed with it, by then only this thread is left.
  asio::io_context io_{1};
  health::HttpListener listener_;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<BarrierServer>> BarrierServer::Start(DrainBoard& board,
                                                                    base::Clock& clock,
                                                                    const BarrierOptions& options) {
  auto impl = std::make_unique<Impl>(board, clock, options);
  if (absl::Status status = impl->Listen(); !status.ok()) return status;
  return std::unique_ptr<BarrierServer>(new BarrierServer(std::move(impl)));
}

BarrierServer::BarrierServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BarrierServer::~BarrierServer() = default;

int BarrierServer::port() const { return impl_->port(); }

}  // namespace controller

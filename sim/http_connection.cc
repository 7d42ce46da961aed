#include "sim/http_connection.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace sim {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kMaxBodyBytes = 64 << 20;
constexpr size_t kMaxHeadBytes = 64 << 10;

using Parser = beast::http::request_parser<beast::http::string_body>;

http::Request ToRequest(Parser::value_type message) {
  http::Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request.body = std::move(message.body());
  return request;
}

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

std::string Head(const http::Response& response, bool chunked) {
  std::string head = absl::StrCat(
      "HTTP/1.1 ", response.status, " ",
      std::string(beast::http::obsolete_reason(beast::http::int_to_status(response.status))),
      "\r\n");
  for (const auto& [name, value] : response.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  if (chunked) {
    absl::StrAppend(&head, "Transfer-Encoding: chunked\r\n");
  } else if (HasBody(response.status)) {
    absl::StrAppend(&head, "Content-Length: ", response.body.size(), "\r\n");
  }
  head += "\r\n";
  return head;
}

template <typename Stream>
bool WriteAll(Stream& stream, absl::string_view head, absl::string_view body = {}) {
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head.data(), head.size()),
                                                     asio::buffer(body.data(), body.size())};
  error_code error;
  asio::write(stream, buffers, error);
  return !error;
}

template <typename Stream>
class ChunkedWriter final : public StreamWriter {
 public:
  explicit ChunkedWriter(Stream& stream)
      : stream_(stream),
        socket_(beast::get_lowest_layer(stream).native_handle()),
        wakeup_(eventfd(0, EFD_CLOEXEC)) {}
  ~ChunkedWriter() override { close(wakeup_); }

  bool Write(absl::string_view bytes) override {
    if (bytes.empty()) return !closed();
    absl::MutexLock lock(&mutex_);
    if (ended_) return false;
    const std::string chunk = absl::StrCat(absl::Hex(bytes.size()), "\r\n", bytes, "\r\n");
    if (!WriteAll(stream_, chunk)) End(/*orderly=*/false);
    return !ended_;
  }

  void Finish() override {
    absl::MutexLock lock(&mutex_);
    if (ended_) return;
    End(WriteAll(stream_, "0\r\n\r\n"));
  }

  void Cut() override {
    absl::MutexLock lock(&mutex_);
    if (ended_) return;
    End(/*orderly=*/false);
    shutdown(socket_, SHUT_RDWR);
  }

  bool closed() const override { return WaitUntilClosed(absl::ZeroDuration()); }

  bool WaitUntilClosed(absl::Duration at_most) const override {
    return WaitGone(socket_, wakeup_, at_most);
  }

  bool orderly() const {
    absl::MutexLock lock(&mutex_);
    return orderly_;
  }

 private:
  void End(bool orderly) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ended_ = true;
    orderly_ = orderly;
    eventfd_write(wakeup_, 1);
  }

  Stream& stream_;
  const int socket_;
  const int wakeup_;
  mutable absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool orderly_ ABSL_GUARDED_BY(mutex_) = false;
};

template <typename Stream>
bool SendStream(Stream& stream, const Answer& answer) {
  if (!WriteAll(stream, Head(answer.response, /*chunked=*/true))) return false;
  ChunkedWriter<Stream> writer(stream);
  answer.stream(writer);
  writer.Finish();
  return writer.orderly();
}

void SetResetOnClose(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
}

// False when the connection is to be closed.
template <typename Stream>
bool Send(Stream& stream, const Answer& answer) {
  const int socket = beast::get_lowest_layer(stream).native_handle();
  if (answer.delay > absl::ZeroDuration() && WaitGone(socket, -1, answer.delay)) return false;
  if (!answer.raw.empty()) {
    WriteAll(stream, answer.raw);
    return false;
  }
  const http::Response& response = answer.response;
  switch (answer.fault) {
    case Answer::Fault::kLoseReply:
      return false;
    case Answer::Fault::kResetReply:
      SetResetOnClose(beast::get_lowest_layer(stream));
      return false;
    case Answer::Fault::kCutBody:
      WriteAll(stream, Head(response, false),
               absl::string_view(response.body).substr(0, response.body.size() / 2));
      return false;
    case Answer::Fault::kCloseAfterward:
    case Answer::Fault::kNone:
      break;
  }
  if (answer.stream) return SendStream(stream, answer);
  const absl::string_view body =
      HasBody(response.status) ? absl::string_view(response.body) : absl::string_view();
  return WriteAll(stream, Head(response, false), body) &&
         answer.fault != Answer::Fault::kCloseAfterward;
}

template <typename Stream>
void Serve(Stream& stream, const Handler& handler, std::atomic<int64_t>& requests) {
  beast::flat_buffer buffer;
  for (;;) {
    Parser parser;
    parser.body_limit(kMaxBodyBytes);
    parser.header_limit(kMaxHeadBytes);
    error_code error;
    beast::http::read(stream, buffer, parser, error);
    if (error) return;
    const bool keep = parser.get().keep_alive();
    const http::Request request = ToRequest(parser.release());
    requests.fetch_add(1, std::memory_order_relaxed);
    if (!Send(stream, handler(request)) || !keep) return;
  }
}

}  // namespace

bool WaitGone(int socket, int wakeup, absl::Duration at_most) {
  std::array<pollfd, 2> polled = {pollfd{socket, POLLRDHUP, 0}, pollfd{wakeup, POLLIN, 0}};
  const absl::Time end = base::RealClock().Now() + at_most;
  for (;;) {
    const absl::Duration left =
        std::clamp(end - base::RealClock().Now(), absl::ZeroDuration(), absl::Hours(1));
    const int64_t milliseconds = absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
    if (poll(polled.data(), polled.size(), static_cast<int>(milliseconds)) > 0) return true;
    if (base::RealClock().Now() >= end) return false;
  }
}

void ServeConnection(tcp::socket& socket, asio::ssl::context* context, const Handler& handler,
                     std::atomic<int64_t>& requests) {
  error_code error;
  socket.set_option(tcp::no_delay(true), error);
  if (context == nullptr) {
    Serve(socket, handler, requests);
    return;
  }
  asio::ssl::stream<tcp::socket&> stream(socket, *context);
  stream.handshake(asio::ssl::stream_base::server, error);
  if (!error) Serve(stream, handler, requests);
}

}  // namespace sim

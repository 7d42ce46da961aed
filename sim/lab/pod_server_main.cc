// The application of a laboratory's Pod: a small HTTP/1.1 server that ends on SIGTERM in
// one of the ways in which applications do.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "gflags/gflags.h"

DEFINE_string(address, "127.0.0.1", "where it listens, on a free port that it prints");
DEFINE_string(mode, "exit",
              "on SIGTERM: exit: at once; graceful: accept no more, go on with open connections "
              "and exit after --shutdown; close: serve on, close each connection after its "
              "response and exit after --shutdown");
DEFINE_string(shutdown, "3s", "from SIGTERM to the end, of graceful and close");
DEFINE_string(ends_after, "1h", "it ends then in any case");

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr size_t kMaxHead = 16 << 10;
constexpr absl::Duration kLongestAnswer = absl::Minutes(10);

enum class Mode { kExit, kGraceful, kClose };

struct Server {
  asio::io_context io{1};
  Mode mode = Mode::kExit;
  absl::Duration shutdown;
  bool closing = false;  // each response says so
};

// "/slow?ms=250" takes that long; anything else is answered at once.
absl::Duration DelayOf(absl::string_view target) {
  int64_t milliseconds = 0;
  if (!absl::ConsumePrefix(&target, "/slow?ms=") || !absl::SimpleAtoi(target, &milliseconds)) {
    return absl::ZeroDuration();
  }
  return std::min(absl::Milliseconds(std::max<int64_t>(milliseconds, 0)), kLongestAnswer);
}

// One connection, which keeps itself while something is under way.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server& server, tcp::socket socket)
      : server_(server), socket_(std::move(socket)), timer_(server.io) {}

  void Read() {
    socket_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](const Code& code, size_t size) {
                              if (!code) self->Take(size);
                            });
  }

 private:
  void Take(size_t size) {
    head_.append(buffer_.data(), size);
    if (head_.size() > kMaxHead) return;
    const size_t end = head_.find("\r\n\r\n");
    if (end == std::string::npos) return Read();
    const size_t begin = head_.find(' ') + 1;
    const absl::string_view target =
        absl::string_view(head_).substr(begin, head_.find(' ', begin) - begin);
    const absl::Duration delay = DelayOf(target);
    head_.erase(0, end + 4);
    if (delay == absl::ZeroDuration()) return Answer();
    timer_.expires_after(absl::ToChronoNanoseconds(delay));
    timer_.async_wait([self = shared_from_this()](const Code&) { self->Answer(); });
  }

  void Answer() {
    const bool last = server_.closing;
    answer_ = absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n",
                           last ? "Connection: close\r\n" : "", "Content-Length: 3\r\n\r\nok\n");
    asio::async_write(socket_, asio::buffer(answer_),
                      [self = shared_from_this(), last](const Code& code, size_t) {
                        if (!code && !last) self->Read();
                      });
  }

  Server& server_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::array<char, 4096> buffer_;
  std::string head_;
  std::string answer_;
};

void Accept(Server& server, tcp::acceptor& acceptor) {
  acceptor.async_accept([&](const Code& code, tcp::socket socket) {
    if (code == asio::error::operation_aborted) return;
    if (!code) {
      Code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      std::make_shared<Connection>(server, std::move(socket))->Read();
    }
    Accept(server, acceptor);
  });
}

void OnSigterm(Server& server, tcp::acceptor& acceptor, asio::steady_timer& end) {
  if (server.mode == Mode::kExit) _exit(0);
  if (server.mode == Mode::kGraceful) {
    Code ignored;
    acceptor.close(ignored);
  } else {
    server.closing = true;
  }
  end.expires_after(absl::ToChronoNanoseconds(server.shutdown));
  end.async_wait([](const Code&) { _exit(0); });
}

int Complain(absl::string_view what) {
  std::cerr << "pod_server: " << what << std::endl;
  return 2;
}

int Serve(Server& server, absl::Duration ends_after) {
  Code code;
  const auto address = asio::ip::make_address(FLAGS_address, code);
  if (code || !address.is_loopback()) return Complain("--address: expected one of 127.0.0.0/8");
  tcp::acceptor acceptor(server.io, tcp::v4());
  acceptor.bind(tcp::endpoint(address, 0), code);
  if (!code) acceptor.listen(1024, code);
  if (code) return Complain(code.message());
  asio::steady_timer bound(server.io, absl::ToChronoNanoseconds(ends_after));
  bound.async_wait([](const Code&) { _exit(1); });
  asio::steady_timer end(server.io);
  asio::signal_set signals(server.io, SIGTERM);
  signals.async_wait([&](const Code&, int) { OnSigterm(server, acceptor, end); });
  Accept(server, acceptor);
  std::cout << "listening on port " << acceptor.local_endpoint().port() << std::endl;
  server.io.run();
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  Server server;
  absl::Duration ends_after;
  if (FLAGS_mode == "graceful") {
    server.mode = Mode::kGraceful;
  } else if (FLAGS_mode == "close") {
    server.mode = Mode::kClose;
  } else if (FLAGS_mode != "exit") {
    return Complain("--mode: expected exit, graceful or close");
  }
  if (!absl::ParseDuration(FLAGS_shutdown, &server.shutdown) ||
      !absl::ParseDuration(FLAGS_ends_after, &ends_after)) {
    return Complain("--shutdown, --ends_after: expected a duration such as 3s");
  }
  return Serve(server, ends_after);
}

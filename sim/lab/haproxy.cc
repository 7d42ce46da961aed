#include "sim/lab/haproxy.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/random.h"
#include "sim/program.h"

namespace sim {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);
constexpr absl::Duration kPoll = absl::Milliseconds(10);
constexpr char kBackend[] = "pods";
constexpr size_t kMaxAnswer = 1 << 20;

absl::Status SystemError(const char* what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

// A file descriptor that is closed.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

absl::string_view StateName(ServerState state) {
  switch (state) {
    case ServerState::kReady:
      return "ready";
    case ServerState::kDrain:
      return "drain";
    case ServerState::kMaint:
      return "maint";
  }
  return "";
}

// Listens on a free port of 127.0.0.1; HAProxy inherits it, since it cannot tell the port
// of a socket that it made itself.
int Listen(int& port) {
  // Without SOCK_CLOEXEC: it is to be inherited.
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || bind(listener, generic, size) != 0 || listen(listener, 1024) != 0 ||
      getsockname(listener, generic, &size) != 0) {
    if (listener >= 0) close(listener);
    return -1;
  }
  port = ntohs(address.sin_port);
  return listener;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Haproxy>> Haproxy::Start(const Options& options) {
  std::unique_ptr<Haproxy> made(new Haproxy(options));
  for (int i = 1; i <= options.slots; ++i) made->free_.push_back(i);
  absl::Status status = made->Launch();
  if (status.ok()) status = made->WaitUntilItAnswers();
  if (!status.ok()) return status;
  return made;
}

Haproxy::~Haproxy() = default;

absl::Status Haproxy::WriteConfiguration(int listener) {
  return WriteFile(
      options_.folder + "/haproxy.cfg",
      absl::StrCat("global\n  nbthread 1\n  maxconn 4000\n  stats socket abns@", socket_,
                   " level admin\n"
                   "defaults\n  mode http\n  timeout connect 5s\n  timeout client 1h\n"
                   "  timeout server 1h\n  retries ",
                   options_.retries, "\nfrontend web\n  bind fd@", listener, "\n  default_backend ",
                   kBackend, "\nbackend ", kBackend,
                   "\n  balance roundrobin\n  server-template s 1-", options_.slots,
                   " 127.0.0.1:1 disabled\n"));
}

absl::Status Haproxy::Launch() {
  socket_ = absl::StrCat("oci-drain-lab-", base::Random(base::SeedFromSystem()).Token(16));
  const Descriptor listener(Listen(port_));
  if (listener.get() < 0) return SystemError("cannot listen on 127.0.0.1");
  if (const absl::Status status = WriteConfiguration(listener.get()); !status.ok()) return status;
  auto process =
      ChildProcess::Start({options_.program, "-db", "-f", options_.folder + "/haproxy.cfg"},
                          options_.folder + "/haproxy.log");
  if (!process.ok()) {
    return absl::Status(
        process.status().code(),
        absl::StrCat(process.status().message(), "; HAProxy is the package haproxy of Debian"));
  }
  process_ = *std::move(process);
  return absl::OkStatus();
}

absl::Status Haproxy::WaitUntilItAnswers() {
  const absl::Time end = base::RealClock().Now() + kPatience;
  while (base::RealClock().Now() < end && process_->running()) {
    if (Ask("show version").ok()) return absl::OkStatus();
    base::RealClock().SleepFor(kPoll);
  }
  return absl::UnavailableError(
      absl::StrCat("HAProxy does not answer; its log is ", options_.folder, "/haproxy.log"));
}

absl::StatusOr<std::string> Haproxy::Ask(const std::string& command) {
  const Descriptor peer(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // A leading zero makes it abstract. HAProxy's name is as long as there is room: the
  // zeros behind it belong to it.
  std::memcpy(address.sun_path + 1, socket_.data(), socket_.size());
  const socklen_t size = sizeof(address);
  const timeval patience = {.tv_sec = 10, .tv_usec = 0};
  setsockopt(peer.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const std::string line = command + "\n";
  if (peer.get() < 0 || connect(peer.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      send(peer.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(line.size())) {
    return SystemError("HAProxy's runtime socket");
  }
  std::string answer;
  char buffer[4096];
  ssize_t read = 0;
  while ((read = recv(peer.get(), buffer, sizeof(buffer), 0)) > 0 && answer.size() < kMaxAnswer) {
    answer.append(buffer, static_cast<size_t>(read));
  }
  if (read < 0) return SystemError("HAProxy's runtime socket");
  return std::string(absl::StripAsciiWhitespace(answer));
}

absl::Status Haproxy::Command(const std::string& command) {
  const auto answer = Ask(command);
  if (!answer.ok()) return answer.status();
  // A change of address is answered by a line that says what was changed.
  if (answer->empty() || answer->find("changed") != std::string::npos ||
      answer->find("no need to change") != std::string::npos) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("HAProxy: ", command, ": ", *answer));
}

absl::Status Haproxy::Set(const std::string& endpoint, ServerState state) {
  const auto found = used_.find(endpoint);
  if (found != used_.end() && found->second.state == state) return absl::OkStatus();
  absl::Status status;
  if (found == used_.end()) {
    if (free_.empty()) return absl::ResourceExhaustedError("HAProxy has no free slot");
    const std::pair<std::string, std::string> parts = absl::StrSplit(endpoint, ':');
    used_[endpoint].number = free_.front();
    free_.pop_front();
    status.Update(Command(absl::StrCat("set server ", kBackend, "/s", used_[endpoint].number,
                                       " addr ", parts.first, " port ", parts.second)));
  }
  Slot& slot = used_[endpoint];
  slot.state = state;
  status.Update(Command(
      absl::StrCat("set server ", kBackend, "/s", slot.number, " state ", StateName(state))));
  return status;
}

absl::Status Haproxy::Apply(const std::map<std::string, ServerState>& servers) {
  absl::Status status;
  // A load balancer applies a change as one. Here the old go after the new have come, so
  // that at no moment there is no server at all.
  for (const bool ready : {true, false}) {
    for (const auto& [endpoint, state] : servers) {
      if ((state == ServerState::kReady) == ready) status.Update(Set(endpoint, state));
    }
  }
  for (auto it = used_.begin(); it != used_.end();) {
    if (servers.contains(it->first)) {
      ++it;
      continue;
    }
    status.Update(
        Command(absl::StrCat("set server ", kBackend, "/s", it->second.number, " state maint")));
    free_.push_back(it->second.number);
    it = used_.erase(it);
  }
  return status;
}

}  // namespace sim

#include "cmd/barrier_client.h"

#include <ares.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"

namespace cmd {
namespace {

absl::Duration Left(absl::Time by) {
  return std::max(by - base::RealClock().Now(), absl::ZeroDuration());
}

int LeftMilliseconds(absl::Time by) {
  return static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(Left(by), absl::Milliseconds(1))));
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }

  // False when it is not ready by then.
  bool Await(short events, absl::Time by) const {
    pollfd waiting{fd_, events, 0};
    while (true) {
      const int ready = poll(&waiting, 1, LeftMilliseconds(by));
      if (ready > 0) return true;
      if (ready == 0 || errno != EINTR) return false;
    }
  }

 private:
  const int fd_;
};

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

struct Lookup {
  bool done = false;
  int status = ARES_SUCCESS;
  std::vector<Address> addresses;
};

void TakeAddresses(void* argument, int status, int /*timeouts*/, ares_addrinfo* result) {
  auto* lookup = static_cast<Lookup*>(argument);
  lookup->done = true;
  lookup->status = status;
  for (const ares_addrinfo_node* node = result == nullptr ? nullptr : result->nodes;
       node != nullptr; node = node->ai_next) {
    Address address;
    address.length = static_cast<socklen_t>(node->ai_addrlen);
    std::memcpy(&address.storage, node->ai_addr, node->ai_addrlen);
    lookup->addresses.push_back(address);
  }
  if (result != nullptr) ares_freeaddrinfo(result);
}

// Lets the channel work until the lookup is done or the time is over.
void Drive(ares_channel channel, const Lookup& lookup, absl::Time by) {
  while (!lookup.done && Left(by) > absl::ZeroDuration()) {
    fd_set readable;
    fd_set writable;
    FD_ZERO(&readable);
    FD_ZERO(&writable);
    const int count = ares_fds(channel, &readable, &writable);
    timeval at_most = absl::ToTimeval(std::min(Left(by), absl::Milliseconds(200)));
    if (count > 0 && select(count, &readable, &writable, nullptr, &at_most) < 0) continue;
    ares_process(channel, &readable, &writable);
  }
}

absl::StatusOr<std::vector<Address>> Resolve(const HostPort& target, absl::Time by) {
  ares_channel channel = nullptr;
  int status = ares_init(&channel);
  if (status != ARES_SUCCESS) return absl::UnavailableError(ares_strerror(status));
  Lookup lookup;
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ares_getaddrinfo(channel, target.host.c_str(), absl::StrCat(target.port).c_str(), &hints,
                   TakeAddresses, &lookup);
  Drive(channel, lookup, by);
  ares_destroy(channel);  // calls TakeAddresses if it has not been called
  if (lookup.status == ARES_SUCCESS && !lookup.addresses.empty()) return lookup.addresses;
  return absl::UnavailableError(
      absl::StrCat("host ", target.host, ": ", ares_strerror(lookup.status)));
}

absl::Status Failed(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::Status Connect(const Socket& socket, const Address& address, absl::Time by) {
  if (socket.fd() < 0) return Failed("socket");
  fcntl(socket.fd(), F_SETFL, O_NONBLOCK);
  if (connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) ==
      0) {
    return absl::OkStatus();
  }
  if (errno != EINPROGRESS) return Failed("connect");
  if (!socket.Await(POLLOUT, by)) return absl::DeadlineExceededError("connect: no answer");
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
  errno = error;
  return error == 0 ? absl::OkStatus() : Failed("connect");
}

absl::Status SendAll(const Socket& socket, absl::string_view bytes, absl::Time by) {
  while (!bytes.empty()) {
    if (!socket.Await(POLLOUT, by)) return absl::DeadlineExceededError("send: no progress");
    const ssize_t sent = send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return Failed("send");
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

// To the end of the connection: the request said that it is to be closed.
absl::StatusOr<std::string> ReceiveAll(const Socket& socket, absl::Time by) {
  std::string all;
  char buffer[4096];
  while (all.size() <= kMaxBarrierAnswerBytes) {
    if (!socket.Await(POLLIN, by)) return absl::DeadlineExceededError("no answer in time");
    const ssize_t received = recv(socket.fd(), buffer, sizeof(buffer), 0);
    if (received == 0) return all;
    if (received < 0 && errno != EAGAIN && errno != EINTR) return Failed("receive");
    if (received > 0) all.append(buffer, static_cast<size_t>(received));
  }
  return absl::OutOfRangeError(
      absl::StrCat("an answer of more than ", kMaxBarrierAnswerBytes, " bytes"));
}

absl::StatusOr<std::string> Exchange(const Address& address, absl::string_view request,
                                     absl::Time by) {
  const Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  absl::Status status = Connect(socket, address, by);
  if (status.ok()) status = SendAll(socket, request, by);
  if (!status.ok()) return status;
  return ReceiveAll(socket, by);
}

}  // namespace

absl::StatusOr<std::string> AskBarrier(const HostPort& address, const std::string& target,
                                       absl::Time by) {
  const auto addresses = Resolve(address, by);
  if (!addresses.ok()) return addresses.status();
  const std::string request =
      absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: ", address.host, ":", address.port,
                   "\r\nUser-Agent: drain-wait\r\nConnection: close\r\n\r\n");
  absl::StatusOr<std::string> answer;
  for (const Address& each : *addresses) {
    answer = Exchange(each, request, by);
    if (answer.ok()) return answer;
  }
  return absl::Status(answer.status().code(), absl::StrCat(address.host, ":", address.port, ": ",
                                                           answer.status().message()));
}

}  // namespace cmd

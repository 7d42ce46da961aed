#include "sim/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sim {
namespace {

sigset_t EndSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

absl::StatusOr<DurationRange> ParseDurationRange(const std::string& text) {
  const std::pair<std::string, std::string> ends = absl::StrSplit(text, absl::MaxSplits('-', 1));
  DurationRange range;
  const bool one = text.find('-') == std::string::npos;
  if (!absl::ParseDuration(ends.first, &range.min) ||
      !absl::ParseDuration(one ? ends.first : ends.second, &range.max) ||
      range.min < absl::ZeroDuration() || range.max < range.min ||
      range.max == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a duration like 10s or a range like 6s-14s"));
  }
  return range;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  std::stringstream text;
  text << file.rdbuf();
  if (file.bad()) return absl::UnavailableError(absl::StrCat(path, ": cannot be read"));
  return text.str();
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  const int descriptor = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (descriptor < 0) {
    return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  const ssize_t written = write(descriptor, text.data(), text.size());
  if (close(descriptor) != 0 || written != static_cast<ssize_t>(text.size())) {
    return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
  }
  return absl::OkStatus();
}

void BlockEndSignals() {
  const sigset_t signals = EndSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void WaitForEnd(bool exit_with_stdin) {
  const sigset_t signals = EndSignals();
  const int descriptor = signalfd(-1, &signals, SFD_CLOEXEC);
  pollfd waits[2] = {{descriptor, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  while (true) {
    if (poll(waits, exit_with_stdin ? 2 : 1, -1) < 0 && errno != EINTR) break;
    if (waits[0].revents != 0) break;
    if (exit_with_stdin && waits[1].revents != 0) {
      char ignored[256];
      if (read(STDIN_FILENO, ignored, sizeof(ignored)) <= 0) break;
    }
  }
  close(descriptor);
}

}  // namespace sim

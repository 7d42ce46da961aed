#include "sim/demo_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace sim {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(10);
constexpr absl::Duration kPoll = absl::Milliseconds(20);

// After fork in a process with threads: only calls that are safe in a signal
// handler.
[[noreturn]] void RunChild(char* const* arguments, int log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = open("/dev/null", O_RDONLY);
  dup2(nowhere, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execv(arguments[0], arguments);
  _exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const std::vector<std::string>& arguments, const std::string& log_file) {
  if (access(arguments.front().c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(arguments.front(), ": ", std::strerror(errno)));
  }
  const int log = open(log_file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (log < 0) return absl::UnavailableError(absl::StrCat(log_file, ": ", std::strerror(errno)));
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) RunChild(pointers.data(), log, parent);
  const int error = errno;
  close(log);
  if (pid < 0) return absl::UnavailableError(absl::StrCat("fork: ", std::strerror(error)));
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid));
}

ChildProcess::~ChildProcess() { Stop(); }

bool ChildProcess::running() {
  if (!ended_) ended_ = waitpid(pid_, &wait_status_, WNOHANG) == pid_;
  return !ended_;
}

double ChildProcess::PeakMegabytes() const {
  if (ended_) return 0;
  std::ifstream status(absl::StrCat("/proc/", pid_, "/status"));
  std::string line;
  while (std::getline(status, line)) {
    // "VmHWM:     12345 kB"
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    double kilobytes = 0;
    if (words.size() >= 2 && words[0] == "VmHWM:" && absl::SimpleAtod(words[1], &kilobytes)) {
      return kilobytes / 1024;
    }
  }
  return 0;
}

void ChildProcess::Stop() {
  if (!running()) return;
  kill(pid_, SIGTERM);
  base::Clock& clock = base::RealClock();
  const absl::Time patience = clock.Now() + kPatience;
  while (running() && clock.Now() < patience) clock.SleepFor(kPoll);
  if (!running()) return;
  kill(pid_, SIGKILL);
  ended_ = waitpid(pid_, &wait_status_, 0) == pid_;
}

std::string ChildProcess::Ending() const {
  if (WIFSIGNALED(wait_status_)) return absl::StrCat("signal ", WTERMSIG(wait_status_));
  return absl::StrCat("exit status ", WEXITSTATUS(wait_status_));
}

std::vector<LoggedWrite> ParseLoggedWrites(absl::string_view log) {
  constexpr absl::string_view kMark = "write accepted: ";
  std::vector<LoggedWrite> writes;
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    const size_t mark = line.find(kMark);
    if (mark == absl::string_view::npos) continue;
    line.remove_prefix(mark + kMark.size());
    line = line.substr(0, line.find('"'));
    std::map<absl::string_view, absl::string_view> words;
    for (absl::string_view word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(word, absl::MaxSplits('=', 1));
      words.insert(parts);
    }
    LoggedWrite write;
    write.backend_set = std::string(words["set"]);
    write.reason = std::string(words["reason"]);
    write.carries_wave = words["carries_wave"] == "true";
    if (!absl::SimpleAtoi(words["waves"], &write.waves)) write.waves = 0;
    write.work_request = std::string(words["work_request"]);
    writes.push_back(std::move(write));
  }
  return writes;
}

}  // namespace sim

#include "sim/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace sim {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);
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

void ChildProcess::Signal(int number) {
  if (running()) kill(pid_, number);
}

double ChildProcess::Megabytes(absl::string_view field) const {
  if (ended_) return 0;
  std::ifstream status(absl::StrCat("/proc/", pid_, "/status"));
  for (std::string line; std::getline(status, line);) {
    // "VmHWM:     12345 kB"
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
    double kilobytes = 0;
    if (words.size() >= 2 && words[0] == field && absl::SimpleAtod(words[1], &kilobytes)) {
      return kilobytes / 1024;
    }
  }
  return 0;
}

double ChildProcess::CpuSeconds() const {
  if (ended_) return 0;
  std::ifstream stat(absl::StrCat("/proc/", pid_, "/stat"));
  std::string line;
  std::getline(stat, line);
  // After the name, which may hold anything: state is field 3, utime 14, stime 15.
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  const std::vector<std::string> words =
      absl::StrSplit(line.substr(name_end + 1), ' ', absl::SkipEmpty());
  int64_t user = 0;
  int64_t system = 0;
  if (words.size() < 13 || !absl::SimpleAtoi(words[11], &user) ||
      !absl::SimpleAtoi(words[12], &system)) {
    return 0;
  }
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
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

}  // namespace sim

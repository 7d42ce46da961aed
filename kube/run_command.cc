#include "kube/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

extern char** environ;

namespace kube {
namespace {

// How often it is looked whether the program has ended while something else still
// holds its output open.
constexpr int kLookMilliseconds = 20;

class FileDescriptor {
 public:
  FileDescriptor() = default;
  ~FileDescriptor() { Close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  void Reset(int fd) {
    Close();
    fd_ = fd;
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end.Reset(ends[0]);
    write_end.Reset(ends[1]);
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
  }
};

std::vector<std::string> MergedEnvironment(const Command& command) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) merged[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : command.environment) merged[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : merged) environment.push_back(absl::StrCat(name, "=", value));
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In a process group of its own, so that what it starts can be killed with it.
int Spawn(const Command& command, const Pipe& output, const Pipe& error_output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, error_output.write_end.get(), 2);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> arguments = {command.program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = MergedEnvironment(command);
  const int error = posix_spawnp(&pid, command.program.c_str(), &actions, &attributes,
                                 Pointers(arguments).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// A program that was started, until it was waited for.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (ended_) return;
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool Ended() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) != 0;
    return ended_;
  }
  int exit_status() const {
    return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
  }

 private:
  const pid_t pid_;
  bool ended_ = false;
  int status_ = 0;
};

// Takes what is there now. False once the other end is closed.
bool ReadAvailable(int fd, std::string& text) {
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count > 0) {
      text.append(buffer, static_cast<size_t>(count));
      // Let the caller look at its bounds.
      return true;
    }
    if (count == 0) return false;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK;
  }
}

// What is still in the pipe of a program that has ended.
void ReadRest(int fd, size_t max_bytes, std::string& text) {
  for (size_t before = text.size() + 1; text.size() != before && text.size() <= max_bytes;) {
    before = text.size();
    if (!ReadAvailable(fd, text)) return;
  }
}

}  // namespace

absl::StatusOr<CommandResult> RunCommand(const Command& command, base::Clock& clock) {
  Pipe output;
  Pipe error_output;
  if (!output.Open() || !error_output.Open()) {
    return absl::UnavailableError(
        absl::StrCat("cannot run ", command.program, ": ", strerror(errno)));
  }
  pid_t pid = 0;
  if (const int error = Spawn(command, output, error_output, pid); error != 0) {
    return absl::NotFoundError(absl::StrCat("cannot run ", command.program, ": ", strerror(error)));
  }
  Child child(pid);
  output.write_end.Close();
  error_output.write_end.Close();

  CommandResult result;
  const absl::Time deadline = clock.Now() + command.timeout;
  while (!child.Ended()) {
    if (clock.Now() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat(command.program, " did not end within ",
                                                      absl::FormatDuration(command.timeout)));
    }
    pollfd polled[] = {{output.read_end.get(), POLLIN, 0},
                       {error_output.read_end.get(), POLLIN, 0}};
    poll(polled, 2, kLookMilliseconds);
    if (!ReadAvailable(output.read_end.get(), result.output)) output.read_end.Close();
    if (!ReadAvailable(error_output.read_end.get(), result.error_output)) {
      error_output.read_end.Close();
    }
    if (std::max(result.output.size(), result.error_output.size()) > command.max_output_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(command.program, " printed more than ", command.max_output_bytes, " bytes"));
    }
  }
  ReadRest(output.read_end.get(), command.max_output_bytes, result.output);
  ReadRest(error_output.read_end.get(), command.max_output_bytes, result.error_output);
  result.exit_status = child.exit_status();
  return result;
}

}  // namespace kube

// drain-wait: keeps a Pod's SIGTERM back until the load balancer has stopped
// sending it new requests. For preStop.exec.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "cmd/barrier_client.h"
#include "cmd/command_line.h"
#include "cmd/drain_wait_policy.h"
#include "cmd/version.h"
#include "gflags/gflags.h"

DEFINE_string(timeout, "180s", "end the wait after this long, drained or not");
DEFINE_string(linger, "2s",
              "after the drain go on for this long, for requests in flight, and ask once more");
DEFINE_string(fallback, "15s",
              "end the wait when the barrier has given no usable answer for this long");
DEFINE_string(address, "",
              "HOST:PORT of the barrier; empty: $OCI_DRAIN_BARRIER_SERVICE_HOST and _PORT, which "
              "Kubernetes sets in the Service's own namespace, else "
              "oci-drain-barrier.oci-backend-drain.svc:8090");
DEFINE_bool(fail_unless_drained, false,
            "exit with status 1 if the wait ended without the barrier's word");

namespace {

constexpr char kProgram[] = "drain-wait";
constexpr char kDefaultAddress[] = "oci-drain-barrier.oci-backend-drain.svc:8090";

constexpr char kHelp[] =
    R"(drain-wait: keeps SIGTERM back until the load balancer has let go of this Pod.

  drain-wait                wait; for lifecycle.preStop.exec
  drain-wait install DIR    copy this program to DIR/drain-wait; for an initContainer

Needs POD_NAMESPACE, POD_NAME and POD_UID in the environment, from the downward API:

  env:
  - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
  - {name: POD_NAME,      valueFrom: {fieldRef: {fieldPath: metadata.name}}}
  - {name: POD_UID,       valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
  lifecycle: {preStop: {exec: {command: [/drain/drain-wait]}}}

At the end of --linger it asks whether the backend is still drained, by a look at the load
balancer that is younger than the question; if another controller has taken the drain back,
it waits on. It ends within --timeout plus --linger whatever happens; give the Pod a grace period
that is longer by the time that the application needs to stop.

Exit status: 0 the wait is over, 1 with --fail_unless_drained if it ended without the
barrier's word, 2 called wrongly.

Flags:
)";

absl::StatusOr<std::string> RequireVariable(const char* name) {
  const char* value = std::getenv(name);
  if (value != nullptr && *value != '\0') return std::string(value);
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is not set; take it from the downward API, see drain-wait --help"));
}

// Names and UIDs need no escaping; anything else would change the request's target.
absl::StatusOr<std::string> RequirePathPart(const char* name) {
  absl::StatusOr<std::string> value = RequireVariable(name);
  if (!value.ok()) return value;
  const bool plain = std::all_of(value->begin(), value->end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.';
  });
  if (plain) return value;
  return absl::InvalidArgumentError(
      absl::StrCat(name, "=\"", *value, "\": not the name or UID of an object"));
}

std::string Address() {
  if (!FLAGS_address.empty()) return FLAGS_address;
  const char* host = std::getenv("OCI_DRAIN_BARRIER_SERVICE_HOST");
  const char* port = std::getenv("OCI_DRAIN_BARRIER_SERVICE_PORT");
  if (host == nullptr || port == nullptr) return kDefaultAddress;
  return std::strchr(host, ':') == nullptr ? absl::StrCat(host, ":", port)
                                           : absl::StrCat("[", host, "]:", port);
}

struct Job {
  cmd::HostPort address;
  std::string path;  // without the timeout
  cmd::DrainWaitOptions options;
};

absl::StatusOr<Job> MakeJob() {
  Job job;
  const std::pair<const char*, absl::Duration*> durations[] = {{"timeout", &job.options.timeout},
                                                               {"linger", &job.options.linger},
                                                               {"fallback", &job.options.fallback}};
  const std::string* const texts[] = {&FLAGS_timeout, &FLAGS_linger, &FLAGS_fallback};
  for (size_t i = 0; i < std::size(durations); ++i) {
    const auto duration = cmd::DurationFlag(durations[i].first, *texts[i]);
    if (!duration.ok()) return duration.status();
    *durations[i].second = *duration;
  }
  const auto address = cmd::ParseHostPort(Address());
  if (!address.ok()) return cmd::Prefixed("--address", address.status());
  job.address = *address;
  const auto ns = RequirePathPart("POD_NAMESPACE");
  if (!ns.ok()) return ns.status();
  const auto name = RequirePathPart("POD_NAME");
  if (!name.ok()) return name.status();
  const auto uid = RequirePathPart("POD_UID");
  if (!uid.ok()) return uid.status();
  job.path = absl::StrCat("/v1/drained/", *ns, "/", *name, "?uid=", *uid);
  return job;
}

[[noreturn]] void EndNow(int /*signal*/) { _exit(FLAGS_fail_unless_drained ? 1 : 0); }

// The last resort of the bound: a clock that is set back, a call that hangs.
void BoundProcess(absl::Duration at_most) {
  signal(SIGALRM, EndNow);
  itimerval timer{};
  timer.it_value = absl::ToTimeval(std::max(at_most, absl::Milliseconds(1)));
  setitimer(ITIMER_REAL, &timer, nullptr);
}

cmd::BarrierReply Ask(const Job& job, const cmd::DrainWaitStep& step) {
  const std::string target =
      absl::StrCat(job.path, "&timeout=", absl::ToInt64Milliseconds(step.hold), "ms",
                   step.confirm ? "&confirm=1" : "");
  const auto bytes = cmd::AskBarrier(job.address, target, step.by);
  if (!bytes.ok()) return {cmd::BarrierVerdict::kUseless, std::string(bytes.status().message())};
  return cmd::ParseBarrierAnswer(*bytes);
}

int Wait(const Job& job) {
  base::Clock& clock = base::RealClock();
  const absl::Time start = clock.Now();
  BoundProcess(job.options.timeout + job.options.linger);
  cmd::DrainWait wait(job.options, start);
  std::string last = "no answer";
  cmd::DrainWaitStep step = wait.Next(start);
  for (; step.action != cmd::DrainWaitStep::Action::kEnd; step = wait.Next(clock.Now())) {
    if (step.action == cmd::DrainWaitStep::Action::kPause) {
      clock.SleepFor(step.by - clock.Now());
      continue;
    }
    const absl::Time asked_at = clock.Now();
    const cmd::BarrierReply reply = Ask(job, step);
    if (reply.outcome != last) std::cerr << kProgram << ": " << reply.outcome << std::endl;
    last = reply.outcome;
    wait.Note(reply.verdict, asked_at, clock.Now());
  }
  std::cerr << kProgram << ": " << (step.drained ? "over" : "given up") << " after "
            << absl::FormatDuration(absl::Trunc(clock.Now() - start, absl::Milliseconds(1))) << " ("
            << last << ")" << std::endl;
  clock.SleepFor(step.linger);
  return step.drained || !FLAGS_fail_unless_drained ? 0 : 1;
}

// Whoever reads the copy sees none of it or all of it.
absl::Status Install(const std::string& folder) {
  const auto program = base::ReadFile("/proc/self/exe");
  if (!program.ok()) return program.status();
  const std::string path = absl::StrCat(folder, "/", kProgram);
  const std::string partial = absl::StrCat(path, ".partial");
  const int file = open(partial.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);
  const auto failed = [&] {
    return absl::UnavailableError(absl::StrCat(partial, ": ", std::strerror(errno)));
  };
  if (file < 0) return failed();
  const ssize_t written = write(file, program->data(), program->size());
  const bool whole = written == static_cast<ssize_t>(program->size()) && fchmod(file, 0755) == 0;
  if (close(file) != 0 || !whole || rename(partial.c_str(), path.c_str()) != 0) return failed();
  std::cout << path << std::endl;
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  // It is what SIGTERM waits for; ending early would be no answer to anybody.
  signal(SIGTERM, SIG_IGN);
  const auto line = cmd::ParseCommandLine(argc, argv);
  if (!line.ok()) return cmd::Complain(kProgram, line.status());
  if (line->help) {
    std::cout << kHelp << cmd::DescribeFlags({"cmd/"});
    return 0;
  }
  if (line->version) {
    std::cout << kProgram << " " << cmd::Version() << "\n";
    return 0;
  }
  if (line->arguments.size() == 2 && line->arguments[0] == "install") {
    const absl::Status status = Install(line->arguments[1]);
    return status.ok() ? 0 : cmd::Complain(kProgram, status);
  }
  if (!line->arguments.empty()) {
    return cmd::Complain(kProgram,
                         absl::InvalidArgumentError(absl::StrCat(
                             line->arguments[0], ": the one command is: install DIR; see --help")));
  }
  const auto job = MakeJob();
  if (!job.ok()) return cmd::Complain(kProgram, job.status());
  return Wait(*job);
}

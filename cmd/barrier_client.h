// Asks the drain barrier, with sockets and c-ares alone: drain-wait is one static
// program, and a static glibc cannot resolve names.
#ifndef OCI_BACKEND_DRAIN_CMD_BARRIER_CLIENT_H_
#define OCI_BACKEND_DRAIN_CMD_BARRIER_CLIENT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cmd/drain_wait_policy.h"

namespace cmd {

struct HostPort {
  std::string host;  // a name, or an address without brackets
  int port = 0;
};

// "barrier.ns.svc:8090", "10.0.0.1:80", "[fd00::1]:80". InvalidArgument says what
// is expected.
absl::StatusOr<HostPort> ParseHostPort(absl::string_view text);

// Answers are read up to this size; a longer one is refused.
inline constexpr size_t kMaxBarrierAnswerBytes = 64 << 10;

struct BarrierReply {
  BarrierVerdict verdict = BarrierVerdict::kUseless;
  std::string outcome;  // "Drained", "LastBackend", ...; for kUseless what is wrong
};

// Reads a whole HTTP answer. 200 and 202 count only with a complete JSON body whose
// member "outcome" the barrier knows: a proxy's 200 must not end a wait.
BarrierReply ParseBarrierAnswer(absl::string_view bytes);

// Blocks until an answer, an error or `by`; never longer, name resolution included.
// One try on every address of the host. Errors name address and cause.
absl::StatusOr<std::string> AskBarrier(const HostPort& address, const std::string& target,
                                       absl::Time by);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_BARRIER_CLIENT_H_

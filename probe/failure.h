// What can become of a request, and who is to blame. Pure: no clock, no socket.
#ifndef OCI_BACKEND_DRAIN_PROBE_FAILURE_H_
#define OCI_BACKEND_DRAIN_PROBE_FAILURE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace probe {

// The first group are failures of the other side; those from kNoLocalPort on are the
// probe's own and say nothing about the server.
enum class FailureClass {
  kRefused,               // the connection was refused
  kUnreachable,           // no route to the host, or the connect timed out in the kernel
  kReset,                 // the connection was reset, before or within the response
  kClosedBeforeResponse,  // closed after the request was sent, without a byte of response
  kClosedMidResponse,     // closed within the response
  kTimeout,               // no whole response in time, the time to connect included
  kServerError,           // a whole response with status 500 to 599
  kMalformed,             // not HTTP/1.1, or larger than the bound
  kTls,                   // the TLS handshake failed
  kNoLocalPort,
  kNoFileDescriptor,
  kNoMemory,
};

inline constexpr FailureClass kFirstOwnFailure = FailureClass::kNoLocalPort;
inline constexpr int kFailureClasses = static_cast<int>(FailureClass::kNoMemory) + 1;

inline bool IsOwnFailure(FailureClass failure) { return failure >= kFirstOwnFailure; }

// "refused", "closed before response"; the same in tables and in JSON.
absl::string_view FailureName(FailureClass failure);

// Where a connection was when the system reported an error.
enum class Phase { kConnecting, kHandshake, kWaiting, kReceiving };

// What an errno of a socket call means. 0 stands for an orderly close by the peer.
FailureClass ClassifyErrno(int error, Phase phase);

// One failed request.
struct Failure {
  absl::Time time;  // when it was noticed
  FailureClass failure = FailureClass::kRefused;
  int status = 0;                 // of a server error, else 0
  int client = 0;                 // from 0
  absl::Duration connection_age;  // since it was connected; zero if it never was
  int64_t request_number = 0;     // on its connection, from 1; 0 if it never was connected
  int64_t bytes_received = 0;     // of the response
  absl::Duration since_sent;      // from the start of the request
  bool slow = false;              // it asked for the long answer
  std::string detail = {};        // the system's words, if there are any
};

}  // namespace probe

#endif  // OCI_BACKEND_DRAIN_PROBE_FAILURE_H_

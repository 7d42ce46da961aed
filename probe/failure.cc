#include "probe/failure.h"

#include <cerrno>

namespace probe {

absl::string_view FailureName(FailureClass failure) {
  switch (failure) {
    case FailureClass::kRefused:
      return "refused";
    case FailureClass::kUnreachable:
      return "unreachable";
    case FailureClass::kReset:
      return "reset";
    case FailureClass::kClosedBeforeResponse:
      return "closed before response";
    case FailureClass::kClosedMidResponse:
      return "closed mid-response";
    case FailureClass::kTimeout:
      return "timeout";
    case FailureClass::kServerError:
      return "5xx";
    case FailureClass::kMalformed:
      return "malformed";
    case FailureClass::kTls:
      return "tls";
    case FailureClass::kNoLocalPort:
      return "no local port";
    case FailureClass::kNoFileDescriptor:
      return "no file descriptor";
    case FailureClass::kNoMemory:
      return "no memory";
  }
  return "";
}

FailureClass ClassifyErrno(int error, Phase phase) {
  switch (error) {
    case EADDRNOTAVAIL:
    case EADDRINUSE:
      return FailureClass::kNoLocalPort;
    case EMFILE:
    case ENFILE:
      return FailureClass::kNoFileDescriptor;
    case ENOMEM:
    case ENOBUFS:
      return FailureClass::kNoMemory;
    case ECONNREFUSED:
      return FailureClass::kRefused;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT:
      return FailureClass::kUnreachable;
    default:
      break;
  }
  if (phase == Phase::kHandshake) return FailureClass::kTls;
  if (error == ECONNRESET || error == EPIPE) return FailureClass::kReset;
  return phase == Phase::kReceiving ? FailureClass::kClosedMidResponse
                                    : FailureClass::kClosedBeforeResponse;
}

}  // namespace probe

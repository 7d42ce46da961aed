#include "sim/call_faults.h"

#include <algorithm>

namespace sim {
namespace {

CallFate Refuse(int status, const char* code) {
  return {.kind = CallFate::Kind::kRefuse, .http_status = status, .code = code};
}

bool IsOciCall(ActKind kind) { return kind >= ActKind::kOciSlow && kind <= ActKind::kOciReadFails; }

// Lists, watches and events are calls of other threads than the passes'.
bool Sleeps(CallKind kind) {
  return kind != CallKind::kList && kind != CallKind::kWatch && kind != CallKind::kEvent;
}

}  // namespace

CallFaults::CallFaults(absl::Duration max_oci_latency, uint64_t seed)
    : max_oci_latency_(max_oci_latency), random_(seed) {}

bool CallFaults::Takes(ActKind kind) {
  return kind >= ActKind::kKubeFails && kind <= ActKind::kCrashAfterCall;
}

void CallFaults::Begin(const Act& act, absl::Time now) {
  Active active{act};
  if (act.length > absl::ZeroDuration()) {
    active.until = now + act.length;
    active.calls = 1 << 20;
  } else {
    active.calls = std::max(1, act.number);
  }
  active_.push_back(active);
}

bool CallFaults::Concerns(ActKind kind, CallKind call) {
  switch (kind) {
    case ActKind::kKubeFails:
      return !IsOci(call);
    case ActKind::kPodGetFails:
    case ActKind::kPodGetSlow:
      return call == CallKind::kGetPod;
    case ActKind::kEndpointsGetFails:
      return call == CallKind::kGetEndpoints;
    case ActKind::kListFails:
      return call == CallKind::kList;
    case ActKind::kOci409:
    case ActKind::kOci412:
    case ActKind::kLostReply:
      return IsOciWrite(call);
    case ActKind::kOciReadFails:
      return IsOci(call) && !IsOciWrite(call);
    case ActKind::kLedgerFails:
      return call == CallKind::kGetConfigMap || call == CallKind::kPutConfigMap;
    case ActKind::kLedgerConflict:
      return call == CallKind::kPutConfigMap;
    case ActKind::kNoAnswer:
    case ActKind::kCrashBeforeCall:
    case ActKind::kCrashAfterCall:
      return true;
    default:
      return IsOciCall(kind) && IsOci(call);
  }
}

// False: the call goes on as if nothing were wrong.
bool CallFaults::Apply(Active& active, const Call& call, CallFate& fate) {
  const absl::Duration latency = fate.latency;
  switch (active.act.kind) {
    case ActKind::kCrashBeforeCall:
    case ActKind::kCrashAfterCall:
      if (--active.calls > 0) return false;
      fate.kind = active.act.kind == ActKind::kCrashBeforeCall ? CallFate::Kind::kCrashBefore
                                                               : CallFate::Kind::kCrashAfter;
      return true;
    case ActKind::kPodGetSlow:
    case ActKind::kOciSlow:
      fate.latency = absl::Seconds(active.act.number) * random_.Fraction();
      --active.calls;
      return true;
    case ActKind::kNoAnswer:
      fate.kind = CallFate::Kind::kLoseReply;
      if (Sleeps(call.kind)) fate.latency = absl::Seconds(active.act.number);
      --active.calls;
      return true;
    case ActKind::kLostReply:
      fate.kind = CallFate::Kind::kLoseReply;
      break;
    case ActKind::kOci409:
      // Two kinds of 409 ask for two reactions.
      fate = Refuse(409, active.act.number % 2 == 0 ? "IncorrectState" : "Conflict");
      break;
    case ActKind::kOci412:
      fate = Refuse(412, "NoEtagMatch");
      break;
    case ActKind::kOci429:
      fate = Refuse(429, "TooManyRequests");
      fate.retry_after = absl::Seconds(active.act.number % 3);
      break;
    case ActKind::kOci500:
      fate = Refuse(500, "InternalServerError");
      break;
    case ActKind::kLedgerConflict:
      fate = Refuse(409, "Conflict");
      break;
    default:
      fate = Refuse(IsOci(call.kind) ? 503 : 500, "ServiceUnavailable");
      break;
  }
  fate.latency = latency;
  --active.calls;
  return true;
}

CallFaults::Fate CallFaults::OnCall(const Call& call, absl::Time now) {
  Fate out;
  const absl::Duration longest = IsOci(call.kind) ? max_oci_latency_ : max_oci_latency_ / 10;
  if (Sleeps(call.kind)) out.fate.latency = longest * random_.Fraction();
  std::erase_if(active_,
                [&](const Active& active) { return active.calls <= 0 || active.until <= now; });
  for (Active& active : active_) {
    if (!Concerns(active.act.kind, call.kind) || !Apply(active, call, out.fate)) continue;
    out.hit = true;
    out.by = active.act.kind;
    break;
  }
  return out;
}

}  // namespace sim

// What is remembered of an accepted write, and the work request it is shown as.
#ifndef OCI_BACKEND_DRAIN_SIM_WRITE_RECORD_H_
#define OCI_BACKEND_DRAIN_SIM_WRITE_RECORD_H_

#include <string>

#include "absl/time/time.h"
#include "sim/load_balancer_document.h"

namespace sim {

enum class WorkState { kAccepted, kInProgress, kSucceeded, kFailed };

// One accepted write, from acceptance on.
struct WriteRecord {
  std::string work_request_id;
  std::string load_balancer;
  std::string backend_set;  // empty for a write to something else
  std::string type;         // "UpdateBackendSet", "UpdateBackend", ...
  std::string client;
  std::string request_id;
  std::string if_match;  // empty if it was not guarded
  std::string body;
  absl::Time accepted;
  absl::Time finished = absl::InfiniteFuture();
  WorkState state = WorkState::kAccepted;
  std::string error_code;  // of a failed one: "BAD_INPUT", "INTERNAL_ERROR"
  std::string error_message;
  WriteEffect effect;  // what it changed when it was applied

  bool done() const { return state == WorkState::kSucceeded || state == WorkState::kFailed; }
};

// The record as GetWorkRequest shows it.
std::string WorkRequestJson(const WriteRecord& record);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_WRITE_RECORD_H_

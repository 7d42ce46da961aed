// Every reason of an Event and of a Pod condition that this project writes, for people:
// when it comes and what to do. Where reasons are written, reasons_test.cc of controller/
// compares.
#ifndef OCI_BACKEND_DRAIN_ANNOTATIONS_REASONS_H_
#define OCI_BACKEND_DRAIN_ANNOTATIONS_REASONS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace annotations {

struct EventDefinition {
  absl::string_view reason;
  bool warning = true;
  // The kinds of object that it is about: "Service", "workload" (a Deployment or a
  // StatefulSet), ...
  absl::string_view regarding;
  // Whether a Normal event whose reason is this one and "Ended" says that it is over.
  bool ends = false;
  // One sentence each: when it comes, and what to do about it.
  absl::string_view when;
  absl::string_view cure;
};

// In the order of the documentation.
absl::Span<const EventDefinition> EventTable();

// nullptr if there is no such reason.
const EventDefinition* FindEvent(absl::string_view reason);

struct ConditionReason {
  absl::string_view condition;
  absl::string_view reason;
  bool status = false;
  absl::string_view meaning;  // one sentence
};

absl::Span<const ConditionReason> ConditionReasonTable();

}  // namespace annotations

#endif  // OCI_BACKEND_DRAIN_ANNOTATIONS_REASONS_H_

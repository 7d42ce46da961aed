// The write itself. Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_BUILD_H_
#define OCI_BACKEND_DRAIN_DRAIN_BUILD_H_

#include "drain/draft.h"

namespace drain {

// UpdateBackend of the due flip whose process ends first. May go out on the ETag
// of the last read without reading again: the guard makes it safe. False: there
// is nothing to send.
bool BuildSingle(Draft& draft, SetDraft& set, WriteReason reason);

// UpdateBackendSet with every due flip and the membership that NIC wants. Asks
// for a fresh look and for that membership first; with the brake engaged it carries
// flips only. False: there is nothing to send.
bool BuildWhole(Draft& draft, SetDraft& set, WriteReason reason);

void TellBrake(Draft& draft, const SetDraft& set, int count);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_BUILD_H_

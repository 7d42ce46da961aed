// Which write goes out now, if any. Private to drain/.
#ifndef OCI_BACKEND_DRAIN_DRAIN_CHOOSE_H_
#define OCI_BACKEND_DRAIN_DRAIN_CHOOSE_H_

#include "drain/draft.h"

namespace drain {

// Sets plan.write, or the questions it needs first, or marks why each wanted flip
// waits and until when. Requires a read.
void ChooseWrite(Draft& draft);

}  // namespace drain

#endif  // OCI_BACKEND_DRAIN_DRAIN_CHOOSE_H_

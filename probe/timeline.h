// A run as a picture: requests each second, failures by class, and what happened to the
// Pods.
#ifndef OCI_BACKEND_DRAIN_PROBE_TIMELINE_H_
#define OCI_BACKEND_DRAIN_PROBE_TIMELINE_H_

#include <string>
#include <vector>

#include "probe/figures.h"
#include "probe/marks.h"

namespace probe {

// An SVG document of a fixed size. Every text in it is escaped. `title` is its heading.
std::string TimelineSvg(const std::string& title, const RunFigures& figures,
                        const std::vector<Mark>& marks);

}  // namespace probe

#endif  // OCI_BACKEND_DRAIN_PROBE_TIMELINE_H_

// Recorded bodies of a real API server, for tests.
#ifndef OCI_BACKEND_DRAIN_KUBE_RECORDED_H_
#define OCI_BACKEND_DRAIN_KUBE_RECORDED_H_

#include <string>
#include <vector>

namespace kube {

struct Recorded {
  std::string method;
  std::string path;          // with the query
  std::string accept;        // empty if the request gave none
  std::string content_type;  // of the request
  std::string request_body;  // JSON text; "null" if there was none
  int status = 0;
  std::string body;                // JSON text of the response
  std::vector<std::string> lines;  // of a watch: its events, one JSON text each
};

// From testdata/kube-1.36/<name>.json. CHECK-fails if it cannot be read.
Recorded ReadRecorded(const std::string& name);

// Names of all recorded files, without ".json".
std::vector<std::string> RecordedNames();

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_RECORDED_H_

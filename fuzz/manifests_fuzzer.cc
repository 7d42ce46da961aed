// Manifests of `oci-drain capacity -f`: objects with their bounds, or InvalidArgument.
#include <string>

#include "fuzz/fuzzer.h"
#include "kube/manifest_decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kube::Manifests manifests;
  const absl::Status status = kube::AddManifests(std::string(fuzz::TextOf(data, size)), manifests);
  if (!status.ok()) {
    fuzz::Require(status.code() == absl::StatusCode::kInvalidArgument,
                  "manifests are read or InvalidArgument");
    fuzz::Require(status.message().size() < 4096, "a message has a bound");
    return 0;
  }
  for (const kube::ManifestWorkload& read : manifests.workloads) {
    fuzz::Require(!read.workload.key.name.empty() && !read.workload.key.ns.empty() &&
                      read.workload.replicas >= 0,
                  "a workload has a name and as many Pods as can be");
  }
  for (const kube::HorizontalPodAutoscaler& autoscaler : manifests.autoscalers) {
    fuzz::Require(autoscaler.max_replicas >= 0, "an autoscaler's most is not negative");
  }
  return 0;
}

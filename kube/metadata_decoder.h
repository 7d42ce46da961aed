// Pages of metadata-only objects (Pods, ReplicaSets), read as a stream of tokens.
#ifndef OCI_BACKEND_DRAIN_KUBE_METADATA_DECODER_H_
#define OCI_BACKEND_DRAIN_KUBE_METADATA_DECODER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/decoder.h"

namespace kube {

// A cluster of 100,000 Pods lists as 190 MB, nearly all of it managedFields. A
// tree of that costs three times its size; this keeps the few fields of
// PodMetadata or ReplicaSetMetadata and no others. Resource is kPods or
// kReplicaSets.
absl::StatusOr<ListPage> DecodeMetadataPage(Resource resource, absl::string_view json);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_METADATA_DECODER_H_

// Pages of metadata-only objects (Pods, ReplicaSets), read as a stream of tokens.
#ifndef OCI_BACKEND_DRAIN_KUBE_METADATA_DECODER_H_
#define OCI_BACKEND_DRAIN_KUBE_METADATA_DECODER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/decoder.h"

namespace kube {

// A cluster of 100,000 Pods lists as 190 MB, nearly all of it managedFields. A
// tree of that costs three times its size; this keeps the few fields of
// PodMetadata or ReplicaSetMetadata and no others. Resource is kPods or
// kReplicaSets.
absl::StatusOr<ListPage> DecodeMetadataPage(Resource resource, absl::string_view json);

// The token of the page that follows, from the beginning of a page of any resource:
// before its objects are read, the next ones can be asked for. Empty if it is the last,
// or does not begin with its metadata as API servers write it; whether it is a page is
// not looked at.
std::string ContinueTokenAhead(absl::string_view json);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_METADATA_DECODER_H_

// Values of types.h -> JSON bodies of the Kubernetes API.
#ifndef OCI_BACKEND_DRAIN_KUBE_ENCODER_H_
#define OCI_BACKEND_DRAIN_KUBE_ENCODER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/types.h"

namespace kube {

// Who says so in an Event and in the label app.kubernetes.io/managed-by.
struct Reporter {
  std::string controller = "oci-backend-drain";
  std::string instance = "oci-backend-drain";  // the Pod's name
};

std::string EncodeConfigMap(const ConfigMap& config_map, const Reporter& reporter);

// Over the lease's document: fields that this project does not know stay as they are.
// Without what is not given.
std::string EncodeLease(const Lease& lease, const Reporter& reporter);

// events.k8s.io/v1. What the API would refuse is made to fit: the note is clipped
// to 1,024 bytes between two characters, reason, action and instance to 128, an
// action that is empty becomes the reason.
std::string EncodeEvent(const Event& event, const Reporter& reporter);

// An apply configuration that names the Pod by its UID too.
std::string EncodePodCondition(const PodCondition& condition);

// Who owns a condition of that type, so that applying one does not take another
// away: "oci-drain/load-balancer-ready".
std::string FieldManagerOf(absl::string_view condition_type);

// Merge patches. The server refuses the second for a Pod of another UID.
std::string EncodeEventSeries(int count, absl::Time last_observed);
std::string EncodeLabelRemoval(const std::string& uid, absl::string_view label);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_ENCODER_H_

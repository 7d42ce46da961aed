// One JSON object, already parsed -> its value. For decoder.cc.
#ifndef OCI_BACKEND_DRAIN_KUBE_OBJECT_DECODER_H_
#define OCI_BACKEND_DRAIN_KUBE_OBJECT_DECODER_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "kube/kube_api.h"
#include "kube/types.h"

namespace kube {

// What can be read of an object's identity, even if the rest is bad.
struct Identity {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
};
Identity IdentityOf(const rapidjson::Value& object);

// InvalidArgument names the path of the first bad field.
absl::StatusOr<Object> DecodeObject(Resource resource, const rapidjson::Value& object);
absl::StatusOr<HorizontalPodAutoscaler> DecodeAutoscaler(const rapidjson::Value& object);
absl::StatusOr<DisruptionBudget> DecodeDisruptionBudget(const rapidjson::Value& object);
absl::StatusOr<PodDetails> DecodePodDetails(const rapidjson::Value& object);
absl::StatusOr<Endpoints> DecodeEndpointsObject(const rapidjson::Value& object);
absl::StatusOr<ConfigMap> DecodeConfigMapObject(const rapidjson::Value& object);
absl::StatusOr<Lease> DecodeLeaseObject(const rapidjson::Value& object);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_OBJECT_DECODER_H_

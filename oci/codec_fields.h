// Reads the members of one JSON object and remembers the first that is wrong, so
// that a decoder reads like the list of its fields. Private to the codec.
#ifndef OCI_BACKEND_DRAIN_OCI_CODEC_FIELDS_H_
#define OCI_BACKEND_DRAIN_OCI_CODEC_FIELDS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"

namespace oci {

class Fields {
 public:
  // `object` must outlive this; `path` begins every error: "load balancer.backendSets.x".
  // Not being an object is the first thing wrong.
  Fields(const rapidjson::Value& object, std::string path);

  // Mandatory members; missing is InvalidArgument "<path>.<name>: missing".
  std::string Text(absl::string_view name);
  bool Flag(absl::string_view name);
  int Number(absl::string_view name, int low, int high);
  const rapidjson::Value& Array(absl::string_view name);
  const rapidjson::Value& Object(absl::string_view name);

  // Optional ones; null counts as missing.
  std::string OptionalText(absl::string_view name);
  std::optional<int> OptionalNumber(absl::string_view name, int low, int high);
  std::optional<absl::Time> OptionalTime(absl::string_view name);
  // An empty array or object if missing.
  const rapidjson::Value& OptionalArray(absl::string_view name);
  const rapidjson::Value& OptionalObject(absl::string_view name);
  bool Has(absl::string_view name) const;

  // "<path>.<name>", for what is inside that member.
  std::string PathOf(absl::string_view name) const;

  const absl::Status& status() const { return status_; }
  // Keeps `status` unless something was wrong before.
  void Add(const absl::Status& status);

 private:
  const rapidjson::Value* Find(absl::string_view name, bool mandatory);
  void Wrong(absl::string_view name, absl::string_view why);
  template <typename T>
  T Take(absl::StatusOr<T> value);

  const rapidjson::Value& object_;
  const std::string path_;
  absl::Status status_;
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_CODEC_FIELDS_H_

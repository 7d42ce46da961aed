// Single values of the snapshot format: names, times, durations, numbers.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_VALUES_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_VALUES_H_

#include <concepts>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "base/strong_string.h"
#include "drain/backend_map.h"
#include "drain/input.h"
#include "drain/memory.h"
#include "kube/types.h"
#include "oci/types.h"

namespace controller {

// What relative times and defaults refer to.
struct SnapshotContext {
  absl::Time now;
  oci::Ocid load_balancer;
};

struct SnapshotWriter {
  SnapshotContext context;
  rapidjson::Document::AllocatorType& allocator;
};

// "sets[0].ip: expected a list, got string".
absl::Status WrongSnapshotType(absl::string_view path, absl::string_view expected,
                               const rapidjson::Value& got);
absl::Status SnapshotError(absl::string_view path, absl::string_view what);
std::string MemberPath(absl::string_view path, absl::string_view name);

// InvalidArgument if `object` has a member that is not in `names`, or one twice.
absl::Status CheckMembers(const rapidjson::Value& object, absl::string_view path,
                          const std::vector<absl::string_view>& names);

// Text values, in JSON as strings and as members' names.
//   BackendKey                         "bs_x/10.0.0.1:8080"
//   ObjectKey                          "shop/web"
//   {BackendSetName, WorkRequestId}    "bs_x/ocid1.workrequest.x"
//   enums                              "not_found", "BEHIND_FOREIGN" as in the tables
std::string TextOf(const std::string& value);
std::string TextOf(const kube::ObjectKey& value);
std::string TextOf(const drain::BackendKey& value);
std::string TextOf(const std::pair<oci::BackendSetName, oci::WorkRequestId>& value);
std::string TextOf(drain::WriteMode value);
std::string TextOf(drain::LookupState value);
std::string TextOf(drain::WriteReason value);
std::string TextOf(oci::WorkRequestState value);
std::string TextOf(oci::HealthStatus value);
template <typename Tag>
std::string TextOf(const base::StrongString<Tag>& value) {
  return value.value();
}

absl::Status ParseText(absl::string_view text, std::string& out);
absl::Status ParseText(absl::string_view text, kube::ObjectKey& out);
absl::Status ParseText(absl::string_view text, drain::BackendKey& out);
absl::Status ParseText(absl::string_view text,
                       std::pair<oci::BackendSetName, oci::WorkRequestId>& out);
absl::Status ParseText(absl::string_view text, drain::WriteMode& out);
absl::Status ParseText(absl::string_view text, drain::LookupState& out);
absl::Status ParseText(absl::string_view text, drain::WriteReason& out);
absl::Status ParseText(absl::string_view text, oci::WorkRequestState& out);
absl::Status ParseText(absl::string_view text, oci::HealthStatus& out);
template <typename Tag>
absl::Status ParseText(absl::string_view text, base::StrongString<Tag>& out) {
  out = base::StrongString<Tag>(std::string(text));
  return absl::OkStatus();
}

template <typename T>
concept TextValue = requires(const T& value, T& out) {
  { TextOf(value) } -> std::same_as<std::string>;
  { ParseText(absl::string_view(), out) } -> std::same_as<absl::Status>;
};

rapidjson::Value WriteString(absl::string_view text, SnapshotWriter& writer);

template <TextValue T>
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext&, T& out) {
  if (!value.IsString()) return WrongSnapshotType(path, "a string", value);
  const absl::Status status = ParseText(base::StringOf(value), out);
  return status.ok() ? status : SnapshotError(path, status.message());
}

template <TextValue T>
rapidjson::Value WriteValue(const T& value, SnapshotWriter& writer) {
  return WriteString(TextOf(value), writer);
}

absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, bool& out);
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, int& out);
rapidjson::Value WriteValue(bool value, SnapshotWriter& writer);
rapidjson::Value WriteValue(int value, SnapshotWriter& writer);

// "30s", "1h5m", "inf".
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, absl::Duration& out);
rapidjson::Value WriteValue(absl::Duration value, SnapshotWriter& writer);

// Seconds from now ("+45s", "-1m3s"), RFC 3339, "infinite-past" or "infinite-future".
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, absl::Time& out);
rapidjson::Value WriteValue(absl::Time value, SnapshotWriter& writer);

template <TextValue K>
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, std::set<K>& out) {
  if (!value.IsArray()) return WrongSnapshotType(path, "a list", value);
  out.clear();
  for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
    K key;
    const std::string at = absl::StrCat(path, "[", i, "]");
    const absl::Status status = ReadValue(value[i], at, context, key);
    if (!status.ok()) return status;
    if (!out.insert(key).second) return SnapshotError(at, "given twice");
  }
  return absl::OkStatus();
}

template <TextValue K, typename V>
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, std::map<K, V>& out) {
  if (!value.IsObject()) return WrongSnapshotType(path, "an object", value);
  out.clear();
  for (const auto& member : value.GetObject()) {
    const std::string at = MemberPath(path, base::StringOf(member.name));
    K key;
    absl::Status status = ParseText(base::StringOf(member.name), key);
    if (!status.ok()) return SnapshotError(at, status.message());
    const auto [entry, added] = out.try_emplace(key);
    if (!added) return SnapshotError(at, "given twice");
    status = ReadValue(member.value, at, context, entry->second);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

template <typename V>
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, drain::BackendMap<V>& out) {
  std::map<drain::BackendKey, V> read;
  const absl::Status status = ReadValue(value, path, context, read);
  out = {};
  for (const auto& [key, element] : read) out.Put(key, element);
  return status;
}

template <typename Elements>
rapidjson::Value WriteList(const Elements& elements, SnapshotWriter& writer) {
  rapidjson::Value list(rapidjson::kArrayType);
  for (const auto& element : elements) {
    list.PushBack(WriteValue(element, writer), writer.allocator);
  }
  return list;
}

template <TextValue K>
rapidjson::Value WriteValue(const std::set<K>& value, SnapshotWriter& writer) {
  return WriteList(value, writer);
}

template <typename T>
rapidjson::Value WriteValue(const std::vector<T>& value, SnapshotWriter& writer) {
  return WriteList(value, writer);
}

template <TextValue K, typename V>
rapidjson::Value WriteValue(const std::map<K, V>& value, SnapshotWriter& writer) {
  rapidjson::Value object(rapidjson::kObjectType);
  for (const auto& [key, element] : value) {
    object.AddMember(WriteString(TextOf(key), writer), WriteValue(element, writer),
                     writer.allocator);
  }
  return object;
}

// In the order of the keys.
template <typename V>
rapidjson::Value WriteValue(const drain::BackendMap<V>& value, SnapshotWriter& writer) {
  std::map<drain::BackendKey, V> sorted;
  for (const oci::BackendSetName& set : value.Sets()) {
    for (const auto& [backend, element] : *value.Of(set)) {
      sorted.try_emplace({set, oci::BackendName(backend)}, element);
    }
  }
  return WriteValue(sorted, writer);
}

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_VALUES_H_

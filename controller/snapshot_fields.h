// The machinery of the snapshot format: one description of a struct's fields
// serves reading and writing, so that neither can forget one.
//
//   template <typename Visitor>
//   void Describe(Visitor& visitor, Fields<drain::Member>) {
//     using T = drain::Member;
//     visitor.Field("ip", &T::ip);
//     visitor.Field("port", &T::port);
//     visitor.Derive([](T& t) { t.backend = oci::MakeBackendName(t.ip, t.port); });
//     visitor.Field("backend", &T::backend);
//   }
//
// A field is written only where it differs from its default: what Fresh() and the
// Derive()s before it give. Members that no field describes are refused.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_FIELDS_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_FIELDS_H_

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/shared.h"
#include "controller/snapshot_values.h"

namespace controller {

// A T as it is where nothing is said about it. Specialised where a snapshot's
// default is not the struct's.
template <typename T>
struct Fresh {
  static T Make(const SnapshotContext&) { return T(); }
};

// Says whose fields Describe() is to visit; its overloads are in snapshot_types.h.
template <typename T>
struct Fields {};

template <typename T>
class FieldReader {
 public:
  FieldReader(const rapidjson::Value& object, std::string path, const SnapshotContext& context,
              T& out)
      : object_(object), path_(std::move(path)), context_(context), out_(out) {}

  // All of `object` into `out`, which holds the defaults.
  absl::Status Read() {
    if (!object_.IsObject()) return WrongSnapshotType(path_, "an object", object_);
    Describe(*this, Fields<T>());
    if (!status_.ok()) return status_;
    return CheckMembers(object_, path_, names_);
  }

  template <typename F>
  void Field(const char* name, F T::*field) {
    names_.push_back(name);
    if (!status_.ok()) return;
    const rapidjson::Value* member = base::FindMember(object_, name);
    if (member == nullptr) return;
    status_ = ReadValue(*member, MemberPath(path_, name), context_, out_.*field);
  }

  template <typename Function>
  void Derive(const Function& function) {
    if (status_.ok()) function(out_);
  }

 private:
  const rapidjson::Value& object_;
  const std::string path_;
  const SnapshotContext& context_;
  T& out_;
  std::vector<absl::string_view> names_;
  absl::Status status_;
};

template <typename T>
class FieldWriter {
 public:
  // Writes `value` where it differs from `fresh`.
  FieldWriter(const T& value, T fresh, SnapshotWriter& writer)
      : value_(value), fresh_(std::move(fresh)), writer_(writer) {}

  rapidjson::Value Write() {
    object_.SetObject();
    Describe(*this, Fields<T>());
    return std::move(object_);
  }

  template <typename F>
  void Field(const char* name, F T::*field) {
    rapidjson::Value member = WriteValue(value_.*field, writer_);
    if (member != WriteValue(fresh_.*field, writer_)) {
      object_.AddMember(rapidjson::StringRef(name), member, writer_.allocator);
    }
    fresh_.*field = value_.*field;
  }

  template <typename Function>
  void Derive(const Function& function) {
    function(fresh_);
  }

 private:
  const T& value_;
  T fresh_;
  SnapshotWriter& writer_;
  rapidjson::Value object_;
};

// Structs that are described.
template <typename T>
absl::Status ReadStruct(const rapidjson::Value& value, const std::string& path,
                        const SnapshotContext& context, T& out) {
  return FieldReader<T>(value, path, context, out).Read();
}

template <typename T>
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, T& out) {
  out = Fresh<T>::Make(context);
  return ReadStruct(value, path, context, out);
}

template <typename T>
rapidjson::Value WriteValue(const T& value, SnapshotWriter& writer) {
  return FieldWriter<T>(value, Fresh<T>::Make(writer.context), writer).Write();
}

template <typename T>
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, std::optional<T>& out) {
  return ReadValue(value, path, context, out.emplace());
}

template <typename T>
rapidjson::Value WriteValue(const std::optional<T>& value, SnapshotWriter& writer) {
  return value.has_value() ? WriteValue(*value, writer) : rapidjson::Value();
}

template <typename T>
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, base::Shared<T>& out) {
  T read;
  absl::Status status = ReadValue(value, path, context, read);
  out = std::move(read);
  return status;
}

template <typename T>
rapidjson::Value WriteValue(const base::Shared<T>& value, SnapshotWriter& writer) {
  return WriteValue(*value, writer);
}

template <typename T>
absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, std::vector<T>& out) {
  if (!value.IsArray()) return WrongSnapshotType(path, "a list", value);
  out.clear();
  out.reserve(value.Size());
  for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
    const absl::Status status =
        ReadValue(value[i], absl::StrCat(path, "[", i, "]"), context, out.emplace_back());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_SNAPSHOT_FIELDS_H_

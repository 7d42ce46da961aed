// Reading one JSON object field by field, with the path of the first error.
#ifndef OCI_BACKEND_DRAIN_KUBE_JSON_FIELDS_H_
#define OCI_BACKEND_DRAIN_KUBE_JSON_FIELDS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"

namespace kube {

// A position in a document. The first error sticks in the status that all
// positions of one document share; reads after it answer defaults, so a decoder
// is a straight list of fields with one check at its end:
//
//   absl::Status error;
//   const Fields root(document, error);
//   const Fields spec = root.Object("spec");
//   const int64_t replicas = spec.Int("replicas", {0, 1000000}, 1);
//   spec.ForEach("ports", [&](const Fields& port) { ... port.String("name") ... });
//   if (!error.ok()) return error;   // "spec.ports[2].name: expected a string, got number"
//
// The document and the status must outlive all positions; a position must not
// outlive the one it came from.
class Fields {
 public:
  struct Range {
    int64_t low;
    int64_t high;
  };

  Fields(const rapidjson::Value& value, absl::Status& error) : value_(&value), error_(error) {}
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  // A missing or null member is a position without members.
  Fields Object(absl::string_view name) const;
  std::string String(absl::string_view name) const;
  std::string RequiredString(absl::string_view name) const;
  bool Bool(absl::string_view name, bool missing) const;
  int64_t Int(absl::string_view name, Range range, int64_t missing) const;
  // RFC 3339; missing gives absl::InfiniteFuture().
  absl::Time Time(absl::string_view name) const;

  // Calls visit(const Fields&) for each element of an array; missing or null: none.
  template <typename Visitor>
  void ForEach(absl::string_view name, Visitor visit) const {
    const rapidjson::Value* array = Array(name);
    if (array == nullptr) return;
    const Fields parent(this, name, array);
    for (rapidjson::SizeType i = 0; i < array->Size() && error_.ok(); ++i) {
      const Fields element(&parent, static_cast<int>(i), &(*array)[i]);
      if (element.IsObjectOrError()) visit(element);
    }
  }

  // Calls visit(std::string) for each element of an array of strings.
  template <typename Visitor>
  void ForEachString(absl::string_view name, Visitor visit) const {
    const rapidjson::Value* array = Array(name);
    if (array == nullptr) return;
    const Fields parent(this, name, array);
    for (rapidjson::SizeType i = 0; i < array->Size() && error_.ok(); ++i) {
      const Fields element(&parent, static_cast<int>(i), &(*array)[i]);
      if (element.IsStringOrError()) visit(std::string(base::StringOf((*array)[i])));
    }
  }

  // Calls visit(name, value) for each member of an object of strings for whose
  // name wanted(name) is true.
  template <typename Wanted, typename Visitor>
  void ForEachMember(absl::string_view name, Wanted wanted, Visitor visit) const {
    const Fields object = Object(name);
    if (object.value_ == nullptr) return;
    for (const auto& member : object.value_->GetObject()) {
      const absl::string_view key = base::StringOf(member.name);
      if (!wanted(key)) continue;
      const Fields element(&object, key, &member.value);
      if (!element.IsStringOrError()) return;
      visit(std::string(key), std::string(base::StringOf(member.value)));
    }
  }

  // The member as it is; nullptr if missing or null.
  const rapidjson::Value* Raw(absl::string_view name) const;
  // Fails the document: "<path>.<name>: <what>".
  void Fail(absl::string_view name, absl::string_view what) const;

 private:
  Fields(const Fields* parent, absl::string_view name, const rapidjson::Value* value)
      : parent_(parent), name_(name), value_(value), error_(parent->error_) {}
  Fields(const Fields* parent, int index, const rapidjson::Value* value)
      : parent_(parent), index_(index), value_(value), error_(parent->error_) {}

  const rapidjson::Value* Array(absl::string_view name) const;
  bool IsObjectOrError() const;
  bool IsStringOrError() const;
  std::string Path() const;

  const Fields* parent_ = nullptr;
  absl::string_view name_;
  int index_ = -1;
  const rapidjson::Value* value_;  // nullptr: missing
  absl::Status& error_;
};

// "a string", "a number", ...: for messages.
absl::string_view JsonTypeName(const rapidjson::Value& value);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_JSON_FIELDS_H_

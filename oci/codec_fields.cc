#include "oci/codec_fields.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

namespace oci {
namespace {

const rapidjson::Value& EmptyArray() {
  static const auto* const value = new rapidjson::Value(rapidjson::kArrayType);
  return *value;
}

const rapidjson::Value& EmptyObject() {
  static const auto* const value = new rapidjson::Value(rapidjson::kObjectType);
  return *value;
}

}  // namespace

Fields::Fields(const rapidjson::Value& object, std::string path)
    : object_(object), path_(std::move(path)) {
  if (!object.IsObject()) {
    status_ = absl::InvalidArgumentError(absl::StrCat(path_, ": expected an object"));
  }
}

std::string Fields::PathOf(absl::string_view name) const { return absl::StrCat(path_, ".", name); }

void Fields::Add(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

void Fields::Wrong(absl::string_view name, absl::string_view why) {
  Add(absl::InvalidArgumentError(absl::StrCat(path_, ".", name, ": ", why)));
}

const rapidjson::Value* Fields::Find(absl::string_view name, bool mandatory) {
  const rapidjson::Value* value = base::FindMember(object_, name);
  if (value == nullptr && mandatory) Wrong(name, "missing");
  return value;
}

bool Fields::Has(absl::string_view name) const {
  return base::FindMember(object_, name) != nullptr;
}

// The messages of base/json.h begin with the member's name.
template <typename T>
T Fields::Take(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  Add(absl::InvalidArgumentError(absl::StrCat(path_, ".", value.status().message())));
  return T();
}

std::string Fields::Text(absl::string_view name) {
  Find(name, /*mandatory=*/true);
  return OptionalText(name);
}

std::string Fields::OptionalText(absl::string_view name) {
  return Take(base::ReadString(object_, name));
}

bool Fields::Flag(absl::string_view name) {
  Find(name, /*mandatory=*/true);
  return Take(base::ReadBool(object_, name));
}

int Fields::Number(absl::string_view name, int low, int high) {
  Find(name, /*mandatory=*/true);
  return OptionalNumber(name, low, high).value_or(low);
}

std::optional<int> Fields::OptionalNumber(absl::string_view name, int low, int high) {
  if (!Has(name)) return std::nullopt;
  const int64_t number = Take(base::ReadInt(object_, name));
  if (!status_.ok()) return std::nullopt;
  if (number < low || number > high) {
    Wrong(name, absl::StrCat(number, " is not from ", low, " to ", high));
    return std::nullopt;
  }
  return static_cast<int>(number);
}

std::optional<absl::Time> Fields::OptionalTime(absl::string_view name) {
  if (!Has(name)) return std::nullopt;
  return Take(base::ReadTime(object_, name));
}

const rapidjson::Value& Fields::Array(absl::string_view name) {
  Find(name, /*mandatory=*/true);
  return OptionalArray(name);
}

const rapidjson::Value& Fields::Object(absl::string_view name) {
  Find(name, /*mandatory=*/true);
  return OptionalObject(name);
}

const rapidjson::Value& Fields::OptionalArray(absl::string_view name) {
  const rapidjson::Value* value = Find(name, /*mandatory=*/false);
  if (value == nullptr) return EmptyArray();
  if (value->IsArray()) return *value;
  Wrong(name, "expected an array");
  return EmptyArray();
}

const rapidjson::Value& Fields::OptionalObject(absl::string_view name) {
  const rapidjson::Value* value = Find(name, /*mandatory=*/false);
  if (value == nullptr) return EmptyObject();
  if (value->IsObject()) return *value;
  Wrong(name, "expected an object");
  return EmptyObject();
}

}  // namespace oci

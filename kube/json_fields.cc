#include "kube/json_fields.h"

#include "absl/strings/str_cat.h"

namespace kube {

absl::string_view JsonTypeName(const rapidjson::Value& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return "null";
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
      return "a boolean";
    case rapidjson::kObjectType:
      return "an object";
    case rapidjson::kArrayType:
      return "an array";
    case rapidjson::kStringType:
      return "a string";
    case rapidjson::kNumberType:
      return "a number";
  }
  return "unknown";
}

std::string Fields::Path() const {
  if (parent_ == nullptr) return "";
  std::string path = parent_->Path();
  if (index_ >= 0) {
    absl::StrAppend(&path, "[", index_, "]");
  } else {
    absl::StrAppend(&path, path.empty() ? "" : ".", name_);
  }
  return path;
}

void Fields::Fail(absl::string_view name, absl::string_view what) const {
  if (!error_.ok()) return;
  const std::string path = Path();
  const char* const dot = path.empty() || name.empty() ? "" : ".";
  error_ = absl::InvalidArgumentError(absl::StrCat(path, dot, name, ": ", what));
}

const rapidjson::Value* Fields::Raw(absl::string_view name) const {
  if (value_ == nullptr || !error_.ok()) return nullptr;
  return base::FindMember(*value_, name);
}

Fields Fields::Object(absl::string_view name) const {
  const rapidjson::Value* member = Raw(name);
  if (member != nullptr && !member->IsObject()) {
    Fail(name, absl::StrCat("expected an object, got ", JsonTypeName(*member)));
    member = nullptr;
  }
  return Fields(this, name, member);
}

const rapidjson::Value* Fields::Array(absl::string_view name) const {
  const rapidjson::Value* member = Raw(name);
  if (member == nullptr || member->IsArray()) return member;
  Fail(name, absl::StrCat("expected an array, got ", JsonTypeName(*member)));
  return nullptr;
}

bool Fields::IsObjectOrError() const {
  if (value_->IsObject()) return true;
  Fail("", absl::StrCat("expected an object, got ", JsonTypeName(*value_)));
  return false;
}

bool Fields::IsStringOrError() const {
  if (value_->IsString()) return true;
  Fail("", absl::StrCat("expected a string, got ", JsonTypeName(*value_)));
  return false;
}

std::string Fields::String(absl::string_view name) const {
  const rapidjson::Value* member = Raw(name);
  if (member == nullptr) return "";
  if (!member->IsString()) {
    Fail(name, absl::StrCat("expected a string, got ", JsonTypeName(*member)));
    return "";
  }
  return std::string(base::StringOf(*member));
}

std::string Fields::RequiredString(absl::string_view name) const {
  std::string text = String(name);
  if (text.empty()) Fail(name, "missing");
  return text;
}

bool Fields::Bool(absl::string_view name, bool missing) const {
  const rapidjson::Value* member = Raw(name);
  if (member == nullptr) return missing;
  if (!member->IsBool()) {
    Fail(name, absl::StrCat("expected a boolean, got ", JsonTypeName(*member)));
    return missing;
  }
  return member->GetBool();
}

int64_t Fields::Int(absl::string_view name, Range range, int64_t missing) const {
  const rapidjson::Value* member = Raw(name);
  if (member == nullptr) return missing;
  if (!member->IsInt64()) {
    Fail(name, absl::StrCat("expected an integer, got ",
                            member->IsNumber() ? "another number" : JsonTypeName(*member)));
    return missing;
  }
  const int64_t value = member->GetInt64();
  if (value < range.low || value > range.high) {
    Fail(name, absl::StrCat(value, " is not between ", range.low, " and ", range.high));
    return missing;
  }
  return value;
}

absl::Time Fields::Time(absl::string_view name) const {
  if (value_ == nullptr || !error_.ok()) return absl::InfiniteFuture();
  const absl::StatusOr<absl::Time> time = base::ReadTime(*value_, name);
  if (time.ok()) return *time;
  Fail(name, "not an RFC 3339 time");
  return absl::InfiniteFuture();
}

}  // namespace kube

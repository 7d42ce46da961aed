#include "base/json.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "rapidjson/error/en.h"
#include "rapidjson/reader.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

namespace base {
namespace {

absl::string_view TypeName(const rapidjson::Value& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return "null";
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
      return "boolean";
    case rapidjson::kObjectType:
      return "object";
    case rapidjson::kArrayType:
      return "array";
    case rapidjson::kStringType:
      return "string";
    case rapidjson::kNumberType:
      return "number";
  }
  return "unknown";
}

absl::Status WrongType(absl::string_view name, absl::string_view expected,
                       const rapidjson::Value& got) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": expected ", expected, ", got ", TypeName(got)));
}

// Measured before parsing, outside strings: RapidJSON's destructor and every
// walk over the document recurse once per level.
int NestingOf(absl::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

absl::StatusOr<rapidjson::Document> ParseJson(absl::string_view text, absl::string_view what) {
  if (NestingOf(text) > kMaxJsonDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": JSON is nested deeper than ", kMaxJsonDepth, " levels"));
  }
  rapidjson::Document document;
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
      // The quick way may be off in the last digit; documents are written back.
      rapidjson::kParseFullPrecisionFlag;
  document.Parse<kFlags>(text.data(), text.size());
  if (document.HasParseError()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": JSON error at byte ", document.GetErrorOffset(), " of ", text.size(),
                     ": ", rapidjson::GetParseError_En(document.GetParseError())));
  }
  return document;
}

const rapidjson::Value* FindMember(const rapidjson::Value& object, absl::string_view name) {
  if (!object.IsObject()) return nullptr;
  const rapidjson::Value key(rapidjson::StringRef(name.data(), name.size()));
  const auto member = object.FindMember(key);
  if (member == object.MemberEnd() || member->value.IsNull()) return nullptr;
  return &member->value;
}

const rapidjson::Value* FindPath(const rapidjson::Value& object,
                                 std::initializer_list<absl::string_view> names) {
  const rapidjson::Value* value = &object;
  for (const absl::string_view name : names) {
    value = FindMember(*value, name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

absl::StatusOr<std::string> ReadString(const rapidjson::Value& object, absl::string_view name,
                                       absl::string_view missing) {
  const rapidjson::Value* value = FindMember(object, name);
  if (value == nullptr) return std::string(missing);
  if (!value->IsString()) return WrongType(name, "a string", *value);
  return std::string(StringOf(*value));
}

absl::StatusOr<bool> ReadBool(const rapidjson::Value& object, absl::string_view name,
                              bool missing) {
  const rapidjson::Value* value = FindMember(object, name);
  if (value == nullptr) return missing;
  if (!value->IsBool()) return WrongType(name, "a boolean", *value);
  return value->GetBool();
}

absl::StatusOr<int64_t> ReadInt(const rapidjson::Value& object, absl::string_view name,
                                int64_t missing) {
  const rapidjson::Value* value = FindMember(object, name);
  if (value == nullptr) return missing;
  if (!value->IsInt64()) return WrongType(name, "an integer", *value);
  return value->GetInt64();
}

absl::StatusOr<absl::Time> ReadTime(const rapidjson::Value& object, absl::string_view name) {
  const rapidjson::Value* value = FindMember(object, name);
  if (value == nullptr) return absl::InfiniteFuture();
  if (!value->IsString()) return WrongType(name, "a time", *value);
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, StringOf(*value), &time, &error)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": not an RFC 3339 time: ", error));
  }
  return time;
}

std::string FormatTime(absl::Time time) {
  // absl writes an infinite time as its name alone, and the Z after it.
  if (time == absl::InfiniteFuture()) return "infinite-future";
  if (time == absl::InfinitePast()) return "infinite-past";
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

absl::StatusOr<std::string> RequireString(const rapidjson::Value& object, absl::string_view name) {
  if (FindMember(object, name) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": missing"));
  }
  return ReadString(object, name);
}

absl::string_view StringOf(const rapidjson::Value& value) {
  if (!value.IsString()) return {};
  return {value.GetString(), value.GetStringLength()};
}

std::string WriteJson(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return std::string(buffer.GetString(), buffer.GetSize());
}

std::string QuoteJson(absl::string_view text) {
  return WriteJson(rapidjson::Value(rapidjson::StringRef(text.data(), text.size())));
}

bool SameJson(const rapidjson::Value& a, const rapidjson::Value& b) { return a == b; }

}  // namespace base

#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/charconv.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rapidjson/encodedstream.h"
#include "rapidjson/error/en.h"
#include "rapidjson/memorystream.h"
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

// Hands what the reader finds to the document, and ends the reading where a document
// would be deeper than its later walks can bear (each recurses once per level) or
// would hold a number or a text that cannot be written again.
//
// The reader takes "\udc49" alone, half of a character, and makes bytes of it that no
// reader of UTF-8 takes; of the other half, "\ud83d" alone, it says that it is wrong.
//
// Numbers come as text, because RapidJSON's own conversion is wrong at the edges:
// 0e60 becomes 1.6e60, and 1e-324 and 1.7976931348623159e308 become values that its
// writer refuses, which cuts the document there.
class DocumentBuilder {
 public:
  // `halves`: the text has escapes that may be halves of characters.
  DocumentBuilder(rapidjson::Document& document, bool halves)
      : document_(document), halves_(halves) {}

  // Why the reading was ended here; empty if it was not.
  const std::string& objection() const { return objection_; }

  bool Null() { return document_.Null(); }
  bool Bool(bool value) { return document_.Bool(value); }
  bool String(const char* text, rapidjson::SizeType size, bool copy) {
    return IsWhole({text, size}) && document_.String(text, size, copy);
  }
  bool Key(const char* text, rapidjson::SizeType size, bool copy) {
    return IsWhole({text, size}) && document_.Key(text, size, copy);
  }
  bool StartObject() { return Enter() && document_.StartObject(); }
  bool EndObject(rapidjson::SizeType members) {
    --depth_;
    return document_.EndObject(members);
  }
  bool StartArray() { return Enter() && document_.StartArray(); }
  bool EndArray(rapidjson::SizeType elements) {
    --depth_;
    return document_.EndArray(elements);
  }

  bool RawNumber(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    const absl::string_view number(text, size);
    // What does not fit is a double, as every reader of JSON takes it.
    if (absl::StartsWith(number, "-")) {
      if (int64_t value; ReadWhole(number, value)) return document_.Int64(value);
    } else if (uint64_t value; ReadWhole(number, value)) {
      return document_.Uint64(value);
    }
    double value = 0;
    const absl::from_chars_result read = absl::from_chars(text, text + size, value);
    // Out of range is what is nearest to 0, too.
    if (read.ec == std::errc() || std::abs(value) < 1) return document_.Double(value);
    objection_ = absl::StrCat("Number too big to be stored in double: ", number.substr(0, 40));
    return false;
  }

  // Never called: the reader is told to give numbers as text. It wants them there.
  bool Int(int value) { return document_.Int(value); }
  bool Uint(unsigned value) { return document_.Uint(value); }
  bool Int64(int64_t value) { return document_.Int64(value); }
  bool Uint64(uint64_t value) { return document_.Uint64(value); }
  bool Double(double value) { return document_.Double(value); }

 private:
  template <typename Number>
  static bool ReadWhole(absl::string_view text, Number& value) {
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stopped == end;
  }

  // Whether there is no half of a character among the text's: 0xED, then 0xA0 or more.
  bool IsWhole(absl::string_view text) {
    if (!halves_) return true;
    for (size_t at = text.find('\xed'); at != text.npos; at = text.find('\xed', at + 1)) {
      if (at + 1 == text.size() || static_cast<unsigned char>(text[at + 1]) < 0xa0) continue;
      objection_ = "a text has the second half of a surrogate pair without the first";
      return false;
    }
    return true;
  }

  bool Enter() {
    if (++depth_ <= kMaxJsonDepth) return true;
    objection_ = absl::StrCat("JSON is nested deeper than ", kMaxJsonDepth, " levels");
    return false;
  }

  rapidjson::Document& document_;
  const bool halves_;
  int depth_ = 0;
  std::string objection_;
};

// ASCII is valid UTF-8, and RapidJSON's own check costs as much as the parsing.
bool IsAscii(absl::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

}  // namespace

absl::StatusOr<rapidjson::Document> ParseJson(absl::string_view text, absl::string_view what) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  std::string objection;
  rapidjson::ParseResult result;
  const auto read = [&](rapidjson::Document& document) {
    DocumentBuilder builder(document,
                            absl::StrContains(text, "\\ud") || absl::StrContains(text, "\\uD"));
    rapidjson::MemoryStream bytes(text.data(), text.size());
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(bytes);
    rapidjson::Reader reader;
    result = IsAscii(text)
                 ? reader.Parse<kFlags>(stream, builder)
                 : reader.Parse<kFlags | rapidjson::kParseValidateEncodingFlag>(stream, builder);
    objection = builder.objection();
    return !result.IsError();
  };
  rapidjson::Document document;
  document.Populate(read);
  if (!objection.empty()) return absl::InvalidArgumentError(absl::StrCat(what, ": ", objection));
  if (result.IsError()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": JSON error at byte ", result.Offset(),
                                                   " of ", text.size(), ": ",
                                                   rapidjson::GetParseError_En(result.Code())));
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
  // Names and most values need no escape, and then no writer.
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
  });
  if (plain) return absl::StrCat("\"", text, "\"");
  return WriteJson(rapidjson::Value(rapidjson::StringRef(text.data(), text.size())));
}

bool SameJson(const rapidjson::Value& a, const rapidjson::Value& b) { return a == b; }

}  // namespace base

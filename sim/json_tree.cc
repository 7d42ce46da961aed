#include "sim/json_tree.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace sim {
namespace {

const JsonTree& Null() {
  static const JsonTree* const null = new JsonTree();
  return *null;
}

JsonTree FromValue(const rapidjson::Value& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return {};
    case rapidjson::kFalseType:
      return false;
    case rapidjson::kTrueType:
      return true;
    case rapidjson::kStringType:
      return base::StringOf(value);
    case rapidjson::kNumberType:
      if (value.IsInt64()) return static_cast<int64_t>(value.GetInt64());
      return value.GetDouble();
    case rapidjson::kArrayType: {
      JsonTree::Array items;
      items.reserve(value.Size());
      for (const auto& item : value.GetArray()) items.push_back(FromValue(item));
      return items;
    }
    case rapidjson::kObjectType: {
      JsonTree tree = JsonTree::Object{};
      // The last of two members of one name wins, as in Go.
      for (const auto& member : value.GetObject()) {
        tree.Set(base::StringOf(member.name), FromValue(member.value));
      }
      return tree;
    }
  }
  return {};
}

// The part, for this tree alone.
template <typename Part>
Part& Own(std::shared_ptr<Part>& part) {
  if (part.use_count() > 1) part = std::make_shared<Part>(*part);
  return *part;
}

}  // namespace

JsonTree::JsonTree() = default;
JsonTree::JsonTree(bool value) : value_(value) {}
JsonTree::JsonTree(int value) : value_(static_cast<int64_t>(value)) {}
JsonTree::JsonTree(int64_t value) : value_(value) {}
JsonTree::JsonTree(double value) : value_(value) {}
JsonTree::JsonTree(const char* value) : value_(std::string(value)) {}
JsonTree::JsonTree(std::string value) : value_(std::move(value)) {}
JsonTree::JsonTree(absl::string_view value) : value_(std::string(value)) {}
JsonTree::JsonTree(Array value) : value_(std::make_shared<Array>(std::move(value))) {}
JsonTree::JsonTree(Object value) : value_(std::make_shared<Object>(std::move(value))) {}
JsonTree::JsonTree(const JsonTree& other) = default;
JsonTree::JsonTree(JsonTree&& other) noexcept = default;
JsonTree& JsonTree::operator=(const JsonTree& other) = default;
JsonTree& JsonTree::operator=(JsonTree&& other) noexcept = default;
JsonTree::~JsonTree() = default;

absl::StatusOr<JsonTree> JsonTree::Parse(absl::string_view text, absl::string_view what) {
  auto document = base::ParseJson(text, what);
  if (!document.ok()) return document.status();
  return FromValue(*document);
}

std::string JsonTree::Dump() const {
  std::string out;
  DumpTo(out);
  return out;
}

void JsonTree::DumpTo(std::string& out) const {
  if (is_null()) {
    out += "null";
  } else if (is_bool()) {
    out += AsBool() ? "true" : "false";
  } else if (is_int()) {
    absl::StrAppend(&out, AsInt());
  } else if (is_number()) {
    out += base::WriteJson(rapidjson::Value(AsDouble()));
  } else if (is_string()) {
    out += base::QuoteJson(AsString());
  } else if (is_array()) {
    char separator = '[';
    if (items().empty()) out += '[';
    for (const JsonTree& item : items()) {
      out += std::exchange(separator, ',');
      item.DumpTo(out);
    }
    out += ']';
  } else {
    char separator = '{';
    if (members().empty()) out += '{';
    for (const auto& [name, value] : members()) {
      out += std::exchange(separator, ',');
      out += base::QuoteJson(name);
      out += ':';
      value.DumpTo(out);
    }
    out += '}';
  }
}

bool JsonTree::is_null() const { return std::holds_alternative<std::monostate>(value_); }
bool JsonTree::is_bool() const { return std::holds_alternative<bool>(value_); }
bool JsonTree::is_int() const { return std::holds_alternative<int64_t>(value_); }
bool JsonTree::is_number() const { return is_int() || std::holds_alternative<double>(value_); }
bool JsonTree::is_string() const { return std::holds_alternative<std::string>(value_); }
bool JsonTree::is_array() const { return std::holds_alternative<SharedArray>(value_); }
bool JsonTree::is_object() const { return std::holds_alternative<SharedObject>(value_); }

absl::string_view JsonTree::TypeName() const {
  if (is_null()) return "null";
  if (is_bool()) return "bool";
  if (is_number()) return "number";
  if (is_string()) return "string";
  return is_array() ? "array" : "object";
}

bool JsonTree::AsBool(bool otherwise) const {
  const bool* value = std::get_if<bool>(&value_);
  return value == nullptr ? otherwise : *value;
}

int64_t JsonTree::AsInt(int64_t otherwise) const {
  const int64_t* value = std::get_if<int64_t>(&value_);
  return value == nullptr ? otherwise : *value;
}

double JsonTree::AsDouble(double otherwise) const {
  if (const double* value = std::get_if<double>(&value_)) return *value;
  return is_int() ? static_cast<double>(AsInt()) : otherwise;
}

const std::string& JsonTree::AsString() const& {
  static const std::string* const empty = new std::string();
  const std::string* value = std::get_if<std::string>(&value_);
  return value == nullptr ? *empty : *value;
}

const JsonTree::Array& JsonTree::items() const& {
  static const Array* const empty = new Array();
  const SharedArray* value = std::get_if<SharedArray>(&value_);
  return value == nullptr ? *empty : **value;
}

const JsonTree::Object& JsonTree::members() const& {
  static const Object* const empty = new Object();
  const SharedObject* value = std::get_if<SharedObject>(&value_);
  return value == nullptr ? *empty : **value;
}

const JsonTree* JsonTree::Find(absl::string_view name) const {
  for (const auto& [key, value] : members()) {
    if (key == name) return &value;
  }
  return nullptr;
}

const JsonTree& JsonTree::operator[](absl::string_view name) const& {
  const JsonTree* found = Find(name);
  return found == nullptr ? Null() : *found;
}

JsonTree& JsonTree::Child(absl::string_view name) {
  Object& object = MutableMembers();
  for (auto& [key, value] : object) {
    if (key == name) return value;
  }
  return object.emplace_back(std::string(name), JsonTree()).second;
}

JsonTree& JsonTree::Set(absl::string_view name, JsonTree value) {
  return Child(name) = std::move(value);
}

JsonTree& JsonTree::SetIfMissing(absl::string_view name, JsonTree value) {
  JsonTree& child = Child(name);
  if (child.is_null()) child = std::move(value);
  return child;
}

void JsonTree::Erase(absl::string_view name) {
  if (!Has(name)) return;
  std::erase_if(MutableMembers(), [&](const Member& m) { return m.first == name; });
}

JsonTree::Array& JsonTree::MutableItems() {
  if (!is_array()) value_ = std::make_shared<Array>();
  return Own(std::get<SharedArray>(value_));
}

void JsonTree::Append(JsonTree value) { MutableItems().push_back(std::move(value)); }

JsonTree::Object& JsonTree::MutableMembers() {
  if (!is_object()) value_ = std::make_shared<Object>();
  return Own(std::get<SharedObject>(value_));
}

bool operator==(const JsonTree& a, const JsonTree& b) {
  // One part of both, or the same scalar.
  if (a.value_ == b.value_) return true;
  if (a.is_array() && b.is_array()) return a.items() == b.items();
  if (!a.is_object() || !b.is_object()) return false;
  if (a.members().size() != b.members().size()) return false;
  // Mostly they are in the same order.
  auto beside = b.members().begin();
  for (const JsonTree::Member& member : a.members()) {
    const JsonTree* other = beside->first == member.first ? &beside->second : b.Find(member.first);
    if (other == nullptr || !(*other == member.second)) return false;
    ++beside;
  }
  return true;
}

}  // namespace sim

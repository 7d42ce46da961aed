#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "oci/codec.h"
#include "oci/text.h"

namespace oci {
namespace {

// Written apart from the encoder, from the contract alone: a mistake in one shows
// in the other.

absl::Status Differs(absl::string_view path, absl::string_view how) {
  return absl::InternalError(
      absl::StrCat("update would change more than decided: ", path, ": ", how));
}

using Names = std::initializer_list<absl::string_view>;

bool Contains(Names names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Every member of `read` but those in `except` is in `sent` with the same value, and
// `sent` has no member besides.
absl::Status SameMembers(const rapidjson::Value& read, const rapidjson::Value& sent, Names except,
                         absl::string_view path) {
  if (!read.IsObject() || !sent.IsObject()) return Differs(path, "not an object");
  const auto differs = [&](absl::string_view name, absl::string_view how) {
    return Differs(absl::StrCat(path, ".", OneLine(name, 64)), how);
  };
  int compared = 0;
  for (const auto& member : read.GetObject()) {
    const absl::string_view name = base::StringOf(member.name);
    if (Contains(except, name)) continue;
    const auto found = sent.FindMember(member.name);
    if (found == sent.MemberEnd()) return differs(name, "left out");
    if (!base::SameJson(member.value, found->value)) return differs(name, "another value");
    ++compared;
  }
  for (const auto& member : sent.GetObject()) {
    const absl::string_view name = base::StringOf(member.name);
    if (Contains(except, name)) continue;
    if (!read.HasMember(member.name)) return differs(name, "added");
    --compared;
  }
  // With the same names on both sides, a surplus is a repetition.
  return compared == 0 ? absl::OkStatus() : Differs(path, "a member twice");
}

int CountOf(const rapidjson::Value& object, absl::string_view name) {
  return static_cast<int>(
      std::count_if(object.MemberBegin(), object.MemberEnd(),
                    [&](const auto& member) { return base::StringOf(member.name) == name; }));
}

// `name` is in `sent` exactly once and is that boolean.
absl::Status HasFlag(const rapidjson::Value& sent, absl::string_view name, bool value,
                     absl::string_view path) {
  const std::string member_path = absl::StrCat(path, ".", name);
  if (CountOf(sent, name) != 1) return Differs(member_path, "not there once");
  const rapidjson::Value* flag = base::FindMember(sent, name);
  const bool as_decided = flag != nullptr && flag->IsBool() && flag->GetBool() == value;
  return as_decided ? absl::OkStatus() : Differs(member_path, "not as decided");
}

absl::Status CheckKept(const rapidjson::Value& read, const rapidjson::Value& sent,
                       const BackendFlags* flip, absl::string_view path) {
  if (sent.IsObject() && CountOf(sent, "name") > 0) return Differs(path, "a read-only name");
  if (flip == nullptr) return SameMembers(read, sent, {"name"}, path);
  absl::Status status = SameMembers(read, sent, {"name", "drain", "offline"}, path);
  if (status.ok()) status = HasFlag(sent, "drain", flip->drain, path);
  if (status.ok()) status = HasFlag(sent, "offline", flip->offline, path);
  return status;
}

absl::Status CheckAdded(const Backend& added, const rapidjson::Value& sent,
                        absl::string_view path) {
  rapidjson::Document expected(rapidjson::kObjectType);
  auto& allocator = expected.GetAllocator();
  expected.AddMember("offline", added.offline, allocator);
  expected.AddMember("drain", added.drain, allocator);
  expected.AddMember("backup", added.backup, allocator);
  expected.AddMember("weight", added.weight, allocator);
  expected.AddMember("port", added.port, allocator);
  expected.AddMember("ipAddress", rapidjson::StringRef(added.ip_address.c_str()), allocator);
  if (added.max_connections.has_value()) {
    expected.AddMember("maxConnections", *added.max_connections, allocator);
  }
  return SameMembers(expected, sent, {}, path);
}

absl::Status CheckBackends(const rapidjson::Value& read, const rapidjson::Value& sent,
                           const BackendSetChange& change) {
  std::set<BackendName> removals(change.removals.begin(), change.removals.end());
  size_t flips = 0;
  rapidjson::SizeType at = 0;
  for (const rapidjson::Value& backend : read.GetArray()) {
    const BackendName name(base::ReadString(backend, "name").value_or(""));
    if (removals.erase(name) > 0) continue;
    const std::string path = absl::StrCat("backends[", OneLine(name.value(), 64), "]");
    if (at == sent.Size()) return Differs(path, "left out");
    const auto flip = change.flips.find(name);
    flips += flip == change.flips.end() ? 0 : 1;
    absl::Status status =
        CheckKept(backend, sent[at++], flip == change.flips.end() ? nullptr : &flip->second, path);
    if (!status.ok()) return status;
  }
  if (flips != change.flips.size()) return Differs("backends", "a flip of an unknown backend");
  if (!removals.empty()) return Differs("backends", "a removal of an unknown backend");
  for (const Backend& added : change.additions) {
    const std::string path = absl::StrCat("backends[", OneLine(added.name.value(), 64), "]");
    if (at == sent.Size()) return Differs(path, "not added");
    absl::Status status = CheckAdded(added, sent[at++], path);
    if (!status.ok()) return status;
  }
  return at == sent.Size() ? absl::OkStatus() : Differs("backends", "one too many");
}

}  // namespace

absl::Status CheckLossless(const BackendSet& as_read, const BackendSetChange& change,
                           absl::string_view body) {
  const absl::StatusOr<rapidjson::Document> read =
      base::ParseJson(as_read.document, "backend set as read");
  if (!read.ok()) return read.status();
  const absl::StatusOr<rapidjson::Document> sent = base::ParseJson(body, "backend set update");
  if (!sent.ok()) return absl::InternalError(sent.status().message());
  absl::Status status = SameMembers(*read, *sent, {"name", "backends"}, "backend set");
  if (!status.ok()) return status;
  if (CountOf(*sent, "backends") != 1) return Differs("backends", "not there once");
  if (CountOf(*sent, "name") > 0) return Differs("name", "read-only, but sent");
  const rapidjson::Value* old_backends = base::FindMember(*read, "backends");
  const rapidjson::Value* new_backends = base::FindMember(*sent, "backends");
  if (old_backends == nullptr || !old_backends->IsArray() || new_backends == nullptr ||
      !new_backends->IsArray()) {
    return Differs("backends", "not an array");
  }
  return CheckBackends(*old_backends, *new_backends, change);
}

}  // namespace oci

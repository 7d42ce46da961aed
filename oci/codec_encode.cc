#include <cmath>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "oci/codec.h"
#include "oci/text.h"

namespace oci {
namespace {

using Allocator = rapidjson::Document::AllocatorType;

constexpr size_t kMaxMembers = 1024;
// Beyond this a double does not hold every integer.
constexpr double kExactIntegers = 9'007'199'254'740'992.0;

absl::string_view Bool(bool value) { return value ? "true" : "false"; }

absl::Status Invalid(const BackendSet& set, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("backend set ", OneLine(set.name.value(), 64), ": ", why));
}

// Refuses what could not be echoed faithfully: a member that is there twice (which
// one counts is the server's choice) and an integer that lost digits when read.
// The error begins with the path below `value`, written only once there is one.
absl::Status CheckEchoable(const rapidjson::Value& value) {
  const auto within = [](absl::string_view path, const absl::Status& status) {
    return absl::InvalidArgumentError(absl::StrCat(path, status.message()));
  };
  if (value.IsDouble() && std::abs(value.GetDouble()) >= kExactIntegers) {
    return absl::InvalidArgumentError(": a number too large to be written back as it was read");
  }
  if (value.IsArray()) {
    for (const rapidjson::Value& element : value.GetArray()) {
      const absl::Status status = CheckEchoable(element);
      if (!status.ok()) return within("[]", status);
    }
  }
  if (!value.IsObject()) return absl::OkStatus();
  if (value.MemberCount() > kMaxMembers) {
    return absl::InvalidArgumentError(absl::StrCat(": more than ", kMaxMembers, " members"));
  }
  absl::flat_hash_set<absl::string_view> names(value.MemberCount());
  for (const auto& member : value.GetObject()) {
    const absl::string_view name = base::StringOf(member.name);
    absl::Status status = names.insert(name).second
                              ? CheckEchoable(member.value)
                              : absl::InvalidArgumentError(": it is there twice");
    if (!status.ok()) return within(absl::StrCat(".", OneLine(name, 64)), status);
  }
  return absl::OkStatus();
}

absl::Status CheckChange(const BackendSet& set, const BackendSetChange& change) {
  absl::flat_hash_set<std::string> present;
  for (const Backend& backend : set.backends) present.insert(backend.name.value());
  for (const auto& [name, flags] : change.flips) {
    if (!present.contains(name.value())) {
      return Invalid(set, absl::StrCat("no backend ", OneLine(name.value(), 64), " to flip"));
    }
  }
  for (const BackendName& name : change.removals) {
    if (present.erase(name.value()) == 0) {
      return Invalid(set, absl::StrCat("no backend ", OneLine(name.value(), 64), " to remove"));
    }
    if (change.flips.contains(name)) {
      return Invalid(set, absl::StrCat("backend ", OneLine(name.value(), 64),
                                       " cannot be both flipped and removed"));
    }
  }
  for (const Backend& added : change.additions) {
    if (!present.insert(added.name.value()).second) {
      return Invalid(set, absl::StrCat("backend ", OneLine(added.name.value(), 64),
                                       " cannot be added, it is there"));
    }
  }
  return absl::OkStatus();
}

void SetFlag(rapidjson::Value& backend, const char* name, bool value, Allocator& allocator) {
  if (backend.HasMember(name)) {
    backend[name].SetBool(value);
  } else {
    backend.AddMember(rapidjson::StringRef(name), value, allocator);
  }
}

rapidjson::Value NewBackend(const Backend& added, Allocator& allocator) {
  rapidjson::Value backend(rapidjson::kObjectType);
  backend.AddMember("ipAddress", rapidjson::Value(added.ip_address.c_str(), allocator), allocator);
  backend.AddMember("port", added.port, allocator);
  backend.AddMember("weight", added.weight, allocator);
  backend.AddMember("backup", added.backup, allocator);
  backend.AddMember("drain", added.drain, allocator);
  backend.AddMember("offline", added.offline, allocator);
  if (added.max_connections.has_value()) {
    backend.AddMember("maxConnections", *added.max_connections, allocator);
  }
  return backend;
}

}  // namespace

std::string EncodeBackendUpdate(const Backend& as_read, const BackendFlags& flags) {
  std::string body =
      absl::StrCat("{\"weight\":", as_read.weight, ",\"backup\":", Bool(as_read.backup),
                   ",\"drain\":", Bool(flags.drain), ",\"offline\":", Bool(flags.offline));
  if (as_read.max_connections.has_value()) {
    absl::StrAppend(&body, ",\"maxConnections\":", *as_read.max_connections);
  }
  return body + "}";
}

absl::StatusOr<std::string> EncodeBackendSetUpdate(const BackendSet& as_read,
                                                   const BackendSetChange& change) {
  if (absl::Status status = CheckChange(as_read, change); !status.ok()) return status;
  absl::StatusOr<rapidjson::Document> parsed = base::ParseJson(as_read.document, "backend set");
  if (!parsed.ok()) return parsed.status();
  rapidjson::Document& set = *parsed;
  if (const absl::Status status = CheckEchoable(set); !status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("backend set ", OneLine(as_read.name.value(), 64), status.message()));
  }
  const rapidjson::Value* old = base::FindMember(set, "backends");
  if (old == nullptr || !old->IsArray()) return Invalid(as_read, "its document has no backends");

  absl::flat_hash_set<std::string> removed;
  for (const BackendName& name : change.removals) removed.insert(name.value());
  rapidjson::Value backends(rapidjson::kArrayType);
  Allocator& allocator = set.GetAllocator();
  for (rapidjson::Value& backend : set["backends"].GetArray()) {
    const absl::StatusOr<std::string> name = base::RequireString(backend, "name");
    if (!name.ok()) return Invalid(as_read, name.status().message());
    if (removed.contains(*name)) continue;
    if (const auto flip = change.flips.find(BackendName(*name)); flip != change.flips.end()) {
      SetFlag(backend, "drain", flip->second.drain, allocator);
      SetFlag(backend, "offline", flip->second.offline, allocator);
    }
    backend.EraseMember("name");
    backends.PushBack(backend, allocator);
  }
  for (const Backend& added : change.additions) {
    backends.PushBack(NewBackend(added, allocator), allocator);
  }
  set["backends"] = backends;
  set.EraseMember("name");
  return base::WriteJson(set);
}

}  // namespace oci

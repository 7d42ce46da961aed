#include "sim/load_balancer_body.h"

#include <arpa/inet.h>

#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/json.h"

namespace sim {
namespace {

using rapidjson::Value;

constexpr int64_t kAny = std::numeric_limits<int32_t>::max();

enum class Kind { kText, kNumber, kFlag, kObject, kList, kReadOnly };

struct Field {
  absl::string_view name;
  Kind kind;
  bool mandatory = false;
  int64_t least = 0;  // of a number
  int64_t most = kAny;
};

constexpr Field kBackendUpdate[] = {
    {"weight", Kind::kNumber, true, 1, 100},
    {"backup", Kind::kFlag, true},
    {"drain", Kind::kFlag, true},
    {"offline", Kind::kFlag, true},
    {"maxConnections", Kind::kNumber},
};

constexpr Field kBackendDetails[] = {
    {"name", Kind::kReadOnly},
    {"ipAddress", Kind::kText, true},
    {"port", Kind::kNumber, true, 1, 65535},
    {"weight", Kind::kNumber, false, 1, 100},
    {"backup", Kind::kFlag},
    {"drain", Kind::kFlag},
    {"offline", Kind::kFlag},
    {"maxConnections", Kind::kNumber},
};

constexpr Field kBackendSetUpdate[] = {
    {"name", Kind::kReadOnly},
    {"policy", Kind::kText, true},
    {"backends", Kind::kList, true},
    {"healthChecker", Kind::kObject, true},
    {"backendMaxConnections", Kind::kNumber},
    {"sslConfiguration", Kind::kObject},
    {"sessionPersistenceConfiguration", Kind::kObject},
    {"lbCookieSessionPersistenceConfiguration", Kind::kObject},
};

constexpr Field kHealthChecker[] = {
    {"protocol", Kind::kText, true},
    {"urlPath", Kind::kText},
    {"port", Kind::kNumber, false, 0, 65535},
    {"returnCode", Kind::kNumber, false, 100, 599},
    {"retries", Kind::kNumber, false, 1, kAny},
    {"timeoutInMillis", Kind::kNumber, false, 1, kAny},
    {"intervalInMillis", Kind::kNumber, false, 1, kAny},
    {"responseBodyRegex", Kind::kText},
    {"isForcePlainText", Kind::kFlag},
};

constexpr Field kSslConfiguration[] = {
    {"verifyDepth", Kind::kNumber},
    {"verifyPeerCertificate", Kind::kFlag},
    {"hasSessionResumption", Kind::kFlag},
    {"trustedCertificateAuthorityIds", Kind::kList},
    {"certificateIds", Kind::kList},
    {"certificateName", Kind::kText},
    {"protocols", Kind::kList},
    {"cipherSuiteName", Kind::kText},
    {"serverOrderPreference", Kind::kText},
};

constexpr Field kApplicationCookie[] = {
    {"cookieName", Kind::kText, true},
    {"disableFallback", Kind::kFlag},
};

constexpr Field kLoadBalancerCookie[] = {
    {"cookieName", Kind::kText}, {"disableFallback", Kind::kFlag},   {"domain", Kind::kText},
    {"path", Kind::kText},       {"maxAgeInSeconds", Kind::kNumber}, {"isSecure", Kind::kFlag},
    {"isHttpOnly", Kind::kFlag},
};

ApiError Refuse(absl::string_view code, std::string message) {
  return ApiError{400, std::string(code), std::move(message)};
}

bool IsOfKind(const Value& value, Kind kind) {
  switch (kind) {
    case Kind::kText:
      return value.IsString();
    case Kind::kNumber:
      return value.IsInt64();
    case Kind::kFlag:
      return value.IsBool();
    case Kind::kObject:
      return value.IsObject();
    case Kind::kList:
      return value.IsArray();
    case Kind::kReadOnly:
      return true;
  }
  return false;
}

const Field* FindField(absl::Span<const Field> fields, absl::string_view name) {
  for (const Field& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

// `where` is the path in front of the members' names: "", "backends[3].".
ApiError CheckFields(const Value& object, absl::Span<const Field> fields, const std::string& where,
                     const BodyRules& rules) {
  for (const Field& field : fields) {
    if (field.mandatory && base::FindMember(object, field.name) == nullptr) {
      return Refuse("MissingParameter", absl::StrCat(where, field.name, " may not be null"));
    }
  }
  for (const auto& member : object.GetObject()) {
    const absl::string_view name = base::StringOf(member.name);
    const Field* field = FindField(fields, name);
    if (field == nullptr) {
      if (!rules.refuse_unknown_fields) continue;
      return Refuse("InvalidParameter", absl::StrCat("Unrecognized field ", where, name));
    }
    if (field->kind == Kind::kReadOnly) {
      if (!rules.refuse_read_only_fields) continue;
      return Refuse("InvalidParameter", absl::StrCat(where, name, " is read-only"));
    }
    if (member.value.IsNull()) continue;
    if (!IsOfKind(member.value, field->kind)) {
      return Refuse("CannotParseRequest", absl::StrCat("Incorrectly formatted request: ", where,
                                                       name, " has a value of the wrong type"));
    }
    if (field->kind != Kind::kNumber) continue;
    const int64_t number = member.value.GetInt64();
    if (number < field->least || number > field->most) {
      return Refuse("InvalidParameter", absl::StrCat(where, name, " must be between ", field->least,
                                                     " and ", field->most, ", is ", number));
    }
  }
  return {};
}

ApiError CheckConnections(const Value& object, absl::string_view name, const std::string& where) {
  const Value* number = base::FindMember(object, name);
  if (number == nullptr || number->GetInt64() == 0 || number->GetInt64() >= 256) return {};
  return Refuse("InvalidParameter",
                absl::StrCat(where, name, " must be 0 or at least 256, is ", number->GetInt64()));
}

bool IsIpAddress(const std::string& text) {
  unsigned char buffer[sizeof(in6_addr)];
  return inet_pton(AF_INET, text.c_str(), buffer) == 1 ||
         inet_pton(AF_INET6, text.c_str(), buffer) == 1;
}

bool IsTrue(const Value& object, absl::string_view name) {
  const Value* value = base::FindMember(object, name);
  return value != nullptr && value->IsTrue();
}

ApiError BackupWithIpHash(const std::string& where) {
  return Refuse("InvalidParameter",
                absl::StrCat(where, "backup is not allowed with policy IP_HASH"));
}

ApiError CheckBackends(const Value& backends, bool ip_hash, const BodyRules& rules) {
  std::set<std::pair<std::string, int>> seen;
  for (rapidjson::SizeType i = 0; i < backends.Size(); ++i) {
    const Value& backend = backends[i];
    const std::string where = absl::StrCat("backends[", i, "].");
    if (!backend.IsObject()) {
      return Refuse("CannotParseRequest", absl::StrCat("Incorrectly formatted request: backends[",
                                                       i, "] is not an object"));
    }
    ApiError error = CheckFields(backend, kBackendDetails, where, rules);
    if (!error.ok()) return error;
    error = CheckConnections(backend, "maxConnections", where);
    if (!error.ok()) return error;
    const std::string ip(base::StringOf(backend["ipAddress"]));
    if (!IsIpAddress(ip)) {
      return Refuse("InvalidParameter", absl::StrCat(where, "ipAddress is not an address: ", ip));
    }
    if (ip_hash && IsTrue(backend, "backup")) return BackupWithIpHash(where);
    if (!seen.insert({ip, backend["port"].GetInt()}).second) {
      return Refuse("InvalidParameter",
                    absl::StrCat("Duplicate backend ", ip, ":", backend["port"].GetInt()));
    }
  }
  return {};
}

struct Part {
  absl::string_view name;
  absl::Span<const Field> fields;
};

}  // namespace

ApiError ParseBody(absl::string_view text, rapidjson::Document& body) {
  absl::StatusOr<rapidjson::Document> parsed = base::ParseJson(text, "request");
  if (!parsed.ok() || !parsed->IsObject()) {
    return Refuse("CannotParseRequest", "Incorrectly formatted request");
  }
  body = *std::move(parsed);
  return {};
}

ApiError CheckBackendUpdate(const Value& body, const BodyRules& rules) {
  ApiError error = CheckFields(body, kBackendUpdate, "", rules);
  return error.ok() ? CheckConnections(body, "maxConnections", "") : error;
}

ApiError CheckBackendSetUpdate(const Value& body, const BodyRules& rules) {
  ApiError error = CheckFields(body, kBackendSetUpdate, "", rules);
  if (error.ok()) error = CheckConnections(body, "backendMaxConnections", "");
  if (!error.ok()) return error;
  for (const Part& part : {
           Part{"healthChecker", kHealthChecker},
           Part{"sslConfiguration", kSslConfiguration},
           Part{"sessionPersistenceConfiguration", kApplicationCookie},
           Part{"lbCookieSessionPersistenceConfiguration", kLoadBalancerCookie},
       }) {
    const Value* value = base::FindMember(body, part.name);
    if (value == nullptr) continue;
    error = CheckFields(*value, part.fields, absl::StrCat(part.name, "."), rules);
    if (!error.ok()) return error;
  }
  const std::string policy(base::StringOf(body["policy"]));
  if (policy != "ROUND_ROBIN" && policy != "LEAST_CONNECTIONS" && policy != "IP_HASH") {
    return Refuse("InvalidParameter", absl::StrCat("Invalid policy ", policy));
  }
  const absl::string_view protocol = base::StringOf(body["healthChecker"]["protocol"]);
  if (protocol != "HTTP" && protocol != "TCP") {
    return Refuse("InvalidParameter", absl::StrCat("Invalid healthChecker.protocol ", protocol));
  }
  if (base::FindMember(body, "sessionPersistenceConfiguration") != nullptr &&
      base::FindMember(body, "lbCookieSessionPersistenceConfiguration") != nullptr) {
    return Refuse("InvalidParameter",
                  "sessionPersistenceConfiguration and lbCookieSessionPersistenceConfiguration "
                  "are mutually exclusive");
  }
  return CheckBackends(body["backends"], policy == "IP_HASH", rules);
}

ApiError CheckBackupAllowed(const Value& backend_update, const Value& set) {
  const Value* policy = base::FindMember(set, "policy");
  const bool ip_hash = policy != nullptr && base::StringOf(*policy) == "IP_HASH";
  return ip_hash && IsTrue(backend_update, "backup") ? BackupWithIpHash("") : ApiError{};
}

}  // namespace sim

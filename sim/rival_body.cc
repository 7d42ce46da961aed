#include "sim/rival_body.h"

#include "base/json.h"

namespace sim {
namespace {

using rapidjson::Value;

void CopyMember(const Value& from, const char* name, Value& to,
                rapidjson::Document::AllocatorType& allocator) {
  const Value* value = base::FindMember(from, name);
  if (value != nullptr)
    to.AddMember(rapidjson::StringRef(name), Value(*value, allocator), allocator);
}

}  // namespace

std::string RivalBackendSetBody(const Value& set, const std::vector<RivalBackend>& backends) {
  rapidjson::Document body(rapidjson::kObjectType);
  auto& allocator = body.GetAllocator();
  CopyMember(set, "policy", body, allocator);
  Value list(rapidjson::kArrayType);
  for (const RivalBackend& backend : backends) {
    Value entry(rapidjson::kObjectType);
    entry.AddMember("backup", false, allocator);
    entry.AddMember("drain", backend.drain, allocator);
    entry.AddMember("ipAddress", Value(backend.ip.c_str(), allocator), allocator);
    entry.AddMember("offline", false, allocator);
    entry.AddMember("port", backend.port, allocator);
    entry.AddMember("weight", 1, allocator);
    list.PushBack(entry, allocator);
  }
  body.AddMember("backends", list, allocator);
  if (const Value* checker = base::FindMember(set, "healthChecker"); checker != nullptr) {
    Value copy(rapidjson::kObjectType);
    for (const char* name :
         {"protocol", "urlPath", "port", "returnCode", "retries", "timeoutInMillis",
          "intervalInMillis", "responseBodyRegex", "isForcePlainText"}) {
      CopyMember(*checker, name, copy, allocator);
    }
    body.AddMember("healthChecker", copy, allocator);
  }
  if (const Value* ssl = base::FindMember(set, "sslConfiguration"); ssl != nullptr) {
    Value copy(rapidjson::kObjectType);
    CopyMember(*ssl, "trustedCertificateAuthorityIds", copy, allocator);
    body.AddMember("sslConfiguration", copy, allocator);
  }
  CopyMember(set, "sessionPersistenceConfiguration", body, allocator);
  CopyMember(set, "lbCookieSessionPersistenceConfiguration", body, allocator);
  return base::WriteJson(body);
}

std::string RivalBackendBody(const Value& backend, bool drain) {
  rapidjson::Document body(rapidjson::kObjectType);
  auto& allocator = body.GetAllocator();
  for (const char* name : {"weight", "backup", "offline", "maxConnections"}) {
    CopyMember(backend, name, body, allocator);
  }
  body.AddMember("drain", drain, allocator);
  return base::WriteJson(body);
}

}  // namespace sim

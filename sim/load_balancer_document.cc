#include "sim/load_balancer_document.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace sim {
namespace {

using Allocator = rapidjson::Document::AllocatorType;
using rapidjson::Value;

Value Text(absl::string_view text, Allocator& allocator) {
  return Value(text.data(), static_cast<rapidjson::SizeType>(text.size()), allocator);
}

void Put(Value& object, const char* name, Value value, Allocator& allocator) {
  object.RemoveMember(name);
  object.AddMember(rapidjson::StringRef(name), value, allocator);
}

void PutIfAbsent(Value& object, const char* name, Value value, Allocator& allocator) {
  if (base::FindMember(object, name) == nullptr) Put(object, name, std::move(value), allocator);
}

std::string NameOf(const Value& backend) {
  const Value* ip = base::FindMember(backend, "ipAddress");
  const Value* port = base::FindMember(backend, "port");
  return absl::StrCat(ip == nullptr ? "" : base::StringOf(*ip), ":",
                      port != nullptr && port->IsInt() ? port->GetInt() : 0);
}

Value MakeBackend(const Value& details, Allocator& allocator) {
  Value backend(rapidjson::kObjectType);
  backend.AddMember("name", Text(NameOf(details), allocator), allocator);
  for (const auto& member : details.GetObject()) {
    if (member.value.IsNull() || base::StringOf(member.name) == "name") continue;
    backend.AddMember(Value(member.name, allocator), Value(member.value, allocator), allocator);
  }
  PutIfAbsent(backend, "weight", Value(1), allocator);
  for (const char* flag : {"drain", "backup", "offline"}) {
    PutIfAbsent(backend, flag, Value(false), allocator);
  }
  return backend;
}

void FillHealthChecker(Value& checker, Allocator& allocator) {
  PutIfAbsent(checker, "port", Value(0), allocator);
  PutIfAbsent(checker, "returnCode", Value(200), allocator);
  PutIfAbsent(checker, "responseBodyRegex", Value(""), allocator);
  PutIfAbsent(checker, "retries", Value(3), allocator);
  PutIfAbsent(checker, "timeoutInMillis", Value(3000), allocator);
  PutIfAbsent(checker, "intervalInMillis", Value(10000), allocator);
}

void DiffBackend(const Value& before, const Value& after, const std::string& path,
                 WriteEffect& effect) {
  const std::string name = NameOf(after);
  const auto flag = [](const Value& backend, const char* flag_name) {
    const Value* value = base::FindMember(backend, flag_name);
    return value != nullptr && value->IsTrue();
  };
  const auto flip = [&](const char* flag_name, std::vector<std::string>& on,
                        std::vector<std::string>& off) {
    const bool now = flag(after, flag_name);
    if (flag(before, flag_name) != now) (now ? on : off).push_back(name);
  };
  flip("drain", effect.drained, effect.undrained);
  flip("offline", effect.set_offline, effect.set_online);
  for (const auto& member : before.GetObject()) {
    const absl::string_view key = base::StringOf(member.name);
    if (key == "drain" || key == "offline") continue;
    const Value* other = base::FindMember(after, key);
    if (other == nullptr || !base::SameJson(member.value, *other)) {
      effect.changed.push_back(absl::StrCat(path, "backends[", name, "].", key));
    }
  }
  for (const auto& member : after.GetObject()) {
    const absl::string_view key = base::StringOf(member.name);
    if (before.FindMember(member.name) == before.MemberEnd()) {
      effect.changed.push_back(absl::StrCat(path, "backends[", name, "].", key));
    }
  }
}

void DiffMembers(const Value& before, const Value& after, const std::string& path,
                 WriteEffect& effect) {
  for (const auto& member : before.GetObject()) {
    const absl::string_view key = base::StringOf(member.name);
    if (key == "backends" || key == "backendSets") continue;
    const Value* other = base::FindMember(after, key);
    const bool same =
        other == nullptr ? member.value.IsNull() : base::SameJson(member.value, *other);
    if (!same) effect.changed.push_back(absl::StrCat(path, key));
  }
  for (const auto& member : after.GetObject()) {
    const absl::string_view key = base::StringOf(member.name);
    if (key == "backends" || key == "backendSets") continue;
    if (before.FindMember(member.name) == before.MemberEnd()) {
      effect.changed.push_back(absl::StrCat(path, key));
    }
  }
}

void DiffSet(const Value& before, const Value& after, const std::string& path,
             WriteEffect& effect) {
  DiffMembers(before, after, path, effect);
  const Value* old_backends = base::FindMember(before, "backends");
  const Value* new_backends = base::FindMember(after, "backends");
  if (old_backends == nullptr || new_backends == nullptr) return;
  std::map<std::string, const Value*> by_name;
  for (const Value& backend : old_backends->GetArray()) by_name[NameOf(backend)] = &backend;
  for (const Value& backend : new_backends->GetArray()) {
    const std::string name = NameOf(backend);
    const auto old = by_name.find(name);
    if (old != by_name.end()) {
      DiffBackend(*old->second, backend, path, effect);
      by_name.erase(old);
      continue;
    }
    effect.added.push_back(name);
    const Value* drain = base::FindMember(backend, "drain");
    if (drain != nullptr && drain->IsTrue()) effect.drained.push_back(name);
  }
  for (const Value& backend : old_backends->GetArray()) {
    const std::string name = NameOf(backend);
    if (by_name.contains(name)) effect.removed.push_back(name);
  }
}

absl::Status CheckSet(absl::string_view name, const Value& set) {
  if (!set.IsObject()) {
    return absl::InvalidArgumentError(absl::StrCat("backendSets.", name, ": not an object"));
  }
  for (const char* member : {"name", "policy", "healthChecker"}) {
    if (base::FindMember(set, member) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("backendSets.", name, ".", member, ": missing"));
    }
  }
  const Value* backends = base::FindMember(set, "backends");
  if (backends == nullptr || !backends->IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat("backendSets.", name, ".backends: not a list"));
  }
  for (const Value& backend : backends->GetArray()) {
    for (const char* member :
         {"name", "ipAddress", "port", "weight", "drain", "backup", "offline"}) {
      if (base::FindMember(backend, member) == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("backendSets.", name, ".backends: one has no ", member));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

void ApplyBackendUpdate(const Value& body, Value& backend, Allocator& allocator) {
  for (const char* name : {"weight", "backup", "drain", "offline"}) {
    Put(backend, name, Value(*base::FindMember(body, name), allocator), allocator);
  }
  const Value* max_connections = base::FindMember(body, "maxConnections");
  backend.RemoveMember("maxConnections");
  if (max_connections != nullptr) {
    Put(backend, "maxConnections", Value(*max_connections, allocator), allocator);
  }
}

Value MakeBackendSet(absl::string_view name, const Value& body, Allocator& allocator) {
  Value set(rapidjson::kObjectType);
  set.AddMember("name", Text(name, allocator), allocator);
  for (const auto& member : body.GetObject()) {
    const absl::string_view key = base::StringOf(member.name);
    if (member.value.IsNull() || key == "name") continue;
    Value value;
    if (key == "backends") {
      value.SetArray();
      for (const Value& details : member.value.GetArray()) {
        value.PushBack(MakeBackend(details, allocator), allocator);
      }
    } else {
      value.CopyFrom(member.value, allocator);
    }
    if (key == "healthChecker") FillHealthChecker(value, allocator);
    if (key == "sslConfiguration") {
      PutIfAbsent(value, "verifyDepth", Value(1), allocator);
      PutIfAbsent(value, "verifyPeerCertificate", Value(false), allocator);
    }
    set.AddMember(Value(member.name, allocator), value, allocator);
  }
  return set;
}

const Value* FindBackendSet(const Value& load_balancer, absl::string_view set) {
  return base::FindPath(load_balancer, {"backendSets", set});
}

const Value* FindBackend(const Value& set, absl::string_view backend) {
  const Value* backends = base::FindMember(set, "backends");
  if (backends == nullptr || !backends->IsArray()) return nullptr;
  for (const Value& candidate : backends->GetArray()) {
    if (NameOf(candidate) == backend) return &candidate;
  }
  return nullptr;
}

Value* FindBackendSet(Value& load_balancer, absl::string_view set) {
  return const_cast<Value*>(FindBackendSet(std::as_const(load_balancer), set));
}

Value* FindBackend(Value& set, absl::string_view backend) {
  return const_cast<Value*>(FindBackend(std::as_const(set), backend));
}

int CountBackends(const Value& set) {
  const Value* backends = base::FindMember(set, "backends");
  return backends != nullptr && backends->IsArray() ? static_cast<int>(backends->Size()) : 0;
}

int CountBackendsOfAllSets(const Value& load_balancer) {
  const Value* sets = base::FindMember(load_balancer, "backendSets");
  if (sets == nullptr || !sets->IsObject()) return 0;
  int count = 0;
  for (const auto& member : sets->GetObject()) count += CountBackends(member.value);
  return count;
}

bool HasListener(const Value& load_balancer, absl::string_view set) {
  const Value* listeners = base::FindMember(load_balancer, "listeners");
  if (listeners == nullptr || !listeners->IsObject()) return false;
  for (const auto& listener : listeners->GetObject()) {
    const Value* target = base::FindMember(listener.value, "defaultBackendSetName");
    if (target != nullptr && base::StringOf(*target) == set) return true;
    const Value* policy = base::FindMember(listener.value, "routingPolicyName");
    if (policy == nullptr) continue;
    const Value* rules =
        base::FindPath(load_balancer, {"routingPolicies", base::StringOf(*policy), "rules"});
    if (rules == nullptr || !rules->IsArray()) continue;
    for (const Value& rule : rules->GetArray()) {
      const Value* actions = base::FindMember(rule, "actions");
      if (actions == nullptr || !actions->IsArray()) continue;
      for (const Value& action : actions->GetArray()) {
        const Value* name = base::FindMember(action, "backendSetName");
        if (name != nullptr && base::StringOf(*name) == set) return true;
      }
    }
  }
  return false;
}

absl::Status CheckLoadBalancer(const Value& load_balancer) {
  for (const char* member : {"id", "lifecycleState"}) {
    if (absl::Status status = base::RequireString(load_balancer, member).status(); !status.ok()) {
      return status;
    }
  }
  const Value* sets = base::FindMember(load_balancer, "backendSets");
  if (sets == nullptr || !sets->IsObject()) {
    return absl::InvalidArgumentError("backendSets: missing or not an object");
  }
  for (const auto& member : sets->GetObject()) {
    if (absl::Status status = CheckSet(base::StringOf(member.name), member.value); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

bool WriteEffect::empty() const {
  return added.empty() && removed.empty() && drained.empty() && undrained.empty() &&
         set_offline.empty() && set_online.empty() && changed.empty();
}

WriteEffect DiffLoadBalancers(const Value& before, const Value& after) {
  WriteEffect effect;
  DiffMembers(before, after, "", effect);
  const Value* old_sets = base::FindMember(before, "backendSets");
  const Value* new_sets = base::FindMember(after, "backendSets");
  if (old_sets == nullptr || new_sets == nullptr) return effect;
  for (const auto& member : new_sets->GetObject()) {
    const std::string name(base::StringOf(member.name));
    const Value* old_set = base::FindMember(*old_sets, name);
    if (old_set == nullptr) {
      effect.changed.push_back(name);
      for (const Value& backend : member.value["backends"].GetArray()) {
        effect.added.push_back(NameOf(backend));
      }
      continue;
    }
    DiffSet(*old_set, member.value, absl::StrCat(name, "."), effect);
  }
  for (const auto& member : old_sets->GetObject()) {
    const std::string name(base::StringOf(member.name));
    if (base::FindMember(*new_sets, name) != nullptr) continue;
    effect.changed.push_back(name);
    for (const Value& backend : member.value["backends"].GetArray()) {
      effect.removed.push_back(NameOf(backend));
    }
  }
  return effect;
}

std::string MakeLoadBalancerJson(absl::string_view ocid,
                                 const std::map<std::string, std::vector<std::string>>& sets) {
  std::string backend_sets;
  std::string rules;
  for (const auto& [name, backends] : sets) {
    std::string list;
    for (const std::string& backend : backends) {
      const size_t colon = backend.rfind(':');
      absl::StrAppend(&list, list.empty() ? "" : ",", R"({"name":")", backend, R"(","ipAddress":")",
                      backend.substr(0, colon), R"(","port":)", backend.substr(colon + 1),
                      R"(,"weight":1,"drain":false,"backup":false,"offline":false})");
    }
    absl::StrAppend(
        &backend_sets, backend_sets.empty() ? "" : ",", R"(")", name, R"(":{"name":")", name,
        R"(","policy":"LEAST_CONNECTIONS","backends":[)", list,
        R"(],"healthChecker":{"protocol":"HTTP","urlPath":"/ready","port":0,"returnCode":200,)",
        R"("retries":3,"timeoutInMillis":3000,"intervalInMillis":10000,)",
        R"("responseBodyRegex":"","isForcePlainText":true}})");
    absl::StrAppend(&rules, rules.empty() ? "" : ",", R"({"name":"rule_)", name,
                    R"(","condition":"all(http.request.url.path sw '/)", name, "')\",",
                    R"("actions":[{"name":"FORWARD_TO_BACKENDSET","backendSetName":")", name,
                    R"("}]})");
  }
  const std::string first = sets.empty() ? "default_ingress" : sets.begin()->first;
  return absl::StrCat(
      R"({"id":")", ocid, R"(","compartmentId":"ocid1.compartment.oc1..example",)",
      R"("displayName":"k8s-default","lifecycleState":"ACTIVE",)",
      R"("timeCreated":"2026-01-02T03:04:05.678Z","shapeName":"flexible",)",
      R"("shapeDetails":{"minimumBandwidthInMbps":10,"maximumBandwidthInMbps":100},)",
      R"("ipAddresses":[{"ipAddress":"203.0.113.10","isPublic":true}],"isPrivate":false,)",
      R"("isDeleteProtectionEnabled":false,"subnetIds":["ocid1.subnet.oc1..example"],)",
      R"("networkSecurityGroupIds":[],"freeformTags":{"team":"example"},"definedTags":{},)",
      R"("hostnames":{},"certificates":{},"pathRouteSets":{},"ruleSets":{},)",
      R"("listeners":{"route_80":{"name":"route_80","defaultBackendSetName":")", first,
      R"(","port":80,"protocol":"HTTP","hostnameNames":[],"ruleSetNames":[],)",
      R"("routingPolicyName":"route_80","connectionConfiguration":{"idleTimeout":60}}},)",
      R"("routingPolicies":{"route_80":{"name":"route_80","conditionLanguageVersion":"V1",)",
      R"("rules":[)", rules, R"(]}},"backendSets":{)", backend_sets, "}}");
}

}  // namespace sim

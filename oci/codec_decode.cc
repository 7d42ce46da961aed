#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "oci/codec.h"
#include "oci/codec_fields.h"
#include "oci/text.h"

namespace oci {
namespace {

constexpr size_t kMaxBackends = 16'384;
constexpr size_t kMaxDetails = 20;
constexpr int kMaxInt = std::numeric_limits<int>::max();

absl::Status Invalid(absl::string_view path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

// Appends the value with its members sorted and without those that are null or, at
// the top, in `left_out`: equal texts mean equal values.
void AppendCanonical(const rapidjson::Value& value,
                     std::initializer_list<absl::string_view> left_out, std::string& out) {
  if (value.IsArray()) {
    const char* separator = "[";
    for (const rapidjson::Value& element : value.GetArray()) {
      absl::StrAppend(&out, std::exchange(separator, ","));
      AppendCanonical(element, {}, out);
    }
    absl::StrAppend(&out, value.Empty() ? "[]" : "]");
    return;
  }
  if (!value.IsObject()) {
    absl::StrAppend(&out, base::WriteJson(value));
    return;
  }
  std::vector<std::pair<absl::string_view, const rapidjson::Value*>> members;
  members.reserve(value.MemberCount());
  for (const auto& member : value.GetObject()) {
    const absl::string_view name = base::StringOf(member.name);
    const bool skipped = std::find(left_out.begin(), left_out.end(), name) != left_out.end();
    if (!skipped && !member.value.IsNull()) members.emplace_back(name, &member.value);
  }
  std::sort(members.begin(), members.end());
  const char* separator = "{";
  for (const auto& [name, member] : members) {
    absl::StrAppend(&out, std::exchange(separator, ","), base::QuoteJson(name), ":");
    AppendCanonical(*member, {}, out);
  }
  absl::StrAppend(&out, members.empty() ? "{}" : "}");
}

absl::StatusOr<Backend> ReadBackend(const rapidjson::Value& value, const std::string& path) {
  Fields fields(value, path);
  Backend backend;
  backend.name = BackendName(fields.Text("name"));
  backend.ip_address = fields.Text("ipAddress");
  backend.port = fields.Number("port", 1, 65'535);
  backend.weight = fields.Number("weight", 0, kMaxInt);
  backend.drain = fields.Flag("drain");
  backend.backup = fields.Flag("backup");
  backend.offline = fields.Flag("offline");
  backend.max_connections = fields.OptionalNumber("maxConnections", 0, kMaxInt);
  if (!fields.status().ok()) return fields.status();
  backend.document = base::WriteJson(value);
  AppendCanonical(value, {"name", "drain", "offline"}, backend.settings);
  return backend;
}

absl::StatusOr<std::vector<Backend>> ReadBackends(const rapidjson::Value& array,
                                                  const std::string& path) {
  if (array.Size() > kMaxBackends) {
    return Invalid(path, absl::StrCat(array.Size(), " backends, more than ", kMaxBackends));
  }
  std::vector<Backend> backends;
  backends.reserve(array.Size());
  absl::flat_hash_set<std::string> names;
  for (const rapidjson::Value& element : array.GetArray()) {
    absl::StatusOr<Backend> backend =
        ReadBackend(element, absl::StrCat(path, "[", backends.size(), "]"));
    if (!backend.ok()) return backend.status();
    if (!names.insert(backend->name.value()).second) {
      return Invalid(path, absl::StrCat("two are named ", OneLine(backend->name.value(), 64)));
    }
    backends.push_back(*std::move(backend));
  }
  return backends;
}

absl::StatusOr<BackendSet> ReadBackendSet(const rapidjson::Value& value, const std::string& path) {
  Fields fields(value, path);
  BackendSet set;
  set.name = BackendSetName(fields.Text("name"));
  set.policy = fields.Text("policy");
  Fields health_checker(fields.Object("healthChecker"), fields.PathOf("healthChecker"));
  set.health_checker_protocol = health_checker.OptionalText("protocol");
  fields.Add(health_checker.status());
  set.has_session_persistence = fields.Has("sessionPersistenceConfiguration") ||
                                fields.Has("lbCookieSessionPersistenceConfiguration");
  absl::StatusOr<std::vector<Backend>> backends =
      ReadBackends(fields.Array("backends"), fields.PathOf("backends"));
  fields.Add(backends.status());
  if (!fields.status().ok()) return fields.status();
  set.backends = *std::move(backends);
  set.document = base::WriteJson(value);
  AppendCanonical(value, {"name", "backends"}, set.settings);
  return set;
}

absl::StatusOr<std::map<BackendSetName, BackendSet>> ReadBackendSets(const rapidjson::Value& object,
                                                                     const std::string& path) {
  std::map<BackendSetName, BackendSet> sets;
  size_t backends = 0;
  for (const auto& member : object.GetObject()) {
    const absl::string_view key = base::StringOf(member.name);
    const std::string set_path = absl::StrCat(path, ".", OneLine(key, 64));
    absl::StatusOr<BackendSet> set = ReadBackendSet(member.value, set_path);
    if (!set.ok()) return set.status();
    if (set->name.value() != key) {
      return Invalid(set_path, absl::StrCat("its name is ", OneLine(set->name.value(), 64)));
    }
    backends += set->backends.size();
    if (backends > kMaxBackends) {
      return Invalid(path, absl::StrCat("more than ", kMaxBackends, " backends in all"));
    }
    const BackendSetName name = set->name;
    if (!sets.emplace(name, *std::move(set)).second) return Invalid(set_path, "it is there twice");
  }
  return sets;
}

absl::StatusOr<LoadBalancer> ReadLoadBalancer(const rapidjson::Value& value,
                                              const std::string& path) {
  Fields fields(value, path);
  LoadBalancer load_balancer;
  load_balancer.id = Ocid(fields.Text("id"));
  load_balancer.display_name = OneLine(fields.OptionalText("displayName"), 256);
  load_balancer.lifecycle_state = OneLine(fields.Text("lifecycleState"), 64);
  auto sets = ReadBackendSets(fields.OptionalObject("backendSets"), fields.PathOf("backendSets"));
  fields.Add(sets.status());
  if (!fields.status().ok()) return fields.status();
  load_balancer.backend_sets = *std::move(sets);
  return load_balancer;
}

HealthStatus ToHealthStatus(absl::string_view text) {
  if (text == "OK") return HealthStatus::kOk;
  if (text == "WARNING") return HealthStatus::kWarning;
  if (text == "CRITICAL") return HealthStatus::kCritical;
  return HealthStatus::kUnknown;
}

absl::StatusOr<BackendHealth> ReadBackendHealth(const rapidjson::Value& value,
                                                const std::string& path) {
  Fields fields(value, path);
  BackendHealth health;
  health.status = ToHealthStatus(fields.Text("status"));
  size_t index = 0;
  for (const rapidjson::Value& element : fields.OptionalArray("healthCheckResults").GetArray()) {
    Fields result(element, absl::StrCat(fields.PathOf("healthCheckResults"), "[", index++, "]"));
    health.checked_at = std::max(health.checked_at,
                                 result.OptionalTime("timestamp").value_or(absl::InfinitePast()));
    fields.Add(result.status());
  }
  if (!fields.status().ok()) return fields.status();
  return health;
}

std::vector<BackendName> ReadNames(Fields& fields, absl::string_view name) {
  std::vector<BackendName> names;
  const rapidjson::Value& array = fields.Array(name);
  if (array.Size() > kMaxBackends) {
    fields.Add(Invalid(fields.PathOf(name), absl::StrCat("more than ", kMaxBackends)));
    return names;
  }
  for (const rapidjson::Value& element : array.GetArray()) {
    if (!element.IsString()) {
      fields.Add(Invalid(fields.PathOf(name), "expected an array of strings"));
      return names;
    }
    names.emplace_back(std::string(base::StringOf(element)));
  }
  return names;
}

absl::StatusOr<BackendSetHealth> ReadBackendSetHealth(const rapidjson::Value& value,
                                                      const std::string& path) {
  Fields fields(value, path);
  BackendSetHealth health;
  health.status = ToHealthStatus(fields.Text("status"));
  health.warning = ReadNames(fields, "warningStateBackendNames");
  health.critical = ReadNames(fields, "criticalStateBackendNames");
  health.unknown = ReadNames(fields, "unknownStateBackendNames");
  health.total_backend_count = fields.Number("totalBackendCount", 0, kMaxInt);
  if (!fields.status().ok()) return fields.status();
  return health;
}

// Of a state that this code does not know, the time of its end says whether it is
// over: a request that was never over would hold up every write.
WorkRequestState ToState(absl::string_view text, bool has_finish_time) {
  if (text == "ACCEPTED") return WorkRequestState::kAccepted;
  if (text == "IN_PROGRESS") return WorkRequestState::kInProgress;
  if (text == "SUCCEEDED") return WorkRequestState::kSucceeded;
  if (text == "FAILED" || has_finish_time) return WorkRequestState::kFailed;
  return WorkRequestState::kInProgress;
}

std::string ReadErrorDetails(Fields& fields) {
  std::string text;
  size_t index = 0;
  for (const rapidjson::Value& element : fields.OptionalArray("errorDetails").GetArray()) {
    if (index == kMaxDetails) break;
    Fields detail(element, absl::StrCat(fields.PathOf("errorDetails"), "[", index++, "]"));
    const std::string code = detail.OptionalText("errorCode");
    const std::string message = detail.OptionalText("message");
    fields.Add(detail.status());
    absl::StrAppend(&text, text.empty() ? "" : "; ", code, code.empty() ? "" : ": ", message);
  }
  return OneLine(text);
}

absl::StatusOr<WorkRequest> ReadWorkRequest(const rapidjson::Value& value,
                                            const std::string& path) {
  Fields fields(value, path);
  WorkRequest request;
  request.id = WorkRequestId(fields.Text("id"));
  request.type = OneLine(fields.OptionalText("type"), 64);
  request.message = OneLine(fields.OptionalText("message"));
  request.time_accepted = fields.OptionalTime("timeAccepted").value_or(absl::InfinitePast());
  const std::optional<absl::Time> finished = fields.OptionalTime("timeFinished");
  request.time_finished = finished.value_or(absl::InfiniteFuture());
  request.state = ToState(fields.Text("lifecycleState"), finished.has_value());
  request.error_details = ReadErrorDetails(fields);
  if (!fields.status().ok()) return fields.status();
  return request;
}

absl::StatusOr<std::vector<WorkRequest>> ReadWorkRequestList(const rapidjson::Value& value,
                                                             const std::string& path) {
  if (!value.IsArray()) return Invalid(path, "expected an array");
  std::vector<WorkRequest> requests;
  for (const rapidjson::Value& element : value.GetArray()) {
    absl::StatusOr<WorkRequest> request =
        ReadWorkRequest(element, absl::StrCat(path, "[", requests.size(), "]"));
    if (!request.ok()) return request.status();
    requests.push_back(*std::move(request));
  }
  return requests;
}

template <typename T>
absl::StatusOr<T> Decode(absl::string_view json, absl::string_view what,
                         absl::StatusOr<T> (*read)(const rapidjson::Value&, const std::string&)) {
  const absl::StatusOr<rapidjson::Document> document = base::ParseJson(json, what);
  if (!document.ok()) return document.status();
  return read(*document, std::string(what));
}

}  // namespace

absl::StatusOr<LoadBalancer> DecodeLoadBalancer(absl::string_view json) {
  return Decode(json, "load balancer", &ReadLoadBalancer);
}

absl::StatusOr<BackendSet> DecodeBackendSet(absl::string_view json) {
  return Decode(json, "backend set", &ReadBackendSet);
}

absl::StatusOr<BackendHealth> DecodeBackendHealth(absl::string_view json) {
  return Decode(json, "backend health", &ReadBackendHealth);
}

absl::StatusOr<BackendSetHealth> DecodeBackendSetHealth(absl::string_view json) {
  return Decode(json, "backend set health", &ReadBackendSetHealth);
}

absl::StatusOr<WorkRequest> DecodeWorkRequest(absl::string_view json) {
  return Decode(json, "work request", &ReadWorkRequest);
}

absl::StatusOr<std::vector<WorkRequest>> DecodeWorkRequestList(absl::string_view json) {
  return Decode(json, "work request list", &ReadWorkRequestList);
}

}  // namespace oci

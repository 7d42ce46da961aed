#include "controller/snapshot.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/snapshot_types.h"

namespace controller {
namespace {

constexpr size_t kLineWidth = 100;

// Where `now` is left out: any fixed moment does, times are relative to it.
absl::Time DefaultNow() { return absl::FromUnixSeconds(1767225600); }  // 2026-01-01

struct KindOfApi {
  const char* kind;
  const char* api_version;
};
constexpr KindOfApi kKinds[] = {
    {"Service", "v1"},
    {"Pod", "v1"},
    {"Deployment", "apps/v1"},
    {"StatefulSet", "apps/v1"},
    {"ReplicaSet", "apps/v1"},
    {"Ingress", "networking.k8s.io/v1"},
    {"IngressClass", "networking.k8s.io/v1"},
};

// Members in the order of their names, as the decoder of the API makes settings.
class CanonicalObject {
 public:
  CanonicalObject& Add(absl::string_view name, const std::string& json) {
    absl::StrAppend(&text_, text_.empty() ? "" : ",", base::QuoteJson(name), ":", json);
    return *this;
  }
  std::string Text() const { return absl::StrCat("{", text_, "}"); }

 private:
  std::string text_;
};

std::string Bool(bool value) { return value ? "true" : "false"; }

// A value on one line if it fits, else its elements on lines of their own.
void AppendReadable(const rapidjson::Value& value, size_t indent, size_t used, std::string& out) {
  const std::string compact = base::WriteJson(value);
  const bool container = value.IsObject() || value.IsArray();
  if (!container || used + compact.size() <= kLineWidth) {
    out += compact;
    return;
  }
  const std::string margin(indent + 2, ' ');
  const char* separator = "";
  out += value.IsObject() ? "{" : "[";
  if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      const std::string name = base::QuoteJson(base::StringOf(member.name));
      absl::StrAppend(&out, separator, "\n", margin, name, ": ");
      AppendReadable(member.value, indent + 2, indent + 2 + name.size() + 3, out);
      separator = ",";
    }
  } else {
    for (const rapidjson::Value& element : value.GetArray()) {
      absl::StrAppend(&out, separator, "\n", margin);
      AppendReadable(element, indent + 2, indent + 3, out);
      separator = ",";
    }
  }
  absl::StrAppend(&out, "\n", std::string(indent, ' '), value.IsObject() ? "}" : "]");
}

// `now` and `load_balancer` first: everything else refers to them.
absl::StatusOr<SnapshotContext> ReadContext(const rapidjson::Value& object) {
  SnapshotContext context;
  context.now = DefaultNow();
  context.load_balancer = oci::Ocid("ocid1.loadbalancer.oc1.iad.example");
  if (const rapidjson::Value* now = base::FindMember(object, "now"); now != nullptr) {
    const absl::Status status = ReadValue(*now, "now", context, context.now);
    if (!status.ok()) return status;
  }
  if (const rapidjson::Value* id = base::FindMember(object, "load_balancer"); id != nullptr) {
    const absl::Status status = ReadValue(*id, "load_balancer", context, context.load_balancer);
    if (!status.ok()) return status;
  }
  return context;
}

// What the types cannot say.
absl::Status CheckReferences(const drain::Input& input) {
  for (size_t i = 0; i < input.sets.size(); ++i) {
    for (size_t j = 0; j < input.sets[i].endpoints.size(); ++j) {
      const int workload = input.sets[i].endpoints[j].workload;
      if (workload < -1 || workload >= static_cast<int>(input.workloads.size())) {
        return SnapshotError(absl::StrCat("sets[", i, "].endpoints[", j, "].workload"),
                             absl::StrCat(workload, " is not an index into workloads"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

template <>
struct Fresh<drain::Input> {
  static drain::Input Make(const SnapshotContext& context) {
    drain::Input input;
    input.now = context.now;
    input.load_balancer = context.load_balancer;
    return input;
  }
};

void DeriveAddress(oci::Backend& backend) {
  const std::string& name = backend.name.value();
  const size_t colon = name.rfind(':');
  if (colon == std::string::npos) return;
  int port = 0;
  if (!absl::SimpleAtoi(absl::string_view(name).substr(colon + 1), &port)) return;
  backend.ip_address = name.substr(0, colon);
  backend.port = port;
}

void DeriveDocument(oci::Backend& backend) {
  CanonicalObject settings;
  settings.Add("backup", Bool(backend.backup))
      .Add("ipAddress", base::QuoteJson(backend.ip_address));
  CanonicalObject document;
  document.Add("backup", Bool(backend.backup))
      .Add("drain", Bool(backend.drain))
      .Add("ipAddress", base::QuoteJson(backend.ip_address));
  if (backend.max_connections.has_value()) {
    settings.Add("maxConnections", absl::StrCat(*backend.max_connections));
    document.Add("maxConnections", absl::StrCat(*backend.max_connections));
  }
  settings.Add("port", absl::StrCat(backend.port)).Add("weight", absl::StrCat(backend.weight));
  document.Add("name", base::QuoteJson(backend.name.value()))
      .Add("offline", Bool(backend.offline))
      .Add("port", absl::StrCat(backend.port))
      .Add("weight", absl::StrCat(backend.weight));
  backend.settings = settings.Text();
  backend.document = document.Text();
}

void DeriveDocument(oci::BackendSet& set) {
  std::string backends;
  for (const oci::Backend& backend : set.backends) {
    absl::StrAppend(&backends, backends.empty() ? "" : ",", backend.document);
  }
  CanonicalObject settings;
  CanonicalObject document;
  document.Add("backends", absl::StrCat("[", backends, "]"));
  const std::string checker =
      absl::StrCat("{\"protocol\":", base::QuoteJson(set.health_checker_protocol), "}");
  settings.Add("healthChecker", checker).Add("policy", base::QuoteJson(set.policy));
  document.Add("healthChecker", checker)
      .Add("name", base::QuoteJson(set.name.value()))
      .Add("policy", base::QuoteJson(set.policy));
  if (set.has_session_persistence) {
    const std::string cookie = "{\"cookieName\":\"session\"}";
    settings.Add("sessionPersistenceConfiguration", cookie);
    document.Add("sessionPersistenceConfiguration", cookie);
  }
  set.settings = settings.Text();
  set.document = document.Text();
}

void DeriveApiVersion(kube::ObjectReference& reference) {
  for (const KindOfApi& row : kKinds) {
    if (reference.kind == row.kind) reference.api_version = row.api_version;
  }
}

absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, kube::ObjectReference& out) {
  out = kube::ObjectReference();
  if (!value.IsString()) return ReadStruct(value, path, context, out);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(base::StringOf(value), absl::MaxSplits(' ', 1));
  out.kind = std::string(parts.first);
  DeriveApiVersion(out);
  if (out.api_version.empty() || parts.second.empty()) {
    return SnapshotError(path, absl::StrCat("\"", base::StringOf(value),
                                            "\" must be \"Kind namespace/name\", like "
                                            "\"Service shop/web\""));
  }
  const absl::Status status = ParseText(parts.second, out.key);
  return status.ok() ? status : SnapshotError(path, status.message());
}

rapidjson::Value WriteValue(const kube::ObjectReference& value, SnapshotWriter& writer) {
  kube::ObjectReference plain;
  plain.kind = value.kind;
  plain.key = value.key;
  DeriveApiVersion(plain);
  if (plain == value && !plain.api_version.empty() && !plain.key.name.empty()) {
    return WriteString(absl::StrCat(value.kind, " ", value.key.ToString()), writer);
  }
  return FieldWriter<kube::ObjectReference>(value, {}, writer).Write();
}

absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, oci::Backend& out) {
  out = oci::Backend();
  if (!value.IsString()) return ReadStruct(value, path, context, out);
  out.name = oci::BackendName(std::string(base::StringOf(value)));
  DeriveAddress(out);
  DeriveDocument(out);
  return absl::OkStatus();
}

rapidjson::Value WriteValue(const oci::Backend& value, SnapshotWriter& writer) {
  rapidjson::Value object = FieldWriter<oci::Backend>(value, {}, writer).Write();
  if (object.MemberCount() == 1 && object.HasMember("name")) {
    return WriteString(value.name.value(), writer);
  }
  return object;
}

absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, BackendSets& out) {
  if (!value.IsObject()) return WrongSnapshotType(path, "an object", value);
  out.clear();
  for (const auto& member : value.GetObject()) {
    const std::string at = MemberPath(path, base::StringOf(member.name));
    const oci::BackendSetName name{std::string(base::StringOf(member.name))};
    const auto [entry, added] = out.emplace(name, Fresh<oci::BackendSet>::Make(context));
    if (!added) return SnapshotError(at, "given twice");
    entry->second.name = name;
    const absl::Status status = ReadStruct(member.value, at, context, entry->second);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

rapidjson::Value WriteValue(const BackendSets& value, SnapshotWriter& writer) {
  rapidjson::Value object(rapidjson::kObjectType);
  for (const auto& [name, set] : value) {
    oci::BackendSet fresh = Fresh<oci::BackendSet>::Make(writer.context);
    fresh.name = name;
    object.AddMember(WriteString(name.value(), writer),
                     FieldWriter<oci::BackendSet>(set, std::move(fresh), writer).Write(),
                     writer.allocator);
  }
  return object;
}

absl::StatusOr<Snapshot> DecodeSnapshot(absl::string_view json) {
  if (json.size() > kMaxSnapshotBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the snapshot has ", json.size(), " bytes; at most ", kMaxSnapshotBytes));
  }
  absl::StatusOr<rapidjson::Document> document = base::ParseJson(json, "snapshot");
  if (!document.ok()) return document.status();
  if (!document->IsObject()) return WrongSnapshotType("", "an object", *document);
  const absl::StatusOr<SnapshotContext> context = ReadContext(*document);
  if (!context.ok()) return context.status();

  Snapshot snapshot;
  if (const rapidjson::Value* about = base::FindMember(*document, "about"); about != nullptr) {
    const absl::Status status = ReadValue(*about, "about", *context, snapshot.about);
    if (!status.ok()) return status;
    document->RemoveMember("about");
  }
  absl::Status status = ReadValue(*document, "", *context, snapshot.input);
  if (status.ok()) status = CheckReferences(snapshot.input);
  if (!status.ok()) return status;
  return snapshot;
}

std::string EncodeSnapshot(const Snapshot& snapshot) {
  rapidjson::Document document;
  SnapshotWriter writer{{snapshot.input.now, snapshot.input.load_balancer},
                        document.GetAllocator()};
  document.SetObject();
  if (!snapshot.about.empty()) {
    document.AddMember("about", WriteString(snapshot.about, writer), writer.allocator);
  }
  document.AddMember("now", WriteString(base::FormatTime(snapshot.input.now), writer),
                     writer.allocator);
  document.AddMember("load_balancer", WriteString(snapshot.input.load_balancer.value(), writer),
                     writer.allocator);
  rapidjson::Value fields = WriteValue(snapshot.input, writer);
  for (auto& member : fields.GetObject()) {
    document.AddMember(member.name, member.value, writer.allocator);
  }
  std::string text;
  AppendReadable(document, 0, 0, text);
  text += "\n";
  return text;
}

}  // namespace controller

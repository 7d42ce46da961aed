#include "sim/kube_objects.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/kube_defaults.h"
#include "sim/kube_fields.h"
#include "sim/kube_validation.h"

namespace sim {
namespace {

KubeResult Refuse(KubeError error) {
  const int code = error.code;
  return {.code = code, .error = std::move(error)};
}

// JSON null means "not set".
void DropNulls(JsonTree& tree) {
  if (tree.is_object()) {
    std::erase_if(tree.MutableMembers(),
                  [](const JsonTree::Member& member) { return member.second.is_null(); });
    for (auto& [name, value] : tree.MutableMembers()) DropNulls(value);
  } else if (tree.is_array()) {
    for (JsonTree& item : tree.MutableItems()) DropNulls(item);
  }
}

// The members in the order in which Go writes them.
JsonTree OrderedMetadata(const JsonTree& metadata) {
  JsonTree out = JsonTree::Object{};
  for (const char* name :
       {"name", "generateName", "namespace", "uid", "resourceVersion", "generation",
        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels",
        "annotations", "ownerReferences", "finalizers", "managedFields"}) {
    const JsonTree& value = metadata[name];
    const bool empty = value.is_null() || (value.is_object() && value.members().empty()) ||
                       (value.is_array() && value.items().empty());
    if (!empty) out.Set(name, value);
  }
  return out;
}

// What is compared to tell a change from a rewrite of the same.
JsonTree WithoutTimes(JsonTree object) {
  JsonTree& metadata = object.Child("metadata");
  metadata.Erase("resourceVersion");
  if (metadata.Has("managedFields")) {
    for (JsonTree& entry : metadata.Child("managedFields").MutableItems()) entry.Erase("time");
  }
  return object;
}

bool SameContent(const JsonTree& a, const JsonTree& b) {
  const auto without = [](JsonTree tree) {
    for (const char* name : {"metadata", "status"}) tree.Erase(name);
    // Binding a Pod to a node does not count.
    if (tree["spec"].Has("nodeName")) tree.Child("spec").Erase("nodeName");
    return tree;
  };
  return without(a) == without(b);
}

FieldManager ManagerOf(const KubeResource& resource, const KubeWriter& writer) {
  return {.name = writer.manager,
          .operation = writer.operation,
          .api_version = resource.api_version(),
          .subresource = writer.subresource,
          .time = KubeTime(writer.now)};
}

// What the server allotted stays when an update does not mention it.
void KeepAllotted(const KubeResource& resource, const JsonTree& before, JsonTree& after) {
  JsonTree& metadata = after.Child("metadata");
  for (const char* name : {"resourceVersion", "generation", "creationTimestamp",
                           "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    metadata.Erase(name);
    if (before["metadata"].Has(name)) metadata.Set(name, before["metadata"][name]);
  }
  for (const char* name : {"uid", "name", "namespace", "generateName"}) {
    if (before["metadata"].Has(name)) metadata.SetIfMissing(name, before["metadata"][name]);
  }
  if (resource.kind == "Service") {
    for (const char* name : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
      if (before["spec"].Has(name)) after.Child("spec").SetIfMissing(name, before["spec"][name]);
    }
  }
}

std::optional<KubeError> CheckIdentity(const KubeObjectRef& ref, const JsonTree& metadata) {
  const std::string& ns = metadata["namespace"].AsString();
  if (!ns.empty() && ns != ref.ns) {
    return kube_error::BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  const std::string& name = metadata["name"].AsString();
  if (!ref.name.empty() && name != ref.name) {
    return kube_error::BadRequest(absl::StrCat(
        "the name of the object (", name, ") does not match the name on the URL (", ref.name, ")"));
  }
  return std::nullopt;
}

std::optional<KubeError> CheckPreconditions(const KubeObjectRef& ref, const JsonTree& metadata,
                                            const std::string& uid, const std::string& version) {
  if (!uid.empty() && uid != metadata["uid"].AsString()) {
    return kube_error::Conflict(
        ref, absl::StrCat("StorageError: invalid object, Code: 4, Key: /registry/",
                          ref.resource->plural, "/", StoreKey(ref.ns, ref.name),
                          ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                          "precondition: ",
                          uid, ", UID in object meta: ", metadata["uid"].AsString()));
  }
  if (!version.empty() && version != metadata["resourceVersion"].AsString()) {
    return kube_error::Modified(ref);
  }
  return std::nullopt;
}

}  // namespace

std::string KubeTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string KubeMicroTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

absl::Time ParseKubeTime(const JsonTree& value) {
  absl::Time time;
  if (!absl::ParseTime(absl::RFC3339_full, value.AsString(), &time, nullptr)) {
    return absl::InfinitePast();
  }
  return time;
}

KubeObjects::KubeObjects(KubeStore& store, uint64_t seed) : store_(store), random_(seed) {}

std::string KubeObjects::NewUid() {
  const uint64_t high = random_.Next();
  const uint64_t low = random_.Next();
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", high >> 32, (high >> 16) & 0xffff,
                         high & 0xfff, 0x8000 | ((low >> 48) & 0x3fff), low & 0xffffffffffff);
}

KubeResult KubeObjects::Create(const KubeResource& resource, const std::string& ns, JsonTree object,
                               const KubeWriter& writer) {
  if (auto error = CheckDecodable(resource, object)) return Refuse(*std::move(error));
  JsonTree metadata = object["metadata"];
  KubeObjectRef ref{&resource, ns, ""};
  if (auto error = CheckIdentity(ref, metadata)) return Refuse(*std::move(error));
  if (metadata.Has("resourceVersion") && !metadata["resourceVersion"].AsString().empty()) {
    return Refuse({.message = "resourceVersion should not be set on objects to be created"});
  }
  if (metadata["name"].AsString().empty() && !metadata["generateName"].AsString().empty()) {
    metadata.Set("name", metadata["generateName"].AsString() + random_.Token(5));
  }
  ref.name = metadata["name"].AsString();
  const KubeObjectRef space{&resources::Namespaces(), "", ns};
  if (resource.traits.namespaced && store_.Find(space) == nullptr) {
    return Refuse(kube_error::NotFound(space));
  }

  for (const char* name : {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds",
                           "managedFields", "generation"}) {
    metadata.Erase(name);
  }
  if (resource.traits.namespaced) metadata.Set("namespace", ns);
  metadata.Set("uid", NewUid());
  metadata.Set("creationTimestamp", KubeTime(writer.now));
  if (resource.traits.generation) metadata.Set("generation", 1);
  for (const char* name : {"kind", "apiVersion"}) object.Erase(name);
  if (resource.traits.status) object.Erase("status");
  DropNulls(object);
  object.Set("metadata", std::move(metadata));
  ApplyDefaults(resource, object);
  const std::vector<FieldError> errors = ValidateObject(resource, object);
  if (!errors.empty()) return Refuse(kube_error::Invalid(ref, errors));
  if (store_.Find(ref) != nullptr) return Refuse(kube_error::AlreadyExists(ref));

  Own(nullptr, resource, writer, object);
  AdmitNew(resource, random_, object);
  object.Set("metadata", OrderedMetadata(object["metadata"]));
  return {.code = 201, .object = store_.Put(resource, std::move(object))};
}

KubeResult KubeObjects::Replace(const KubeObjectRef& ref, JsonTree object,
                                const KubeWriter& writer) {
  if (auto error = CheckDecodable(*ref.resource, object)) return Refuse(*std::move(error));
  if (auto error = CheckIdentity(ref, object["metadata"])) return Refuse(*std::move(error));
  const KubeObject before = store_.Find(ref);
  const std::string uid = object["metadata"]["uid"].AsString();
  const std::string version = object["metadata"]["resourceVersion"].AsString();
  if (before == nullptr) {
    if (!ref.resource->traits.put_creates || !writer.subresource.empty()) {
      return Refuse(kube_error::NotFound(ref));
    }
    if (auto error = CheckPreconditions(ref, {}, uid, "")) return Refuse(*std::move(error));
    object.Child("metadata").Erase("resourceVersion");
    return Create(*ref.resource, ref.ns, std::move(object), writer);
  }
  if (auto error = CheckPreconditions(ref, (*before)["metadata"], uid, version)) {
    return Refuse(*std::move(error));
  }
  if (version.empty() && ref.resource->traits.put_needs_version) {
    return Refuse(
        kube_error::Invalid(ref, {field_error::Invalid("metadata.resourceVersion", "0x0",
                                                       "must be specified for an update")}));
  }
  DropNulls(object);
  return Write(ref, before, std::move(object), writer);
}

void KubeObjects::Own(const JsonTree* before, const KubeResource& resource,
                      const KubeWriter& writer, JsonTree& after) const {
  if (field_ownership_) RecordUpdate(before, ManagerOf(resource, writer), after);
}

KubeResult KubeObjects::Write(const KubeObjectRef& ref, const KubeObject& before, JsonTree after,
                              const KubeWriter& writer) {
  const KubeResource& resource = *ref.resource;
  const bool applied = writer.operation == "Apply";
  for (const char* name : {"kind", "apiVersion"}) after.Erase(name);
  if (!applied) after.Child("metadata").Erase("managedFields");
  if (writer.subresource == "status") {
    // Only the status counts; a wrong identity is still complained about.
    JsonTree merged = *before;
    merged.Set("status", after["status"]);
    for (const char* name : {"uid", "managedFields"}) {
      const JsonTree& value = after["metadata"][name];
      if (!value.is_null()) merged.Child("metadata").Set(name, value);
    }
    after = std::move(merged);
  } else if (resource.traits.status) {
    after.Set("status", (*before)["status"]);
  }
  KeepAllotted(resource, *before, after);
  ApplyDefaults(resource, after);
  std::vector<FieldError> errors = ValidateUpdate(resource, *before, after, writer.subresource);
  if (errors.empty() && writer.subresource.empty()) errors = ValidateObject(resource, after);
  if (!errors.empty()) return Refuse(kube_error::Invalid(ref, errors));

  if (!applied) Own(before.get(), resource, writer, after);
  after.Set("metadata", OrderedMetadata(after["metadata"]));
  const bool same =
      field_ownership_ ? WithoutTimes(after) == WithoutTimes(*before) : after == *before;
  if (same) return {.object = before};
  JsonTree& metadata = after.Child("metadata");
  if (resource.traits.generation && !SameContent(*before, after)) {
    metadata.Set("generation", metadata["generation"].AsInt() + 1);
  }
  const bool done = metadata.Has("deletionTimestamp") && !metadata.Has("finalizers") &&
                    metadata["deletionGracePeriodSeconds"].AsInt() == 0;
  const KubeObject stored = store_.Put(resource, std::move(after));
  if (done) store_.Remove(ref, *stored);
  return {.object = stored};
}

KubeResult KubeObjects::Patch(const KubeObjectRef& ref, PatchType type, const JsonTree& patch,
                              bool force, const KubeWriter& writer) {
  const KubeObject before = store_.Find(ref);
  if (type == PatchType::kApply) {
    if (auto error = CheckDecodable(*ref.resource, patch)) return Refuse(*std::move(error));
    KubeWriter applier = writer;
    applier.operation = "Apply";
    if (before == nullptr && writer.subresource.empty()) {
      return Create(*ref.resource, ref.ns, patch, applier);
    }
    if (before == nullptr) return Refuse(kube_error::NotFound(ref));
    return Apply(ref, before, patch, force, applier);
  }
  if (before == nullptr) return Refuse(kube_error::NotFound(ref));
  JsonTree after = *before;
  MergePatch(patch, type == PatchType::kStrategic, after);
  if (auto error = CheckDecodable(*ref.resource, after)) return Refuse(*std::move(error));
  const std::string version = patch["metadata"]["resourceVersion"].AsString();
  if (auto error = CheckPreconditions(ref, (*before)["metadata"], "", version)) {
    return Refuse(*std::move(error));
  }
  return Write(ref, before, std::move(after), writer);
}

KubeResult KubeObjects::Apply(const KubeObjectRef& ref, const KubeObject& before, JsonTree config,
                              bool force, const KubeWriter& writer) {
  if (writer.subresource == "status") {
    JsonTree reduced =
        JsonTree::Object{{"metadata", config["metadata"]}, {"status", config["status"]}};
    config = std::move(reduced);
  }
  JsonTree after = *before;
  auto error = ApplyConfig(config, ManagerOf(*ref.resource, writer), force, after);
  if (error.has_value()) return Refuse(*std::move(error));
  return Write(ref, before, std::move(after), writer);
}

KubeResult KubeObjects::Modify(const KubeObjectRef& ref, const KubeWriter& writer,
                               const std::function<void(JsonTree&)>& change) {
  const KubeObject before = store_.Find(ref);
  if (before == nullptr) return Refuse(kube_error::NotFound(ref));
  JsonTree after = *before;
  change(after);
  if (after == *before) return {.object = before};
  return Write(ref, before, std::move(after), writer);
}

KubeResult KubeObjects::Delete(const KubeObjectRef& ref, const KubeDeleteOptions& options,
                               absl::Time now) {
  const KubeObject before = store_.Find(ref);
  if (before == nullptr) return Refuse(kube_error::NotFound(ref));
  const JsonTree& metadata = (*before)["metadata"];
  if (auto error = CheckPreconditions(ref, metadata, options.uid, options.resource_version)) {
    return Refuse(*std::move(error));
  }
  if (ref.resource->kind == "Pod") return DeletePod(ref, before, options, now);
  if (metadata["finalizers"].items().empty()) return {.object = store_.Remove(ref, *before)};
  if (metadata.Has("deletionTimestamp")) return {.object = before};
  JsonTree after = *before;
  after.Child("metadata").Set("deletionTimestamp", KubeTime(now));
  after.Child("metadata").Set("deletionGracePeriodSeconds", 0);
  after.Set("metadata", OrderedMetadata(after["metadata"]));
  return {.object = store_.Put(*ref.resource, std::move(after))};
}

KubeResult KubeObjects::DeletePod(const KubeObjectRef& ref, const KubeObject& before,
                                  const KubeDeleteOptions& options, absl::Time now) {
  const JsonTree& spec = (*before)["spec"];
  const JsonTree& old = (*before)["metadata"];
  const std::string& phase = (*before)["status"]["phase"].AsString();
  int64_t grace = options.grace_seconds.value_or(spec["terminationGracePeriodSeconds"].AsInt());
  if (grace < 0) grace = 1;
  // Nobody would end it: not bound to a node, or ended already.
  const bool at_once =
      spec["nodeName"].AsString().empty() || phase == "Failed" || phase == "Succeeded";
  if (at_once) grace = 0;
  const bool finalized = old["finalizers"].items().empty();
  const int64_t old_grace = old["deletionGracePeriodSeconds"].AsInt();
  if (old.Has("deletionTimestamp") && grace >= old_grace && (grace > 0 || !finalized)) {
    return {.object = before};
  }
  JsonTree after = *before;
  JsonTree& metadata = after.Child("metadata");
  // A deletion counts as a change of the spec, a shorter grace does not.
  if (!old.Has("deletionTimestamp")) metadata.Set("generation", old["generation"].AsInt() + 1);
  metadata.Set("deletionTimestamp", KubeTime(now + absl::Seconds(grace)));
  metadata.Set("deletionGracePeriodSeconds", grace);
  after.Set("metadata", OrderedMetadata(metadata));
  const KubeObject stored = store_.Put(*ref.resource, std::move(after));
  if (grace > 0 || !finalized) return {.object = stored};
  return {.object = store_.Remove(ref, *stored)};
}

}  // namespace sim

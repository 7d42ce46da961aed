#include "kube/decoder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "kube/http_status.h"
#include "kube/json_fields.h"
#include "kube/metadata_decoder.h"
#include "kube/object_decoder.h"

namespace kube {
namespace {

// Names and values from outside are part of a message, whatever is in them.
constexpr size_t kMaxMessageBytes = 1024;

absl::Status Prefixed(absl::string_view prefix, const absl::Status& status) {
  return absl::Status(status.code(),
                      OneLine(absl::StrCat(prefix, ": ", status.message()), kMaxMessageBytes));
}

absl::Status BadObjectStatus(Resource resource, const ObjectKey& key, const absl::Status& why) {
  const absl::string_view name = ResourceName(resource);
  if (key.name.empty()) return Prefixed(absl::StrCat(name, " object without a name"), why);
  return Prefixed(absl::StrCat(name, " ", key.ToString()), why);
}

absl::StatusOr<ListPage> DecodeTreePage(Resource resource, absl::string_view json) {
  absl::StatusOr<rapidjson::Document> document = base::ParseJson(json, "JSON");
  if (!document.ok()) return document.status();
  absl::Status error;
  const Fields root(*document, error);
  ListPage page;
  const Fields metadata = root.Object("metadata");
  page.resource_version = metadata.RequiredString("resourceVersion");
  page.continue_token = metadata.String("continue");
  const rapidjson::Value* items = root.Raw("items");
  if (error.ok() && items == nullptr && !document->HasMember("items")) {
    root.Fail("items", "missing");
  }
  if (items != nullptr && !items->IsArray()) root.Fail("items", "expected an array");
  if (!error.ok()) return error;
  if (items == nullptr) return page;
  for (const rapidjson::Value& item : items->GetArray()) {
    absl::StatusOr<Object> object = DecodeObject(resource, item);
    if (object.ok()) {
      page.objects.push_back(*std::move(object));
    } else {
      page.bad.push_back({IdentityOf(item).key, object.status()});
    }
  }
  return page;
}

bool IsMetadataOnly(Resource resource) {
  return resource == Resource::kPods || resource == Resource::kReplicaSets;
}

std::optional<WatchEventType> EventTypeNamed(absl::string_view name) {
  if (name == "ADDED") return WatchEventType::kAdded;
  if (name == "MODIFIED") return WatchEventType::kModified;
  if (name == "DELETED") return WatchEventType::kDeleted;
  if (name == "BOOKMARK") return WatchEventType::kBookmark;
  if (name == "ERROR") return WatchEventType::kError;
  return std::nullopt;
}

absl::Status StatusOfErrorEvent(Resource resource, const rapidjson::Value& object) {
  ApiStatus api_status;
  api_status.code = static_cast<int>(base::ReadInt(object, "code").value_or(0) % 1000);
  api_status.reason = base::ReadString(object, "reason").value_or("");
  api_status.message = base::ReadString(object, "message").value_or("");
  return ToStatus(api_status, absl::StrCat("watch ", ResourceName(resource)), /*is_write=*/false);
}

template <typename T>
absl::StatusOr<T> DecodeSingle(absl::string_view json, absl::string_view what,
                               absl::StatusOr<T> (*decode)(const rapidjson::Value&)) {
  const absl::StatusOr<rapidjson::Document> document = base::ParseJson(json, what);
  if (!document.ok()) return document.status();
  if (!document->IsObject()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": not a JSON object"));
  }
  absl::StatusOr<T> object = decode(*document);
  if (object.ok()) return object;
  return Prefixed(absl::StrCat(what, " ", IdentityOf(*document).key.ToString()), object.status());
}

}  // namespace

absl::StatusOr<ListPage> DecodeListPage(Resource resource, absl::string_view json) {
  absl::StatusOr<ListPage> page = IsMetadataOnly(resource) ? DecodeMetadataPage(resource, json)
                                                           : DecodeTreePage(resource, json);
  if (!page.ok()) {
    return Prefixed(absl::StrCat("list of ", ResourceName(resource)), page.status());
  }
  for (BadObject& bad : page->bad) bad.why = BadObjectStatus(resource, bad.key, bad.why);
  return page;
}

absl::StatusOr<WatchEvent> DecodeWatchEvent(Resource resource, absl::string_view line) {
  const std::string what = absl::StrCat("watch event of ", ResourceName(resource));
  absl::StatusOr<rapidjson::Document> document = base::ParseJson(line, what);
  if (!document.ok()) return document.status();
  const std::string type_name = base::ReadString(*document, "type").value_or("");
  const std::optional<WatchEventType> type = EventTypeNamed(type_name);
  const rapidjson::Value* object = base::FindMember(*document, "object");
  if (!type.has_value() || object == nullptr || !object->IsObject()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": neither of a known type nor with an object"));
  }
  WatchEvent event;
  event.type = *type;
  if (*type == WatchEventType::kError) {
    event.error = StatusOfErrorEvent(resource, *object);
    return event;
  }
  Identity identity = IdentityOf(*object);
  event.resource_version = std::move(identity.resource_version);
  if (*type == WatchEventType::kBookmark) return event;
  event.key = std::move(identity.key);
  event.uid = std::move(identity.uid);
  if (*type == WatchEventType::kDeleted) {
    if (!event.key.name.empty()) return event;
    return absl::InvalidArgumentError(absl::StrCat(what, ": DELETED, but it does not name what"));
  }
  absl::StatusOr<Object> decoded = DecodeObject(resource, *object);
  if (decoded.ok()) {
    event.object = *std::move(decoded);
  } else {
    event.error = BadObjectStatus(resource, event.key, decoded.status());
  }
  return event;
}

absl::StatusOr<PodDetails> DecodePod(absl::string_view json) {
  return DecodeSingle<PodDetails>(json, "pod", DecodePodDetails);
}

absl::StatusOr<Endpoints> DecodeEndpoints(absl::string_view json) {
  return DecodeSingle<Endpoints>(json, "endpoints", DecodeEndpointsObject);
}

absl::StatusOr<ConfigMap> DecodeConfigMap(absl::string_view json) {
  return DecodeSingle<ConfigMap>(json, "config map", DecodeConfigMapObject);
}

absl::StatusOr<Lease> DecodeLease(absl::string_view json) {
  return DecodeSingle<Lease>(json, "lease", DecodeLeaseObject);
}

namespace {

template <typename T>
absl::StatusOr<std::vector<T>> DecodeWhole(absl::string_view json, absl::string_view what,
                                           absl::StatusOr<T> (*decode)(const rapidjson::Value&)) {
  const absl::StatusOr<rapidjson::Document> document = base::ParseJson(json, what);
  if (!document.ok()) return document.status();
  const rapidjson::Value* items = base::FindMember(*document, "items");
  if (items == nullptr || !items->IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": no list of items"));
  }
  const rapidjson::Value* metadata = base::FindMember(*document, "metadata");
  if (metadata != nullptr && !base::ReadString(*metadata, "continue").value_or("").empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": more than one page of them"));
  }
  std::vector<T> result;
  for (const rapidjson::Value& item : items->GetArray()) {
    absl::StatusOr<T> object = decode(item);
    if (!object.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(what, " ", IdentityOf(item).key.ToString(),
                                                     ": ", object.status().message()));
    }
    result.push_back(*std::move(object));
  }
  return result;
}

}  // namespace

absl::StatusOr<std::vector<HorizontalPodAutoscaler>> DecodeAutoscalers(absl::string_view json) {
  return DecodeWhole<HorizontalPodAutoscaler>(json, "horizontalpodautoscalers", DecodeAutoscaler);
}

absl::StatusOr<std::vector<DisruptionBudget>> DecodeDisruptionBudgets(absl::string_view json) {
  return DecodeWhole<DisruptionBudget>(json, "poddisruptionbudgets", DecodeDisruptionBudget);
}

}  // namespace kube

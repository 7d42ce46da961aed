#include "sim/kube_render.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sim {
namespace {

// What a continue token says.
struct Continue {
  int64_t resource_version = 0;  // -1: whatever is there now
  std::string after;             // store key of the last object sent
};

std::string EncodeContinue(const Continue& at) {
  const JsonTree token = JsonTree::Object{{"v", "meta.k8s.io/v1"},
                                          {"rv", at.resource_version},
                                          {"start", at.after + std::string(1, '\0')}};
  std::string text = absl::WebSafeBase64Escape(token.Dump());
  while (absl::EndsWith(text, "=")) text.pop_back();
  return text;
}

std::optional<Continue> DecodeContinue(const std::string& text) {
  std::string json;
  if (!absl::WebSafeBase64Unescape(text, &json)) return std::nullopt;
  const auto token = JsonTree::Parse(json, "continue");
  if (!token.ok() || (*token)["v"].AsString() != "meta.k8s.io/v1") return std::nullopt;
  Continue at{(*token)["rv"].AsInt(), (*token)["start"].AsString()};
  if (at.after.empty() || at.after.back() != '\0') return std::nullopt;
  at.after.pop_back();
  return at;
}

// What a list answers from.
struct ListSource {
  std::vector<KubeObject> objects;
  int64_t resource_version = 0;
  std::string after;
};

std::variant<ListSource, KubeError> Source(const KubeStore& store, const KubeRequestInfo& info) {
  ListSource source{{}, store.resource_version(), ""};
  const std::string& token = info.Parameter("continue");
  if (token.empty()) {
    int64_t asked = 0;
    const std::string& version = info.Parameter("resourceVersion");
    if (!version.empty() && !absl::SimpleAtoi(version, &asked)) {
      return kube_error::BadRequest(absl::StrCat("resourceVersion: Invalid value: \"", version,
                                                 "\": strconv.ParseUint: "
                                                 "parsing \"",
                                                 version, "\": invalid syntax"));
    }
    if (asked > source.resource_version) {
      return kube_error::TooLargeResourceVersion(asked, source.resource_version);
    }
    source.objects = store.List(*info.resource, info.ns);
    return source;
  }
  const std::optional<Continue> at = DecodeContinue(token);
  if (!at.has_value()) {
    return kube_error::BadRequest(
        "invalid continue token: continue key is not valid: invalid character 'o' in literal null "
        "(expecting 'u')");
  }
  source.after = at->after;
  if (at->resource_version < 0) {
    source.objects = store.List(*info.resource, info.ns);
    return source;
  }
  auto objects = store.ListAt(*info.resource, info.ns, at->resource_version);
  if (!objects.has_value()) {
    return kube_error::ContinueExpired(EncodeContinue({-1, at->after}));
  }
  source.objects = *std::move(objects);
  source.resource_version = at->resource_version;
  return source;
}

}  // namespace

std::variant<KubeView, KubeError> ChooseView(const http::Headers& headers) {
  const absl::string_view accept = http::FindHeader(headers, "Accept");
  if (accept.empty()) return KubeView::kFull;
  for (const absl::string_view range : absl::StrSplit(accept, ',')) {
    std::string as;
    std::string group;
    std::string version;
    const std::vector<absl::string_view> parts = absl::StrSplit(range, ';');
    for (const absl::string_view part : parts) {
      const std::pair<absl::string_view, absl::string_view> pair =
          absl::StrSplit(absl::StripAsciiWhitespace(part), absl::MaxSplits('=', 1));
      if (pair.first == "as") as = std::string(pair.second);
      if (pair.first == "g") group = std::string(pair.second);
      if (pair.first == "v") version = std::string(pair.second);
    }
    const absl::string_view media = absl::StripAsciiWhitespace(parts[0]);
    if (media != "application/json" && media != "*/*" && media != "application/*") continue;
    if (as.empty()) return KubeView::kFull;
    if (group != "meta.k8s.io" || version != "v1") continue;
    if (as == "PartialObjectMetadata") return KubeView::kMetadata;
    if (as == "PartialObjectMetadataList") return KubeView::kMetadataList;
  }
  return kube_error::NotAcceptable(
      "only the following media types are accepted: application/json, application/yaml, "
      "application/vnd.kubernetes.protobuf");
}

std::string RenderObject(const KubeResource& resource, const JsonTree& object, KubeView view) {
  if (view == KubeView::kFull) {
    return absl::StrCat(R"({"kind":")", resource.kind, R"(","apiVersion":")",
                        resource.api_version(), "\",", object.Dump().substr(1));
  }
  return absl::StrCat(R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)",
                      R"("metadata":)", object["metadata"].Dump(), "}");
}

std::string RenderEvent(absl::string_view type, absl::string_view object_text) {
  return absl::StrCat(R"({"type":")", type, R"(","object":)", object_text, "}\n");
}

std::string RenderBookmark(const KubeResource& resource, int64_t resource_version, KubeView view) {
  const std::string metadata =
      absl::StrCat(R"("metadata":{"resourceVersion":")", resource_version, "\"}");
  if (view != KubeView::kFull) {
    return absl::StrCat(R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)",
                        metadata, "}");
  }
  return absl::StrCat(R"({"kind":")", resource.kind, R"(","apiVersion":")", resource.api_version(),
                      "\",", metadata, resource.empty_members.empty() ? "" : ",",
                      resource.empty_members, "}");
}

http::Response RenderList(const KubeStore& store, const KubeRequestInfo& info,
                          const KubeSelector& selector, KubeView view) {
  if (view == KubeView::kMetadata) {
    return kube_error::NotAcceptable(
               absl::StrCat("you requested PartialObjectMetadata, but the requested object is a "
                            "list (*",
                            info.resource->kind, "List)"))
        .ToResponse();
  }
  auto source = Source(store, info);
  if (auto* error = std::get_if<KubeError>(&source)) return error->ToResponse();
  const ListSource& list = std::get<ListSource>(source);
  int64_t limit = 0;
  if (!absl::SimpleAtoi(info.Parameter("limit"), &limit)) limit = 0;

  std::string items;
  int64_t sent = 0;
  int64_t left = 0;
  std::string last;
  for (const KubeObject& object : list.objects) {
    const std::string key = StoreKey(*object);
    if (key <= list.after || !selector.Matches(*object)) continue;
    if (limit > 0 && sent == limit) {
      ++left;
      continue;
    }
    if (sent++ > 0) items += ',';
    items += view == KubeView::kFull ? object->Dump()
                                     : RenderObject(*info.resource, *object, KubeView::kMetadata);
    last = key;
  }
  JsonTree metadata = JsonTree::Object{{"resourceVersion", absl::StrCat(list.resource_version)}};
  if (left > 0) {
    metadata.Set("continue", EncodeContinue({list.resource_version, last}));
    // A real server counts only where it need not filter.
    if (selector.empty()) metadata.Set("remainingItemCount", left);
  }
  const std::string kind = view == KubeView::kFull ? absl::StrCat(info.resource->kind, "List")
                                                   : "PartialObjectMetadataList";
  const std::string api_version =
      view == KubeView::kFull ? info.resource->api_version() : "meta.k8s.io/v1";
  return JsonResponse(
      200, absl::StrCat(R"({"kind":")", kind, R"(","apiVersion":")", api_version,
                        R"(","metadata":)", metadata.Dump(), R"(,"items":[)", items, "]}\n"));
}

http::Response JsonResponse(int status, std::string body) {
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

}  // namespace sim

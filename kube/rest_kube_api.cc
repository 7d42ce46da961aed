#include "kube/rest_kube_api.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/api_path.h"
#include "kube/decoder.h"
#include "kube/http_status.h"

namespace kube {
namespace {

constexpr absl::string_view kJson = "application/json";
constexpr absl::string_view kMergePatch = "application/merge-patch+json";
constexpr absl::string_view kMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
constexpr absl::string_view kMetadata =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

// Of answers whose size does not depend on the cluster's.
constexpr size_t kMaxSmallAnswerBytes = 64 << 10;

bool IsMetadataOnly(Resource resource) {
  return resource == Resource::kPods || resource == Resource::kReplicaSets;
}

std::string InWords(absl::string_view verb, Resource resource, absl::string_view ns) {
  return absl::StrCat(verb, " ", ResourceName(resource), ns.empty() ? "" : " in namespace ", ns);
}

bool IsWrite(const http::Request& request) { return request.method != "GET"; }

absl::Status WithCode(absl::StatusCode code, const absl::Status& status) {
  return absl::Status(code, status.message());
}

// A watch's bytes on their way to the caller, or the beginning of a refusal.
class WatchHandler final : public http::StreamHandler {
 public:
  explicit WatchHandler(const std::function<absl::Status(absl::string_view)>& on_bytes)
      : on_bytes_(on_bytes) {}

  absl::Status OnHead(int status, const http::Headers& headers) override {
    response_.status = status;
    response_.headers = headers;
    response_.body.clear();
    return absl::OkStatus();
  }

  absl::Status OnData(absl::string_view bytes) override {
    if (response_.status == 200) return on_bytes_(bytes);
    constexpr size_t kMaxRefusalBytes = 16 << 10;
    const size_t room = kMaxRefusalBytes - std::min(kMaxRefusalBytes, response_.body.size());
    response_.body.append(bytes.data(), std::min(bytes.size(), room));
    return room > bytes.size() ? absl::OkStatus() : absl::ResourceExhaustedError("a long refusal");
  }

  bool refused() const { return response_.status != 0 && response_.status != 200; }
  const http::Response& response() const { return response_; }

 private:
  const std::function<absl::Status(absl::string_view)>& on_bytes_;
  http::Response response_;
};

}  // namespace

RestKubeApi::RestKubeApi(std::shared_ptr<http::Transport> calls,
                         std::shared_ptr<http::Transport> watches,
                         std::shared_ptr<TokenSource> token_source, RestOptions options)
    : calls_(std::move(calls)),
      watches_(std::move(watches)),
      token_source_(std::move(token_source)),
      options_(std::move(options)) {}

http::Request RestKubeApi::MakeRequest(std::string method, std::string target) const {
  http::Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.timeout = options_.call_timeout;
  request.headers = {{"Accept", std::string(kJson)}, {"User-Agent", options_.user_agent}};
  return request;
}

absl::Status RestKubeApi::Authorize(http::Request& request) {
  if (token_source_ == nullptr) return absl::OkStatus();
  absl::StatusOr<std::string> token = token_source_->Token();
  if (!token.ok()) {
    return absl::UnauthenticatedError(
        absl::StrCat("no token for the Kubernetes API: ", token.status().message()));
  }
  std::erase_if(request.headers,
                [](const auto& header) { return header.first == "Authorization"; });
  request.headers.emplace_back("Authorization", "Bearer " + *token);
  return absl::OkStatus();
}

absl::StatusOr<std::string> RestKubeApi::Send(http::Request request, absl::string_view what) {
  for (bool last_try = token_source_ == nullptr;; last_try = true) {
    if (absl::Status status = Authorize(request); !status.ok()) return status;
    absl::StatusOr<http::Response> response = calls_->Send(request);
    if (!response.ok()) {
      return absl::Status(response.status().code(),
                          absl::StrCat(what, ": ", response.status().message()));
    }
    if (response->status == 401 && token_source_ != nullptr) token_source_->Refused();
    if (response->status == 401 && !last_try) continue;
    absl::Status status = StatusOfResponse(*response, what, IsWrite(request));
    if (!status.ok()) return status;
    return std::move(response->body);
  }
}

absl::StatusOr<std::string> RestKubeApi::List(const ListRequest& list) {
  absl::StatusOr<std::string> target = ListTarget(list);
  if (!target.ok()) return target.status();
  http::Request request = MakeRequest("GET", *std::move(target));
  if (IsMetadataOnly(list.resource)) request.headers[0].second = std::string(kMetadataList);
  request.timeout = options_.list_timeout;
  request.max_response_bytes = options_.max_page_bytes;
  return Send(std::move(request), InWords("list", list.resource, list.ns));
}

absl::Status RestKubeApi::Watch(const WatchRequest& watch,
                                const std::function<absl::Status(absl::string_view)>& on_bytes,
                                std::shared_ptr<http::Cancellation> cancellation) {
  absl::StatusOr<std::string> target = WatchTarget(watch);
  if (!target.ok()) return target.status();
  http::Request request = MakeRequest("GET", *std::move(target));
  if (IsMetadataOnly(watch.resource)) request.headers[0].second = std::string(kMetadata);
  request.timeout = watch.silence;
  const std::string what = InWords("watch", watch.resource, watch.ns);
  for (bool last_try = token_source_ == nullptr;; last_try = true) {
    if (absl::Status status = Authorize(request); !status.ok()) return status;
    WatchHandler handler(on_bytes);
    const absl::Status status = watches_->Stream(request, handler, cancellation);
    if (absl::IsCancelled(status) || !handler.refused()) return status;
    if (handler.response().status == 401 && token_source_ != nullptr) token_source_->Refused();
    if (handler.response().status == 401 && !last_try) continue;
    const absl::Status refusal = StatusOfResponse(handler.response(), what, /*is_write=*/false);
    // 2xx other than 200 is no stream of events.
    return refusal.ok() ? absl::UnavailableError(what + ": an answer that is no watch") : refusal;
  }
}

absl::StatusOr<std::string> RestKubeApi::GetObject(Collection collection, const ObjectKey& key) {
  absl::StatusOr<std::string> target = ObjectTarget(collection, key);
  if (!target.ok()) return target.status();
  const std::string what = absl::StrCat("get ", CollectionName(collection), " ", key.ToString());
  return Send(MakeRequest("GET", *std::move(target)), what);
}

absl::StatusOr<PodDetails> RestKubeApi::GetPod(const ObjectKey& pod) {
  const absl::StatusOr<std::string> body = GetObject(Collection::kPods, pod);
  if (!body.ok()) return body.status();
  return DecodePod(*body);
}

absl::StatusOr<Endpoints> RestKubeApi::GetEndpoints(const ObjectKey& service) {
  const absl::StatusOr<std::string> body = GetObject(Collection::kEndpoints, service);
  if (!body.ok()) return body.status();
  return DecodeEndpoints(*body);
}

absl::StatusOr<ConfigMap> RestKubeApi::GetConfigMap(const ObjectKey& key) {
  const absl::StatusOr<std::string> body = GetObject(Collection::kConfigMaps, key);
  if (!body.ok()) return body.status();
  return DecodeConfigMap(*body);
}

absl::StatusOr<std::string> RestKubeApi::PutObject(Collection collection, const ObjectKey& key,
                                                   bool is_new, std::string body) {
  absl::StatusOr<std::string> target =
      is_new ? CollectionTarget(collection, key.ns) : ObjectTarget(collection, key);
  if (!target.ok()) return target.status();
  http::Request request = MakeRequest(is_new ? "POST" : "PUT", *std::move(target));
  request.headers.emplace_back("Content-Type", kJson);
  request.body = std::move(body);
  const std::string what =
      absl::StrCat(is_new ? "create " : "update ", CollectionName(collection), " ", key.ToString());
  absl::StatusOr<std::string> stored = Send(std::move(request), what);
  // Both mean that somebody was here since it was read.
  if (absl::IsAlreadyExists(stored.status()) || (!is_new && absl::IsNotFound(stored.status()))) {
    return WithCode(absl::StatusCode::kAborted, stored.status());
  }
  return stored;
}

absl::StatusOr<ConfigMap> RestKubeApi::PutConfigMap(const ConfigMap& config_map) {
  const absl::StatusOr<std::string> body =
      PutObject(Collection::kConfigMaps, config_map.key, config_map.resource_version.empty(),
                EncodeConfigMap(config_map, options_.reporter));
  if (!body.ok()) return body.status();
  return DecodeConfigMap(*body);
}

absl::StatusOr<Lease> RestKubeApi::GetLease(const ObjectKey& key) {
  const absl::StatusOr<std::string> body = GetObject(Collection::kLeases, key);
  if (!body.ok()) return body.status();
  return DecodeLease(*body);
}

absl::StatusOr<Lease> RestKubeApi::PutLease(const Lease& lease) {
  const absl::StatusOr<std::string> body =
      PutObject(Collection::kLeases, lease.key, lease.resource_version.empty(),
                EncodeLease(lease, options_.reporter));
  if (!body.ok()) return body.status();
  return DecodeLease(*body);
}

absl::StatusOr<std::string> RestKubeApi::ListObjects(Collection collection, const std::string& ns) {
  absl::StatusOr<std::string> target = WholeTarget(collection, ns);
  if (!target.ok()) return target.status();
  return Send(MakeRequest("GET", *std::move(target)),
              absl::StrCat("list ", CollectionName(collection), " in namespace ", ns));
}

absl::Status RestKubeApi::RemovePodLabel(const ObjectKey& pod, const std::string& uid,
                                         absl::string_view label) {
  absl::StatusOr<std::string> target = ObjectTarget(Collection::kPods, pod);
  if (!target.ok()) return target.status();
  http::Request request = MakeRequest("PATCH", *std::move(target));
  request.headers.emplace_back("Content-Type", kMergePatch);
  request.body = EncodeLabelRemoval(uid, label);
  const absl::Status status =
      Send(std::move(request), absl::StrCat("patch pods ", pod.ToString())).status();
  // A UID that is not the object's is refused as a change of it.
  return absl::IsInvalidArgument(status) ? WithCode(absl::StatusCode::kAborted, status) : status;
}

absl::Status RestKubeApi::CreateEvent(const Event& event) {
  absl::StatusOr<std::string> target = CollectionTarget(Collection::kEvents, event.key.ns);
  if (!target.ok()) return target.status();
  http::Request request = MakeRequest("POST", *std::move(target));
  request.headers.emplace_back("Content-Type", kJson);
  request.body = EncodeEvent(event, options_.reporter);
  return Send(std::move(request), absl::StrCat("create events ", event.key.ToString())).status();
}

absl::Status RestKubeApi::PatchEventSeries(const ObjectKey& event, int count,
                                           absl::Time last_observed) {
  absl::StatusOr<std::string> target = ObjectTarget(Collection::kEvents, event);
  if (!target.ok()) return target.status();
  http::Request request = MakeRequest("PATCH", *std::move(target));
  request.headers.emplace_back("Content-Type", kMergePatch);
  request.body = EncodeEventSeries(count, last_observed);
  return Send(std::move(request), absl::StrCat("patch events ", event.ToString())).status();
}

absl::Status RestKubeApi::ApplyPodCondition(const PodCondition& condition) {
  absl::StatusOr<std::string> target = PodStatusTarget(condition);
  if (!target.ok()) return target.status();
  http::Request request = MakeRequest("PATCH", *std::move(target));
  request.headers.emplace_back("Content-Type", "application/apply-patch+yaml");
  request.body = EncodePodCondition(condition);
  return Send(std::move(request), absl::StrCat("apply pods/status ", condition.pod.ToString()))
      .status();
}

absl::StatusOr<ServerVersion> RestKubeApi::GetVersion() {
  http::Request request = MakeRequest("GET", "/version");
  request.max_response_bytes = kMaxSmallAnswerBytes;
  const absl::StatusOr<std::string> body = Send(std::move(request), "get the version");
  if (!body.ok()) return body.status();
  return DecodeServerVersion(*body);
}

absl::StatusOr<AccessAnswer> RestKubeApi::ReviewAccess(const AccessQuestion& question) {
  http::Request request =
      MakeRequest("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  request.headers.emplace_back("Content-Type", kJson);
  request.max_response_bytes = kMaxSmallAnswerBytes;
  request.body = EncodeAccessQuestion(question);
  const std::string what = absl::StrCat("ask whether we may ", ToText(question));
  const absl::StatusOr<std::string> body = Send(std::move(request), what);
  if (!body.ok()) return body.status();
  return DecodeAccessAnswer(*body);
}

void RestKubeApi::EndCalls() {
  calls_->EndCalls();
  watches_->EndCalls();
}

}  // namespace kube

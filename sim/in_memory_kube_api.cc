#include "sim/in_memory_kube_api.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/decoder.h"
#include "kube/http_status.h"

namespace sim {
namespace {

constexpr absl::Duration kCallTimeout = absl::Seconds(20);
constexpr char kJson[] = "application/json";
constexpr char kMetadataList[] = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
constexpr char kMetadata[] = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

bool IsMetadataOnly(kube::Resource resource) {
  return resource == kube::Resource::kPods || resource == kube::Resource::kReplicaSets;
}

std::string InWords(absl::string_view verb, kube::Resource resource, absl::string_view ns) {
  return absl::StrCat(verb, " ", kube::ResourceName(resource), ns.empty() ? "" : " in namespace ",
                      ns);
}

http::Request MakeRequest(const char* method, std::string target, const char* accept = kJson) {
  return {.method = method,
          .target = std::move(target),
          .headers = {{"Accept", accept}, {"User-Agent", "oci-backend-drain"}},
          .body = ""};
}

http::Request MakeWrite(const char* method, std::string target, std::string body,
                        const char* type = kJson) {
  http::Request request = MakeRequest(method, std::move(target));
  request.headers.emplace_back("Content-Type", type);
  request.body = std::move(body);
  return request;
}

}  // namespace

InMemoryKubeApi::InMemoryKubeApi(FakeApiServer& server, base::Clock& clock,
                                 std::function<bool()> pump)
    : server_(server), clock_(clock), pump_(std::move(pump)) {}

absl::StatusOr<KubeAnswer> InMemoryKubeApi::Ask(const http::Request& request,
                                                const std::string& what) {
  KubeAnswer answer = server_.Handle(request, clock_.Now());
  clock_.SleepFor(std::min(answer.delay, kCallTimeout));
  if (answer.delay <= kCallTimeout && !answer.lose) return answer;
  if (answer.watch.has_value()) server_.CloseWatch(*answer.watch);
  return absl::DeadlineExceededError(absl::StrCat(what, ": no answer came"));
}

absl::StatusOr<std::string> InMemoryKubeApi::Send(const http::Request& request,
                                                  const std::string& what) {
  absl::StatusOr<KubeAnswer> answer = Ask(request, what);
  if (!answer.ok()) return answer.status();
  const absl::Status status =
      kube::StatusOfResponse(answer->response, what, /*is_write=*/request.method != "GET");
  if (!status.ok()) return status;
  return std::move(answer->response.body);
}

absl::StatusOr<std::string> InMemoryKubeApi::List(const kube::ListRequest& request) {
  absl::StatusOr<std::string> target = kube::ListTarget(request);
  if (!target.ok()) return target.status();
  const bool metadata = IsMetadataOnly(request.resource);
  return Send(MakeRequest("GET", *std::move(target), metadata ? kMetadataList : kJson),
              InWords("list", request.resource, request.ns));
}

absl::StatusOr<int64_t> InMemoryKubeApi::OpenWatch(const kube::WatchRequest& request) {
  absl::StatusOr<std::string> target = kube::WatchTarget(request);
  if (!target.ok()) return target.status();
  const std::string what = InWords("watch", request.resource, request.ns);
  const bool metadata = IsMetadataOnly(request.resource);
  const absl::StatusOr<KubeAnswer> answer =
      Ask(MakeRequest("GET", *std::move(target), metadata ? kMetadata : kJson), what);
  if (!answer.ok()) return answer.status();
  if (answer->watch.has_value()) return *answer->watch;
  const absl::Status refusal = kube::StatusOfResponse(answer->response, what, /*is_write=*/false);
  return refusal.ok() ? absl::UnavailableError(what + ": an answer that is no watch") : refusal;
}

absl::Status InMemoryKubeApi::Watch(const kube::WatchRequest& request,
                                    const std::function<absl::Status(absl::string_view)>& on_bytes,
                                    std::shared_ptr<http::Cancellation> cancellation) {
  const absl::StatusOr<int64_t> watch = OpenWatch(request);
  if (!watch.ok()) return watch.status();
  absl::Time last_heard = clock_.Now();
  absl::Status status;
  for (;;) {
    if (cancellation != nullptr && cancellation->cancelled()) {
      status = absl::CancelledError("the watch was cancelled");
      break;
    }
    server_.Advance(clock_.Now());
    const KubeWatchBytes taken = server_.TakeWatch(*watch);
    if (!taken.bytes.empty()) {
      last_heard = clock_.Now();
      status = on_bytes(taken.bytes);
      if (!status.ok()) break;
    }
    if (taken.state == KubeWatchBytes::State::kEnded) return absl::OkStatus();
    if (taken.state == KubeWatchBytes::State::kCut) {
      return absl::DeadlineExceededError("the connection broke");
    }
    if (clock_.Now() - last_heard >= request.silence) {
      status = absl::DeadlineExceededError("silent for too long");
      break;
    }
    if (taken.bytes.empty() && (pump_ == nullptr || !pump_())) {
      status = absl::CancelledError("nothing more happens");
      break;
    }
  }
  server_.CloseWatch(*watch);
  return status;
}

absl::StatusOr<std::string> InMemoryKubeApi::GetObject(kube::Collection collection,
                                                       const kube::ObjectKey& key) {
  absl::StatusOr<std::string> target = kube::ObjectTarget(collection, key);
  if (!target.ok()) return target.status();
  return Send(MakeRequest("GET", *std::move(target)),
              absl::StrCat("get ", kube::CollectionName(collection), " ", key.ToString()));
}

absl::StatusOr<kube::PodDetails> InMemoryKubeApi::GetPod(const kube::ObjectKey& pod) {
  const absl::StatusOr<std::string> body = GetObject(kube::Collection::kPods, pod);
  if (!body.ok()) return body.status();
  return kube::DecodePod(*body);
}

absl::StatusOr<kube::Endpoints> InMemoryKubeApi::GetEndpoints(const kube::ObjectKey& service) {
  const absl::StatusOr<std::string> body = GetObject(kube::Collection::kEndpoints, service);
  if (!body.ok()) return body.status();
  return kube::DecodeEndpoints(*body);
}

absl::StatusOr<kube::ConfigMap> InMemoryKubeApi::GetConfigMap(const kube::ObjectKey& key) {
  const absl::StatusOr<std::string> body = GetObject(kube::Collection::kConfigMaps, key);
  if (!body.ok()) return body.status();
  return kube::DecodeConfigMap(*body);
}

absl::StatusOr<std::string> InMemoryKubeApi::PutObject(kube::Collection collection,
                                                       const kube::ObjectKey& key, bool is_new,
                                                       std::string body) {
  absl::StatusOr<std::string> target =
      is_new ? kube::CollectionTarget(collection, key.ns) : kube::ObjectTarget(collection, key);
  if (!target.ok()) return target.status();
  absl::StatusOr<std::string> stored =
      Send(MakeWrite(is_new ? "POST" : "PUT", *std::move(target), std::move(body)),
           absl::StrCat(is_new ? "create " : "update ", kube::CollectionName(collection), " ",
                        key.ToString()));
  const bool raced =
      absl::IsAlreadyExists(stored.status()) || (!is_new && absl::IsNotFound(stored.status()));
  return raced ? absl::AbortedError(stored.status().message()) : std::move(stored);
}

absl::StatusOr<kube::ConfigMap> InMemoryKubeApi::PutConfigMap(const kube::ConfigMap& config_map) {
  const absl::StatusOr<std::string> body =
      PutObject(kube::Collection::kConfigMaps, config_map.key, config_map.resource_version.empty(),
                kube::EncodeConfigMap(config_map, reporter_));
  if (!body.ok()) return body.status();
  return kube::DecodeConfigMap(*body);
}

absl::StatusOr<kube::Lease> InMemoryKubeApi::GetLease(const kube::ObjectKey& key) {
  const absl::StatusOr<std::string> body = GetObject(kube::Collection::kLeases, key);
  if (!body.ok()) return body.status();
  return kube::DecodeLease(*body);
}

absl::StatusOr<kube::Lease> InMemoryKubeApi::PutLease(const kube::Lease& lease) {
  const absl::StatusOr<std::string> body =
      PutObject(kube::Collection::kLeases, lease.key, lease.resource_version.empty(),
                kube::EncodeLease(lease, reporter_));
  if (!body.ok()) return body.status();
  return kube::DecodeLease(*body);
}

absl::StatusOr<std::string> InMemoryKubeApi::ListObjects(kube::Collection collection,
                                                         const std::string& ns) {
  absl::StatusOr<std::string> target = kube::WholeTarget(collection, ns);
  if (!target.ok()) return target.status();
  return Send(MakeRequest("GET", *std::move(target)),
              absl::StrCat("list ", kube::CollectionName(collection), " in namespace ", ns));
}

absl::Status InMemoryKubeApi::RemovePodLabel(const kube::ObjectKey& pod, const std::string& uid,
                                             absl::string_view label) {
  absl::StatusOr<std::string> target = kube::ObjectTarget(kube::Collection::kPods, pod);
  if (!target.ok()) return target.status();
  const absl::Status status =
      Send(MakeWrite("PATCH", *std::move(target), kube::EncodeLabelRemoval(uid, label),
                     "application/merge-patch+json"),
           absl::StrCat("patch pods ", pod.ToString()))
          .status();
  return absl::IsInvalidArgument(status) ? absl::AbortedError(status.message()) : status;
}

absl::Status InMemoryKubeApi::CreateEvent(const kube::Event& event) {
  absl::StatusOr<std::string> target =
      kube::CollectionTarget(kube::Collection::kEvents, event.key.ns);
  if (!target.ok()) return target.status();
  return Send(MakeWrite("POST", *std::move(target), kube::EncodeEvent(event, reporter_)),
              absl::StrCat("create events ", event.key.ToString()))
      .status();
}

absl::Status InMemoryKubeApi::PatchEventSeries(const kube::ObjectKey& event, int count,
                                               absl::Time last_observed) {
  absl::StatusOr<std::string> target = kube::ObjectTarget(kube::Collection::kEvents, event);
  if (!target.ok()) return target.status();
  return Send(MakeWrite("PATCH", *std::move(target), kube::EncodeEventSeries(count, last_observed),
                        "application/merge-patch+json"),
              absl::StrCat("patch events ", event.ToString()))
      .status();
}

absl::Status InMemoryKubeApi::ApplyPodCondition(const kube::PodCondition& condition) {
  absl::StatusOr<std::string> target = kube::PodStatusTarget(condition);
  if (!target.ok()) return target.status();
  return Send(MakeWrite("PATCH", *std::move(target), kube::EncodePodCondition(condition),
                        "application/apply-patch+yaml"),
              absl::StrCat("apply pods/status ", condition.pod.ToString()))
      .status();
}

}  // namespace sim

// Bodies of the Kubernetes API: a value, or InvalidArgument.
#include <algorithm>
#include <variant>

#include "base/json.h"
#include "fuzz/fuzzer.h"
#include "kube/access.h"
#include "kube/decoder.h"
#include "kube/metadata_decoder.h"

namespace {

constexpr kube::Resource kResources[] = {
    kube::Resource::kServices,       kube::Resource::kIngresses,   kube::Resource::kIngressClasses,
    kube::Resource::kEndpointSlices, kube::Resource::kPods,        kube::Resource::kDeployments,
    kube::Resource::kStatefulSets,   kube::Resource::kReplicaSets, kube::Resource::kLeases,
};

bool IsPort(int port) { return port >= 0 && port <= 65'535; }

void RequireMessage(const absl::Status& status) {
  const absl::string_view message = status.message();
  fuzz::Require(message.size() <= 1100, "a message has a bound");
  fuzz::Require(std::none_of(message.begin(), message.end(),
                             [](unsigned char c) { return c < 0x20 || c == 0x7f; }),
                "a message is one line");
}

void RequireAnswer(const absl::Status& status) {
  fuzz::Require(status.ok() || status.code() == absl::StatusCode::kInvalidArgument,
                "a body is a value or InvalidArgument");
  RequireMessage(status);
}

// The numbers that decisions are computed with.
void RequireBounds(const kube::Object& object) {
  if (const auto* service = std::get_if<kube::Service>(&object)) {
    for (const kube::ServicePort& port : service->ports) {
      fuzz::Require(IsPort(port.port) && IsPort(port.target_port), "a Service's port is one");
    }
  } else if (const auto* slice = std::get_if<kube::EndpointSlice>(&object)) {
    for (const kube::EndpointPort& port : slice->ports) {
      fuzz::Require(IsPort(port.port), "a slice's port is one");
    }
  } else if (const auto* pod = std::get_if<kube::PodMetadata>(&object)) {
    fuzz::Require(pod->deletion_grace >= absl::ZeroDuration(), "a grace period is not negative");
  } else if (const auto* workload = std::get_if<kube::Workload>(&object)) {
    fuzz::Require(
        std::min({workload->replicas, workload->max_unavailable, workload->max_surge}) >= 0,
        "a workload's numbers are not negative");
  }
}

void DecodeAs(kube::Resource resource, absl::string_view text) {
  static_cast<void>(kube::ContinueTokenAhead(text));
  const absl::StatusOr<kube::ListPage> page = kube::DecodeListPage(resource, text);
  RequireAnswer(page.status());
  if (page.ok()) {
    fuzz::Require(!page->resource_version.empty(), "a list has a resourceVersion");
    for (const kube::Object& object : page->objects) RequireBounds(object);
    for (const kube::BadObject& bad : page->bad) {
      fuzz::Require(bad.why.code() == absl::StatusCode::kInvalidArgument, "a bad object says why");
      RequireMessage(bad.why);
    }
  }
  const absl::StatusOr<kube::WatchEvent> event = kube::DecodeWatchEvent(resource, text);
  RequireAnswer(event.status());
  if (!event.ok()) return;
  RequireMessage(event->error);
  const bool has_object =
      event->type == kube::WatchEventType::kAdded || event->type == kube::WatchEventType::kModified;
  fuzz::Require(event->object.has_value() == (has_object && event->error.ok()),
                "an addition or a change has an object, or says why not");
  if (event->object.has_value()) RequireBounds(*event->object);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text = fuzz::TextOf(data, size);
  DecodeAs(kube::Resource::kPods, text);
  // What is no JSON is refused by all others in one place.
  const bool is_json = base::ParseJson(text, "body").ok();
  for (const kube::Resource resource : kResources) {
    if (is_json || resource == kube::Resource::kServices) DecodeAs(resource, text);
  }
  RequireAnswer(kube::DecodePod(text).status());
  RequireAnswer(kube::DecodeEndpoints(text).status());
  RequireAnswer(kube::DecodeConfigMap(text).status());
  RequireAnswer(kube::DecodeAutoscalers(text).status());
  RequireAnswer(kube::DecodeDisruptionBudgets(text).status());
  RequireAnswer(kube::DecodeAccessAnswer(text).status());
  RequireAnswer(kube::DecodeServerVersion(text).status());
  return 0;
}

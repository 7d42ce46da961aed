// Bodies of the load-balancer API: what is sent back differs from what was read in
// what was decided, and in nothing else.
#include <string>
#include <utility>

#include "base/json.h"
#include "fuzz/fuzzer.h"
#include "oci/codec.h"

namespace {

void RequireAnswer(const absl::Status& status) {
  fuzz::Require(status.ok() || status.code() == absl::StatusCode::kInvalidArgument,
                "a body is a value or InvalidArgument");
}

void RemoveName(rapidjson::Value& object) {
  while (object.HasMember("name")) object.RemoveMember("name");
}

// Neither the encoder's nor the check's way of finding out.
void RequireEcho(const oci::BackendSet& set, const std::string& body) {
  absl::StatusOr<rapidjson::Document> read = base::ParseJson(set.document, "set");
  const absl::StatusOr<rapidjson::Document> sent = base::ParseJson(body, "body");
  fuzz::Require(read.ok() && sent.ok(), "a set as read and as sent is JSON");
  RemoveName(*read);
  for (rapidjson::Value& backend : (*read)["backends"].GetArray()) RemoveName(backend);
  fuzz::Require(base::SameJson(*read, *sent), "without a change a set is sent as it was read");
}

void RequireLossless(const oci::BackendSet& set, const oci::BackendSetChange& change) {
  const absl::StatusOr<std::string> body = oci::EncodeBackendSetUpdate(set, change);
  RequireAnswer(body.status());
  if (!body.ok()) return;
  fuzz::Require(oci::CheckLossless(set, change, *body).ok(), "a body passes its own check");
  if (change.empty()) RequireEcho(set, *body);
}

// Drains the first backend, leaves out the last and adds one.
oci::BackendSetChange SomeChange(const oci::BackendSet& set) {
  oci::BackendSetChange change;
  if (!set.backends.empty()) {
    change.flips[set.backends.front().name] = {.drain = true, .offline = false};
  }
  if (set.backends.size() > 1) change.removals = {set.backends.back().name};
  oci::Backend added;
  added.ip_address = "10.200.0.1";
  added.port = 8080;
  added.name = oci::MakeBackendName(added.ip_address, added.port);
  change.additions = {std::move(added)};
  return change;
}

void RequireRoundTrip(const oci::BackendSet& set) {
  RequireLossless(set, {});
  RequireLossless(set, SomeChange(set));
  const absl::StatusOr<oci::BackendSet> again = oci::DecodeBackendSet(set.document);
  fuzz::Require(again.ok() && again->document == set.document && again->settings == set.settings &&
                    again->backends.size() == set.backends.size(),
                "a set's document is the set");
  for (const oci::Backend& backend : set.backends) {
    const std::string body = oci::EncodeBackendUpdate(backend, {.drain = true, .offline = false});
    fuzz::Require(base::ParseJson(body, "body").ok(), "an update of a backend is JSON");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text = fuzz::TextOf(data, size);
  const absl::StatusOr<oci::LoadBalancer> load_balancer = oci::DecodeLoadBalancer(text);
  RequireAnswer(load_balancer.status());
  if (load_balancer.ok()) {
    for (const auto& [name, set] : load_balancer->backend_sets) RequireRoundTrip(set);
  }
  const absl::StatusOr<oci::BackendSet> set = oci::DecodeBackendSet(text);
  RequireAnswer(set.status());
  if (set.ok()) RequireRoundTrip(*set);
  RequireAnswer(oci::DecodeBackendHealth(text).status());
  RequireAnswer(oci::DecodeBackendSetHealth(text).status());
  RequireAnswer(oci::DecodeWorkRequest(text).status());
  RequireAnswer(oci::DecodeWorkRequestList(text).status());
  return 0;
}

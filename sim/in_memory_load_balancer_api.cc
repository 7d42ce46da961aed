#include "sim/in_memory_load_balancer_api.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "oci/codec.h"
#include "oci/http_status.h"

namespace sim {
namespace {

constexpr int kPage = 1000;
constexpr size_t kMaxWorkRequests = 1000;

absl::Status In(const std::string& what, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

absl::Status CheckGuard(const std::string& what, const oci::WriteGuard& guard) {
  if (guard.if_match.empty() || guard.retry_token.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": a write needs the ETag of a read and a retry token"));
  }
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<T> Decode(const ApiReply& reply, const absl::Status& status, const std::string& what,
                         absl::StatusOr<T> (*decode)(absl::string_view)) {
  if (!status.ok()) return status;
  absl::StatusOr<T> value = decode(reply.body);
  if (!value.ok()) return In(what, value.status());
  return value;
}

}  // namespace

InMemoryLoadBalancerApi::InMemoryLoadBalancerApi(FakeLoadBalancer& server, base::Clock& clock,
                                                 std::string client)
    : server_(server), clock_(clock), client_(std::move(client)) {}

absl::Status InMemoryLoadBalancerApi::StatusOf(const ApiReply& reply,
                                               const std::string& what) const {
  if (reply.status / 100 == 2) return absl::OkStatus();
  return oci::StatusOf({.status = reply.status, .headers = {}, .body = reply.body}, what,
                       clock_.Now());
}

absl::StatusOr<oci::LoadBalancerRead> InMemoryLoadBalancerApi::GetLoadBalancer(
    const oci::Ocid& load_balancer) {
  const std::string what = absl::StrCat("GetLoadBalancer ", load_balancer.value());
  ApiReply reply = server_.GetLoadBalancer(load_balancer.value(), clock_.Now());
  if (absl::Status status = StatusOf(reply, what); !status.ok()) return status;
  Decoded& known = decoded_[load_balancer];
  if (known.text != reply.body) {
    absl::StatusOr<oci::LoadBalancer> decoded = oci::DecodeLoadBalancer(reply.body);
    if (!decoded.ok()) return In(what, decoded.status());
    known = {std::move(reply.body), *std::move(decoded)};
  }
  return oci::LoadBalancerRead{known.value, oci::Etag(reply.etag)};
}

absl::StatusOr<oci::BackendSetHealth> InMemoryLoadBalancerApi::GetBackendSetHealth(
    const oci::Ocid& load_balancer, const oci::BackendSetName& set) {
  const std::string what =
      absl::StrCat("GetBackendSetHealth ", set.value(), " of ", load_balancer.value());
  const ApiReply reply =
      server_.GetBackendSetHealth(load_balancer.value(), set.value(), clock_.Now());
  return Decode(reply, StatusOf(reply, what), what, &oci::DecodeBackendSetHealth);
}

absl::StatusOr<oci::BackendHealth> InMemoryLoadBalancerApi::GetBackendHealth(
    const oci::Ocid& load_balancer, const oci::BackendSetName& set,
    const oci::BackendName& backend) {
  const std::string what = absl::StrCat("GetBackendHealth ", backend.value(), " in ", set.value(),
                                        " of ", load_balancer.value());
  const ApiReply reply =
      server_.GetBackendHealth(load_balancer.value(), set.value(), backend.value(), clock_.Now());
  return Decode(reply, StatusOf(reply, what), what, &oci::DecodeBackendHealth);
}

absl::StatusOr<oci::WorkRequestId> InMemoryLoadBalancerApi::UpdateBackend(
    const oci::Ocid& load_balancer, const oci::BackendSetName& set, const oci::Backend& as_read,
    const oci::BackendFlags& flags, const oci::WriteGuard& guard) {
  const std::string what = absl::StrCat("UpdateBackend ", as_read.name.value(), " in ", set.value(),
                                        " of ", load_balancer.value());
  if (absl::Status checked = CheckGuard(what, guard); !checked.ok()) return checked;
  const FakeLoadBalancer::BackendPath path = {load_balancer.value(), set.value(),
                                              as_read.name.value()};
  const WriteHeaders headers = {guard.if_match.value(), guard.retry_token.value(), guard.request_id,
                                client_};
  return Write(
      server_.UpdateBackend(path, oci::EncodeBackendUpdate(as_read, flags), headers, clock_.Now()),
      what);
}

absl::StatusOr<oci::WorkRequestId> InMemoryLoadBalancerApi::UpdateBackendSet(
    const oci::Ocid& load_balancer, const oci::BackendSet& as_read,
    const oci::BackendSetChange& change, const oci::WriteGuard& guard) {
  const std::string what =
      absl::StrCat("UpdateBackendSet ", as_read.name.value(), " of ", load_balancer.value());
  const absl::StatusOr<std::string> body = oci::EncodeBackendSetUpdate(as_read, change);
  if (!body.ok()) return In(what, body.status());
  const absl::Status lossless = oci::CheckLossless(as_read, change, *body);
  if (!lossless.ok())
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", lossless.message()));
  if (absl::Status checked = CheckGuard(what, guard); !checked.ok()) return checked;
  const FakeLoadBalancer::BackendPath path = {load_balancer.value(), as_read.name.value()};
  const WriteHeaders headers = {guard.if_match.value(), guard.retry_token.value(), guard.request_id,
                                client_};
  return Write(server_.UpdateBackendSet(path, *body, headers, clock_.Now()), what);
}

absl::StatusOr<oci::WorkRequestId> InMemoryLoadBalancerApi::Write(const ApiReply& reply,
                                                                  const std::string& what) const {
  if (absl::Status status = StatusOf(reply, what); !status.ok()) return status;
  if (reply.work_request_id.empty()) {
    return absl::DeadlineExceededError(
        absl::StrCat(what, ": accepted, but the answer names no work request"));
  }
  return oci::WorkRequestId(reply.work_request_id);
}

absl::StatusOr<oci::WorkRequest> InMemoryLoadBalancerApi::GetWorkRequest(
    const oci::WorkRequestId& id) {
  const std::string what = absl::StrCat("GetWorkRequest ", id.value());
  const ApiReply reply = server_.GetWorkRequest(id.value(), clock_.Now());
  return Decode(reply, StatusOf(reply, what), what, &oci::DecodeWorkRequest);
}

absl::StatusOr<std::vector<oci::WorkRequest>> InMemoryLoadBalancerApi::ListWorkRequests(
    const oci::Ocid& load_balancer) {
  const std::string what = absl::StrCat("ListWorkRequests ", load_balancer.value());
  std::vector<oci::WorkRequest> requests;
  std::string next;
  do {
    const ApiReply reply =
        server_.ListWorkRequests(load_balancer.value(), kPage, next, clock_.Now());
    if (listed_text_ != reply.body) {
      auto page = Decode(reply, StatusOf(reply, what), what, &oci::DecodeWorkRequestList);
      if (!page.ok()) return page.status();
      listed_text_ = reply.body;
      listed_ = *std::move(page);
    }
    requests.insert(requests.end(), listed_.begin(), listed_.end());
    next = listed_.empty() ? "" : reply.next_page;
  } while (!next.empty() && requests.size() < kMaxWorkRequests);
  std::stable_sort(requests.begin(), requests.end(),
                   [](const oci::WorkRequest& a, const oci::WorkRequest& b) {
                     return a.time_accepted > b.time_accepted;
                   });
  if (requests.size() > kMaxWorkRequests) requests.resize(kMaxWorkRequests);
  return requests;
}

}  // namespace sim

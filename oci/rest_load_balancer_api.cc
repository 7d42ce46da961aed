#include "oci/rest_load_balancer_api.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/random.h"
#include "http/url.h"
#include "oci/codec.h"
#include "oci/http_status.h"
#include "oci/signer.h"

namespace oci {
namespace {

using http::EncodePathSegment;

constexpr absl::string_view kPrefix = "/20170115";
constexpr size_t kMaxResponseBytes = 16 << 20;
constexpr size_t kMaxWorkRequests = 1000;
constexpr int kRequestIdLength = 32;

std::string LoadBalancerPath(const Ocid& load_balancer) {
  return absl::StrCat(kPrefix, "/loadBalancers/", EncodePathSegment(load_balancer.value()));
}

std::string SetPath(const Ocid& load_balancer, const BackendSetName& set) {
  return absl::StrCat(LoadBalancerPath(load_balancer), "/backendSets/",
                      EncodePathSegment(set.value()));
}

std::string BackendPath(const Ocid& load_balancer, const BackendSetName& set,
                        const BackendName& backend) {
  return absl::StrCat(SetPath(load_balancer, set), "/backends/",
                      EncodePathSegment(backend.value()));
}

absl::Status In(absl::string_view what, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

// Nothing was sent yet, so nothing "may have happened", whatever the provider says.
absl::Status NoCredentials(absl::string_view what, const absl::Status& status) {
  const bool later =
      absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsCancelled(status);
  return absl::Status(later ? absl::StatusCode::kUnavailable : absl::StatusCode::kUnauthenticated,
                      absl::StrCat(what, ": no credentials: ", status.message()));
}

absl::Status CheckGuard(absl::string_view what, const WriteGuard& guard) {
  if (guard.if_match.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": a write needs the ETag of a read"));
  }
  if (guard.retry_token.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": a write needs a retry token"));
  }
  return absl::OkStatus();
}

class RestLoadBalancerApi final : public LoadBalancerApi {
 public:
  RestLoadBalancerApi(http::Transport& transport, CredentialsProvider& credentials,
                      base::Clock& clock, RestOptions options)
      : transport_(transport),
        credentials_(credentials),
        clock_(clock),
        options_(std::move(options)),
        random_(options_.seed) {}

  absl::StatusOr<LoadBalancerRead> GetLoadBalancer(const Ocid& load_balancer) override {
    const std::string what = absl::StrCat("GetLoadBalancer ", load_balancer.value());
    const absl::StatusOr<http::Response> response = Get(LoadBalancerPath(load_balancer), what);
    if (!response.ok()) return response.status();
    absl::StatusOr<LoadBalancer> decoded = DecodeLoadBalancer(response->body);
    if (!decoded.ok()) return In(what, decoded.status());
    if (decoded->id != load_balancer) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": the answer is about ", decoded->id.value()));
    }
    const Etag etag(std::string(http::FindHeader(response->headers, "etag")));
    if (etag.empty()) return absl::InvalidArgumentError(absl::StrCat(what, ": no ETag came"));
    return LoadBalancerRead{.load_balancer = *std::move(decoded), .etag = etag};
  }

  absl::StatusOr<BackendSetHealth> GetBackendSetHealth(const Ocid& load_balancer,
                                                       const BackendSetName& set) override {
    return Read(absl::StrCat(SetPath(load_balancer, set), "/health"),
                absl::StrCat("GetBackendSetHealth ", set.value(), " of ", load_balancer.value()),
                &DecodeBackendSetHealth);
  }

  absl::StatusOr<BackendHealth> GetBackendHealth(const Ocid& load_balancer,
                                                 const BackendSetName& set,
                                                 const BackendName& backend) override {
    return Read(absl::StrCat(BackendPath(load_balancer, set, backend), "/health"),
                absl::StrCat("GetBackendHealth ", backend.value(), " in ", set.value(), " of ",
                             load_balancer.value()),
                &DecodeBackendHealth);
  }

  absl::StatusOr<WorkRequestId> UpdateBackend(const Ocid& load_balancer, const BackendSetName& set,
                                              const Backend& as_read, const BackendFlags& flags,
                                              const WriteGuard& guard) override {
    const std::string what = absl::StrCat("UpdateBackend ", as_read.name.value(), " in ",
                                          set.value(), " of ", load_balancer.value());
    return Write(BackendPath(load_balancer, set, as_read.name), EncodeBackendUpdate(as_read, flags),
                 guard, what);
  }

  absl::StatusOr<WorkRequestId> UpdateBackendSet(const Ocid& load_balancer,
                                                 const BackendSet& as_read,
                                                 const BackendSetChange& change,
                                                 const WriteGuard& guard) override {
    const std::string what =
        absl::StrCat("UpdateBackendSet ", as_read.name.value(), " of ", load_balancer.value());
    absl::StatusOr<std::string> body = EncodeBackendSetUpdate(as_read, change);
    if (!body.ok()) return In(what, body.status());
    const absl::Status lossless = CheckLossless(as_read, change, *body);
    if (!lossless.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": ", lossless.message()));
    }
    return Write(SetPath(load_balancer, as_read.name), *std::move(body), guard, what);
  }

  absl::StatusOr<WorkRequest> GetWorkRequest(const WorkRequestId& id) override {
    return Read(absl::StrCat(kPrefix, "/loadBalancerWorkRequests/", EncodePathSegment(id.value())),
                absl::StrCat("GetWorkRequest ", id.value()), &DecodeWorkRequest);
  }

  absl::StatusOr<std::vector<WorkRequest>> ListWorkRequests(const Ocid& load_balancer) override {
    const std::string what = absl::StrCat("ListWorkRequests ", load_balancer.value());
    const std::string first_page = absl::StrCat(
        LoadBalancerPath(load_balancer), "/workRequests?limit=", options_.work_requests_per_page);
    std::string target = first_page;
    std::vector<WorkRequest> requests;
    for (;;) {
      const absl::StatusOr<http::Response> response = Get(target, what);
      if (!response.ok()) return response.status();
      absl::StatusOr<std::vector<WorkRequest>> page = DecodeWorkRequestList(response->body);
      if (!page.ok()) return In(what, page.status());
      std::move(page->begin(), page->end(), std::back_inserter(requests));
      const absl::string_view next = http::FindHeader(response->headers, "opc-next-page");
      // An empty page with a successor could go on for ever.
      if (next.empty() || page->empty() || requests.size() >= kMaxWorkRequests) break;
      target = absl::StrCat(first_page, "&page=", http::EncodeQueryValue(next));
    }
    std::stable_sort(requests.begin(), requests.end(),
                     [](const WorkRequest& a, const WorkRequest& b) {
                       return a.time_accepted > b.time_accepted;
                     });
    if (requests.size() > kMaxWorkRequests) requests.resize(kMaxWorkRequests);
    return requests;
  }

  void EndCalls() override {
    transport_.EndCalls();
    credentials_.EndCalls();
  }

 private:
  absl::StatusOr<http::Response> Get(std::string target, const std::string& what) {
    return Carry({.method = "GET", .target = std::move(target)}, "", what);
  }

  template <typename T>
  absl::StatusOr<T> Read(std::string target, const std::string& what,
                         absl::StatusOr<T> (*decode)(absl::string_view)) {
    const absl::StatusOr<http::Response> response = Get(std::move(target), what);
    if (!response.ok()) return response.status();
    absl::StatusOr<T> value = decode(response->body);
    if (!value.ok()) return In(what, value.status());
    return value;
  }

  absl::StatusOr<WorkRequestId> Write(std::string target, std::string body, const WriteGuard& guard,
                                      const std::string& what) {
    if (absl::Status checked = CheckGuard(what, guard); !checked.ok()) return checked;
    http::Request request = {.method = "PUT", .target = std::move(target)};
    request.headers = {{"content-type", "application/json"},
                       {"if-match", guard.if_match.value()},
                       {"opc-retry-token", guard.retry_token.value()}};
    request.body = std::move(body);
    const absl::StatusOr<http::Response> response =
        Carry(std::move(request), guard.request_id, what);
    if (!response.ok()) return response.status();
    WorkRequestId id(std::string(http::FindHeader(response->headers, "opc-work-request-id")));
    if (id.empty()) {
      return absl::DeadlineExceededError(
          absl::StrCat(what, ": accepted, but the answer names no work request"));
    }
    return id;
  }

  // The answer if it is a success.
  absl::StatusOr<http::Response> Carry(http::Request request, const std::string& request_id,
                                       const std::string& what) {
    request.headers.emplace_back("accept", "application/json");
    request.headers.emplace_back("user-agent", options_.user_agent);
    request.headers.emplace_back("opc-request-id",
                                 request_id.empty() ? NewRequestId() : request_id);
    request.timeout = options_.timeout;
    request.max_response_bytes = kMaxResponseBytes;
    Credentials used;
    absl::StatusOr<http::Response> response = SendSigned(request, what, used);
    std::string no_refresh;
    if (response.ok() && response->status == 401) {
      const absl::Status refreshed = credentials_.Refresh(used);
      if (refreshed.ok()) {
        response = SendSigned(request, what, used);
      } else {
        no_refresh = absl::StrCat("; credentials were not refreshed: ", refreshed.message());
      }
    }
    if (!response.ok()) return response.status();
    absl::Status status = StatusOf(*response, what, clock_.Now());
    if (status.ok()) return response;
    if (no_refresh.empty()) return status;
    return absl::UnauthenticatedError(absl::StrCat(status.message(), no_refresh));
  }

  // `request` is not signed yet; its copy is, by what `used` is set to.
  absl::StatusOr<http::Response> SendSigned(http::Request request, const std::string& what,
                                            Credentials& used) {
    absl::StatusOr<Credentials> credentials = credentials_.Get();
    if (!credentials.ok()) return NoCredentials(what, credentials.status());
    used = *std::move(credentials);
    const absl::Status is_signed = SignRequest(used, options_.authority, clock_.Now(), request);
    if (!is_signed.ok()) return NoCredentials(what, is_signed);
    absl::StatusOr<http::Response> response = transport_.Send(request);
    if (!response.ok()) return In(what, response.status());
    return response;
  }

  std::string NewRequestId() {
    absl::MutexLock lock(&mutex_);
    return random_.Token(kRequestIdLength);
  }

  http::Transport& transport_;
  CredentialsProvider& credentials_;
  base::Clock& clock_;
  const RestOptions options_;
  absl::Mutex mutex_;
  base::Random random_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<LoadBalancerApi> MakeRestLoadBalancerApi(http::Transport& transport,
                                                         CredentialsProvider& credentials,
                                                         base::Clock& clock, RestOptions options) {
  return std::make_unique<RestLoadBalancerApi>(transport, credentials, clock, std::move(options));
}

}  // namespace oci

#include "sim/fake_identity.h"

#include <regex>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "sim/federation_request.h"
#include "sim/timestamp.h"

namespace sim {
namespace {

http::Response Text(int status, std::string body) {
  return {.status = status, .headers = {{"content-type", "text/plain"}}, .body = std::move(body)};
}

CertificateAndKey MakeAuthority(const std::string& name, const CertificateAndKey* issuer) {
  return MakeCertificate({.common_name = name, .is_authority = true}, issuer);
}

CertificateAndKey MakeLeaf(const std::string& tenancy, const CertificateAndKey& issuer) {
  return MakeCertificate({.common_name = "ocid1.instance.oc1.iad.example",
                          .organizational_unit = absl::StrCat("opc-tenant:", tenancy),
                          .rsa = true},
                         &issuer);
}

}  // namespace

void Interference::Add(absl::string_view page, Answer answer, int count) {
  std::lock_guard<std::mutex> lock(mutex_);
  planned_.push_back({std::string(page), std::move(answer), count});
}

void Interference::OnRequest(std::function<void(const std::string&)> callback) {
  std::lock_guard<std::mutex> lock(mutex_);
  callback_ = std::move(callback);
}

std::optional<Answer> Interference::Take(const http::Request& request) {
  std::function<void(const std::string&)> callback;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(request.target);
    callback = callback_;
  }
  if (callback) callback(request.target);
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto planned = planned_.begin(); planned != planned_.end(); ++planned) {
    if (!absl::EndsWith(request.target, planned->page)) continue;
    Answer answer = planned->answer;
    if (--planned->left == 0) planned_.erase(planned);
    return answer;
  }
  return std::nullopt;
}

std::vector<std::string> Interference::requests() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

Answer Hang() {
  Answer answer;
  answer.delay = absl::Hours(1);
  return answer;
}

FakeInstance::FakeInstance(std::string tenancy)
    : root_(MakeAuthority("instance root", nullptr)),
      intermediate_(MakeAuthority("instance intermediate", &root_)),
      tenancy_(std::move(tenancy)),
      leaf_(MakeLeaf(tenancy_, intermediate_)) {}

void FakeInstance::Rotate() {
  std::lock_guard<std::mutex> lock(mutex_);
  leaf_ = MakeLeaf(tenancy_, intermediate_);
}

void FakeInstance::SetTenancy(std::string tenancy) {
  std::lock_guard<std::mutex> lock(mutex_);
  tenancy_ = std::move(tenancy);
}

CertificateAndKey FakeInstance::leaf() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return leaf_;
}

FakeMetadataService::FakeMetadataService(FakeInstance& instance, Options options)
    : instance_(instance), options_(std::move(options)) {
  server_ =
      HttpServer::Start([this](const http::Request& request) { return Handle(request); }).value();
}

Answer FakeMetadataService::Handle(const http::Request& request) {
  if (auto planned = interference_.Take(request)) return *planned;
  const bool version_2 = absl::StartsWith(request.target, "/opc/v2/");
  if (!version_2 && !absl::StartsWith(request.target, "/opc/v1/")) return Text(404, "Not Found");
  if (version_2 && options_.version_1_only) return Text(404, "Not Found");
  if (version_2 && http::FindHeader(request.headers, "authorization") != "Bearer Oracle") {
    return Text(403, "Forbidden");
  }
  if (!http::FindHeader(request.headers, "forwarded").empty() ||
      !http::FindHeader(request.headers, "x-forwarded-for").empty() || request.method != "GET") {
    return Text(403, "Forbidden");
  }
  const std::string page = request.target.substr(7);
  if (page == "/instance/region") return Text(200, options_.region);
  if (page == "/instance/regionInfo" && !options_.region_info.empty()) {
    return Text(200, options_.region_info);
  }
  if (page == "/identity/cert.pem") return Text(200, instance_.leaf().certificate_pem);
  if (page == "/identity/key.pem") return Text(200, instance_.leaf().key_pem);
  if (page == "/identity/intermediate.pem") return Text(200, instance_.intermediate_pem());
  return Text(404, "Not Found");
}

FakeFederation::FakeFederation(FakeInstance& instance, TokenIssuer& issuer, base::Clock& clock,
                               std::optional<ServerTls> tls)
    : instance_(instance), issuer_(issuer), clock_(clock) {
  server_ = HttpServer::Start([this](const http::Request& request) { return Handle(request); },
                              {.tls = std::move(tls)})
                .value();
}

Answer FakeFederation::Handle(const http::Request& request) {
  if (auto planned = interference_.Take(request)) return *planned;
  const absl::Time now = clock_.Now();
  if (request.method != "POST" || request.target != "/v1/x509") {
    return OciError(404, "NotFound", "no such page", now);
  }
  const absl::StatusOr<FederationRequest> asked =
      ReadFederationRequest(request, instance_.root_pem(), now);
  if (!asked.ok()) {
    const bool unknown = absl::IsUnauthenticated(asked.status());
    return OciError(unknown ? 401 : 400, unknown ? "NotAuthenticated" : "InvalidParameter",
                    asked.status().message(), now);
  }
  const auto token = issuer_.Issue(asked->public_key_pem, asked->tenancy);
  if (!token.ok()) return OciError(400, "InvalidParameter", token.status().message(), now);
  return http::Response{.status = 200,
                        .headers = {{"date", HttpDate(now)}, {"content-type", "application/json"}},
                        .body = absl::StrCat(R"({"token":")", *token, "\"}")};
}

FakeProxymux::FakeProxymux(TokenIssuer& issuer, base::Clock& clock, ServerTls tls)
    : issuer_(issuer), clock_(clock) {
  server_ = HttpServer::Start([this](const http::Request& request) { return Handle(request); },
                              {.tls = std::move(tls)})
                .value();
}

void FakeProxymux::SetServiceAccountToken(std::string token) {
  std::lock_guard<std::mutex> lock(mutex_);
  service_account_token_ = std::move(token);
}

Answer FakeProxymux::Handle(const http::Request& request) {
  if (auto planned = interference_.Take(request)) return *planned;
  const absl::Time now = clock_.Now();
  if (request.method != "POST" || request.target != "/resourcePrincipalSessionTokens") {
    return OciError(404, "NotFound", "no such page", now);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (http::FindHeader(request.headers, "authorization") !=
        absl::StrCat("Bearer ", service_account_token_)) {
      return OciError(401, "NotAuthenticated", "The service account is not known", now);
    }
  }
  static const std::regex& three_parts = *new std::regex("[0-9a-f]{32}/[0-9a-f]{32}/[0-9a-f]{32}");
  const std::string request_id(http::FindHeader(request.headers, "opc-request-id"));
  if (!std::regex_match(request_id, three_parts)) {
    return OciError(400, "InvalidParameter", "opc-request-id", now);
  }
  if (http::FindHeader(request.headers, "content-type") != "application/json") {
    return OciError(415, "InvalidParameter", "content-type", now);
  }
  const absl::StatusOr<std::string> key = ReadPodKey(request.body);
  if (!key.ok()) return OciError(400, "InvalidParameter", key.status().message(), now);
  const auto token = issuer_.Issue(*key, "ocid1.tenancy.oc1..workload");
  if (!token.ok()) return OciError(400, "InvalidParameter", token.status().message(), now);
  return http::Response{
      .status = 200,
      .headers = {{"date", HttpDate(now)}, {"content-type", "application/json"}},
      .body = base::QuoteJson(absl::Base64Escape(absl::StrCat(R"({"token":"ST$)", *token, "\"}")))};
}

}  // namespace sim

#include "oci/metadata_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "http/cpprest_transport.h"
#include "http/url.h"
#include "oci/http_status.h"
#include "oci/secure_url.h"

namespace oci {
namespace {

constexpr absl::string_view kVariable = "OCI_METADATA_BASE_URL";
constexpr absl::string_view kUsual = "http://169.254.169.254/opc/v2";
constexpr absl::string_view kVersion2 = "/v2";
constexpr size_t kMaxAnswerBytes = 64 << 10;
constexpr size_t kMaxRegionBytes = 128;
constexpr int kRegionTries = 3;
constexpr absl::Duration kRegionPause = absl::Seconds(1);

bool IsLinkLocal(absl::string_view host) {
  return http::IsIpv4Literal(host) && absl::StartsWith(host, "169.254.");
}

// "https://host:1/opc/v2/" -> "https://host:1" and "/opc/v2".
std::pair<std::string, std::string> SplitBase(absl::string_view url) {
  while (absl::ConsumeSuffix(&url, "/")) {
  }
  const size_t scheme = url.find("://");
  const size_t slash = url.find('/', scheme == absl::string_view::npos ? 0 : scheme + 3);
  if (slash == absl::string_view::npos) return {std::string(url), ""};
  return {std::string(url.substr(0, slash)), std::string(url.substr(slash))};
}

bool IsPath(absl::string_view path) {
  return std::all_of(path.begin(), path.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("/-._", c);
  });
}

// What to do about a server that is not there or does not answer.
absl::Status NotReached(const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat("metadata service: ", status.message(),
                   "; instance principals need a node of OCI, and a network policy that lets this "
                   "Pod reach 169.254.169.254"));
}

std::string Cure(int http_status) {
  if (http_status == 404) return "; has this instance an identity? Its agent may have to start";
  if (http_status == 401 || http_status == 403) return "; is the address that of a proxy?";
  return "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetadataService>> MetadataService::Make(
    const MetadataOptions& options, base::Clock& clock) {
  const auto [server, path] =
      SplitBase(options.environment(std::string(kVariable)).value_or(std::string(kUsual)));
  const absl::StatusOr<http::ServerUrl> url = http::ParseServerUrl(server);
  const bool near = url.ok() && IsLinkLocal(url->host);
  if (!near) {
    const absl::StatusOr<http::ServerUrl> secure = ParseSecureUrl(server, kVariable);
    if (!secure.ok()) return secure.status();
  }
  if (!IsPath(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(kVariable, ": expected an address such as ", kUsual));
  }
  absl::StatusOr<std::unique_ptr<http::Transport>> transport =
      http::MakeCpprestTransport({.base_url = server});
  if (!transport.ok()) return transport.status();
  return std::unique_ptr<MetadataService>(
      new MetadataService(*std::move(transport), path, options.timeout, clock));
}

MetadataService::MetadataService(std::unique_ptr<http::Transport> transport, std::string path,
                                 absl::Duration timeout, base::Clock& clock)
    : transport_(std::move(transport)), timeout_(timeout), clock_(clock), path_(std::move(path)) {}

absl::StatusOr<std::string> MetadataService::Get(absl::string_view page) {
  http::Request request = {.method = "GET"};
  {
    absl::MutexLock lock(&mutex_);
    request.target = absl::StrCat(path_, page);
  }
  // Not a secret: it keeps out who can make a server fetch an address, but not with
  // headers of his own.
  request.headers = {{"authorization", "Bearer Oracle"}, {"accept", "*/*"}};
  request.timeout = timeout_;
  request.max_response_bytes = kMaxAnswerBytes;
  absl::StatusOr<http::Response> response = transport_->Send(request);
  if (!response.ok()) return NotReached(response.status());
  const absl::Status status =
      StatusOf(*response, absl::StrCat("metadata service, GET ", request.target), clock_.Now());
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat(status.message(), Cure(response->status)));
  }
  return std::move(response->body);
}

absl::StatusOr<std::string> MetadataService::RegionOnce() {
  absl::StatusOr<std::string> region = Get("/instance/region");
  if (absl::IsNotFound(region.status())) {
    absl::MutexLock lock(&mutex_);
    absl::string_view path = path_;
    if (!absl::ConsumeSuffix(&path, kVersion2)) return region;
    path_ = absl::StrCat(path, "/v1");
  } else {
    return region;
  }
  return Get("/instance/region");
}

absl::StatusOr<std::string> MetadataService::Region() {
  absl::StatusOr<std::string> region = absl::UnknownError("");
  for (int attempt = 1; attempt <= kRegionTries; ++attempt) {
    region = RegionOnce();
    if (region.ok() || absl::IsCancelled(region.status())) break;
    if (attempt < kRegionTries) clock_.SleepFor(kRegionPause);
  }
  if (!region.ok()) return region.status();
  const std::string text(absl::StripAsciiWhitespace(*region));
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.';
  });
  if (text.empty() || text.size() > kMaxRegionBytes || !plain) {
    return absl::InvalidArgumentError(
        "metadata service: what came as the region is no name of one; is there a proxy between?");
  }
  return text;
}

absl::StatusOr<RegionMetadata> MetadataService::RegionInfo() {
  const absl::StatusOr<std::string> text = Get("/instance/regionInfo");
  if (!text.ok()) return text.status();
  return ParseRegionMetadata(*text, "metadata service, regionInfo");
}

absl::StatusOr<InstanceIdentity> MetadataService::Identity() {
  InstanceIdentity identity;
  const std::pair<const char*, std::string*> pages[] = {
      {"/identity/cert.pem", &identity.certificate_pem},
      {"/identity/key.pem", &identity.key_pem},
      {"/identity/intermediate.pem", &identity.intermediate_pem}};
  for (const auto& [page, text] : pages) {
    absl::StatusOr<std::string> answer = Get(page);
    if (!answer.ok()) return answer.status();
    *text = *std::move(answer);
  }
  return identity;
}

}  // namespace oci

#include "oci/workload_identity.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/json.h"
#include "http/cpprest_transport.h"
#include "oci/http_status.h"
#include "oci/private_key.h"
#include "oci/text.h"

namespace oci {
namespace {

constexpr absl::string_view kTarget = "/resourcePrincipalSessionTokens";
constexpr absl::string_view kWhat = "workload identity, POST /resourcePrincipalSessionTokens";
constexpr absl::Duration kLeastServiceAccountLife = absl::Minutes(5);
constexpr size_t kMaxTokenBytes = 64 << 10;
constexpr size_t kMaxAnswerBytes = 64 << 10;
constexpr size_t kMaxCaBytes = 1 << 20;

absl::Status CheckVersion(const Environment& environment) {
  const std::string version = ValueOf(environment, "OCI_RESOURCE_PRINCIPAL_VERSION");
  if (version == "1.1" || version == "2.2") return absl::OkStatus();
  return absl::InvalidArgumentError(
      "workload identity: the environment variable OCI_RESOURCE_PRINCIPAL_VERSION is to be 2.2 "
      "(or 1.1)");
}

// "https://10.96.0.1:12250".
absl::StatusOr<std::string> Address(const WorkloadIdentityOptions& options) {
  std::string host = ValueOf(options.environment, "KUBERNETES_SERVICE_HOST");
  if (host.empty()) {
    return absl::InvalidArgumentError(
        "workload identity: the environment variable KUBERNETES_SERVICE_HOST is not set; it is "
        "for Pods of an OKE cluster");
  }
  // The transport takes no IPv6 literal; the certificate has this name too.
  if (absl::StrContains(host, ':')) host = "kubernetes.default.svc";
  return absl::StrCat("https://", host, ":", options.port);
}

std::string Cure(int http_status) {
  if (http_status == 401 || http_status == 403) {
    return "; is the cluster an enhanced one, and the service account's token of this cluster?";
  }
  if (http_status == 404) return "; does the cluster offer workload identity (enhanced clusters)?";
  return "";
}

}  // namespace

absl::StatusOr<std::string> WorkloadIdentity::Region(const Environment& environment) {
  std::string region = ValueOf(environment, "OCI_RESOURCE_PRINCIPAL_REGION");
  if (!region.empty()) return region;
  return absl::InvalidArgumentError(
      "workload identity: the environment variable OCI_RESOURCE_PRINCIPAL_REGION is not set; give "
      "the cluster's region, such as us-ashburn-1");
}

absl::StatusOr<std::unique_ptr<WorkloadIdentity>> WorkloadIdentity::Make(
    const WorkloadIdentityOptions& options, base::Clock& clock) {
  if (absl::Status status = CheckVersion(options.environment); !status.ok()) return status;
  const absl::StatusOr<std::string> region = Region(options.environment);
  if (!region.ok()) return region.status();
  const absl::StatusOr<std::string> address = Address(options);
  if (!address.ok()) return address.status();
  const std::string ca_path =
      options.environment("OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH")
          .value_or(absl::StrCat(options.service_account_folder, "/ca.crt"));
  const absl::StatusOr<std::string> ca = base::ReadFile(ca_path, kMaxCaBytes);
  if (!ca.ok()) {
    return absl::Status(ca.status().code(),
                        absl::StrCat("workload identity: ", ca.status().message()));
  }
  if (ca->empty()) {
    // No CA would mean the system's.
    return absl::InvalidArgumentError(
        absl::StrCat("workload identity: ", ca_path, " is empty: it is to hold the cluster's CA"));
  }
  absl::StatusOr<std::unique_ptr<http::Transport>> transport =
      http::MakeCpprestTransport({.base_url = *address, .ca_pem = *ca});
  if (!transport.ok()) {
    return absl::Status(transport.status().code(),
                        absl::StrCat("workload identity: ", transport.status().message()));
  }
  return std::unique_ptr<WorkloadIdentity>(
      new WorkloadIdentity(options, *std::move(transport), clock));
}

WorkloadIdentity::WorkloadIdentity(const WorkloadIdentityOptions& options,
                                   std::unique_ptr<http::Transport> transport, base::Clock& clock)
    : token_path_(absl::StrCat(options.service_account_folder, "/token")),
      timeout_(options.timeout),
      transport_(std::move(transport)),
      clock_(clock),
      random_(options.seed) {}

absl::StatusOr<SecurityToken> WorkloadIdentity::ServiceAccountToken() const {
  const absl::StatusOr<std::string> text = base::ReadFile(token_path_, kMaxTokenBytes);
  if (!text.ok()) {
    return absl::Status(
        text.status().code(),
        absl::StrCat("workload identity: ", text.status().message(),
                     "; the Pod needs automountServiceAccountToken and its service account"));
  }
  absl::StatusOr<SecurityToken> token = ParseSecurityToken(*text, token_path_);
  if (!token.ok()) return token.status();
  if (token->expires - clock_.Now() > kLeastServiceAccountLife) return token;
  return absl::UnauthenticatedError(absl::StrCat(
      token_path_, ": the service account's token ends at ", TimeText(token->expires),
      ", this machine's "
      "clock says ",
      TimeText(clock_.Now()), "; the kubelet is to replace it: look at the node and at its clock"));
}

absl::Status WorkloadIdentity::NotReached(const absl::Status& status) const {
  return absl::Status(
      status.code(),
      absl::StrCat("workload identity: ", status.message(),
                   "; the security lists of OKE and the network policies have to let Pods reach "
                   "TCP port 12250 of the control plane"));
}

std::string WorkloadIdentity::RequestId() {
  const auto part = [this] {
    return absl::StrFormat("%016x%016x", random_.Next(), random_.Next());
  };
  const std::string first = part(), second = part();
  return absl::StrCat(first, "/", second, "/", part());
}

absl::StatusOr<Session> WorkloadIdentity::Fetch() {
  const absl::StatusOr<SecurityToken> service_account = ServiceAccountToken();
  if (!service_account.ok()) return service_account.status();
  absl::StatusOr<std::shared_ptr<const PrivateKey>> key = PrivateKey::Generate();
  if (!key.ok()) return key.status();
  http::Request request = {.method = "POST", .target = std::string(kTarget)};
  request.headers = {{"authorization", absl::StrCat("Bearer ", service_account->text)},
                     {"content-type", "application/json"},
                     {"opc-request-id", RequestId()}};
  request.body = absl::StrCat(R"({"podKey":)", base::QuoteJson((*key)->PublicKeyPem()), "}");
  request.timeout = timeout_;
  request.max_response_bytes = kMaxAnswerBytes;
  const absl::StatusOr<http::Response> answer = transport_->Send(request);
  if (!answer.ok()) return NotReached(answer.status());
  absl::Status status = StatusOf(*answer, kWhat, clock_.Now());
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat(status.message(), Cure(answer->status)));
  }
  const absl::StatusOr<SecurityToken> token = ParseWorkloadAnswer(answer->body);
  if (!token.ok()) return token.status();
  status = CheckNewToken(*token, *answer, clock_.Now(), kWhat);
  if (!status.ok()) return status;
  return Session{
      .credentials = {.key_id = absl::StrCat("ST$", token->text), .key = *std::move(key)},
      .expires = token->expires};
}

absl::StatusOr<SecurityToken> ParseWorkloadAnswer(absl::string_view body) {
  const auto refuse = [](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat(kWhat, ": the answer is not what it should be: ", why));
  };
  if (body.size() > kMaxAnswerBytes) return refuse("too long");
  const absl::StatusOr<rapidjson::Document> outer = base::ParseJson(body, kWhat);
  if (!outer.ok() || !outer->IsString()) return refuse("no JSON string");
  std::string decoded;
  if (!absl::Base64Unescape(base::StringOf(*outer), &decoded)) return refuse("no base64");
  const absl::StatusOr<rapidjson::Document> inner = base::ParseJson(decoded, kWhat);
  if (!inner.ok()) return refuse("no JSON in the base64");
  const absl::StatusOr<std::string> text = base::RequireString(*inner, "token");
  if (!text.ok()) return refuse("no string token in the base64");
  absl::string_view token = *text;
  if (!absl::ConsumePrefix(&token, "ST$")) return refuse("its token does not begin with ST$");
  return ParseSecurityToken(token, kWhat);
}

}  // namespace oci

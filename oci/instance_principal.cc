#include "oci/instance_principal.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/json.h"
#include "http/cpprest_transport.h"
#include "oci/http_status.h"
#include "oci/secure_url.h"
#include "oci/security_token.h"
#include "oci/signer.h"
#include "oci/text.h"

namespace oci {
namespace {

constexpr absl::string_view kWhat = "federation endpoint, POST /v1/x509";
constexpr size_t kMaxAnswerBytes = 64 << 10;
// How often certificate and key are read until they fit.
constexpr int kPairTries = 3;

// "-----BEGIN PUBLIC KEY-----\nMIIB...\n-----END PUBLIC KEY-----\n" -> "MIIB..."
std::string WithoutFrame(absl::string_view pem) {
  return absl::StrReplaceAll(
      pem, {{"-----BEGIN PUBLIC KEY-----", ""}, {"-----END PUBLIC KEY-----", ""}, {"\n", ""}});
}

absl::StatusOr<SecurityToken> ReadToken(const http::Response& answer) {
  const absl::StatusOr<rapidjson::Document> document = base::ParseJson(answer.body, kWhat);
  if (!document.ok()) return document.status();
  const absl::StatusOr<std::string> text = base::RequireString(*document, "token");
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(kWhat, ": ", text.status().message()));
  }
  return ParseSecurityToken(*text, kWhat);
}

}  // namespace

absl::StatusOr<std::unique_ptr<InstancePrincipal>> InstancePrincipal::Make(
    std::unique_ptr<MetadataService> metadata, const InstancePrincipalOptions& options,
    base::Clock& clock) {
  const auto url = ParseSecureUrl(options.federation_url, "federation endpoint");
  if (!url.ok()) return url.status();
  absl::StatusOr<std::unique_ptr<http::Transport>> federation =
      http::MakeCpprestTransport({.base_url = url->ToString(), .ca_pem = options.ca_pem});
  if (!federation.ok()) return federation.status();
  return std::unique_ptr<InstancePrincipal>(
      new InstancePrincipal(std::move(metadata), *std::move(federation), options.timeout, clock));
}

InstancePrincipal::InstancePrincipal(std::unique_ptr<MetadataService> metadata,
                                     std::unique_ptr<http::Transport> federation,
                                     absl::Duration timeout, base::Clock& clock)
    : metadata_(std::move(metadata)),
      federation_(std::move(federation)),
      timeout_(timeout),
      clock_(clock) {}

void InstancePrincipal::EndCalls() {
  metadata_->EndCalls();
  federation_->EndCalls();
}

absl::StatusOr<Session> InstancePrincipal::Fetch() {
  const absl::StatusOr<Leaf> leaf = ReadLeaf();
  if (!leaf.ok()) return leaf.status();
  if (absl::Status status = CheckTenancy(*leaf); !status.ok()) return status;
  return Exchange(*leaf);
}

absl::StatusOr<InstancePrincipal::Leaf> InstancePrincipal::ReadLeaf() {
  for (int attempt = 1; attempt <= kPairTries; ++attempt) {
    const absl::StatusOr<InstanceIdentity> identity = metadata_->Identity();
    if (!identity.ok()) return identity.status();
    auto certificates = ParseCertificates(identity->certificate_pem, "metadata service, cert.pem");
    if (!certificates.ok()) return certificates.status();
    auto intermediates =
        ParseCertificates(identity->intermediate_pem, "metadata service, intermediate.pem");
    if (!intermediates.ok()) return intermediates.status();
    auto key = PrivateKey::FromPem(identity->key_pem, "");
    if (!key.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("metadata service, key.pem: ", key.status().message()));
    }
    if ((*key)->PublicKeyPem() != certificates->front().public_key_pem) continue;
    return Leaf{.certificate = std::move(certificates->front()),
                .key = *std::move(key),
                .intermediates = *std::move(intermediates)};
  }
  return absl::AbortedError(
      "metadata service: cert.pem and key.pem do not belong together; if this stays, the "
      "instance's agent is to be restarted");
}

absl::Status InstancePrincipal::CheckTenancy(const Leaf& leaf) {
  const std::string& tenancy = leaf.certificate.tenancy;
  if (tenancy.empty()) {
    return absl::InvalidArgumentError(
        "metadata service, cert.pem: its subject names no tenancy (opc-tenant:); is this an "
        "instance of OCI?");
  }
  absl::MutexLock lock(&mutex_);
  if (tenancy_.empty()) tenancy_ = tenancy;
  if (tenancy_ == tenancy) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("metadata service, cert.pem: it speaks for tenancy ", tenancy,
                   ", until now for ", tenancy_, "; if that is meant, restart this process"));
}

absl::StatusOr<Session> InstancePrincipal::Exchange(const Leaf& leaf) {
  absl::StatusOr<std::shared_ptr<const PrivateKey>> key = PrivateKey::Generate();
  if (!key.ok()) return key.status();
  const std::string intermediates =
      absl::StrJoin(leaf.intermediates, ",", [](std::string* out, const Certificate& certificate) {
        absl::StrAppend(out, base::QuoteJson(certificate.der_base64));
      });
  http::Request request = {.method = "POST", .target = "/v1/x509"};
  request.headers = {{"accept", "application/json"}};
  request.body =
      absl::StrCat(R"({"certificate":)", base::QuoteJson(leaf.certificate.der_base64),
                   R"(,"intermediateCertificates":[)", intermediates, R"(],"publicKey":)",
                   base::QuoteJson(WithoutFrame((*key)->PublicKeyPem())), "}");
  request.timeout = timeout_;
  request.max_response_bytes = kMaxAnswerBytes;
  const Credentials speaker = {
      .key_id = absl::StrCat(leaf.certificate.tenancy, "/fed-x509/", leaf.certificate.fingerprint),
      .key = leaf.key};
  absl::Status status = SignWithoutHost(speaker, clock_.Now(), request);
  if (!status.ok()) return status;
  const absl::StatusOr<http::Response> answer = federation_->Send(request);
  if (!answer.ok()) {
    return absl::Status(answer.status().code(),
                        absl::StrCat("federation endpoint: ", answer.status().message()));
  }
  status = StatusOf(*answer, kWhat, clock_.Now());
  if (answer->status == 401) {
    return absl::Status(status.code(), absl::StrCat(status.message(),
                                                    "; this instance's certificate is valid from ",
                                                    TimeText(leaf.certificate.not_before), " to ",
                                                    TimeText(leaf.certificate.not_after)));
  }
  if (!status.ok()) return status;
  const absl::StatusOr<SecurityToken> token = ReadToken(*answer);
  if (!token.ok()) return token.status();
  status = CheckNewToken(*token, *answer, clock_.Now(), kWhat);
  if (!status.ok()) return status;
  return Session{
      .credentials = {.key_id = absl::StrCat("ST$", token->text), .key = *std::move(key)},
      .expires = token->expires};
}

}  // namespace oci

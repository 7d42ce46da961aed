#include "sim/federation_request.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <memory>
#include <regex>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/json.h"
#include "sim/timestamp.h"

namespace sim {
namespace {

struct Free {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(EVP_MD_CTX* p) const { EVP_MD_CTX_free(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(X509_STORE* p) const { X509_STORE_free(p); }
  void operator()(X509_STORE_CTX* p) const { X509_STORE_CTX_free(p); }
  void operator()(STACK_OF(X509) * p) const { sk_X509_free(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

constexpr absl::Duration kAllowedSkew = absl::Minutes(5);

absl::Status Unknown(absl::string_view why) { return absl::UnauthenticatedError(why); }
absl::Status Wrong(absl::string_view why) { return absl::InvalidArgumentError(why); }

Owned<X509> CertificateOf(absl::string_view base64) {
  std::string der;
  if (!absl::Base64Unescape(base64, &der)) return nullptr;
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  return Owned<X509>(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
}

std::string PemOf(EVP_PKEY* key) {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PUBKEY(bio.get(), key);
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(length));
}

// As a session key has to be.
absl::StatusOr<std::string> CheckKey(const Owned<EVP_PKEY>& key) {
  if (key == nullptr) return Wrong("The public key cannot be read");
  if (EVP_PKEY_is_a(key.get(), "RSA") != 1 || EVP_PKEY_get_bits(key.get()) < 2048) {
    return Wrong("The public key is not RSA of 2048 bits");
  }
  return PemOf(key.get());
}

absl::StatusOr<std::string> SessionKey(absl::string_view base64) {
  std::string der;
  if (!absl::Base64Unescape(base64, &der)) return Wrong("publicKey is no base64");
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  return CheckKey(Owned<EVP_PKEY>(d2i_PUBKEY(nullptr, &bytes, static_cast<long>(der.size()))));
}

std::string Fingerprint(X509* certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  X509_digest(certificate, EVP_sha1(), digest, &length);
  std::string text;
  for (unsigned int i = 0; i < length; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ":", absl::Hex(digest[i], absl::kZeroPad2));
  }
  return text;
}

std::string TenancyOf(X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_organizationalUnitName, -1);
  if (at < 0) return "";
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
  return std::string(absl::StripPrefix(
      absl::string_view(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                        static_cast<size_t>(ASN1_STRING_length(value))),
      "opc-tenant:"));
}

absl::Status CheckChain(X509* leaf, const std::vector<Owned<X509>>& between,
                        absl::string_view root_pem, absl::Time now) {
  const Owned<BIO> bio(BIO_new_mem_buf(root_pem.data(), static_cast<int>(root_pem.size())));
  const Owned<X509> root(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  const Owned<X509_STORE> store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), root.get());
  const Owned<STACK_OF(X509)> untrusted(sk_X509_new_null());
  for (const auto& certificate : between) sk_X509_push(untrusted.get(), certificate.get());
  const Owned<X509_STORE_CTX> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), leaf, untrusted.get());
  X509_STORE_CTX_set_time(context.get(), 0, absl::ToTimeT(now));
  if (X509_verify_cert(context.get()) == 1) return absl::OkStatus();
  return Unknown(
      absl::StrCat("The certificate is not trusted: ",
                   X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()))));
}

absl::Status CheckDate(const http::Request& request, absl::Time now) {
  const std::string text(http::FindHeader(request.headers, "date"));
  absl::Time date;
  std::string error;
  if (!absl::ParseTime(kHttpDateFormat, text, &date, &error)) return Unknown("Date: not a date");
  if (absl::AbsDuration(now - date) <= kAllowedSkew) return absl::OkStatus();
  return Unknown(absl::StrCat("Date '", text, "' is not within allowed clock skew"));
}

absl::Status CheckSignature(const http::Request& request, X509* leaf) {
  static const std::regex& form = *new std::regex(
      "Signature version=\"1\",headers=\"date \\(request-target\\) content-length content-type "
      "x-content-sha256\",keyId=\"([^\"]*)\",algorithm=\"rsa-sha256\",signature=\"([^\"]*)\"");
  const std::string authorization(http::FindHeader(request.headers, "authorization"));
  std::smatch parts;
  if (!std::regex_match(authorization, parts, form)) {
    return Unknown("The Authorization header is not of the form that is wanted");
  }
  if (parts[1] != absl::StrCat(TenancyOf(leaf), "/fed-x509/", Fingerprint(leaf))) {
    return Unknown("The keyId is not that of the certificate");
  }
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(request.body.data()), request.body.size(), digest);
  const auto header = [&](absl::string_view name) {
    return http::FindHeader(request.headers, name);
  };
  if (header("x-content-sha256") !=
      absl::Base64Escape(absl::string_view(reinterpret_cast<const char*>(digest), sizeof digest))) {
    return Unknown("The x-content-sha256 header does not match the body");
  }
  const std::string text = absl::StrCat(
      "date: ", header("date"), "\n(request-target): post ", request.target,
      "\ncontent-length: ", header("content-length"), "\ncontent-type: ", header("content-type"),
      "\nx-content-sha256: ", header("x-content-sha256"));
  std::string signature;
  if (!absl::Base64Unescape(parts[2].str(), &signature)) return Unknown("signature: no base64");
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, X509_get0_pubkey(leaf));
  if (EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                       signature.size(), reinterpret_cast<const unsigned char*>(text.data()),
                       text.size()) != 1) {
    return Unknown("Failed to verify the HTTP(S) Signature");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FederationRequest> ReadFederationRequest(const http::Request& request,
                                                        absl::string_view root_pem,
                                                        absl::Time now) {
  if (http::FindHeader(request.headers, "content-type") != "application/json") {
    return Wrong("content-type");
  }
  const auto body = base::ParseJson(request.body, "body");
  if (!body.ok()) return body.status();
  const auto certificate = base::RequireString(*body, "certificate");
  const auto public_key = base::RequireString(*body, "publicKey");
  const rapidjson::Value* intermediates = base::FindMember(*body, "intermediateCertificates");
  if (!certificate.ok() || !public_key.ok() || intermediates == nullptr ||
      !intermediates->IsArray()) {
    return Wrong("certificate, publicKey and intermediateCertificates are required");
  }
  const Owned<X509> leaf = CertificateOf(*certificate);
  if (leaf == nullptr) return Wrong("certificate cannot be read");
  std::vector<Owned<X509>> between;
  for (const rapidjson::Value& value : intermediates->GetArray()) {
    between.push_back(CertificateOf(base::StringOf(value)));
    if (between.back() == nullptr) return Wrong("an intermediate certificate cannot be read");
  }
  for (const absl::Status& status :
       {CheckDate(request, now), CheckChain(leaf.get(), between, root_pem, now),
        CheckSignature(request, leaf.get())}) {
    if (!status.ok()) return status;
  }
  const absl::StatusOr<std::string> key = SessionKey(*public_key);
  if (!key.ok()) return key.status();
  return FederationRequest{.tenancy = TenancyOf(leaf.get()), .public_key_pem = *key};
}

absl::StatusOr<std::string> ReadPodKey(absl::string_view body) {
  const auto document = base::ParseJson(body, "body");
  if (!document.ok()) return document.status();
  const auto pem = base::RequireString(*document, "podKey");
  if (!pem.ok()) return pem.status();
  if (!absl::StartsWith(*pem, "-----BEGIN PUBLIC KEY-----\n") ||
      !absl::EndsWith(*pem, "-----END PUBLIC KEY-----\n")) {
    return Wrong("podKey is not a PEM text with its frame");
  }
  const Owned<BIO> bio(BIO_new_mem_buf(pem->data(), static_cast<int>(pem->size())));
  return CheckKey(Owned<EVP_PKEY>(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr)));
}

}  // namespace sim

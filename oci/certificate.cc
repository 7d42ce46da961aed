#include "oci/certificate.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace oci {
namespace {

constexpr size_t kMaxCertificates = 10;
constexpr size_t kMaxPemBytes = 256 << 10;
constexpr absl::string_view kTenant = "opc-tenant:";

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Bio = std::unique_ptr<BIO, Free>;
using X509Pointer = std::unique_ptr<X509, Free>;

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return absl::InfinitePast();
  return absl::FromTM(parts, absl::UTCTimeZone());
}

std::string TenancyOf(X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const ASN1_STRING* data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i));
    absl::string_view value(reinterpret_cast<const char*>(ASN1_STRING_get0_data(data)),
                            static_cast<size_t>(ASN1_STRING_length(data)));
    if (absl::ConsumePrefix(&value, kTenant)) return std::string(value);
  }
  return "";
}

std::string DerOf(X509* certificate) {
  unsigned char* bytes = nullptr;
  const int length = i2d_X509(certificate, &bytes);
  if (length <= 0) return "";
  std::string der(reinterpret_cast<char*>(bytes), static_cast<size_t>(length));
  OPENSSL_free(bytes);
  return der;
}

std::string FingerprintOf(X509* certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (X509_digest(certificate, EVP_sha1(), digest, &length) != 1) return "";
  std::string text;
  for (unsigned int i = 0; i < length; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ":", absl::Hex(digest[i], absl::kZeroPad2));
  }
  return text;
}

std::string PublicKeyOf(X509* certificate) {
  EVP_PKEY* key = X509_get0_pubkey(certificate);
  const Bio bio(BIO_new(BIO_s_mem()));
  if (key == nullptr || PEM_write_bio_PUBKEY(bio.get(), key) != 1) return "";
  char* text = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(length));
}

}  // namespace

absl::StatusOr<std::vector<Certificate>> ParseCertificates(absl::string_view pem,
                                                           absl::string_view what) {
  if (pem.size() > kMaxPemBytes) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": larger than ", kMaxPemBytes, " bytes"));
  }
  std::vector<Certificate> certificates;
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  for (;;) {
    const X509Pointer certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (certificate == nullptr) break;
    if (certificates.size() == kMaxCertificates) {
      ERR_clear_error();
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": more than ", kMaxCertificates, " certificates"));
    }
    const std::string der = DerOf(certificate.get());
    certificates.push_back({.der_base64 = absl::Base64Escape(der),
                            .fingerprint = FingerprintOf(certificate.get()),
                            .public_key_pem = PublicKeyOf(certificate.get()),
                            .tenancy = TenancyOf(certificate.get()),
                            .not_before = TimeOf(X509_get0_notBefore(certificate.get())),
                            .not_after = TimeOf(X509_get0_notAfter(certificate.get()))});
  }
  // The end of the text is an error like any other, told by its reason.
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": a certificate is damaged"));
  }
  if (certificates.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": no certificate in PEM form"));
  }
  return certificates;
}

}  // namespace oci

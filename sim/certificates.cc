#include "sim/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace sim {
namespace {

// Out of memory or a wrong argument of a test: nothing to carry on with.
template <typename T>
T Must(T result) {
  if (!result) {
    std::cerr << "OpenSSL failed while making a test certificate\n";
    std::abort();
  }
  return result;
}

struct Free {
  void operator()(BIO* p) const { BIO_free_all(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(X509* p) const { X509_free(p); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;

std::string Text(const Bio& bio) {
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(length));
}

std::string KeyPem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  Must(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr));
  return Text(bio);
}

Key ReadKey(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Key(Must(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr)));
}

Certificate ReadCertificate(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(Must(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)));
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = Must(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const bool address = absl::ascii_isdigit(static_cast<unsigned char>(name.back()));
    absl::StrAppend(&text, text.empty() ? "" : ",", address ? "IP:" : "DNS:", name);
  }
  return text;
}

}  // namespace

CertificateAndKey MakeCertificate(const CertificateOptions& options,
                                  const CertificateAndKey* issuer) {
  const Key key(Must(options.rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256")));
  const Certificate certificate(Must(X509_new()));
  X509_set_version(certificate.get(), X509_VERSION_3);
  uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), absl::ToInt64Seconds(options.valid_from));
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), absl::ToInt64Seconds(options.valid_until));
  X509_set_pubkey(certificate.get(), key.get());
  std::string common_name = options.common_name;
  // An issuer of the same name as what it signs would look self-signed.
  if (common_name.empty()) common_name = options.is_authority ? "test CA" : "test";
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  if (!options.organizational_unit.empty()) {
    X509_NAME_add_entry_by_txt(
        name, "OU", MBSTRING_UTF8,
        reinterpret_cast<const unsigned char*>(options.organizational_unit.c_str()), -1, -1, 0);
  }
  const Certificate issuer_certificate =
      issuer == nullptr ? nullptr : ReadCertificate(issuer->certificate_pem);
  X509* signer = issuer == nullptr ? certificate.get() : issuer_certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  AddExtension(certificate.get(), signer, NID_basic_constraints,
               options.is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!options.names.empty()) {
    AddExtension(certificate.get(), signer, NID_subject_alt_name, AlternativeNames(options.names));
  }
  const Key issuer_key = issuer == nullptr ? nullptr : ReadKey(issuer->key_pem);
  Must(
      X509_sign(certificate.get(), issuer == nullptr ? key.get() : issuer_key.get(), EVP_sha256()));
  const Bio bio(BIO_new(BIO_s_mem()));
  Must(PEM_write_bio_X509(bio.get(), certificate.get()));
  return {.certificate_pem = Text(bio), .key_pem = KeyPem(key.get())};
}

std::string MakeRsaKeyPem(int bits) {
  const Key key(Must(EVP_RSA_gen(static_cast<unsigned>(bits))));
  return KeyPem(key.get());
}

}  // namespace sim

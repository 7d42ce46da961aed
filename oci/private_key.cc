#include "oci/private_key.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"

namespace oci {
namespace {

struct PassPhrase {
  absl::string_view text;
  bool asked = false;
};

// Never asks a terminal. A negative answer means there is none.
int GivePassPhrase(char* buffer, int size, int /*writing*/, void* argument) {
  auto* pass_phrase = static_cast<PassPhrase*>(argument);
  pass_phrase->asked = true;
  const size_t length = pass_phrase->text.size();
  if (length == 0 || length > static_cast<size_t>(size)) return -1;
  std::memcpy(buffer, pass_phrase->text.data(), length);
  return static_cast<int>(length);
}

absl::Status WhyUnreadable(absl::string_view pem, const PassPhrase& pass_phrase) {
  if (pass_phrase.asked && pass_phrase.text.empty()) {
    return absl::InvalidArgumentError("it is encrypted and no pass phrase is given");
  }
  if (pass_phrase.asked) {
    return absl::InvalidArgumentError("the pass phrase does not open it");
  }
  if (absl::StrContains(pem, "PUBLIC KEY-----")) {
    return absl::InvalidArgumentError("it is a public key, the private one is needed");
  }
  if (!absl::StrContains(pem, "PRIVATE KEY-----")) {
    return absl::InvalidArgumentError("it has no private key in PEM form");
  }
  return absl::InvalidArgumentError("its private key is damaged");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PrivateKey>> PrivateKey::FromPem(
    absl::string_view pem, absl::string_view pass_phrase) {
  PassPhrase given{.text = pass_phrase};
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, &GivePassPhrase, &given);
  BIO_free(bio);
  ERR_clear_error();
  if (key == nullptr) return WhyUnreadable(pem, given);
  std::shared_ptr<const PrivateKey> owner(new PrivateKey(key));
  if (EVP_PKEY_is_a(key, "RSA") != 1) {
    return absl::InvalidArgumentError("it is not an RSA key, the only kind OCI takes");
  }
  return owner;
}

absl::StatusOr<std::shared_ptr<const PrivateKey>> PrivateKey::Generate() {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  ERR_clear_error();
  if (key == nullptr) return absl::InternalError("no session key could be made");
  return std::shared_ptr<const PrivateKey>(new PrivateKey(key));
}

PrivateKey::~PrivateKey() { EVP_PKEY_free(key_); }

absl::StatusOr<std::string> PrivateKey::Sign(absl::string_view text) const {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  size_t length = static_cast<size_t>(EVP_PKEY_get_size(key_));
  std::string signature(length, '\0');
  const bool signed_ =
      EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_) == 1 &&
      EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &length,
                     reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
  EVP_MD_CTX_free(context);
  ERR_clear_error();
  if (!signed_) return absl::InternalError("the private key does not sign");
  signature.resize(length);
  return absl::Base64Escape(signature);
}

std::string PrivateKey::PublicKeyPem() const {
  BIO* bio = BIO_new(BIO_s_mem());
  std::string pem;
  if (PEM_write_bio_PUBKEY(bio, key_) == 1) {
    char* text = nullptr;
    const long length = BIO_get_mem_data(bio, &text);
    pem.assign(text, static_cast<size_t>(length));
  }
  BIO_free(bio);
  return pem;
}

std::string Sha256Base64(absl::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr);
  return absl::Base64Escape(absl::string_view(reinterpret_cast<char*>(digest), length));
}

}  // namespace oci

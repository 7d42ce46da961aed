#include "sim/request_signature.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "sim/timestamp.h"

namespace sim {
namespace {

struct Deleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

constexpr absl::Duration kAllowedSkew = absl::Minutes(5);

std::string Base64Sha256(absl::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::Base64Escape(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

absl::Status Refuse(absl::string_view why) { return absl::UnauthenticatedError(why); }

bool HasBody(const http::Request& request) {
  return request.method == "PUT" || request.method == "POST" || request.method == "PATCH";
}

// `version="1",keyId="a/b/c",...`, in any order.
std::map<std::string, std::string> ParseParameters(absl::string_view text) {
  std::map<std::string, std::string> parameters;
  while (true) {
    const size_t equals = text.find("=\"");
    const size_t end = equals == absl::string_view::npos ? equals : text.find('"', equals + 2);
    if (end == absl::string_view::npos) return parameters;
    const absl::string_view name =
        absl::StripAsciiWhitespace(absl::StripPrefix(text.substr(0, equals), ","));
    parameters[absl::AsciiStrToLower(name)] =
        std::string(text.substr(equals + 2, end - equals - 2));
    text.remove_prefix(end + 1);
    text = absl::StripLeadingAsciiWhitespace(text);
  }
}

// The text that is signed, lines named by `names` in lower case.
absl::StatusOr<std::string> SigningString(const http::Request& request,
                                          const std::vector<std::string>& names) {
  std::vector<std::string> lines;
  for (const std::string& name : names) {
    if (name == "(request-target)") {
      lines.push_back(
          absl::StrCat(name, ": ", absl::AsciiStrToLower(request.method), " ", request.target));
      continue;
    }
    const absl::string_view value = http::FindHeader(request.headers, name);
    if (value.data() == nullptr) return Refuse(absl::StrCat("Missing signed header ", name));
    lines.push_back(absl::StrCat(name, ": ", value));
  }
  return absl::StrJoin(lines, "\n");
}

absl::Status CheckDate(const http::Request& request, const std::vector<std::string>& names,
                       absl::Time now) {
  const auto is_signed = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const char* name = is_signed("x-date") ? "x-date" : "date";
  if (!is_signed(name)) return Refuse("Neither date nor x-date is signed");
  const std::string text(http::FindHeader(request.headers, name));
  absl::Time date;
  std::string error;
  if (!absl::ParseTime(kHttpDateFormat, text, &date, &error)) {
    return Refuse(absl::StrCat("Date '", text, "' is not a valid date"));
  }
  if (absl::AbsDuration(now - date) > kAllowedSkew) {
    return Refuse(absl::StrCat("Date '", text, "' is not within allowed clock skew. Current '",
                               HttpDate(now), "'. Allowed skew 300 seconds."));
  }
  return absl::OkStatus();
}

absl::Status CheckBody(const http::Request& request, const std::vector<std::string>& names) {
  for (const char* name : {"content-length", "content-type", "x-content-sha256"}) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Refuse(absl::StrCat("Header ", name, " is not signed"));
    }
  }
  if (http::FindHeader(request.headers, "x-content-sha256") != Base64Sha256(request.body)) {
    return Refuse("The x-content-sha256 header does not match the body");
  }
  if (http::FindHeader(request.headers, "content-length") != absl::StrCat(request.body.size())) {
    return Refuse("The content-length header does not match the body");
  }
  return absl::OkStatus();
}

std::string ReadAll(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

// MD5 over the DER form, in pairs of hexadecimal digits.
std::string Fingerprint(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_size = 0;
  EVP_Digest(der, static_cast<size_t>(size), digest, &digest_size, EVP_md5(), nullptr);
  OPENSSL_free(der);
  std::vector<std::string> pairs;
  for (unsigned int i = 0; i < digest_size; ++i) {
    pairs.push_back(absl::StrCat(absl::Hex(digest[i], absl::kZeroPad2)));
  }
  return absl::StrJoin(pairs, ":");
}

}  // namespace

struct SignatureVerifier::Key {
  std::string client;
  Owned<EVP_PKEY> key;
};

SignatureVerifier::SignatureVerifier() = default;
SignatureVerifier::~SignatureVerifier() = default;

absl::Status SignatureVerifier::AddKey(const std::string& key_id, const std::string& client,
                                       absl::string_view public_key_pem) {
  Owned<BIO> bio(BIO_new_mem_buf(public_key_pem.data(), static_cast<int>(public_key_pem.size())));
  Owned<EVP_PKEY> key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
  if (key == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("key ", key_id, ": not a PEM public key"));
  }
  keys_[key_id] = std::make_unique<Key>(Key{client, std::move(key)});
  return absl::OkStatus();
}

absl::StatusOr<std::string> SignatureVerifier::Verify(const http::Request& request,
                                                      absl::Time now) const {
  absl::string_view authorization = http::FindHeader(request.headers, "authorization");
  if (authorization.empty()) return Refuse("The required information is missing: no Authorization");
  if (!absl::StartsWithIgnoreCase(authorization, "Signature ")) {
    return Refuse("The Authorization header is not a Signature");
  }
  authorization.remove_prefix(10);
  std::map<std::string, std::string> parameters = ParseParameters(authorization);
  if (parameters["version"] != "1" || parameters["algorithm"] != "rsa-sha256") {
    return Refuse("Only version 1 and algorithm rsa-sha256 are supported");
  }
  const auto key = keys_.find(parameters["keyid"]);
  if (key == keys_.end()) return Refuse("The keyId is not known");

  const std::vector<std::string> names =
      absl::StrSplit(absl::AsciiStrToLower(parameters["headers"]), ' ', absl::SkipEmpty());
  for (const char* name : {"(request-target)", "host"}) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Refuse(absl::StrCat(name, " is not signed"));
    }
  }
  if (absl::Status status = CheckDate(request, names, now); !status.ok()) return status;
  if (HasBody(request)) {
    if (absl::Status status = CheckBody(request, names); !status.ok()) return status;
  }
  const absl::StatusOr<std::string> text = SigningString(request, names);
  if (!text.ok()) return text.status();
  std::string signature;
  if (!absl::Base64Unescape(parameters["signature"], &signature)) {
    return Refuse("The signature is not base64");
  }
  Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key->second->key.get());
  if (EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                       signature.size(), reinterpret_cast<const unsigned char*>(text->data()),
                       text->size()) != 1) {
    return Refuse("Failed to verify the HTTP(S) Signature");
  }
  return key->second->client;
}

KeyPair MakeKeyPair() {
  KeyPair pair;
  Owned<EVP_PKEY> key(EVP_RSA_gen(2048));
  Owned<BIO> secret(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  pair.private_key_pem = ReadAll(secret.get());
  Owned<BIO> shown(BIO_new(BIO_s_mem()));
  PEM_write_bio_PUBKEY(shown.get(), key.get());
  pair.public_key_pem = ReadAll(shown.get());
  pair.fingerprint = Fingerprint(key.get());
  return pair;
}

void SignRequest(const KeyPair& key, const std::string& key_id, absl::string_view host,
                 absl::Time now, http::Request& request) {
  std::vector<std::string> names = {"date", "(request-target)", "host"};
  request.headers.emplace_back("date", HttpDate(now));
  // What the transport will add is part of what is signed, but not added twice.
  http::Request as_sent = request;
  as_sent.headers.emplace_back("host", host);
  if (HasBody(request)) {
    names.insert(names.end(), {"content-length", "content-type", "x-content-sha256"});
    const std::string digest = Base64Sha256(request.body);
    request.headers.emplace_back("content-type", "application/json");
    request.headers.emplace_back("x-content-sha256", digest);
    as_sent.headers.emplace_back("content-length", absl::StrCat(request.body.size()));
    as_sent.headers.emplace_back("content-type", "application/json");
    as_sent.headers.emplace_back("x-content-sha256", digest);
  }
  const std::string text = *SigningString(as_sent, names);
  Owned<BIO> bio(
      BIO_new_mem_buf(key.private_key_pem.data(), static_cast<int>(key.private_key_pem.size())));
  Owned<EVP_PKEY> secret(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, secret.get());
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = 0;
  EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size());
  std::string signature(size, '\0');
  EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                 text.size());
  signature.resize(size);
  request.headers.emplace_back(
      "authorization",
      absl::StrCat(R"(Signature version="1",headers=")", absl::StrJoin(names, " "), R"(",keyId=")",
                   key_id, R"(",algorithm="rsa-sha256",signature=")", absl::Base64Escape(signature),
                   R"(")"));
}

}  // namespace sim

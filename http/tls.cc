#include "http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "http/url.h"

namespace http {
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Store = std::unique_ptr<X509_STORE, Deleter<X509_STORE_free>>;

constexpr size_t kMaxRefusalBytes = 600;

Bio Reader(const std::string& pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

absl::StatusOr<std::vector<Certificate>> ReadCertificates(const std::string& pem,
                                                          absl::string_view what) {
  std::vector<Certificate> certificates;
  const Bio bio = Reader(pem);
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  // The end of the text also shows as an error, "no start line".
  if (ERR_GET_REASON(error) != PEM_R_NO_START_LINE || certificates.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, ": ",
        certificates.empty() ? "no certificate in PEM form found" : "a certificate is damaged"));
  }
  return certificates;
}

// Never asks a terminal for a pass phrase.
int NoPassphrase(char*, int, int, void*) { return -1; }

std::string NameText(const X509_NAME* name) {
  const Bio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253);
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return length > 0 ? std::string(data, static_cast<size_t>(length)) : "without a name";
}

std::string TimeText(const ASN1_TIME* time) {
  const Bio bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(std::max(length, 0L)));
}

std::string NamesIn(X509* certificate) {
  std::string names;
  auto* all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all, i);
    std::string text;
    if (name->type == GEN_DNS) {
      text.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                  static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD && ASN1_STRING_length(name->d.iPAddress) == 4) {
      const unsigned char* ip = ASN1_STRING_get0_data(name->d.iPAddress);
      text = absl::StrCat(int{ip[0]}, ".", int{ip[1]}, ".", int{ip[2]}, ".", int{ip[3]});
    }
    if (!text.empty()) absl::StrAppend(&names, names.empty() ? "" : ", ", text);
  }
  GENERAL_NAMES_free(all);
  return names.empty() ? "no host" : names;
}

std::string Refusal(X509_STORE_CTX* context, const std::string& server_name) {
  const int error = X509_STORE_CTX_get_error(context);
  X509* certificate = X509_STORE_CTX_get_current_cert(context);
  if (certificate == nullptr) certificate = X509_STORE_CTX_get0_cert(context);
  if (certificate == nullptr) return "the server sent no certificate";
  std::string text = absl::StrCat("certificate ", NameText(X509_get_subject_name(certificate)),
                                  " (issuer ", NameText(X509_get_issuer_name(certificate)),
                                  "): ", X509_verify_cert_error_string(error));
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      absl::StrAppend(&text, ": it is for ", NamesIn(certificate), ", not for ", server_name);
      break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      absl::StrAppend(&text, " on ", TimeText(X509_get0_notAfter(certificate)));
      break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      absl::StrAppend(&text, " before ", TimeText(X509_get0_notBefore(certificate)));
      break;
    default:
      break;
  }
  if (text.size() > kMaxRefusalBytes) text.resize(kMaxRefusalBytes);
  return text;
}

}  // namespace

struct Tls::State {
  std::string server_name;
  Store trusted;
  std::vector<Certificate> chain;  // the client certificate first; empty for none
  Key key;
  mutable absl::Mutex mutex;
  std::string last_refusal ABSL_GUARDED_BY(mutex);

  // Stands in for OpenSSL's own verification to keep the reason of a refusal,
  // which the library above reduces to a number.
  static int Verify(X509_STORE_CTX* context, void* argument) {
    auto* state = static_cast<State*>(argument);
    X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context);
    const std::string& name = state->server_name;
    if (IsIpv4Literal(name)) {
      X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str());
    } else {
      X509_VERIFY_PARAM_set1_host(parameters, name.data(), name.size());
    }
    const int verified = X509_verify_cert(context);
    if (verified == 1) return 1;
    std::string refusal = Refusal(context, name);
    // What is left of the attempts to verify would be reported as the failure.
    ERR_clear_error();
    absl::MutexLock lock(&state->mutex);
    state->last_refusal = std::move(refusal);
    return verified;
  }
};

absl::StatusOr<std::shared_ptr<Tls>> Tls::Make(const TlsOptions& options) {
  auto state = std::make_unique<State>();
  state->server_name = options.server_name;
  state->trusted.reset(X509_STORE_new());
  if (options.ca_pem.empty()) {
    X509_STORE_set_default_paths(state->trusted.get());
  } else {
    auto authorities = ReadCertificates(options.ca_pem, "CA certificate");
    if (!authorities.ok()) return authorities.status();
    for (const Certificate& authority : *authorities) {
      X509_STORE_add_cert(state->trusted.get(), authority.get());
    }
  }
  if (!options.client_certificate_pem.empty()) {
    auto chain = ReadCertificates(options.client_certificate_pem, "client certificate");
    if (!chain.ok()) return chain.status();
    state->chain = *std::move(chain);
    state->key.reset(PEM_read_bio_PrivateKey(Reader(options.client_key_pem).get(), nullptr,
                                             NoPassphrase, nullptr));
    ERR_clear_error();
    if (state->key == nullptr) {
      return absl::InvalidArgumentError("client key: no unencrypted private key in PEM form found");
    }
    if (X509_check_private_key(state->chain.front().get(), state->key.get()) != 1) {
      ERR_clear_error();
      return absl::InvalidArgumentError("client key: it does not belong to the client certificate");
    }
  } else if (!options.client_key_pem.empty()) {
    return absl::InvalidArgumentError("client certificate: missing beside the client key");
  }
  return std::shared_ptr<Tls>(new Tls(std::move(state)));
}

Tls::Tls(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tls::~Tls() = default;

void Tls::Apply(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // Replaces the system's CAs, which the library has loaded.
  X509_STORE_up_ref(state_->trusted.get());
  SSL_CTX_set_cert_store(context, state_->trusted.get());
  SSL_CTX_set_cert_verify_callback(context, &State::Verify, state_.get());
  if (state_->key == nullptr) return;
  SSL_CTX_use_certificate(context, state_->chain.front().get());
  for (size_t i = 1; i < state_->chain.size(); ++i) {
    SSL_CTX_add1_chain_cert(context, state_->chain[i].get());
  }
  SSL_CTX_use_PrivateKey(context, state_->key.get());
}

std::string Tls::LastRefusal() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->last_refusal;
}

std::string TlsErrorText(int code) {
  if (ERR_GET_LIB(static_cast<unsigned long>(code)) != ERR_LIB_SSL) return "";
  const char* text = ERR_reason_error_string(static_cast<unsigned long>(code));
  return text == nullptr ? "" : text;
}

bool IsTlsRefusalByServer(int code) {
  const auto packed = static_cast<unsigned long>(code);
  // Reasons above 1000 are alerts that the other side sent.
  return ERR_GET_LIB(packed) == ERR_LIB_SSL && ERR_GET_REASON(packed) > SSL_AD_REASON_OFFSET;
}

bool IsCertificateRefusal(int code) {
  const auto packed = static_cast<unsigned long>(code);
  return ERR_GET_LIB(packed) == ERR_LIB_SSL &&
         ERR_GET_REASON(packed) == SSL_R_CERTIFICATE_VERIFY_FAILED;
}

}  // namespace http

// What tests of identities share: a client of OCI that speaks by some credentials.
#ifndef OCI_BACKEND_DRAIN_OCI_IDENTITY_FOR_TEST_H_
#define OCI_BACKEND_DRAIN_OCI_IDENTITY_FOR_TEST_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "http/cpprest_transport.h"
#include "http/url.h"
#include "oci/rest_load_balancer_api.h"
#include "oci/session_credentials.h"
#include "sim/certificates.h"
#include "sim/http_server.h"
#include "sim/manual_clock.h"
#include "sim/token_issuer.h"

namespace oci {

// A certificate for 127.0.0.1 and the CA to trust for it.
struct LoopbackTls {
  sim::CertificateAndKey authority = sim::MakeCertificate({.is_authority = true});
  sim::CertificateAndKey server = sim::MakeCertificate({.names = {"127.0.0.1"}}, &authority);

  sim::ServerTls ForServer() const {
    return {.certificate_pem = server.certificate_pem, .key_pem = server.key_pem};
  }
};

// What SessionCredentials told of its tries.
class Tries {
 public:
  SessionOptions Options() {
    SessionOptions options;
    options.patience = absl::Minutes(1);
    options.seed = 1;
    options.on_try = [this](const absl::Status&, const std::string& text) {
      std::lock_guard<std::mutex> lock(mutex_);
      texts_.push_back(text);
      changed_.notify_all();
    };
    return options;
  }
  void Await(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return texts_.size() >= count; });
  }
  std::string All() {
    std::lock_guard<std::mutex> lock(mutex_);
    return absl::StrJoin(texts_, "\n");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
};

// A service of OCI, and the real client of it.
class Service {
 public:
  Service(sim::TokenIssuer& issuer, base::Clock& server_clock, base::Clock& clock,
          CredentialsProvider& credentials)
      : server_(sim::StartOciService(issuer, server_clock)),
        transport_(http::MakeCpprestTransport({.base_url = server_->url()}).value()),
        api_(MakeRestLoadBalancerApi(
            *transport_, credentials, clock,
            {.authority = http::ParseServerUrl(server_->url())->Authority()})) {}

  // OK if the service took the credentials for good.
  absl::Status Call() { return api_->GetLoadBalancer(Ocid("x")).status(); }
  int64_t calls() const { return server_->requests_received(); }
  LoadBalancerApi& api() { return *api_; }

 private:
  std::unique_ptr<sim::HttpServer> server_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<LoadBalancerApi> api_;
};

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_IDENTITY_FOR_TEST_H_

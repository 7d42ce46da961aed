// The services that say who a workload is: the metadata service of an instance, the
// federation endpoint, and the proxymux of an OKE cluster. Each refuses what the real
// one refuses, over real HTTP(S) on the loopback interface.
//
//   TokenIssuer issuer(clock);
//   FakeInstance instance("ocid1.tenancy.oc1..a");
//   auto metadata = FakeMetadataService::Start(instance, clock);
//   auto federation = FakeFederation::Start(instance, issuer, clock, tls);
#ifndef OCI_BACKEND_DRAIN_SIM_FAKE_IDENTITY_H_
#define OCI_BACKEND_DRAIN_SIM_FAKE_IDENTITY_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/transport.h"
#include "sim/certificates.h"
#include "sim/http_server.h"
#include "sim/token_issuer.h"

namespace sim {

// Answers in place of the right ones, and what was asked. Thread-safe.
class Interference {
 public:
  // The next `count` requests whose target ends in `page` are answered so.
  void Add(absl::string_view page, Answer answer, int count = 1);
  // Called with each request's target before it is answered.
  void OnRequest(std::function<void(const std::string& target)> callback);

  // For the fakes.
  std::optional<Answer> Take(const http::Request& request);
  // Targets, in order.
  std::vector<std::string> requests() const;

 private:
  struct Planned {
    std::string page;
    Answer answer;
    int left;
  };
  mutable std::mutex mutex_;
  std::deque<Planned> planned_;
  std::vector<std::string> requests_;
  std::function<void(const std::string&)> callback_;
};

// An answer that never comes.
Answer Hang();

// The certificates of an instance of OCI. Thread-safe.
class FakeInstance {
 public:
  explicit FakeInstance(std::string tenancy);

  // A new certificate and key, as there is every few hours.
  void Rotate();
  void SetTenancy(std::string tenancy);  // of the certificates from the next Rotate on

  CertificateAndKey leaf() const;
  std::string intermediate_pem() const { return intermediate_.certificate_pem; }
  std::string root_pem() const { return root_.certificate_pem; }

 private:
  const CertificateAndKey root_;
  const CertificateAndKey intermediate_;
  mutable std::mutex mutex_;
  std::string tenancy_;
  CertificateAndKey leaf_;
};

// http://127.0.0.1:PORT/opc/v2. Wants its header, refuses forwarded requests.
class FakeMetadataService {
 public:
  struct Options {
    std::string region = "iad";
    std::string region_info = "";  // empty: there is no such page
    bool version_1_only = false;
  };

  FakeMetadataService(FakeInstance& instance, Options options);

  std::string base_url() const { return server_->url() + "/opc/v2"; }
  Interference& interference() { return interference_; }
  HttpServer& server() { return *server_; }

 private:
  Answer Handle(const http::Request& request);

  FakeInstance& instance_;
  const Options options_;
  Interference interference_;
  std::unique_ptr<HttpServer> server_;
};

// https://127.0.0.1:PORT/v1/x509. Verifies the certificate's chain, the signature and
// every header that it covers, and the new key.
class FakeFederation {
 public:
  FakeFederation(FakeInstance& instance, TokenIssuer& issuer, base::Clock& clock,
                 std::optional<ServerTls> tls);

  std::string url() const { return server_->url(); }
  Interference& interference() { return interference_; }
  HttpServer& server() { return *server_; }

 private:
  Answer Handle(const http::Request& request);

  FakeInstance& instance_;
  TokenIssuer& issuer_;
  base::Clock& clock_;
  Interference interference_;
  std::unique_ptr<HttpServer> server_;
};

// https://127.0.0.1:PORT/resourcePrincipalSessionTokens. Wants the token of a service
// account that it knows, and a request id of three parts.
class FakeProxymux {
 public:
  FakeProxymux(TokenIssuer& issuer, base::Clock& clock, ServerTls tls);

  // From now on the one service account has this token.
  void SetServiceAccountToken(std::string token);

  int port() const { return server_->port(); }
  Interference& interference() { return interference_; }
  HttpServer& server() { return *server_; }

 private:
  Answer Handle(const http::Request& request);

  TokenIssuer& issuer_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::string service_account_token_;
  Interference interference_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_FAKE_IDENTITY_H_

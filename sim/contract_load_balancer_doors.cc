#include <utility>

#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "glog/logging.h"
#include "http/cpprest_transport.h"
#include "http/url.h"
#include "oci/private_key.h"
#include "oci/rest_load_balancer_api.h"
#include "sim/contract.h"
#include "sim/fake_load_balancer_server.h"
#include "sim/in_memory_load_balancer_api.h"
#include "sim/request_signature.h"

namespace sim {
namespace {

FakeLoadBalancerOptions Options() {
  FakeLoadBalancerOptions options;
  options.min_service_time = options.max_service_time = absl::Seconds(10);
  return options;
}

void AddRecorded(FakeLoadBalancer& fake, absl::Time now) {
  // The fake does not keep a null, which says the same as an absent member.
  const std::string json =
      absl::StrReplaceAll(base::ReadFile("testdata/oci/load-balancer.json").value(),
                          {{"\"maxConnections\": null, ", ""}});
  const absl::Status added = fake.AddLoadBalancer(json, now);
  CHECK(added.ok()) << added;
}

class InMemoryDoor final : public LoadBalancerDoor {
 public:
  InMemoryDoor() { AddRecorded(fake_, clock_.Now()); }
  oci::LoadBalancerApi& api() override { return api_; }
  absl::Time Now() override { return clock_.Now(); }
  void Pass(absl::Duration duration) override { clock_.SleepFor(duration); }
  void With(const std::function<void(FakeLoadBalancer&)>& change) override { change(fake_); }

 private:
  StillClock clock_;
  FakeLoadBalancer fake_{Options()};
  InMemoryLoadBalancerApi api_{fake_, clock_, "controller"};
};

class FixedCredentials final : public oci::CredentialsProvider {
 public:
  explicit FixedCredentials(const KeyPair& pair)
      : credentials_{.key_id = "k",
                     .key = oci::PrivateKey::FromPem(pair.private_key_pem, "").value()} {}
  absl::StatusOr<oci::Credentials> Get() override { return credentials_; }
  absl::Status Refresh(const oci::Credentials&) override { return absl::OkStatus(); }

 private:
  const oci::Credentials credentials_;
};

class HttpDoor final : public LoadBalancerDoor {
 public:
  HttpDoor() {
    server_ = FakeLoadBalancerServer::Start(Options(), clock_).value();
    server_->With([this](FakeLoadBalancer& fake, FakeLoadBalancerHttp& http) {
      AddRecorded(fake, clock_.Now());
      const absl::Status added = http.keys().AddKey("k", "controller", Pair().public_key_pem);
      CHECK(added.ok()) << added;
    });
    transport_ = http::MakeCpprestTransport({.base_url = server_->url()}).value();
    oci::RestOptions options;
    options.authority = http::ParseServerUrl(server_->url())->Authority();
    api_ = oci::MakeRestLoadBalancerApi(*transport_, credentials_, clock_, options);
  }
  oci::LoadBalancerApi& api() override { return *api_; }
  absl::Time Now() override { return clock_.Now(); }
  void Pass(absl::Duration duration) override { clock_.SleepFor(duration); }
  void With(const std::function<void(FakeLoadBalancer&)>& change) override {
    server_->With([&](FakeLoadBalancer& fake, FakeLoadBalancerHttp&) { change(fake); });
  }

 private:
  // Making a key takes longer than a case.
  static const KeyPair& Pair() {
    static const KeyPair* const pair = new KeyPair(MakeKeyPair());
    return *pair;
  }

  StillClock clock_;
  FixedCredentials credentials_{Pair()};
  std::unique_ptr<FakeLoadBalancerServer> server_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<oci::LoadBalancerApi> api_;
};

}  // namespace

std::unique_ptr<LoadBalancerDoor> MakeInMemoryLoadBalancerDoor() {
  return std::make_unique<InMemoryDoor>();
}
std::unique_ptr<LoadBalancerDoor> MakeHttpLoadBalancerDoor() {
  return std::make_unique<HttpDoor>();
}

}  // namespace sim

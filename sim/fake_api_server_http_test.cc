// The fake cluster over real HTTP, through the real client.
#include "sim/fake_api_server_http.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "http/cpprest_transport.h"
#include "kube/config.h"
#include "kube/kube_api.h"
#include "kube/rest_kube_api.h"
#include "sim/certificates.h"
#include "sim/kube_log.h"
#include "sim/program.h"

namespace sim {
namespace {

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kPod[] = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},)"
                        R"("spec":{"containers":[{"name":"c","image":"x"}]}})";

std::unique_ptr<FakeCluster> Start(FakeClusterOptions options = {}) {
  options.controllers.kubelet.startup = absl::Milliseconds(1);
  options.controllers.kubelet.ready_after = absl::Milliseconds(2);
  auto cluster = FakeCluster::Start(std::move(options), base::RealClock());
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  return *std::move(cluster);
}

std::unique_ptr<http::Transport> Connect(const FakeCluster& cluster) {
  auto transport = http::MakeCpprestTransport({.base_url = cluster.url()});
  EXPECT_TRUE(transport.ok()) << transport.status();
  return *std::move(transport);
}

// Collects a stream until a text has come.
class Until : public http::StreamHandler {
 public:
  explicit Until(std::string text) : text_(std::move(text)) {}
  absl::Status OnHead(int status, const http::Headers&) override {
    EXPECT_EQ(status, 200);
    return absl::OkStatus();
  }
  absl::Status OnData(absl::string_view bytes) override {
    absl::StrAppend(&all_, bytes);
    return absl::StrContains(all_, text_) ? absl::AlreadyExistsError("seen") : absl::OkStatus();
  }
  const std::string& all() const { return all_; }

 private:
  const std::string text_;
  std::string all_;
};

// A client that knows nothing but the kubeconfig.
absl::Status ListPodsBy(const std::string& kubeconfig) {
  const std::string path = testing::TempDir() + "/kubeconfig";
  EXPECT_TRUE(WriteFile(path, kubeconfig).ok());
  kube::ConfigOptions options;
  options.kubeconfig = path;
  const auto config = kube::LoadConfig(options, base::RealClock());
  if (!config.ok()) return config.status();
  auto transport =
      http::MakeCpprestTransport({.base_url = config->server,
                                  .ca_pem = config->ca_pem,
                                  .client_certificate_pem = config->client_certificate_pem,
                                  .client_key_pem = config->client_key_pem});
  if (!transport.ok()) return transport.status();
  const std::shared_ptr<http::Transport> shared = *std::move(transport);
  kube::RestKubeApi api(shared, shared, config->token_source);
  return api.List({.resource = kube::Resource::kPods}).status();
}

// First of the tests, so that OpenSSL is there before the threads that use it: it
// goes after them then.
TEST(FakeCluster, LetsInWhoHasTheKubeconfig) {
  const CertificateAndKey authority =
      MakeCertificate({.common_name = "authority", .is_authority = true});
  const CertificateAndKey own =
      MakeCertificate({.common_name = "fake", .names = {"127.0.0.1"}}, &authority);
  const CertificateAndKey client = MakeCertificate({.common_name = "admin"}, &authority);
  FakeClusterOptions options;
  options.server.users_by_token = {{"secret", "admin"}};
  options.socket.tls = ServerTls{own.certificate_pem, own.key_pem, authority.certificate_pem};
  const auto cluster = Start(options);
  const KubeconfigOptions kubeconfig{.server = cluster->url(),
                                     .ca_pem = authority.certificate_pem,
                                     .token = "secret",
                                     .client_certificate_pem = client.certificate_pem,
                                     .client_key_pem = client.key_pem};
  KubeconfigOptions other = kubeconfig;
  other.client_certificate_pem = other.client_key_pem = "";
  EXPECT_FALSE(ListPodsBy(MakeKubeconfig(other)).ok());
  other = kubeconfig;
  other.token = "wrong";
  EXPECT_EQ(ListPodsBy(MakeKubeconfig(other)).code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(ListPodsBy(MakeKubeconfig(kubeconfig)), absl::OkStatus());
}

TEST(FakeCluster, RunsAPodAndTellsItsWatch) {
  const auto cluster = Start();
  const auto transport = Connect(*cluster);
  const auto created = transport->Send({.method = "POST",
                                        .target = kPods,
                                        .headers = {{"Content-Type", "application/json"}},
                                        .body = kPod});
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->status, 201);
  Until running(R"("phase":"Running")");
  EXPECT_EQ(transport
                ->Stream({.method = "GET",
                          .target = absl::StrCat(kPods, "?watch=1"),
                          .headers = {},
                          .body = ""},
                         running, nullptr)
                .code(),
            absl::StatusCode::kAlreadyExists)
      << running.all();
}

TEST(FakeCluster, WatchEndsInOrderAndBreaksOnRestart) {
  const auto cluster = Start();
  const auto transport = Connect(*cluster);
  Until never("never");
  EXPECT_TRUE(transport
                  ->Stream({.method = "GET",
                            .target = absl::StrCat(kPods, "?watch=1&timeoutSeconds=1"),
                            .headers = {},
                            .body = ""},
                           never, nullptr)
                  .ok());
  std::thread restart([&] {
    while (!cluster->With(
        [](FakeApiServer& server, Controllers&) { return server.open_watches() > 0; })) {
      std::this_thread::yield();
    }
    cluster->Restart();
  });
  const absl::Status status = transport->Stream(
      {.method = "GET", .target = absl::StrCat(kPods, "?watch=1"), .headers = {}, .body = ""},
      never, nullptr);
  restart.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

TEST(FakeCluster, ForgetsTheWatchOfAClientThatLeft) {
  const auto cluster = Start();
  {
    const auto transport = Connect(*cluster);
    Until pod("ADDED");
    cluster->With([](FakeApiServer& server, Controllers&) {
      server.objects().Create(resources::Pods(), "default", *JsonTree::Parse(kPod, "pod"),
                              {"test", base::RealClock().Now()});
    });
    transport
        ->Stream(
            {.method = "GET", .target = absl::StrCat(kPods, "?watch=1"), .headers = {}, .body = ""},
            pod, nullptr)
        .IgnoreError();
  }
  while (cluster->With(
      [](FakeApiServer& server, Controllers&) { return server.open_watches() > 0; })) {
    std::this_thread::yield();
  }
}

TEST(FakeCluster, LosesAReply) {
  const auto cluster = Start();
  const auto transport = Connect(*cluster);
  cluster->With([](FakeApiServer& server, Controllers&) {
    server.faults().Add(KubeFault{.verb = "create", .kind = KubeFault::Kind::kLoseReply});
  });
  const auto lost = transport->Send({.method = "POST",
                                     .target = kPods,
                                     .headers = {{"Content-Type", "application/json"}},
                                     .body = kPod});
  EXPECT_EQ(lost.status().code(), absl::StatusCode::kDeadlineExceeded) << lost.status();
  const auto found = transport->Send(
      {.method = "GET", .target = absl::StrCat(kPods, "/web"), .headers = {}, .body = ""});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->status, 200);
}

}  // namespace
}  // namespace sim

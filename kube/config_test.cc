#include "kube/config.h"

#include <sys/stat.h>

#include <fstream>
#include <map>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kube {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPem[] = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";

// $PEM stands for kPem in base64.
constexpr char kBasic[] = R"(apiVersion: v1
kind: Config
current-context: oke
clusters:
- name: c
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: $PEM
contexts:
- name: oke
  context: {cluster: c, user: u, namespace: shop}
- name: other
  context: {cluster: none, user: u}
users:
- name: u
  user:
    token: secret-token
)";

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    options_.environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto it = environment_.find(name);
      if (it == environment_.end()) return std::nullopt;
      return it->second;
    };
    options_.service_account_folder = folder_;
  }

  std::string Write(const std::string& name, absl::string_view text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << absl::StrReplaceAll(
        text, {{"$PEM", absl::Base64Escape(kPem)}, {"$FOLDER", folder_}});
    return path;
  }

  absl::StatusOr<ConnectionConfig> Load() { return LoadConfig(options_, base::RealClock()); }

  // kBasic with one part replaced.
  absl::StatusOr<ConnectionConfig> LoadWith(absl::string_view part, absl::string_view by) {
    EXPECT_THAT(kBasic, HasSubstr(std::string(part)));
    options_.kubeconfig = Write("config", absl::StrReplaceAll(kBasic, {{part, by}}));
    return Load();
  }

  std::string ErrorWith(absl::string_view part, absl::string_view by) {
    const absl::Status status = LoadWith(part, by).status();
    EXPECT_FALSE(status.ok()) << by;
    EXPECT_THAT(status.message(), HasSubstr(options_.kubeconfig));
    EXPECT_THAT(status.message(), Not(HasSubstr("secret")));
    return std::string(status.message());
  }

  const std::string folder_ = testing::TempDir();
  std::map<std::string, std::string> environment_;
  ConfigOptions options_;
};

TEST_F(ConfigTest, ReadsAKubeconfigWithInlineCaAndToken) {
  options_.kubeconfig = Write("config", kBasic);
  const absl::StatusOr<ConnectionConfig> config = Load();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->ca_pem, kPem);
  EXPECT_EQ(config->client_certificate_pem, "");
  EXPECT_EQ(*config->token_source->Token(), "secret-token");
  EXPECT_EQ(config->default_namespace, "shop");
  EXPECT_EQ(config->source, "context oke of " + options_.kubeconfig);
}

TEST_F(ConfigTest, ReadsAJsonKubeconfig) {
  options_.kubeconfig = Write("config", R"({"current-context":"x",
      "contexts":[{"name":"x","context":{"cluster":"y"}}],
      "clusters":[{"name":"y","cluster":{"server":"http://127.0.0.1:8080"}}]})");
  const absl::StatusOr<ConnectionConfig> config = Load();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "http://127.0.0.1:8080");
  EXPECT_EQ(config->token_source, nullptr);
}

TEST_F(ConfigTest, ReadsCertificatesFromFilesBesideTheKubeconfig) {
  Write("ca.pem", kPem);
  Write("cert.pem", "-----BEGIN CERTIFICATE-----\ncert");
  Write("key.pem", "-----BEGIN PRIVATE KEY-----\nkey");
  const absl::StatusOr<ConnectionConfig> config =
      LoadWith("    token: secret-token\n",
               "    client-certificate: cert.pem\n    client-key: $FOLDER/key.pem\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->client_certificate_pem, HasSubstr("cert"));
  EXPECT_THAT(config->client_key_pem, HasSubstr("key"));
  EXPECT_EQ(config->token_source, nullptr);
  EXPECT_EQ(LoadWith("certificate-authority-data: $PEM", "certificate-authority: ca.pem")->ca_pem,
            kPem);
}

TEST_F(ConfigTest, ReadsATokenFile) {
  Write("token", "from-file\n");
  const absl::StatusOr<ConnectionConfig> config =
      LoadWith("token: secret-token", "tokenFile: token");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config->token_source->Token(), "from-file");
}

TEST_F(ConfigTest, RunsTheCredentialPluginThatOkeUses) {
  chmod(Write("generate-token",
              "#!/bin/sh\n"
              "test \"$1 $2\" = 'ce cluster' || exit 1\n"
              "test \"$OCI_CLI_PROFILE\" = DEFAULT || exit 2\n"
              "test -n \"$KUBERNETES_EXEC_INFO\" || exit 3\n"
              "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\","
              "\"kind\":\"ExecCredential\",\"status\":{\"token\":\"made\"}}'\n")
            .c_str(),
        0700);
  const absl::StatusOr<ConnectionConfig> config = LoadWith("    token: secret-token\n",
                                                           R"(    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: ./generate-token
      args: [ce, cluster, generate-token, --cluster-id, ocid1.cluster.oc1.iad.x]
      env:
      - {name: OCI_CLI_PROFILE, value: DEFAULT}
      provideClusterInfo: true
      interactiveMode: IfAvailable
)");
  ASSERT_TRUE(config.ok()) << config.status();
  const absl::StatusOr<std::string> token = config->token_source->Token();
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(*token, "made");
}

TEST_F(ConfigTest, MergesSeveralFilesAndTheFirstCounts) {
  environment_["KUBECONFIG"] = absl::StrCat(folder_, "/missing:",
                                            Write("one",
                                                  "current-context: oke\ncontexts:\n- name: oke\n"
                                                  "  context: {cluster: c}\n"),
                                            ":", Write("two", kBasic));
  const absl::StatusOr<ConnectionConfig> config = Load();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->token_source, nullptr) << "the first file's context names no user";
}

TEST_F(ConfigTest, ChoosesTheContextThatIsAskedFor) {
  options_.context = "other";
  EXPECT_THAT(ErrorWith("kind: Config", ""), HasSubstr("there is no cluster \"none\"; there is "
                                                       "\"c\""));
  options_.context = "nowhere";
  EXPECT_THAT(ErrorWith("kind: Config", ""),
              HasSubstr("there is no context \"nowhere\"; there are \"oke\", \"other\""));
}

TEST_F(ConfigTest, NamesFileFieldAndCureOfWhatIsWrong) {
  EXPECT_THAT(ErrorWith("current-context: oke", ""),
              HasSubstr("current-context is not set; name one with --context"));
  EXPECT_THAT(ErrorWith("server: https://10.0.0.1:6443", "server: 10.0.0.1"),
              HasSubstr("clusters[c].cluster.server: missing, or neither https://"));
  EXPECT_THAT(ErrorWith("$PEM", "'*'"),
              HasSubstr("clusters[c].cluster.certificate-authority-data: not base64"));
  EXPECT_THAT(ErrorWith("$PEM", "AAAA"), HasSubstr("base64 of something that is not PEM"));
  EXPECT_THAT(ErrorWith("certificate-authority-data: $PEM", "certificate-authority: none.pem"),
              HasSubstr("clusters[c].cluster.certificate-authority: cannot read"));
  EXPECT_THAT(ErrorWith("token: secret-token", "client-certificate-data: $PEM"),
              HasSubstr("users[u].user.client-key: missing; certificate and key go together"));
  EXPECT_THAT(ErrorWith("token: secret-token", "token: \"secret token\""),
              HasSubstr("users[u].user.token: this is no token"));
  EXPECT_THAT(ErrorWith("token: secret-token", "tokenFile: none"),
              HasSubstr("users[u].user.tokenFile: cannot read"));
  EXPECT_THAT(ErrorWith("user: u,", "user: nobody,"),
              HasSubstr("contexts[oke].context.user: there is no user \"nobody\""));
  EXPECT_THAT(ErrorWith("kind: Config", "kind: ["), HasSubstr("line "));
}

TEST_F(ConfigTest, SendsNothingInTheClearToAnotherMachine) {
  const auto load = [&](absl::string_view server) {
    options_.kubeconfig = Write("config", absl::StrCat(R"({"current-context":"x",
        "contexts":[{"name":"x","context":{"cluster":"y"}}],
        "clusters":[{"name":"y","cluster":{"server":")",
                                                       server, "\"}}]}"));
    return Load().status();
  };
  for (const char* server : {"http://127.0.0.1:8080", "http://localhost", "https://10.0.0.1"}) {
    EXPECT_EQ(load(server), absl::OkStatus()) << server;
  }
  for (const char* server : {"http://10.0.0.1:8080", "http://127.0.0.1.example.com",
                             "http://127.0.0.1@example.com", "http://localhost.example.com/"}) {
    EXPECT_THAT(std::string(load(server).message()), HasSubstr("http:// is for this machine"))
        << server;
  }
}

TEST_F(ConfigTest, RefusesWhatItWouldNotDo) {
  EXPECT_THAT(ErrorWith("certificate-authority-data: $PEM", "insecure-skip-tls-verify: true"),
              HasSubstr("is not supported; give the server's CA as certificate-authority-data"));
  EXPECT_TRUE(LoadWith("certificate-authority-data: $PEM", "insecure-skip-tls-verify: false").ok());
  EXPECT_THAT(ErrorWith("certificate-authority-data: $PEM", "tls-server-name: x"),
              HasSubstr("tls-server-name: is not supported"));
  EXPECT_THAT(ErrorWith("certificate-authority-data: $PEM", "proxy-url: http://x"),
              HasSubstr("proxy-url: is not supported"));
  EXPECT_THAT(ErrorWith("token: secret-token", "auth-provider: {name: gcp}"),
              HasSubstr("users[u].user.auth-provider: is not supported; use exec"));
  EXPECT_THAT(ErrorWith("token: secret-token", "username: me"), HasSubstr("is not supported"));
  EXPECT_THAT(ErrorWith("token: secret-token", "as: someone"), HasSubstr("is not supported"));
}

TEST_F(ConfigTest, RefusesPluginsItCannotSpeakWith) {
  const auto error = [&](absl::string_view exec) {
    return ErrorWith("token: secret-token", absl::StrCat("exec: {", exec, "}"));
  };
  EXPECT_THAT(error("apiVersion: client.authentication.k8s.io/v1alpha1, command: x"),
              HasSubstr("exec.apiVersion: \"client.authentication.k8s.io/v1alpha1\" is not "
                        "supported; use"));
  EXPECT_THAT(error("apiVersion: client.authentication.k8s.io/v1"),
              HasSubstr("exec.command: missing"));
  EXPECT_THAT(
      error("apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always"),
      HasSubstr("needs a terminal"));
}

TEST_F(ConfigTest, RefusesFilesThatAreNoKubeconfig) {
  options_.kubeconfig = Write("config", "hello: world\n");
  EXPECT_THAT(Load().status().message(), HasSubstr("this is no kubeconfig"));
  options_.kubeconfig = Write("config", std::string(2 << 20, 'x'));
  EXPECT_THAT(Load().status().message(), HasSubstr("larger than"));
  options_.kubeconfig = folder_ + "/missing";
  EXPECT_TRUE(absl::IsNotFound(Load().status()));
}

TEST_F(ConfigTest, ReadsTheServiceAccountInACluster) {
  environment_["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  environment_["KUBERNETES_SERVICE_PORT"] = "443";
  Write("ca.crt", kPem);
  Write("token", "pod-token");
  Write("namespace", "oci-backend-drain\n");
  absl::StatusOr<ConnectionConfig> config = Load();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://10.96.0.1:443");
  EXPECT_EQ(config->ca_pem, kPem);
  EXPECT_EQ(*config->token_source->Token(), "pod-token");
  EXPECT_EQ(config->default_namespace, "oci-backend-drain");
  EXPECT_EQ(config->source, "in-cluster");

  environment_["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(Load()->server, "https://kubernetes.default.svc:443");
  environment_["KUBERNETES_SERVICE_PORT"] = "https";
  EXPECT_THAT(Load().status().message(), HasSubstr("\"https\" is no port"));
}

TEST_F(ConfigTest, SaysWhatAPodWithoutAServiceAccountLacks) {
  environment_["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  options_.service_account_folder = folder_ + "/nowhere";
  EXPECT_THAT(Load().status().message(), HasSubstr("automountServiceAccountToken"));
}

TEST_F(ConfigTest, FallsBackToTheHomeFolderAndSaysWhatToDoWithout) {
  environment_["HOME"] = folder_ + "/home";
  EXPECT_THAT(Load().status().message(), HasSubstr("name a kubeconfig with --kubeconfig"));
  mkdir((folder_ + "/home").c_str(), 0700);
  mkdir((folder_ + "/home/.kube").c_str(), 0700);
  Write("home/.kube/config", kBasic);
  EXPECT_TRUE(Load().ok()) << Load().status();
}

}  // namespace
}  // namespace kube

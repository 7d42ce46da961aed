// What is secret stays so: everything that a controller says in a whole run at the highest
// verbosity, by each identity, is searched for keys, tokens, signatures and pass phrases.
// And TLS is verified, whatever the flags are. (The proxymux of --auth=workload is at a
// fixed port and beside a fixed file: workload_identity_test has its errors.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "cmd/run_program.h"
#include "controller/barrier_peer_for_test.h"
#include "sim/certificates.h"
#include "sim/child_process.h"
#include "sim/controller_world.h"
#include "sim/fake_identity.h"
#include "sim/kube_log.h"
#include "sim/program.h"
#include "sim/web_token.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPassPhrase[] = "open-sesame-4711";
constexpr char kKubernetesToken[] = "kubernetes-token-0815";
constexpr char kEchoedSignature[] = "c2lnbmF0dXJlLXRoYXQtd2FzLXNlbnQ";

class Secrets : public testing::Test {
 protected:
  Secrets() {
    web_ = world_.AddService({.name = "web", .pods = 3});
    world_.AddClass(sim::kWorldClass, sim::kWorldLoadBalancer);
    world_.AddLoadBalancer(sim::kWorldLoadBalancer, {web_});
    issuer_.OnIssue([this](const std::string& key_id, const std::string& public_key_pem) {
      AddKey(key_id, public_key_pem);
    });
    Write("ca.pem", authority_.certificate_pem);
    flags_ = world_.ProgramFlags();
    Write("token-kubeconfig",
          sim::MakeKubeconfig({.server = world_.cluster().url(), .token = kKubernetesToken}));
    flags_.push_back(absl::StrCat("--kubeconfig=", Path("token-kubeconfig")));
    hidden_.emplace_back(kPassPhrase);
    hidden_.emplace_back(kKubernetesToken);
    hidden_.emplace_back(kEchoedSignature);
    for (const char* mark : {"PRIVATE KEY", "Bearer ", "eyJ"}) {
      hidden_.emplace_back(mark);
    }
  }

  std::string Path(const std::string& name) const { return absl::StrCat(folder_, "/", name); }

  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(sim::WriteFile(Path(name), text).ok());
  }

  void AddKey(const std::string& key_id, const std::string& public_key_pem) {
    world_.oci().With([&](sim::FakeLoadBalancer&, sim::FakeLoadBalancerHttp& http) {
      EXPECT_TRUE(http.keys().AddKey(key_id, "controller", public_key_pem).ok());
    });
  }

  // Each of its lines is to be nowhere.
  void Hide(const std::string& pem) {
    for (const absl::string_view line : absl::StrSplit(pem, '\n')) {
      if (line.size() >= 40) hidden_.emplace_back(line);
    }
  }

  // A key file that only the pass phrase opens.
  void WriteEncrypted(const sim::KeyPair& pair, const std::string& name) {
    Write("plain.pem", pair.private_key_pem);
    Hide(pair.private_key_pem);
    const std::string command =
        absl::StrCat("openssl pkcs8 -topk8 -passout pass:", kPassPhrase, " -in ", Path("plain.pem"),
                     " -out ", Path(name), " 2>", Path("openssl.log"));
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    Hide(sim::ReadFile(Path(name)).value());
  }

  // OCI's answer to the next two reads has what was sent in it.
  void EchoSecrets(const std::string& token) {
    const std::string body = absl::StrCat(
        R"({"code":"NotAuthenticated","message":"no such key: Signature version=\"1\",)",
        R"(keyId=\"ST$)", token, R"(\",signature=\")", kEchoedSignature, R"(\""})");
    world_.oci().With([&](sim::FakeLoadBalancer&, sim::FakeLoadBalancerHttp& http) {
      http.faults().Add({.times = 2, .answer = http::Response{.status = 401, .body = body}});
    });
  }

  std::string Get(const std::string& log, const std::string& before, const std::string& target) {
    const size_t at = log.find(before);
    int port = 0;
    if (at == std::string::npos) return "";
    const std::string number = log.substr(at + before.size(), 5);
    EXPECT_TRUE(absl::SimpleAtoi(number.substr(0, number.find_first_not_of("0123456789")), &port));
    return controller::Peer(port, absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n"))
        .ReadAll();
  }

  // A run with a drain in it. Everything that was said, by log, pages, Events and ledger.
  std::string Run(const std::vector<std::string>& environment, std::vector<std::string> flags) {
    std::vector<std::string> command = {"/usr/bin/env"};
    command.insert(command.end(), environment.begin(), environment.end());
    command.emplace_back("cmd/oci-drain-controller");
    command.insert(command.end(), flags_.begin(), flags_.end());
    command.insert(command.end(), flags.begin(), flags.end());
    for (const char* flag :
         {"--v=9", "--minloglevel=0", "--health_port=0", "--barrier_port=0",
          "--health_address=127.0.0.1", "--barrier_address=127.0.0.1", "--pod_conditions=both",
          "--capacity_action=withdraw", "--work_request_poll=20ms", "--active_poll=100ms",
          "--coalesce_window=1ms"}) {
      command.emplace_back(flag);
    }
    auto process = sim::ChildProcess::Start(command, Path("log"));
    EXPECT_TRUE(process.ok()) << process.status();
    const auto log = [this] { return sim::ReadFile(Path("log")).value_or(""); };
    const std::string probes = "probes on port ";
    EXPECT_TRUE(world_.Await("it is ready", [&] {
      return absl::StrContains(Get(log(), probes, "/readyz"), "200 OK");
    })) << log();
    world_.DeletePod(web_, "web-1");
    EXPECT_TRUE(world_.AwaitConfirmed(web_, "web-1")) << log();
    EXPECT_FALSE(world_.AwaitEvent("BackendDrained", web_.name).is_null()) << log();
    std::string said;
    for (const char* page : {"/livez?verbose", "/readyz?verbose", "/metrics", "/statusz",
                             "/statusz.json", "/explainz/shop/web-1"}) {
      absl::StrAppend(&said, Get(log(), probes, page), "\n");
    }
    absl::StrAppend(&said, Get(log(), "drain barrier on port ", "/v1/drained/shop/web-1?uid=x"));
    (*process)->Stop();
    for (const sim::WorldCall& call : world_.Calls()) {
      absl::StrAppend(&said, call.target, " ", call.body, "\n");
    }
    return absl::StrCat(said, log());
  }

  // The run was one, and nothing in it is secret.
  void ExpectHidden(const std::string& said) {
    for (const std::string& token : issuer_.tokens()) hidden_.push_back(token.substr(0, 40));
    EXPECT_THAT(said, AllOf(HasSubstr("oci_drain_latency_seconds"), HasSubstr("web-1"),
                            HasSubstr("event Normal BackendDrained"), HasSubstr("[redacted]")));
    for (const std::string& secret : hidden_) {
      const size_t at = said.find(secret);
      EXPECT_EQ(at, std::string::npos)
          << secret << " in: " << said.substr(at < 200 ? 0 : at - 200, 400);
    }
  }

  const std::string folder_ = testing::TempDir();
  const sim::CertificateAndKey authority_ = sim::MakeCertificate({.is_authority = true});
  const sim::CertificateAndKey server_ =
      sim::MakeCertificate({.names = {"127.0.0.1"}}, &authority_);
  sim::TokenIssuer issuer_{base::RealClock()};
  sim::FakeInstance instance_{"ocid1.tenancy.oc1..a"};
  sim::ControllerWorld world_;
  sim::WorldService web_;
  std::vector<std::string> flags_;
  std::vector<std::string> hidden_;
};

TEST_F(Secrets, OfAConfigurationFileAreNotSaid) {
  const sim::KeyPair pair = sim::MakeKeyPair();
  WriteEncrypted(pair, "config-key.pem");
  Write("own-config",
        absl::StrCat("[DEFAULT]\nuser=ocid1.user.oc1..u\ntenancy=ocid1.tenancy.oc1..t\n"
                     "region=iad\nfingerprint=",
                     pair.fingerprint, "\nkey_file=", Path("config-key.pem"),
                     "\npass_phrase=", kPassPhrase, "\n"));
  AddKey(absl::StrCat("ocid1.tenancy.oc1..t/ocid1.user.oc1..u/", pair.fingerprint),
         pair.public_key_pem);
  EchoSecrets(sim::MakeWebToken("config", base::RealClock().Now()));
  ExpectHidden(Run({}, {absl::StrCat("--oci_config_file=", Path("own-config"))}));
}

TEST_F(Secrets, OfASessionAreNotSaid) {
  const sim::KeyPair pair = sim::MakeKeyPair();
  const std::string token = sim::MakeWebToken("session", base::RealClock().Now() + absl::Hours(1));
  hidden_.push_back(token.substr(0, 40));
  WriteEncrypted(pair, "session-key.pem");
  Write("session-token", token);
  Write("session-config",
        absl::StrCat("[S]\nregion=iad\nsecurity_token_file=", Path("session-token"),
                     "\nkey_file=", Path("session-key.pem"), "\npass_phrase=", kPassPhrase, "\n"));
  AddKey("ST$" + token, pair.public_key_pem);
  EchoSecrets(token);
  ExpectHidden(Run({}, {"--auth=session", "--oci_profile=S",
                        absl::StrCat("--oci_config_file=", Path("session-config"))}));
}

TEST_F(Secrets, OfTheIngressControllersSecretAreNotSaid) {
  const sim::KeyPair pair = sim::MakeKeyPair();
  mkdir(Path("secret").c_str(), 0700);
  WriteEncrypted(pair, "secret/private-key");
  Write("secret/config",
        absl::StrCat("auth:\n  region: us-ashburn-1\n  tenancy: ocid1.tenancy.oc1..t\n"
                     "  user: ocid1.user.oc1..u\n  passphrase: ",
                     kPassPhrase, "\n  fingerprint: ", pair.fingerprint, "\n"));
  AddKey(absl::StrCat("ocid1.tenancy.oc1..t/ocid1.user.oc1..u/", pair.fingerprint),
         pair.public_key_pem);
  EchoSecrets(sim::MakeWebToken("secret", base::RealClock().Now()));
  ExpectHidden(Run({}, {"--auth=secret", absl::StrCat("--oci_secret_folder=", Path("secret"))}));
}

TEST_F(Secrets, OfAnInstanceAreNotSaid) {
  sim::FakeMetadataService metadata{instance_, {}};
  sim::FakeFederation federation{
      instance_, issuer_, base::RealClock(),
      sim::ServerTls{.certificate_pem = server_.certificate_pem, .key_pem = server_.key_pem}};
  Hide(instance_.leaf().key_pem);
  EchoSecrets(sim::MakeWebToken("instance", base::RealClock().Now()));
  federation.interference().Add("/v1/x509",
                                http::Response{.status = 500, .body = instance_.leaf().key_pem});
  ExpectHidden(Run({absl::StrCat("OCI_METADATA_BASE_URL=", metadata.base_url()),
                    absl::StrCat("OCI_SDK_AUTH_CLIENT_REGION_URL=", federation.url())},
                   {"--auth=instance", absl::StrCat("--oci_ca_file=", Path("ca.pem"))}));
  EXPECT_GE(issuer_.issued(), 1);
}

TEST(TlsVerification, HasNoFlagThatTurnsItOff) {
  for (const std::string program : {"oci-drain", "oci-drain-controller", "drain-wait"}) {
    const std::string help = cmd::RunProgram(absl::StrCat("cmd/", program, " --help")).output;
    for (const char* word : {"skip", "no_verify", "tls_verify"}) {
      EXPECT_THAT(help, Not(HasSubstr(absl::StrCat("--", word)))) << program;
    }
    // The one of a client that sends no secret.
    const bool probes = program == "oci-drain";
    EXPECT_EQ(absl::StrContains(help, "--insecure\n      probe: "), probes) << program;
    EXPECT_EQ(absl::StrContains(help, "--insecure"), probes) << program;
  }
}

TEST(TlsVerification, ACertificateOfAnotherAuthorityIsRefused) {
  const sim::CertificateAndKey authority = sim::MakeCertificate({.is_authority = true});
  const sim::CertificateAndKey server = sim::MakeCertificate({.names = {"127.0.0.1"}}, &authority);
  sim::ControllerWorldOptions options;
  options.load_balancer_tls =
      sim::ServerTls{.certificate_pem = server.certificate_pem, .key_pem = server.key_pem};
  options.load_balancer_ca_pem = authority.certificate_pem;
  sim::ControllerWorld world(options);
  const sim::WorldService web = world.AddService({.name = "web", .pods = 2});
  world.AddClass(sim::kWorldClass, sim::kWorldLoadBalancer);
  world.AddLoadBalancer(sim::kWorldLoadBalancer, {web});
  const std::string ca = absl::StrCat(testing::TempDir(), "/tls-ca.pem");
  ASSERT_TRUE(sim::WriteFile(ca, authority.certificate_pem).ok());
  const std::string flags = absl::StrJoin(world.ProgramFlags(), " ");
  const cmd::Ran refused = cmd::RunProgram(absl::StrCat("cmd/oci-drain plan ", flags));
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.output, HasSubstr("certificate"));
  const cmd::Ran taken =
      cmd::RunProgram(absl::StrCat("cmd/oci-drain plan --oci_ca_file=", ca, " ", flags));
  EXPECT_EQ(taken.status, 0) << taken.output;
  const std::string kubeconfig = absl::StrCat(testing::TempDir(), "/skips-kubeconfig");
  const std::string text = sim::MakeKubeconfig({.server = "https://127.0.0.1:1"});
  ASSERT_TRUE(sim::WriteFile(kubeconfig, absl::StrReplaceAll(text, {{"    server:",
                                                                     "    insecure-skip-tls-verify:"
                                                                     " true\n    server:"}}))
                  .ok());
  const cmd::Ran skipped = cmd::RunProgram(
      absl::StrCat("cmd/oci-drain-controller ", flags, " --kubeconfig=", kubeconfig));
  EXPECT_EQ(skipped.status, 2);
  EXPECT_THAT(skipped.output, HasSubstr("insecure-skip-tls-verify"));
}

}  // namespace

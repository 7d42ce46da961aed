// oci-drain as a process that speaks to OCI by each kind of identity, over real HTTP(S).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "cmd/run_program.h"
#include "sim/certificates.h"
#include "sim/controller_world.h"
#include "sim/fake_identity.h"
#include "sim/program.h"
#include "sim/web_token.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OciIdentity : public testing::Test {
 protected:
  OciIdentity() {
    web_ = world_.AddService({.name = "web", .pods = 2});
    world_.AddClass(sim::kWorldClass, sim::kWorldLoadBalancer);
    world_.AddLoadBalancer(sim::kWorldLoadBalancer, {web_});
    issuer_.OnIssue([this](const std::string& key_id, const std::string& public_key_pem) {
      AddKey(key_id, public_key_pem);
    });
    CheckWrite("ca.pem", authority_.certificate_pem);
  }

  void AddKey(const std::string& key_id, const std::string& public_key_pem) {
    world_.oci().With([&](sim::FakeLoadBalancer&, sim::FakeLoadBalancerHttp& http) {
      EXPECT_TRUE(http.keys().AddKey(key_id, "controller", public_key_pem).ok());
    });
  }

  void CheckWrite(const std::string& name, const std::string& text) {
    ASSERT_TRUE(sim::WriteFile(absl::StrCat(folder_, "/", name), text).ok());
  }

  cmd::Ran Call(const std::string& environment, const std::string& flags) {
    return cmd::RunProgram(absl::StrCat(environment, " cmd/oci-drain ",
                                        absl::StrJoin(world_.ProgramFlags(), " "), " ", flags));
  }

  cmd::Ran CallAsInstance(const std::string& flags) {
    return Call(absl::StrCat("OCI_METADATA_BASE_URL=", metadata_.base_url(),
                             " OCI_SDK_AUTH_CLIENT_REGION_URL=", federation_.url()),
                absl::StrCat("plan --auth=instance --oci_ca_file=", folder_, "/ca.pem ", flags));
  }

  const std::string folder_ = testing::TempDir();
  const sim::CertificateAndKey authority_ = sim::MakeCertificate({.is_authority = true});
  const sim::CertificateAndKey server_ =
      sim::MakeCertificate({.names = {"127.0.0.1"}}, &authority_);
  sim::TokenIssuer issuer_{base::RealClock()};
  sim::FakeInstance instance_{"ocid1.tenancy.oc1..a"};
  sim::ControllerWorld world_;
  sim::FakeMetadataService metadata_{instance_, {}};
  sim::FakeFederation federation_{
      instance_, issuer_, base::RealClock(),
      sim::ServerTls{.certificate_pem = server_.certificate_pem, .key_pem = server_.key_pem}};
  sim::WorldService web_;
};

TEST_F(OciIdentity, AnInstanceNeedsNoFlagButAuth) {
  const cmd::Ran ran = CallAsInstance("");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("shop/web-0 [routable]: its Pod is live"));
  EXPECT_EQ(issuer_.issued(), 1);
}

TEST_F(OciIdentity, NoSecretIsLoggedAtTheHighestVerbosity) {
  const cmd::Ran ran = CallAsInstance("--minloglevel=0 --v=9");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("instance principal: new token, valid until "));
  EXPECT_THAT(ran.output,
              AllOf(Not(HasSubstr("eyJ")), Not(HasSubstr("PRIVATE KEY")), Not(HasSubstr("ST$")),
                    Not(HasSubstr("Signature version")), Not(HasSubstr("Bearer"))));
}

TEST_F(OciIdentity, WhatFailsOnTheWayIsOneLine) {
  federation_.interference().Add(
      "/v1/x509", sim::OciError(401, "NotAuthenticated", "no policy", base::RealClock().Now()));
  const cmd::Ran ran = CallAsInstance("--minloglevel=3");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output,
              HasSubstr("no credentials: instance principal: no token: federation endpoint, POST "
                        "/v1/x509: HTTP 401 NotAuthenticated: no policy"));
  EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << ran.output;
}

TEST_F(OciIdentity, TheIngressControllersSecretIsSpokenWith) {
  const std::string secret = absl::StrCat(folder_, "/secret");
  mkdir(secret.c_str(), 0700);
  const sim::KeyPair pair = sim::MakeKeyPair();
  CheckWrite("secret/config",
             absl::StrCat("auth:\n  region: us-ashburn-1\n  tenancy: ocid1.tenancy.oc1..t\n"
                          "  user: ocid1.user.oc1..u\n  fingerprint: ",
                          pair.fingerprint, "\n"));
  CheckWrite("secret/private-key", pair.private_key_pem);
  AddKey(absl::StrCat("ocid1.tenancy.oc1..t/ocid1.user.oc1..u/", pair.fingerprint),
         pair.public_key_pem);
  const cmd::Ran ran = Call("", absl::StrCat("plan --auth=secret --oci_secret_folder=", secret));
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(OciIdentity, ASessionTokenIsSpokenWith) {
  const sim::KeyPair pair = sim::MakeKeyPair();
  const std::string token = sim::MakeWebToken("session", base::RealClock().Now() + absl::Hours(1));
  CheckWrite("session-token", token);
  CheckWrite("session-key.pem", pair.private_key_pem);
  CheckWrite("session-config",
             absl::StrCat("[S]\nregion=iad\nsecurity_token_file=", folder_,
                          "/session-token\nkey_file=", folder_, "/session-key.pem\n"));
  AddKey("ST$" + token, pair.public_key_pem);
  const std::string flags = absl::StrCat(
      "plan --auth=session --oci_profile=S --oci_config_file=", folder_, "/session-config");
  const cmd::Ran ran = Call("", flags);
  EXPECT_EQ(ran.status, 0) << ran.output;
  CheckWrite("session-token", sim::MakeWebToken("session", base::RealClock().Now()));
  const cmd::Ran ended = Call("", flags);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr("oci session refresh --profile S"));
}

TEST_F(OciIdentity, AWrongCallIsOneLineThatSaysTheCure) {
  const struct {
    const char* environment;
    const char* flags;
    const char* line;
  } kCalls[] = {
      {"", "plan --auth=user", "--auth=user: expected config, session, secret, instance or"},
      {"", "plan --auth=workload",
       "environment variable OCI_RESOURCE_PRINCIPAL_VERSION is to be 2.2"},
      {"OCI_RESOURCE_PRINCIPAL_VERSION=2.2", "plan --auth=workload",
       "environment variable OCI_RESOURCE_PRINCIPAL_REGION is not set"},
      {"", "plan --oci_endpoint=http://iaas.us-ashburn-1.oraclecloud.com",
       "--oci_endpoint: http://iaas.us-ashburn-1.oraclecloud.com: http:// is for this machine"},
      {"", "plan --oci_endpoint= --oci_region=us/x", "has a character that no region has"},
      {"OCI_REGION_METADATA=x", "plan", "the environment variable OCI_REGION_METADATA"},
      {"", "plan --auth=secret --oci_secret_folder=/nonexistent",
       "--oci_secret_folder: OCI Secret in /nonexistent: cannot read /nonexistent/config"},
      {"OCI_METADATA_BASE_URL=http://metadata.example", "plan --auth=instance",
       "OCI_METADATA_BASE_URL: http://metadata.example: http:// is for this machine"},
  };
  for (const auto& call : kCalls) {
    const cmd::Ran ran = Call(call.environment, call.flags);
    EXPECT_EQ(ran.status, 2) << call.flags;
    EXPECT_THAT(ran.output, HasSubstr(call.line)) << call.flags;
    EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << ran.output;
  }
}

}  // namespace

#include "oci/config_file.h"

#include <sys/stat.h>

#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/certificates.h"

namespace oci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParseConfigProfile, ReadsTheProfileAsOraclesSdksDo) {
  const std::string text =
      "\xef\xbb\xbf# user=not this\n"
      "user=nor this\n"
      "[OTHER]\nuser = other\r\nregion=elsewhere\r\n"
      "[DEFAULT]\r\n"
      "User = ocid1.user.oc1..a\r\n"
      "  fingerprint\t=  20:3b \n"
      "# tenancy=commented\n"
      "no equals sign\n"
      "unknown=1\n"
      "passphrase=a=b==\n"
      "key_file=~/k.pem # not a comment\n"
      "[DEFAULT]\nuser=second\n";
  const auto profile = ParseConfigProfile(text, "DEFAULT");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->user, "ocid1.user.oc1..a");
  EXPECT_EQ(profile->fingerprint, "20:3b");
  EXPECT_EQ(profile->tenancy, "");
  EXPECT_EQ(profile->region, "");
  EXPECT_EQ(profile->pass_phrase, "a=b==");
  EXPECT_EQ(profile->key_file, "~/k.pem # not a comment");
  EXPECT_EQ(ParseConfigProfile(text, "OTHER")->region, "elsewhere");
}

TEST(ParseConfigProfile, OfAMissingProfileNamesThoseThatAreThere) {
  const auto missing = ParseConfigProfile("[A]\nx=1\n[B]\n", "default");
  EXPECT_EQ(missing.status(), absl::NotFoundError("no profile [default]; it has A, B"));
  EXPECT_EQ(ParseConfigProfile("user=x", "DEFAULT").status(),
            absl::NotFoundError("no profile [DEFAULT]; it has none, and needs a line [DEFAULT]"));
  EXPECT_FALSE(ParseConfigProfile(std::string(1000, '['), "DEFAULT").ok());
  EXPECT_FALSE(ParseConfigProfile(std::string("[\0]\n=\n==", 8), "DEFAULT").ok());
}

class ConfigFile : public ::testing::Test {
 protected:
  ConfigFile() {
    mkdir((home_ + "/.oci").c_str(), 0700);
    Write("key.pem", key_);
    Write("config", good_);
    environment_ = {{"HOME", home_}};
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(home_ + "/.oci/" + name) << text;
  }

  absl::StatusOr<std::unique_ptr<ConfigFileCredentials>> Load(std::string path = "",
                                                              std::string profile = "DEFAULT") {
    return ConfigFileCredentials::Load(
        {.path = std::move(path),
         .profile = std::move(profile),
         .environment = [this](const std::string& name) -> std::optional<std::string> {
           const auto found = environment_.find(name);
           if (found == environment_.end()) return std::nullopt;
           return found->second;
         }});
  }

  // The error with `from` in the good file replaced.
  std::string ErrorWith(const std::string& from, const std::string& to) {
    Write("config", absl::StrReplaceAll(good_, {{from, to}}));
    const auto loaded = Load();
    EXPECT_EQ(loaded.status().code(), absl::StatusCode::kInvalidArgument) << from;
    EXPECT_THAT(std::string(loaded.status().message()),
                AllOf(HasSubstr("OCI configuration " + home_ + "/.oci/config, profile DEFAULT: "),
                      Not(HasSubstr("secret"))));
    return std::string(loaded.status().message());
  }

  const std::string home_ = ::testing::TempDir();
  // Made once: it takes a while.
  inline static const std::string key_ = sim::MakeRsaKeyPem();
  const std::string good_ =
      "[DEFAULT]\n"
      "user=ocid1.user.oc1..u\n"
      "tenancy=ocid1.tenancy.oc1..t\n"
      "fingerprint=20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34\n"
      "region=us-ashburn-1\n"
      "key_file=~/.oci/key.pem\n";
  std::map<std::string, std::string> environment_;
};

TEST_F(ConfigFile, GivesTheApiKeysNameAndKey) {
  const auto loaded = Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->region(), "us-ashburn-1");
  const auto credentials = (*loaded)->Get();
  ASSERT_TRUE(credentials.ok());
  EXPECT_EQ(
      credentials->key_id,
      "ocid1.tenancy.oc1..t/ocid1.user.oc1..u/20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34");
  EXPECT_EQ(credentials->key->Sign("x").value(),
            PrivateKey::FromPem(key_, "").value()->Sign("x").value());
}

TEST_F(ConfigFile, RegionComesFromTheEnvironmentIfTheProfileHasNone) {
  Write("config", absl::StrReplaceAll(good_, {{"region=us-ashburn-1\n", ""}}));
  EXPECT_EQ((*Load())->region(), "");
  environment_["OCI_REGION"] = "fra";
  EXPECT_EQ((*Load())->region(), "fra");
}

TEST_F(ConfigFile, IsFoundThroughTheEnvironment) {
  environment_["HOME"] = "/nonexistent";
  const auto usual = Load();
  EXPECT_EQ(usual.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(usual.status().message()),
              HasSubstr("cannot read /nonexistent/.oci/config: No such file or directory"));
  Write("elsewhere", absl::StrReplaceAll(good_, {{"~", home_}}));
  environment_["OCI_CONFIG_FILE"] = home_ + "/.oci/elsewhere";
  EXPECT_TRUE(Load().ok());
}

TEST_F(ConfigFile, ErrorsNameFileProfileKeyAndCure) {
  EXPECT_THAT(ErrorWith("user=ocid1.user.oc1..u\n", ""), HasSubstr("user: missing; add user=<its"));
  EXPECT_THAT(ErrorWith("ocid1.tenancy.oc1..t", "acme"),
              HasSubstr("tenancy: \"acme\" is not an OCID; expected tenancy=ocid1.tenancy.oc1.."));
  EXPECT_THAT(ErrorWith("ocid1.user.oc1..u", "ocid1.user\"x"), HasSubstr("user: "));
  EXPECT_THAT(ErrorWith("fingerprint=", "x="), HasSubstr("fingerprint: missing; add fingerprint="));
  EXPECT_THAT(ErrorWith(":3a:34", ":3a"), HasSubstr("is not 16 pairs of hex digits"));
  EXPECT_THAT(ErrorWith("key_file=", "x="), HasSubstr("key_file: missing; add key_file="));
  EXPECT_THAT(ErrorWith("key.pem", "none.pem"),
              HasSubstr("key_file: cannot read " + home_ + "/.oci/none.pem: No such file"));
  EXPECT_THAT(ErrorWith("~/.oci/key.pem", home_), HasSubstr("it is a directory"));
  EXPECT_THAT(ErrorWith("key.pem", "config"),
              HasSubstr("cannot read private key " + home_ +
                        "/.oci/config: it has no private key in PEM form; if it is encrypted, add "
                        "pass_phrase=..."));
  EXPECT_THAT(ErrorWith("region=", "authentication_type=instance_principal\nregion="),
              HasSubstr("authentication_type: instance_principal is neither"));
}

TEST_F(ConfigFile, AMissingProfileIsNamedWithItsFile) {
  const auto loaded = Load("", "PROD");
  EXPECT_EQ(loaded.status(),
            absl::NotFoundError("OCI configuration " + home_ +
                                "/.oci/config: no profile [PROD]; it has DEFAULT"));
}

TEST_F(ConfigFile, OpensAnEncryptedKeyWithThePassPhrase) {
  ASSERT_EQ(std::system(absl::StrCat("openssl rsa -traditional -aes128 -passout pass:top-secret "
                                     "-in ",
                                     home_, "/.oci/key.pem -out ", home_, "/.oci/encrypted.pem 2>",
                                     home_, "/log")
                            .c_str()),
            0);
  EXPECT_THAT(ErrorWith("key.pem", "encrypted.pem"), HasSubstr("no pass phrase is given"));
  EXPECT_THAT(ErrorWith("key.pem", "encrypted.pem\npass_phrase=other-secret"),
              HasSubstr("the pass phrase does not open it"));
  Write("config",
        absl::StrReplaceAll(good_, {{"key.pem", "encrypted.pem\npass_phrase=top-secret"}}));
  EXPECT_TRUE(Load().ok());
}

TEST_F(ConfigFile, SpeaksWithASessionTokenInPlaceOfAUser) {
  Write("token", "header.payload.signature\n");
  Write("config", absl::StrReplaceAll(
                      good_, {{"user=ocid1.user.oc1..u", "security_token_file=~/.oci/token"}}));
  const auto loaded = Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->Get()->key_id, "ST$header.payload.signature");
  for (const std::string text : {"", " \n", "two secret lines\n", "quo\"te"}) {
    Write("token", text);
    const auto error = (*loaded)->Refresh();
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(error.message()),
                AllOf(HasSubstr("/.oci/token has no token; run: oci session authenticate"),
                      Not(HasSubstr("secret"))));
  }
  EXPECT_EQ((*loaded)->Get()->key_id, "ST$header.payload.signature");
}

TEST_F(ConfigFile, RefreshReadsAReplacedKey) {
  auto loaded = Load().value();
  const auto before = loaded->Get().value();
  Write("key.pem", sim::MakeRsaKeyPem());
  Write("config", absl::StrReplaceAll(good_, {{"20:3b", "21:3b"}}));
  EXPECT_EQ(loaded->Get()->key, before.key);
  ASSERT_TRUE(loaded->Refresh().ok());
  const auto after = loaded->Get().value();
  EXPECT_THAT(after.key_id, HasSubstr("/21:3b"));
  EXPECT_NE(after.key->Sign("x").value(), before.key->Sign("x").value());
}

TEST_F(ConfigFile, AFailedRefreshKeepsTheOldCredentials) {
  auto loaded = Load().value();
  const auto before = loaded->Get().value();
  Write("key.pem", "nonsense");
  EXPECT_FALSE(loaded->Refresh().ok());
  EXPECT_EQ(loaded->Get()->key, before.key);
}

}  // namespace
}  // namespace oci

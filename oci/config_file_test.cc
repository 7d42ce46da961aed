#include "oci/config_file.h"

#include <sys/stat.h>

#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/certificates.h"
#include "sim/manual_clock.h"
#include "sim/web_token.h"

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
         .session_token = session_token_,
         .environment = [this](const std::string& name) -> std::optional<std::string> {
           const auto found = environment_.find(name);
           if (found == environment_.end()) return std::nullopt;
           return found->second;
         },
         .clock = &clock_});
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
  bool session_token_ = false;
  sim::ManualClock clock_{absl::FromUnixSeconds(1800000000)};
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

// A profile with a session token in place of a user.
class SessionTokenFile : public ConfigFile {
 protected:
  SessionTokenFile() {
    Write("config", absl::StrReplaceAll(
                        good_, {{"user=ocid1.user.oc1..u", "security_token_file=~/.oci/token"}}));
  }

  std::string WriteToken(const std::string& name, absl::Duration life) {
    const std::string token = sim::MakeWebToken(name, clock_.Now() + life);
    Write("token", token + "\n");
    return "ST$" + token;
  }

  std::string KeyId(ConfigFileCredentials& credentials) {
    const auto got = credentials.Get();
    return got.ok() ? got->key_id : std::string(got.status().message());
  }
};

TEST_F(SessionTokenFile, IsSpokenWith) {
  const std::string first = WriteToken("first", absl::Hours(1));
  auto loaded = Load().value();
  EXPECT_EQ(KeyId(*loaded), first);
  for (const std::string text : {"", " \n", "two secret lines\n", "quo\"te", "secret.a.b"}) {
    Write("token", text);
    const auto error = loaded->Refresh(loaded->Get().value());
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(error.message()),
                AllOf(HasSubstr("/.oci/token: not a token"), HasSubstr("oci session authenticate"),
                      Not(HasSubstr("secret"))));
  }
  EXPECT_EQ(KeyId(*loaded), first);
}

TEST_F(SessionTokenFile, ANewOneIsFoundBeforeTheOldOneEnds) {
  const std::string first = WriteToken("first", absl::Hours(1));
  auto loaded = Load().value();
  const std::string second = WriteToken("second", absl::Hours(2));
  clock_.Advance(absl::Minutes(54));
  EXPECT_EQ(KeyId(*loaded), first);
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(KeyId(*loaded), second);
}

TEST_F(SessionTokenFile, OneThatHasEndedIsRefusedUntilThereIsANewOne) {
  WriteToken("first", absl::Hours(1));
  auto loaded = Load().value();
  clock_.Advance(absl::Hours(1));
  const auto ended = loaded->Get();
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(ended.status().message()),
              AllOf(HasSubstr("/.oci/token: the token ended at 2027-01-15T09:00:00Z"),
                    HasSubstr("oci session refresh --profile DEFAULT")));
  EXPECT_EQ(Load().status().code(), absl::StatusCode::kUnauthenticated);
  // The file is not read at each call.
  const std::string second = WriteToken("second", absl::Hours(1));
  EXPECT_THAT(KeyId(*loaded), HasSubstr("the session token has ended"));
  clock_.Advance(absl::Seconds(10));
  EXPECT_EQ(KeyId(*loaded), second);
}

TEST_F(SessionTokenFile, IsInsistedOn) {
  session_token_ = true;
  const std::string token = WriteToken("x", absl::Hours(1));
  Write("config", good_ + "security_token_file=~/.oci/token\n");
  EXPECT_EQ(KeyId(*Load().value()), token);
  session_token_ = false;
  EXPECT_THAT(KeyId(*Load().value()), HasSubstr("/ocid1.user.oc1..u/"));
  session_token_ = true;
  Write("config", good_);
  EXPECT_THAT(std::string(Load().status().message()),
              HasSubstr("security_token_file: missing; choose the profile"));
}

TEST_F(ConfigFile, RefreshReadsAReplacedKey) {
  auto loaded = Load().value();
  const auto before = loaded->Get().value();
  Write("key.pem", sim::MakeRsaKeyPem());
  Write("config", absl::StrReplaceAll(good_, {{"20:3b", "21:3b"}}));
  EXPECT_EQ(loaded->Get()->key, before.key);
  ASSERT_TRUE(loaded->Refresh(before).ok());
  const auto after = loaded->Get().value();
  EXPECT_THAT(after.key_id, HasSubstr("/21:3b"));
  EXPECT_NE(after.key->Sign("x").value(), before.key->Sign("x").value());
}

TEST_F(ConfigFile, AFailedRefreshKeepsTheOldCredentials) {
  auto loaded = Load().value();
  const auto before = loaded->Get().value();
  Write("key.pem", "nonsense");
  EXPECT_FALSE(loaded->Refresh(before).ok());
  EXPECT_EQ(loaded->Get()->key, before.key);
}

}  // namespace
}  // namespace oci

#include "oci/private_key.h"

#include <cstdlib>
#include <fstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oci {
namespace {

using ::testing::HasSubstr;

// Keys in every form, made and used by the `openssl` command.
class PrivateKeyTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Run("genrsa -traditional -out plain1.pem 2048");
    Run("pkcs8 -topk8 -nocrypt -in plain1.pem -out plain8.pem");
    Run("rsa -traditional -aes256 -passout pass:open-sesame -in plain1.pem -out dek-aes.pem");
    Run("rsa -traditional -des3 -passout pass:open-sesame -in plain1.pem -out dek-des3.pem");
    Run("pkcs8 -topk8 -passout pass:open-sesame -in plain1.pem -out encrypted8.pem");
    Run("ecparam -genkey -name prime256v1 -noout -out ec.pem");
    Run("rsa -in plain1.pem -pubout -out public.pem");
  }

  static std::string Path(const std::string& name) { return ::testing::TempDir() + "/" + name; }

  static void Run(const std::string& arguments) {
    const std::string command =
        absl::StrCat("cd ", ::testing::TempDir(), " && openssl ", arguments, " 2>openssl.log");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  static std::string Pem(const std::string& name) { return base::ReadFile(Path(name)).value(); }

  static void ExpectRefused(absl::string_view pem, absl::string_view pass_phrase,
                            const std::string& why) {
    const auto key = PrivateKey::FromPem(pem, pass_phrase);
    EXPECT_EQ(key.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(key.status().message(), why);
  }
};

TEST_F(PrivateKeyTest, SignsAsTheOpensslCommandDoes) {
  const std::string text = "date: today\n(request-target): put /x\nhost: y";
  std::ofstream(Path("text")) << text;
  Run("dgst -sha256 -sign plain1.pem -out signature text");
  const std::string expected = absl::Base64Escape(Pem("signature"));
  for (const std::string name : {"plain1.pem", "plain8.pem"}) {
    EXPECT_EQ(PrivateKey::FromPem(Pem(name), "").value()->Sign(text).value(), expected) << name;
  }
  for (const std::string name : {"dek-aes.pem", "dek-des3.pem", "encrypted8.pem"}) {
    EXPECT_EQ(PrivateKey::FromPem(Pem(name), "open-sesame").value()->Sign(text).value(), expected)
        << name;
  }
}

TEST_F(PrivateKeyTest, HashesAsTheOpensslCommandDoes) {
  std::ofstream(Path("body")) << "{\"drain\":true}";
  Run("dgst -sha256 -binary -out digest body");
  EXPECT_EQ(Sha256Base64("{\"drain\":true}"), absl::Base64Escape(Pem("digest")));
  EXPECT_EQ(Sha256Base64(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

TEST_F(PrivateKeyTest, AGeneratedKeySignsForItsPublicKey) {
  const auto key = PrivateKey::Generate().value();
  std::ofstream(Path("generated.pem")) << key->PublicKeyPem();
  std::string signature;
  ASSERT_TRUE(absl::Base64Unescape(key->Sign("text").value(), &signature));
  std::ofstream(Path("signature")) << signature;
  std::ofstream(Path("signed")) << "text";
  Run("dgst -sha256 -verify generated.pem -signature signature -out verified signed");
  EXPECT_EQ(Pem("verified"), "Verified OK\n");
  EXPECT_NE(PrivateKey::Generate().value()->PublicKeyPem(), key->PublicKeyPem());
}

TEST_F(PrivateKeyTest, IgnoresWhatSurroundsThePemBlock) {
  EXPECT_TRUE(PrivateKey::FromPem("note\n" + Pem("plain8.pem") + "OCI_API_KEY\n", "").ok());
}

TEST_F(PrivateKeyTest, SaysWhyAKeyIsOfNoUse) {
  ASSERT_THAT(Pem("dek-aes.pem"), HasSubstr("DEK-Info: AES-256-CBC"));
  for (const std::string name : {"dek-aes.pem", "dek-des3.pem", "encrypted8.pem"}) {
    ExpectRefused(Pem(name), "", "it is encrypted and no pass phrase is given");
    ExpectRefused(Pem(name), "wrong", "the pass phrase does not open it");
    ExpectRefused(Pem(name), std::string(10'000, 'x'), "the pass phrase does not open it");
  }
  ExpectRefused("", "", "it has no private key in PEM form");
  ExpectRefused(std::string(1000, '\xff'), "", "it has no private key in PEM form");
  ExpectRefused(Pem("public.pem"), "", "it is a public key, the private one is needed");
  ExpectRefused(Pem("ec.pem"), "", "it is not an RSA key, the only kind OCI takes");
  const std::string plain = Pem("plain8.pem");
  ExpectRefused(plain.substr(0, plain.size() / 2), "", "its private key is damaged");
}

}  // namespace
}  // namespace oci

// ~/.oci/config: a profile of trimmed values, or NotFound; and a private key.
#include "absl/strings/ascii.h"
#include "fuzz/fuzzer.h"
#include "oci/config_file.h"
#include "oci/private_key.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text = fuzz::TextOf(data, size);
  for (const absl::string_view name : {"DEFAULT", "OTHER", ""}) {
    const absl::StatusOr<oci::ConfigProfile> profile = oci::ParseConfigProfile(text, name);
    if (!profile.ok()) {
      fuzz::Require(absl::IsNotFound(profile.status()), "a profile is there or NotFound");
      fuzz::Require(profile.status().message().size() < 4096, "a message has a bound");
      continue;
    }
    for (const std::string& value :
         {profile->user, profile->fingerprint, profile->tenancy, profile->region, profile->key_file,
          profile->pass_phrase, profile->security_token_file}) {
      fuzz::Require(absl::StripAsciiWhitespace(value) == value && value.size() <= size,
                    "a value is a part of the text, trimmed");
    }
  }
  (void)oci::PrivateKey::FromPem(text, "phrase");
  return 0;
}

#include "oci/endpoint.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace oci {
namespace {

using Entry = std::pair<absl::string_view, absl::string_view>;

constexpr Entry kShortCodes[] = {
    {"ams", "eu-amsterdam-1"},   {"arn", "eu-stockholm-1"},   {"auh", "me-abudhabi-1"},
    {"bog", "sa-bogota-1"},      {"bom", "ap-mumbai-1"},      {"cdg", "eu-paris-1"},
    {"cwl", "uk-cardiff-1"},     {"dxb", "me-dubai-1"},       {"fra", "eu-frankfurt-1"},
    {"gru", "sa-saopaulo-1"},    {"hyd", "ap-hyderabad-1"},   {"iad", "us-ashburn-1"},
    {"icn", "ap-seoul-1"},       {"jed", "me-jeddah-1"},      {"jnb", "af-johannesburg-1"},
    {"kix", "ap-osaka-1"},       {"lfi", "us-langley-1"},     {"lhr", "uk-london-1"},
    {"lin", "eu-milan-1"},       {"ltn", "uk-gov-london-1"},  {"luf", "us-luke-1"},
    {"mad", "eu-madrid-1"},      {"mel", "ap-melbourne-1"},   {"mrs", "eu-marseille-1"},
    {"mtz", "il-jerusalem-1"},   {"mty", "mx-monterrey-1"},   {"nja", "ap-chiyoda-1"},
    {"nrt", "ap-tokyo-1"},       {"ord", "us-chicago-1"},     {"phx", "us-phoenix-1"},
    {"pia", "us-gov-chicago-1"}, {"qro", "mx-queretaro-1"},   {"ric", "us-gov-ashburn-1"},
    {"ruh", "me-riyadh-1"},      {"scl", "sa-santiago-1"},    {"sin", "ap-singapore-1"},
    {"sjc", "us-sanjose-1"},     {"str", "eu-frankfurt-2"},   {"syd", "ap-sydney-1"},
    {"tus", "us-gov-phoenix-1"}, {"ukb", "ap-ibaraki-1"},     {"vap", "sa-valparaiso-1"},
    {"vcp", "sa-vinhedo-1"},     {"vll", "eu-madrid-2"},      {"xsp", "ap-singapore-2"},
    {"yny", "ap-chuncheon-1"},   {"yul", "ca-montreal-1"},    {"yyz", "ca-toronto-1"},
    {"zrh", "eu-zurich-1"},      {"brs", "uk-gov-cardiff-1"},
};

// Regions outside the commercial realm, whose domain is oraclecloud.com.
constexpr Entry kDomains[] = {
    {"us-langley-1", "oraclegovcloud.com"},     {"us-luke-1", "oraclegovcloud.com"},
    {"us-gov-ashburn-1", "oraclegovcloud.com"}, {"us-gov-chicago-1", "oraclegovcloud.com"},
    {"us-gov-phoenix-1", "oraclegovcloud.com"}, {"uk-gov-london-1", "oraclegovcloud.uk"},
    {"uk-gov-cardiff-1", "oraclegovcloud.uk"},  {"ap-chiyoda-1", "oraclecloud8.com"},
    {"ap-ibaraki-1", "oraclecloud8.com"},       {"me-dcc-muscat-1", "oraclecloud9.com"},
    {"ap-dcc-canberra-1", "oraclecloud10.com"}, {"eu-dcc-dublin-1", "oraclecloud14.com"},
    {"eu-dcc-dublin-2", "oraclecloud14.com"},   {"eu-dcc-milan-1", "oraclecloud14.com"},
    {"eu-dcc-milan-2", "oraclecloud14.com"},    {"eu-dcc-rating-1", "oraclecloud14.com"},
    {"eu-dcc-rating-2", "oraclecloud14.com"},   {"ap-dcc-gazipur-1", "oraclecloud15.com"},
    {"eu-frankfurt-2", "oraclecloud.eu"},       {"eu-madrid-2", "oraclecloud.eu"},
    {"eu-jovanovac-1", "oraclecloud20.com"},    {"me-dcc-doha-1", "oraclecloud21.com"},
    {"eu-dcc-zurich-1", "oraclecloud24.com"},   {"eu-crissier-1", "oraclecloud24.com"},
    {"me-abudhabi-3", "oraclecloud26.com"},     {"me-alain-1", "oraclecloud26.com"},
    {"me-abudhabi-2", "oraclecloud29.com"},     {"me-abudhabi-4", "oraclecloud29.com"},
};

template <size_t kSize>
absl::string_view Lookup(const Entry (&table)[kSize], absl::string_view key,
                         absl::string_view missing) {
  for (const auto& [name, value] : table) {
    if (name == key) return value;
  }
  return missing;
}

bool IsRegionCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.';
}

}  // namespace

std::string RegionIdentifier(absl::string_view region) {
  const std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(region));
  return std::string(Lookup(kShortCodes, lower, lower));
}

absl::StatusOr<std::string> LoadBalancerEndpoint(absl::string_view region,
                                                 absl::string_view default_domain) {
  const std::string identifier = RegionIdentifier(region);
  if (identifier.empty())
    return absl::InvalidArgumentError(
        "the OCI region is empty: give region=... in the OCI configuration file or the environment "
        "variable OCI_REGION");
  for (const char c : identifier) {
    if (!IsRegionCharacter(c)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the OCI region has a character that no region has: expected a name such "
                       "as us-ashburn-1"));
    }
  }
  if (absl::StrContains(identifier, '.')) return absl::StrCat("https://iaas.", identifier);
  if (default_domain.empty()) default_domain = "oraclecloud.com";
  return absl::StrCat("https://iaas.", identifier, ".",
                      Lookup(kDomains, identifier, default_domain));
}

}  // namespace oci

#include "oci/region_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/json.h"

namespace oci {
namespace {

constexpr size_t kMaxJsonBytes = 64 << 10;
constexpr size_t kMaxNameBytes = 128;
// More of them in a file are a mistake.
constexpr size_t kMaxRegions = 1000;
constexpr absl::string_view kVariable = "OCI_REGION_METADATA";
constexpr absl::string_view kCommercial = "oraclecloud.com";

struct Row {
  absl::string_view short_code;
  absl::string_view identifier;
  absl::string_view domain;
};

constexpr Row kRegions[] = {
    {"aga", "us-saltlake-2", kCommercial},
    {"ams", "eu-amsterdam-1", kCommercial},
    {"arn", "eu-stockholm-1", kCommercial},
    {"auh", "me-abudhabi-1", kCommercial},
    {"bog", "sa-bogota-1", kCommercial},
    {"bom", "ap-mumbai-1", kCommercial},
    {"cdg", "eu-paris-1", kCommercial},
    {"cwl", "uk-cardiff-1", kCommercial},
    {"dxb", "me-dubai-1", kCommercial},
    {"fra", "eu-frankfurt-1", kCommercial},
    {"gru", "sa-saopaulo-1", kCommercial},
    {"hsg", "ap-batam-1", kCommercial},
    {"hyd", "ap-hyderabad-1", kCommercial},
    {"iad", "us-ashburn-1", kCommercial},
    {"icn", "ap-seoul-1", kCommercial},
    {"jed", "me-jeddah-1", kCommercial},
    {"jnb", "af-johannesburg-1", kCommercial},
    {"kix", "ap-osaka-1", kCommercial},
    {"lhr", "uk-london-1", kCommercial},
    {"lin", "eu-milan-1", kCommercial},
    {"mad", "eu-madrid-1", kCommercial},
    {"mel", "ap-melbourne-1", kCommercial},
    {"mrs", "eu-marseille-1", kCommercial},
    {"mty", "mx-monterrey-1", kCommercial},
    {"mtz", "il-jerusalem-1", kCommercial},
    {"nrt", "ap-tokyo-1", kCommercial},
    {"onm", "ap-delhi-1", kCommercial},
    {"ord", "us-chicago-1", kCommercial},
    {"phx", "us-phoenix-1", kCommercial},
    {"qro", "mx-queretaro-1", kCommercial},
    {"ruh", "me-riyadh-1", kCommercial},
    {"scl", "sa-santiago-1", kCommercial},
    {"sin", "ap-singapore-1", kCommercial},
    {"sjc", "us-sanjose-1", kCommercial},
    {"syd", "ap-sydney-1", kCommercial},
    {"vap", "sa-valparaiso-1", kCommercial},
    {"vcp", "sa-vinhedo-1", kCommercial},
    {"xsp", "ap-singapore-2", kCommercial},
    {"yny", "ap-chuncheon-1", kCommercial},
    {"yul", "ca-montreal-1", kCommercial},
    {"yyz", "ca-toronto-1", kCommercial},
    {"zrh", "eu-zurich-1", kCommercial},
    {"vll", "eu-madrid-2", "oraclecloud.eu"},
    {"str", "eu-frankfurt-2", "oraclecloud.eu"},
    {"wga", "ap-dcc-canberra-1", "oraclecloud10.com"},
    {"bgy", "eu-dcc-milan-1", "oraclecloud14.com"},
    {"mxp", "eu-dcc-milan-2", "oraclecloud14.com"},
    {"snn", "eu-dcc-dublin-2", "oraclecloud14.com"},
    {"dtm", "eu-dcc-rating-2", "oraclecloud14.com"},
    {"dus", "eu-dcc-rating-1", "oraclecloud14.com"},
    {"ork", "eu-dcc-dublin-1", "oraclecloud14.com"},
    {"dac", "ap-dcc-gazipur-1", "oraclecloud15.com"},
    {"beg", "eu-jovanovac-1", "oraclecloud20.com"},
    {"doh", "me-dcc-doha-1", "oraclecloud21.com"},
    {"ebb", "us-somerset-1", "oraclecloud23.com"},
    {"ebl", "us-thames-1", "oraclecloud23.com"},
    {"avz", "eu-dcc-zurich-1", "oraclecloud24.com"},
    {"avf", "eu-crissier-1", "oraclecloud24.com"},
    {"ahu", "me-abudhabi-3", "oraclecloud26.com"},
    {"rba", "me-alain-1", "oraclecloud26.com"},
    {"rkt", "me-abudhabi-2", "oraclecloud29.com"},
    {"shj", "me-abudhabi-4", "oraclecloud29.com"},
    {"dtz", "ap-seoul-2", "oraclecloud35.com"},
    {"dln", "ap-suwon-1", "oraclecloud35.com"},
    {"bno", "ap-chuncheon-2", "oraclecloud35.com"},
    {"yxj", "us-ashburn-2", "oraclecloud42.com"},
    {"pgc", "us-newark-1", "oraclecloud42.com"},
    {"jsk", "eu-budapest-1", "oraclecloud51.com"},
    {"nja", "ap-chiyoda-1", "oraclecloud8.com"},
    {"ukb", "ap-ibaraki-1", "oraclecloud8.com"},
    {"mct", "me-dcc-muscat-1", "oraclecloud9.com"},
    {"ibr", "me-ibri-1", "oraclecloud9.com"},
    {"lfi", "us-langley-1", "oraclegovcloud.com"},
    {"luf", "us-luke-1", "oraclegovcloud.com"},
    {"ric", "us-gov-ashburn-1", "oraclegovcloud.com"},
    {"pia", "us-gov-chicago-1", "oraclegovcloud.com"},
    {"tus", "us-gov-phoenix-1", "oraclegovcloud.com"},
    {"ltn", "uk-gov-london-1", "oraclegovcloud.uk"},
    {"brs", "uk-gov-cardiff-1", "oraclegovcloud.uk"},
};

bool IsHostName(absl::string_view text) {
  if (text.empty() || text.size() > kMaxNameBytes) return false;
  for (const absl::string_view label : absl::StrSplit(text, '.')) {
    if (label.empty()) return false;
    for (const char c : label) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '-') return false;
    }
  }
  return true;
}

absl::StatusOr<RegionMetadata> ReadRegion(const rapidjson::Value& value, absl::string_view what) {
  RegionMetadata region;
  const std::pair<const char*, std::string*> fields[] = {{"regionIdentifier", &region.identifier},
                                                         {"regionKey", &region.short_code},
                                                         {"realmDomainComponent", &region.domain}};
  for (const auto& [name, field] : fields) {
    const absl::StatusOr<std::string> text = base::RequireString(value, name);
    if (!text.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": ", text.status().message()));
    }
    *field = absl::AsciiStrToLower(absl::StripAsciiWhitespace(*text));
    if (!IsHostName(*field)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": ", name, " is not a name that a host could have"));
    }
  }
  return region;
}

absl::StatusOr<rapidjson::Document> Parse(absl::string_view json, absl::string_view what) {
  if (json.size() > kMaxJsonBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": larger than ", kMaxJsonBytes, " bytes"));
  }
  return base::ParseJson(json, what);
}

std::string Normal(absl::string_view region) {
  return absl::AsciiStrToLower(absl::StripAsciiWhitespace(region));
}

}  // namespace

absl::StatusOr<RegionMetadata> ParseRegionMetadata(absl::string_view json, absl::string_view what) {
  const absl::StatusOr<rapidjson::Document> document = Parse(json, what);
  if (!document.ok()) return document.status();
  return ReadRegion(*document, what);
}

absl::StatusOr<RegionTable> RegionTable::FromEnvironment(const Environment& environment) {
  RegionTable table;
  table.default_domain_ = Normal(ValueOf(environment, "OCI_DEFAULT_REALM"));
  if (!table.default_domain_.empty() && !IsHostName(table.default_domain_)) {
    return absl::InvalidArgumentError(
        "the environment variable OCI_DEFAULT_REALM: expected a domain such as oraclecloud.com");
  }
  const std::string path = absl::StrCat(ValueOf(environment, "HOME"), "/.oci/regions-config.json");
  const absl::StatusOr<std::string> text = base::ReadFile(path, kMaxJsonBytes);
  if (!text.ok() && !absl::IsNotFound(text.status())) return text.status();
  if (text.ok()) {
    const absl::StatusOr<rapidjson::Document> document = Parse(*text, path);
    if (!document.ok()) return document.status();
    if (!document->IsArray() || document->Size() > kMaxRegions) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": expected an array of at most ", kMaxRegions, " regions"));
    }
    for (const rapidjson::Value& value : document->GetArray()) {
      const absl::StatusOr<RegionMetadata> region = ReadRegion(value, path);
      if (!region.ok()) return region.status();
      table.Add(*region);
    }
  }
  const std::string variable = ValueOf(environment, std::string(kVariable));
  if (!absl::StripAsciiWhitespace(variable).empty()) {
    const absl::StatusOr<RegionMetadata> region =
        ParseRegionMetadata(variable, absl::StrCat("the environment variable ", kVariable));
    if (!region.ok()) return region.status();
    table.Add(*region);
  }
  return table;
}

void RegionTable::Add(const RegionMetadata& region) {
  if (!Knows(region.identifier)) added_.push_back(region);
}

std::string RegionTable::Identifier(absl::string_view region) const {
  const std::string name = Normal(region);
  for (const Row& row : kRegions) {
    if (row.short_code == name) return std::string(row.identifier);
  }
  for (const RegionMetadata& added : added_) {
    if (added.short_code == name) return added.identifier;
  }
  return name;
}

bool RegionTable::Knows(absl::string_view region) const {
  const std::string identifier = Identifier(region);
  return absl::StrContains(identifier, '.') || !DomainOf(identifier).empty();
}

std::string RegionTable::DomainOf(absl::string_view identifier) const {
  for (const Row& row : kRegions) {
    if (row.identifier == identifier) return std::string(row.domain);
  }
  for (const RegionMetadata& added : added_) {
    if (added.identifier == identifier) return added.domain;
  }
  return "";
}

absl::StatusOr<std::string> RegionTable::Endpoint(absl::string_view service,
                                                  absl::string_view region) const {
  const std::string identifier = Identifier(region);
  if (identifier.empty()) return absl::InvalidArgumentError("the OCI region is empty");
  if (!IsHostName(identifier)) {
    return absl::InvalidArgumentError(
        "the OCI region has a character that no region has: expected a name such as us-ashburn-1");
  }
  if (absl::StrContains(identifier, '.')) {
    return absl::StrCat("https://", service, ".", identifier);
  }
  std::string domain = DomainOf(identifier);
  if (domain.empty()) domain = default_domain_;
  if (domain.empty()) domain = std::string(kCommercial);
  return absl::StrCat("https://", service, ".", identifier, ".", domain);
}

}  // namespace oci

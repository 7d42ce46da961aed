#include "controller/lb_map.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace controller {
namespace {

constexpr absl::string_view kKeys[] = {"service", "port", "load_balancer", "backend_set"};
constexpr size_t kMaxScalarBytes = 255;
constexpr size_t kMaxBackendSetNameBytes = 32;

absl::Status ErrorAt(const YAML::Mark& mark, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", mark.line + 1, ": ", what));
}

absl::StatusOr<std::string> ReadText(const YAML::Node& entry, absl::string_view key) {
  const YAML::Node node = entry[std::string(key)];
  if (!node.IsDefined() || node.IsNull()) {
    return ErrorAt(entry.Mark(), absl::StrCat(key, " is missing"));
  }
  if (!node.IsScalar() || node.Scalar().empty()) {
    return ErrorAt(node.Mark(), absl::StrCat(key, " must be one value"));
  }
  if (node.Scalar().size() > kMaxScalarBytes) {
    return ErrorAt(node.Mark(),
                   absl::StrCat(key, " is longer than ", kMaxScalarBytes, " characters"));
  }
  return node.Scalar();
}

absl::Status CheckKeys(const YAML::Node& entry) {
  if (!entry.IsMap()) {
    return ErrorAt(entry.Mark(), "expected service, port, load_balancer and backend_set");
  }
  std::set<std::string> seen;
  for (const auto& member : entry) {
    const std::string key = member.first.IsScalar() ? member.first.Scalar() : "";
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
      return ErrorAt(member.first.Mark(),
                     absl::StrCat("unknown key \"", key.substr(0, kMaxScalarBytes),
                                  "\"; allowed: service, port, load_balancer, backend_set"));
    }
    if (!seen.insert(key).second) {
      return ErrorAt(member.first.Mark(), absl::StrCat(key, " is given twice"));
    }
  }
  return absl::OkStatus();
}

bool IsName(absl::string_view text, absl::string_view also) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains(also, c);
  });
}

absl::StatusOr<kube::ObjectKey> ParseService(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  if (parts.size() != 2 || !IsName(parts[0], "-") || !IsName(parts[1], "-.")) {
    return absl::InvalidArgumentError(
        absl::StrCat("service \"", text, "\" must be namespace/name"));
  }
  return kube::ObjectKey{parts[0], parts[1]};
}

absl::StatusOr<LbMapEntry> Parse(const std::string& service, const std::string& port,
                                 const std::string& load_balancer, const std::string& set) {
  LbMapEntry entry;
  const absl::StatusOr<kube::ObjectKey> key = ParseService(service);
  if (!key.ok()) return key.status();
  entry.service = *key;
  if (!absl::SimpleAtoi(port, &entry.port) || entry.port < 1 || entry.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("port \"", port, "\" must be the Service's port number, 1 to 65535"));
  }
  if (!absl::StartsWith(load_balancer, "ocid1.loadbalancer.") || !IsName(load_balancer, "._-")) {
    return absl::InvalidArgumentError(absl::StrCat("load_balancer \"", load_balancer,
                                                   "\" must be an OCID: ocid1.loadbalancer...."));
  }
  entry.load_balancer = oci::Ocid(load_balancer);
  if (!IsName(set, "_-") || set.size() > kMaxBackendSetNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("backend_set \"", set, "\" must be at most ",
                                                   kMaxBackendSetNameBytes,
                                                   " letters, digits, dashes and underscores"));
  }
  entry.backend_set = oci::BackendSetName(set);
  return entry;
}

absl::StatusOr<LbMapEntry> ParseEntry(const YAML::Node& node) {
  absl::Status status = CheckKeys(node);
  if (!status.ok()) return status;
  std::string texts[std::size(kKeys)];
  for (size_t i = 0; i < std::size(kKeys); ++i) {
    absl::StatusOr<std::string> text = ReadText(node, kKeys[i]);
    if (!text.ok()) return text.status();
    texts[i] = *std::move(text);
  }
  absl::StatusOr<LbMapEntry> entry = Parse(texts[0], texts[1], texts[2], texts[3]);
  if (!entry.ok()) return ErrorAt(node.Mark(), entry.status().message());
  return entry;
}

absl::StatusOr<std::vector<LbMapEntry>> ParseDocument(const YAML::Node& document) {
  std::vector<LbMapEntry> entries;
  if (!document.IsDefined() || document.IsNull()) return entries;
  if (!document.IsSequence()) {
    return ErrorAt(document.Mark(),
                   "expected a list of {service, port, load_balancer, backend_set}");
  }
  if (document.size() > kMaxLbMapEntries) {
    return absl::InvalidArgumentError(
        absl::StrCat(document.size(), " entries; at most ", kMaxLbMapEntries));
  }
  for (const YAML::Node& node : document) {
    absl::StatusOr<LbMapEntry> entry = ParseEntry(node);
    if (!entry.ok()) return entry.status();
    if (std::find(entries.begin(), entries.end(), *entry) != entries.end()) {
      return ErrorAt(node.Mark(), "the same entry is given twice");
    }
    entries.push_back(*std::move(entry));
  }
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<LbMapEntry>> ParseLbMap(absl::string_view yaml) {
  if (yaml.size() > kMaxLbMapBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(yaml.size(), " bytes; at most ", kMaxLbMapBytes));
  }
  // yaml-cpp throws, also on nesting deeper than 500 levels.
  try {
    return ParseDocument(YAML::Load(std::string(yaml)));
  } catch (const YAML::Exception& error) {
    return ErrorAt(error.mark, absl::StrCat("not YAML: ", error.msg));
  }
}

}  // namespace controller

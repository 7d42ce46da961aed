#include "sim/yaml_manifests.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace sim {
namespace {

// YAML 1.1, as kubectl reads it.
JsonTree PlainScalar(const std::string& text) {
  static constexpr std::array<absl::string_view, 3> kTrue = {"true", "yes", "on"};
  static constexpr std::array<absl::string_view, 3> kFalse = {"false", "no", "off"};
  const std::string lower = absl::AsciiStrToLower(text);
  if (text.empty() || lower == "null" || text == "~") return {};
  if (absl::c_linear_search(kTrue, lower)) return true;
  if (absl::c_linear_search(kFalse, lower)) return false;
  const bool numeric =
      absl::ascii_isdigit(text[0]) || text[0] == '-' || text[0] == '+' || text[0] == '.';
  int64_t integer = 0;
  double real = 0;
  if (numeric && absl::SimpleAtoi(text, &integer)) return integer;
  if (numeric && absl::SimpleAtod(text, &real)) return real;
  return text;
}

absl::StatusOr<JsonTree> Convert(const YAML::Node& node, int depth) {
  if (depth > base::kMaxJsonDepth) return absl::InvalidArgumentError("nested too deeply");
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      return JsonTree();
    case YAML::NodeType::Scalar:
      // yaml-cpp tags what is quoted with "!".
      return node.Tag() == "!" ? JsonTree(node.Scalar()) : PlainScalar(node.Scalar());
    case YAML::NodeType::Sequence: {
      JsonTree out = JsonTree::Array{};
      for (const YAML::Node& item : node) {
        absl::StatusOr<JsonTree> value = Convert(item, depth + 1);
        if (!value.ok()) return value.status();
        out.Append(*std::move(value));
      }
      return out;
    }
    case YAML::NodeType::Map: {
      JsonTree out = JsonTree::Object{};
      for (const auto& member : node) {
        if (!member.first.IsScalar()) return absl::InvalidArgumentError("a key is no scalar");
        absl::StatusOr<JsonTree> value = Convert(member.second, depth + 1);
        if (!value.ok()) return value.status();
        out.Set(member.first.Scalar(), *std::move(value));
      }
      return out;
    }
  }
  return JsonTree();
}

}  // namespace

absl::StatusOr<std::vector<JsonTree>> ParseManifests(absl::string_view text,
                                                     absl::string_view what) {
  std::vector<JsonTree> out;
  try {
    for (const YAML::Node& document : YAML::LoadAll(std::string(text))) {
      absl::StatusOr<JsonTree> tree = Convert(document, 0);
      if (!tree.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(what, ": ", tree.status().message()));
      }
      if (tree->is_null()) continue;
      if (!tree->is_object()) {
        return absl::InvalidArgumentError(absl::StrCat(what, ": a document is no object"));
      }
      out.push_back(*std::move(tree));
    }
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", error.what()));
  }
  return out;
}

absl::StatusOr<std::vector<JsonTree>> ReadManifests(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> files;
  if (fs::is_directory(path, error)) {
    for (const auto& entry : fs::directory_iterator(path, error)) {
      const std::string extension = entry.path().extension();
      if (entry.is_regular_file(error) &&
          (extension == ".yaml" || extension == ".yml" || extension == ".json")) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  std::vector<JsonTree> out;
  for (const std::string& file : files) {
    std::ifstream stream(file);
    if (!stream.good()) return absl::NotFoundError(absl::StrCat("cannot read ", file));
    std::stringstream text;
    text << stream.rdbuf();
    absl::StatusOr<std::vector<JsonTree>> manifests = ParseManifests(text.str(), file);
    if (!manifests.ok()) return manifests.status();
    for (JsonTree& manifest : *manifests) out.push_back(std::move(manifest));
  }
  return out;
}

}  // namespace sim

#include "kube/yaml_view.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace kube {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr int kMaxDepth = 32;
constexpr int kMaxValues = 100000;
constexpr int kMaxAliases = 100;
constexpr size_t kMaxJsonBytes = 4 << 20;

// Thrown and caught within this file: yaml-cpp's handlers cannot say stop.
struct TooMuch {
  int line;
  const char* what;
};

// Looks at a document before a tree is made of it.
class Bounds final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    if (++aliases_ > kMaxAliases) throw TooMuch{mark.line + 1, "too many aliases"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    Count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Enter(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Enter(mark);
  }
  void OnMapEnd() override { --depth_; }

 private:
  void Count(const YAML::Mark& mark) {
    if (++values_ > kMaxValues) throw TooMuch{mark.line + 1, "too many values"};
  }
  void Enter(const YAML::Mark& mark) {
    Count(mark);
    if (++depth_ > kMaxDepth) throw TooMuch{mark.line + 1, "nested too deeply"};
  }

  int depth_ = 0;
  int values_ = 0;
  int aliases_ = 0;
};

// YAML 1.1, as kubectl reads it.
std::string PlainScalar(const std::string& text) {
  static constexpr absl::string_view kTrue[] = {"true", "yes", "on"};
  static constexpr absl::string_view kFalse[] = {"false", "no", "off"};
  const std::string lower = absl::AsciiStrToLower(text);
  if (text.empty() || lower == "null" || text == "~") return "null";
  if (std::find(std::begin(kTrue), std::end(kTrue), lower) != std::end(kTrue)) return "true";
  if (std::find(std::begin(kFalse), std::end(kFalse), lower) != std::end(kFalse)) return "false";
  int64_t integer = 0;
  double real = 0;
  if (absl::SimpleAtoi(text, &integer)) return absl::StrCat(integer);
  const bool numeric = absl::ascii_isdigit(text[0]) || text[0] == '-' || text[0] == '.';
  if (numeric && absl::SimpleAtod(text, &real) && std::isfinite(real)) return absl::StrCat(real);
  return base::QuoteJson(text);
}

// Appends `node`, which lies `depth` levels deep, to `json`.
absl::Status WriteJson(const YAML::Node& node, int depth, std::string& json) {
  // An alias can lie within what it stands for.
  if (depth > kMaxDepth) return absl::InvalidArgumentError("nested too deeply");
  if (json.size() > kMaxJsonBytes) {
    return absl::InvalidArgumentError(absl::StrCat("larger than ", kMaxJsonBytes, " bytes"));
  }
  const auto each = [&](char open, char close, const auto& write) {
    json += open;
    for (const auto& member : node) {
      if (json.back() != open) json += ',';
      const absl::Status status = write(member);
      if (!status.ok()) return status;
    }
    json += close;
    return absl::OkStatus();
  };
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      json += "null";
      break;
    case YAML::NodeType::Scalar:
      // yaml-cpp tags what is quoted with "!".
      json += node.Tag() == "!" ? base::QuoteJson(node.Scalar()) : PlainScalar(node.Scalar());
      break;
    case YAML::NodeType::Sequence:
      return each('[', ']', [&](const auto& item) { return WriteJson(item, depth + 1, json); });
    case YAML::NodeType::Map:
      return each('{', '}', [&](const auto& member) {
        if (!member.first.IsScalar()) {
          return absl::InvalidArgumentError(
              absl::StrCat("line ", member.first.Mark().line + 1, ": a key is no scalar"));
        }
        absl::StrAppend(&json, base::QuoteJson(member.first.Scalar()), ":");
        return WriteJson(member.second, depth + 1, json);
      });
  }
  return absl::OkStatus();
}

absl::Status ErrorAt(int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

// parse(parser, bounds) with the text's bounds checked and exceptions as statuses.
template <typename T, typename Parse>
absl::StatusOr<T> Guarded(const std::string& text, Parse parse) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat("larger than ", kMaxBytes, " bytes"));
  }
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Bounds bounds;
    return parse(parser, bounds);
  } catch (const TooMuch& error) {
    return ErrorAt(error.line, error.what);
  } catch (const YAML::Exception& error) {
    return ErrorAt(error.mark.line + 1, error.msg);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace

struct YamlView::Node {
  YAML::Node node;
};

YamlView::YamlView() = default;
YamlView::YamlView(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

bool YamlView::exists() const { return node_ != nullptr; }

int YamlView::line() const { return node_ == nullptr ? 0 : node_->node.Mark().line + 1; }

YamlView YamlView::operator[](absl::string_view key) const {
  if (node_ == nullptr || !node_->node.IsMap()) return YamlView();
  for (const auto& member : node_->node) {
    if (!member.first.IsScalar() || member.first.Scalar() != key) continue;
    if (member.second.IsNull()) return YamlView();
    return YamlView(std::make_shared<const Node>(Node{member.second}));
  }
  return YamlView();
}

std::vector<YamlView> YamlView::Elements() const {
  std::vector<YamlView> elements;
  if (node_ == nullptr || !node_->node.IsSequence()) return elements;
  for (const auto& element : node_->node) {
    elements.push_back(YamlView(std::make_shared<const Node>(Node{element})));
  }
  return elements;
}

std::optional<std::string> YamlView::Text() const {
  if (node_ == nullptr || !node_->node.IsScalar()) return std::nullopt;
  return node_->node.Scalar();
}

absl::StatusOr<std::string> YamlView::ToJson() const {
  std::string json;
  if (node_ == nullptr) return std::string("null");
  const absl::Status status = WriteJson(node_->node, 0, json);
  if (!status.ok()) return status;
  return json;
}

absl::StatusOr<YamlView> ParseYaml(const std::string& text) {
  return Guarded<YamlView>(text, [&](YAML::Parser& parser, Bounds& bounds) {
    parser.HandleNextDocument(bounds);
    return YamlView(std::make_shared<const YamlView::Node>(YamlView::Node{YAML::Load(text)}));
  });
}

absl::StatusOr<std::vector<YamlView>> ParseYamlDocuments(const std::string& text) {
  return Guarded<std::vector<YamlView>>(text, [&](YAML::Parser& parser, Bounds& bounds) {
    while (parser.HandleNextDocument(bounds)) continue;
    std::vector<YamlView> documents;
    for (const YAML::Node& node : YAML::LoadAll(text)) {
      if (node.IsNull()) continue;
      documents.push_back(YamlView(std::make_shared<const YamlView::Node>(YamlView::Node{node})));
    }
    return documents;
  });
}

}  // namespace kube

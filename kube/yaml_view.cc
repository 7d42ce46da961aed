#include "kube/yaml_view.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kube {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr int kMaxDepth = 32;
constexpr int kMaxValues = 100000;
constexpr int kMaxAliases = 100;

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

absl::Status ErrorAt(int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
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

absl::StatusOr<YamlView> ParseYaml(const std::string& text) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat("larger than ", kMaxBytes, " bytes"));
  }
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Bounds bounds;
    parser.HandleNextDocument(bounds);
    return YamlView(std::make_shared<const YamlView::Node>(YamlView::Node{YAML::Load(text)}));
  } catch (const TooMuch& error) {
    return ErrorAt(error.line, error.what);
  } catch (const YAML::Exception& error) {
    return ErrorAt(error.mark.line + 1, error.msg);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace kube

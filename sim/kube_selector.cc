#include "sim/kube_selector.h"

#include <array>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace sim {
namespace {

struct Term {
  std::string key;
  std::optional<std::string> value;
  bool negated = false;
};

Term ParseTerm(absl::string_view text) {
  Term term;
  text = absl::StripAsciiWhitespace(text);
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos) {
    term.negated = absl::ConsumePrefix(&text, "!");
    term.key = std::string(text);
    return term;
  }
  absl::string_view key = text.substr(0, equals);
  absl::string_view value = text.substr(equals + 1);
  term.negated = absl::ConsumeSuffix(&key, "!");
  absl::ConsumePrefix(&value, "=");
  term.key = std::string(absl::StripAsciiWhitespace(key));
  term.value = std::string(absl::StripAsciiWhitespace(value));
  return term;
}

}  // namespace

std::optional<KubeError> KubeSelector::AddLabels(absl::string_view text) {
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const Term term = ParseTerm(part);
    if (term.key.empty() || absl::StrContains(term.key, ' ')) {
      return kube_error::BadRequest(
          absl::StrCat("unable to parse requirement: found '", part, "'"));
    }
    requirements_.push_back({{"metadata", "labels", term.key}, term.value, term.negated});
  }
  return std::nullopt;
}

std::optional<KubeError> KubeSelector::AddFields(absl::string_view text) {
  static constexpr std::array<absl::string_view, 4> kFields = {
      "metadata.name", "metadata.namespace", "spec.nodeName", "status.phase"};
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const Term term = ParseTerm(part);
    if (!term.value.has_value() || !absl::c_linear_search(kFields, term.key)) {
      return kube_error::BadRequest(
          absl::StrCat("field label not supported: ", term.value.has_value() ? term.key : part));
    }
    requirements_.push_back({absl::StrSplit(term.key, '.'), term.value, term.negated});
  }
  return std::nullopt;
}

bool KubeSelector::Matches(const JsonTree& object) const {
  return absl::c_all_of(requirements_, [&](const Requirement& requirement) {
    const JsonTree* value = &object;
    for (const std::string& name : requirement.path) value = &(*value)[name];
    const bool met =
        requirement.value.has_value() ? value->AsString() == *requirement.value : !value->is_null();
    return met != requirement.negated;
  });
}

}  // namespace sim

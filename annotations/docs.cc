#include "annotations/docs.h"

#include "absl/strings/str_cat.h"
#include "annotations/table.h"

namespace annotations {
namespace {

void AppendRow(const Definition& definition, std::string& text) {
  const std::string value = definition.default_value.empty()
                                ? "none"
                                : absl::StrCat("`\"", definition.default_value, "\"`");
  absl::StrAppend(&text, "| `", definition.name, "` | ", Allowed(definition.type), " | ", value,
                  " | ", definition.meaning, definition.acts ? "" : " *Not acted on yet.*", " |\n");
}

void AppendAnnotations(Place place, absl::string_view heading, std::string& text) {
  absl::StrAppend(&text, "\n## ", heading,
                  "\n\n| annotation | allowed | default | meaning |\n|---|---|---|---|\n");
  for (const Definition& definition : Table()) {
    if (definition.place == place && definition.kind == Kind::kAnnotation) {
      AppendRow(definition, text);
    }
  }
}

void AppendPods(std::string& text) {
  absl::StrAppend(&text, "\n## On a Pod\n\n| name | kind | meaning |\n|---|---|---|\n");
  for (const Definition& definition : Table()) {
    if (definition.place != Place::kPod) continue;
    absl::StrAppend(&text, "| `", definition.name, "` | ",
                    definition.kind == Kind::kLabel ? "label" : "condition", " | ",
                    definition.meaning, definition.acts ? "" : " *Not acted on yet.*", " |\n");
  }
}

}  // namespace

std::string MakeDocs() {
  std::string text =
      "# Annotations, labels and conditions\n\n"
      "Made from [annotations/table.cc](../annotations/table.cc) by\n"
      "`bazel run //annotations:print_docs > docs/annotations.md`; a test compares them.\n\n"
      "A value that is not allowed changes nothing: the default applies, and an event\n"
      "`InvalidAnnotation` on the object names the key, the value and what is allowed.\n"
      "The same event tells of a name that does not belong on that object.\n";
  AppendAnnotations(Place::kService, "On a Service", text);
  AppendAnnotations(Place::kIngressClass, "On an IngressClass", text);
  AppendPods(text);
  return text;
}

}  // namespace annotations

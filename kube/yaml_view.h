// Reading YAML that came from outside: bounded, and without exceptions.
#ifndef OCI_BACKEND_DRAIN_KUBE_YAML_VIEW_H_
#define OCI_BACKEND_DRAIN_KUBE_YAML_VIEW_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kube {

// A value in a document, or nothing. Copies share the document.
class YamlView {
 public:
  // Nothing: its members are nothing, too.
  YamlView();

  bool exists() const;
  // 1 is the first; 0 for nothing.
  int line() const;

  // The member of a map; nothing if this is no map, or the member is not there or
  // null.
  YamlView operator[](absl::string_view key) const;
  // The elements of a sequence; none for anything else.
  std::vector<YamlView> Elements() const;
  // The text of a scalar; nullopt for anything else.
  std::optional<std::string> Text() const;
  // The same as JSON, with the types that kubectl gives to scalars: what is quoted is
  // a string. InvalidArgument for a map with a key that is no scalar, and for what
  // its aliases make larger than 4 MiB.
  absl::StatusOr<std::string> ToJson() const;

 private:
  friend absl::StatusOr<YamlView> ParseYaml(const std::string& text);
  friend absl::StatusOr<std::vector<YamlView>> ParseYamlDocuments(const std::string& text);
  struct Node;
  explicit YamlView(std::shared_ptr<const Node> node);

  std::shared_ptr<const Node> node_;
};

// One document of at most 1 MiB. InvalidArgument, with the line, for text that is
// no YAML, is nested deeper than 32 levels, has over 100,000 values or over 100
// aliases. JSON is YAML.
absl::StatusOr<YamlView> ParseYaml(const std::string& text);

// All documents, separated by "---", within the same bounds together; those that
// hold nothing are left out.
absl::StatusOr<std::vector<YamlView>> ParseYamlDocuments(const std::string& text);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_YAML_VIEW_H_

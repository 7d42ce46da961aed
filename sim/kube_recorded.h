// The recorded bodies of a real kube-apiserver, for tests that compare.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_RECORDED_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_RECORDED_H_

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/json_tree.h"

namespace sim {

// testdata/kube-1.36/NAME.json: a request and its response.
inline JsonTree Recorded(const std::string& name) {
  const std::string path = "testdata/kube-1.36/" + name + ".json";
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  auto tree = JsonTree::Parse(text.str(), path);
  EXPECT_TRUE(tree.ok()) << tree.status();
  return tree.ok() ? *tree : JsonTree();
}

// The response's body; of a watch the list of its events.
inline JsonTree RecordedAnswer(const std::string& name) {
  return Recorded(name)["response"]["body"];
}

// Every path that has a value; items of a list count as one, and so do field sets
// of owners, whose names have UIDs.
inline void CollectPaths(const JsonTree& tree, const std::string& path,
                         std::set<std::string>& out) {
  out.insert(path);
  for (const auto& [name, value] : tree.members()) {
    const bool has_uid = name.starts_with("k:{\"uid\"");
    CollectPaths(value, absl::StrCat(path, "/", has_uid ? "k:{uid}" : name), out);
  }
  for (const JsonTree& item : tree.items()) CollectPaths(item, path + "[]", out);
}

// The keys that one has and the other has not, a line each.
inline std::string DifferencesOfShape(const JsonTree& expected, const JsonTree& actual) {
  std::set<std::string> a;
  std::set<std::string> b;
  CollectPaths(expected, "", a);
  CollectPaths(actual, "", b);
  std::string text;
  for (const std::string& path : a) {
    if (!b.contains(path)) absl::StrAppend(&text, "missing ", path, "\n");
  }
  for (const std::string& path : b) {
    if (!a.contains(path)) absl::StrAppend(&text, "too much ", path, "\n");
  }
  return text;
}

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_RECORDED_H_

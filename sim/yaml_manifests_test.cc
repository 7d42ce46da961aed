#include "sim/yaml_manifests.h"

#include <gtest/gtest.h>

#include <string>

namespace sim {
namespace {

std::string Json(const std::string& yaml) {
  const auto manifests = ParseManifests(yaml, "test");
  if (!manifests.ok()) return std::string(manifests.status().message());
  std::string out;
  for (const JsonTree& manifest : *manifests) out += manifest.Dump();
  return out;
}

TEST(YamlManifests, ScalarsHaveTheTypesThatKubectlGivesThem) {
  EXPECT_EQ(Json("a: true\nb: \"true\"\nc: 1\nd: '1'\ne: 1.5\nf: x\ng:\nh: yes\ni: 100m\nj: ~"),
            R"({"a":true,"b":"true","c":1,"d":"1","e":1.5,"f":"x","g":null,"h":true,)"
            R"("i":"100m","j":null})");
}

TEST(YamlManifests, DocumentsAreSeparatedAndEmptyOnesLeftOut) {
  EXPECT_EQ(Json("---\na: 1\n---\n# nothing\n---\nb: [1, {c: d}]\n"),
            R"({"a":1}{"b":[1,{"c":"d"}]})");
}

TEST(YamlManifests, ErrorsNameWhereTheyAre) {
  EXPECT_EQ(Json("a: [1"),
            "test: yaml-cpp: error at line 1, column 1: end of sequence flow not "
            "found");
  EXPECT_EQ(Json("- a"), "test: a document is no object");
  EXPECT_EQ(ReadManifests("no/such/file.yaml").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sim

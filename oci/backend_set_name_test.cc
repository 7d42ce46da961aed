#include "oci/backend_set_name.h"

#include "gtest/gtest.h"

namespace oci {
namespace {

TEST(GenerateBackendSetName, ReproducesTheNamesOfTheIngressController) {
  const struct {
    const char* ns;
    const char* service;
    int port;
    const char* name;
  } kVectors[] = {
      {"default", "testecho1", 80, "bs_f151df96ee98ff0"},
      {"default", "serviceA", 80, "bs_cfb8fa8a831f46d"},
      {"default", "tls-test", 443, "bs_86dc774f33f822f"},
      {"prod", "web", 8080, "bs_e069aca630a3b12"},
  };
  for (const auto& vector : kVectors) {
    EXPECT_EQ(GenerateBackendSetName(vector.ns, vector.service, vector.port).value(), vector.name)
        << vector.ns << "/" << vector.service << ":" << vector.port;
  }
}

TEST(GenerateBackendSetName, CollidesWhereTheConcatenationDoes) {
  EXPECT_EQ(GenerateBackendSetName("default", "svc1", 80).value(), "bs_800a26eae26c08c");
  EXPECT_EQ(GenerateBackendSetName("default", "svc", 180).value(), "bs_800a26eae26c08c");
}

}  // namespace
}  // namespace oci

#include "controller/lb_map.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

using ::testing::HasSubstr;

TEST(LbMap, ReadsEntries) {
  const auto entries = ParseLbMap(R"(
# made with Terraform
- service: shop/web
  port: 80
  load_balancer: ocid1.loadbalancer.oc1.iad.x
  backend_set: web-blue
- {service: shop/api, port: 8443, load_balancer: ocid1.loadbalancer.oc1.iad.y, backend_set: api}
)");
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0], (LbMapEntry{{"shop", "web"},
                                       80,
                                       oci::Ocid("ocid1.loadbalancer.oc1.iad.x"),
                                       oci::BackendSetName("web-blue")}));
  EXPECT_EQ((*entries)[1].service.ToString(), "shop/api");
  EXPECT_EQ((*entries)[1].port, 8443);
}

TEST(LbMap, AnEmptyFileHasNoEntries) {
  for (const char* text : {"", "\n", "# nothing yet\n", "[]", "---\n"}) {
    const auto entries = ParseLbMap(text);
    ASSERT_TRUE(entries.ok()) << entries.status();
    EXPECT_TRUE(entries->empty());
  }
}

TEST(LbMap, RefusesWithTheLineAndTheReason) {
  const std::string kGood =
      "- {service: shop/web, port: 80, load_balancer: ocid1.loadbalancer.oc1.x, backend_set: b}\n";
  const struct {
    std::string text;
    std::string error;
  } kCases[] = {
      {"service: shop/web\n", "line 1: expected a list"},
      {"- shop/web\n", "line 1: expected service, port, load_balancer and backend_set"},
      {kGood + "- {service: shop/web, port: 80, backend_set: b}\n",
       "line 2: load_balancer is missing"},
      {"- {service: shop/web, port: 80, loadbalancer: x, backend_set: b}\n",
       "line 1: unknown key \"loadbalancer\"; allowed: service, port, load_balancer, backend_set"},
      {"- {service: shop/web, port: 80, load_balancer: ocid1.instance.oc1.x, backend_set: b}\n",
       "must be an OCID"},
      {"- {service: web, port: 80, load_balancer: ocid1.loadbalancer.oc1.x, backend_set: b}\n",
       "service \"web\" must be namespace/name"},
      {"- {service: a/b/c, port: 80, load_balancer: ocid1.loadbalancer.oc1.x, backend_set: b}\n",
       "must be namespace/name"},
      {"- {service: a/b, port: http, load_balancer: ocid1.loadbalancer.oc1.x, backend_set: b}\n",
       "port \"http\" must be the Service's port number, 1 to 65535"},
      {"- {service: a/b, port: 65536, load_balancer: ocid1.loadbalancer.oc1.x, backend_set: b}\n",
       "1 to 65535"},
      {"- {service: a/b, port: 80, load_balancer: ocid1.loadbalancer.oc1.x, backend_set: a/b}\n",
       "backend_set \"a/b\" must be at most 32"},
      {"- {service: a/b, port: [80], load_balancer: ocid1.loadbalancer.oc1.x, backend_set: b}\n",
       "port must be one value"},
      {"- {service: a/b, service: c/d, port: 80, load_balancer: o, backend_set: b}\n",
       "service is given twice"},
      {kGood + kGood, "line 2: the same entry is given twice"},
      {"- service: [\n", "not YAML"},
      {"- &a [*a]\n", "expected service"},
      {std::string(100000, '['), "not YAML"},
      {std::string(kMaxLbMapBytes + 1, ' '), "bytes; at most 1048576"},
      {absl::StrCat("- {service: a/", std::string(300, 'x'),
                    ", port: 80, load_balancer: o, backend_set: b}\n"),
       "service is longer than 255 characters"},
  };
  for (const auto& c : kCases) {
    const auto entries = ParseLbMap(c.text);
    ASSERT_FALSE(entries.ok()) << c.text.substr(0, 200);
    EXPECT_EQ(entries.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(entries.status().message()), HasSubstr(c.error))
        << c.text.substr(0, 200);
  }
}

TEST(LbMap, RefusesMoreEntriesThanItsBound) {
  std::string text;
  for (size_t i = 0; i <= kMaxLbMapEntries; ++i) {
    absl::StrAppend(&text, "- {service: a/s", i,
                    ", port: 80, load_balancer: ocid1.loadbalancer.oc1.x, backend_set: b}\n");
  }
  const auto entries = ParseLbMap(text);
  ASSERT_FALSE(entries.ok());
  EXPECT_THAT(std::string(entries.status().message()), HasSubstr("4097 entries; at most 4096"));
}

}  // namespace
}  // namespace controller

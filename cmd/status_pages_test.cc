#include "cmd/status_pages.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "health/status_for_test.h"

namespace cmd {
namespace {

using ::testing::HasSubstr;

class StatusPagesTest : public ::testing::Test {
 protected:
  std::optional<health::HttpAnswer> Get(absl::string_view target, absl::Duration at) {
    return pages_.Answer(target, health::OrdinaryVitals(), at);
  }

  int asked_ = 0;
  StatusPages pages_{{[this] {
                        ++asked_;
                        return health::OrdinaryStatus();
                      },
                      [](const kube::ObjectKey& pod) -> absl::StatusOr<controller::PodExplanation> {
                        if (pod.name != "web-0") return controller::NoSetKnows(pod, {});
                        controller::PodExplanation explanation;
                        explanation.pod = pod;
                        return explanation;
                      }}};
};

TEST_F(StatusPagesTest, ServesThePageWithItsPolicyAndTheJson) {
  const auto page = Get("/statusz", absl::Seconds(1));
  ASSERT_TRUE(page.has_value());
  EXPECT_THAT(page->content_type, HasSubstr("text/html"));
  EXPECT_THAT(page->content_security_policy, HasSubstr("default-src 'none'"));
  const auto json = Get("/statusz.json", absl::Seconds(1));
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->content_type, "application/json");
  EXPECT_THAT(json->body, HasSubstr("\"schema\":1"));
  for (const char* other : {"/", "/statusz/", "/statusz?output=json", "/explainz", "/x"}) {
    EXPECT_FALSE(Get(other, absl::Seconds(1)).has_value()) << other;
  }
}

TEST_F(StatusPagesTest, MakesTheStatusAnewNowAndThenHoweverOftenItIsAsked) {
  for (int i = 0; i < 100; ++i) Get("/statusz.json", absl::Milliseconds(1000 + i));
  EXPECT_EQ(asked_, 1);
  Get("/statusz", absl::Milliseconds(1000) + StatusPages::kFresh);
  EXPECT_EQ(asked_, 2);
}

TEST_F(StatusPagesTest, ExplainsAPodOrSaysWhyNot) {
  EXPECT_THAT(Get("/explainz/shop/web-0", absl::Seconds(1))->body, HasSubstr("Pod shop/web-0\n"));
  EXPECT_THAT(Get("/explainz/shop/web-0?output=json", absl::Seconds(1))->body,
              HasSubstr("{\"pod\":\"shop/web-0\""));
  EXPECT_EQ(Get("/explainz/shop/web-1", absl::Seconds(1))->status, 404);
  EXPECT_EQ(Get("/explainz/web-1", absl::Seconds(1))->status, 400);
}

}  // namespace
}  // namespace cmd

#include "controller/plan_json.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/json.h"
#include "controller/golden_case.h"
#include "controller/snapshot.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

rapidjson::Document JsonOf(const std::string& name) {
  const auto text = base::ReadFile(absl::StrCat(kGoldenFolder, "/", name, kSnapshotSuffix));
  EXPECT_TRUE(text.ok()) << text.status();
  const auto snapshot = DecodeSnapshot(*text);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  const std::string json = PlanToJson(snapshot->input, drain::MakePlan(snapshot->input));
  EXPECT_EQ(json.find('\n'), std::string::npos);
  auto document = base::ParseJson(json, name);
  EXPECT_TRUE(document.ok()) << document.status();
  return *std::move(document);
}

TEST(PlanToJson, SaysWhatIsWritten) {
  const rapidjson::Document plan = JsonOf("carry_additions_and_removals");
  EXPECT_EQ(base::WriteJson(plan["write"]),
            R"({"set":"bs_web","call":"UpdateBackendSet","reason":"drain","if_match":"etag",)"
            R"("flips":[{"backend":"10.0.0.1:8080","drain":true,"offline":false}],)"
            R"("additions":[{"backend":"10.0.0.5:8080","drain":false}],)"
            R"("removals":["10.0.0.4:8080"],"behind":[]})");
  EXPECT_EQ(base::WriteJson(plan["flips"]),
            R"([{"set":"bs_web","backend":"10.0.0.1:8080","drain":true,"pod":"web-a",)"
            R"("pod_uid":"ua","deadline":"2026-01-01T00:00:44Z"}])");
  EXPECT_TRUE(plan["questions"].IsNull());
  EXPECT_EQ(plan["decisions"].Size(), 5u);
  EXPECT_EQ(base::WriteJson(plan["decisions"][0]),
            R"({"set":"bs_web","backend":"10.0.0.1:8080","pod":"shop/web-a","pod_uid":"ua",)"
            R"("rule":"terminating","in_set":true,"drained":false,"want_drained":true,)"
            R"("hold":"none","until":null,"deadline":"2026-01-01T00:00:44Z"})");
}

TEST(PlanToJson, SaysWhatItAsks) {
  const rapidjson::Document plan = JsonOf("slice_before_pod_cache");
  EXPECT_TRUE(plan["write"].IsNull());
  EXPECT_EQ(base::WriteJson(plan["questions"]),
            R"({"load_balancer":false,"work_requests":false,"own_work_request":false,)"
            R"("pods":["shop/web-a"],"endpoints":[],"health":[],"set_health":[]})");
  EXPECT_EQ(plan["next_look"], plan["now"]);
}

TEST(PlanToJson, SaysWhatEndingAndNewPodsAreTold) {
  EXPECT_EQ(base::WriteJson(JsonOf("acknowledge_drained")["acknowledgements"]),
            R"([{"set":"bs_web","backend":"10.0.0.1:8080","pod":"shop/web-a","pod_uid":"ua",)"
            R"("progress":"drained","deadline":"2026-01-01T00:03:30Z",)"
            R"("release_at":"2026-01-01T00:02:30Z"}])");
  EXPECT_EQ(base::WriteJson(JsonOf("gate_ready")["gates"]),
            R"([{"set":"bs_web","backend":"10.0.0.2:8080","pod":"shop/web-n","pod_uid":"un",)"
            R"("progress":"Registered"}])");
}

TEST(PlanToJson, SaysWhatIsToldAndWhy) {
  const rapidjson::Document plan = JsonOf("work_request_failed");
  ASSERT_EQ(plan["notices"].Size(), 1u);
  const rapidjson::Value& notice = plan["notices"][0];
  EXPECT_EQ(base::StringOf(notice["reason"]), "WorkRequestFailed");
  EXPECT_EQ(base::StringOf(notice["type"]), "Warning");
  EXPECT_EQ(base::StringOf(notice["regarding"]), "Service shop/web");
}

}  // namespace
}  // namespace controller

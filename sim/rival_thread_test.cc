#include "sim/rival_thread.h"

#include <future>
#include <string>
#include <utility>

#include "base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/fake_load_balancer_server.h"
#include "sim/json_log.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

class OnePodMore : public RivalWorld {
 public:
  absl::StatusOr<std::vector<RivalClass>> Classes() override {
    return std::vector<RivalClass>{{"oci", "ocid1.lb", {{.backend_set = "bs_1"}}}};
  }
  absl::StatusOr<std::vector<RivalEndpoint>> Endpoints(const RivalClass&,
                                                       const RivalPath&) override {
    return std::vector<RivalEndpoint>{{"10.0.0.1", 80}, {"10.0.0.2", 80}};
  }
};

TEST(RivalThread, WritesByItselfAndShowsUpInTheLogs) {
  auto server = FakeLoadBalancerServer::Start({}, base::RealClock());
  ASSERT_TRUE(server.ok()) << server.status();
  std::promise<void> written;
  bool seen = false;
  std::string request_line;
  std::string write_line;
  (*server)->With([&](FakeLoadBalancer& core, FakeLoadBalancerHttp& http) {
    EXPECT_TRUE(core.AddLoadBalancer(MakeLoadBalancerJson("ocid1.lb", {{"bs_1", {"10.0.0.1:80"}}}),
                                     base::RealClock().Now())
                    .ok());
    core.SetOnFinished([&](const WriteRecord& record) { write_line = WriteLogLine(record); });
    http.SetOnAnswered([&](const RequestRecord& record) {
      if (record.request.method != "PUT" || std::exchange(seen, true)) return;
      request_line = RequestLogLine(record);
      written.set_value();
    });
  });
  OnePodMore world;
  const auto transport = (*server)->TrustedTransport("rival");
  {
    RivalThread rival({}, world, *transport);
    written.get_future().wait();
    rival.Notify();  // the unmodified one does not care
  }
  EXPECT_TRUE(base::ParseJson(request_line, "line").ok()) << request_line;
  EXPECT_THAT(request_line, HasSubstr(R"("client":"rival","method":"PUT")"));
  EXPECT_THAT(request_line, HasSubstr(R"("status":204)"));
  EXPECT_TRUE(base::ParseJson(write_line, "line").ok()) << write_line;
  EXPECT_THAT(write_line, HasSubstr(R"("result":"SUCCEEDED","error":"","added":["10.0.0.2:80"])"));
}

}  // namespace
}  // namespace sim

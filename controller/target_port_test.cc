#include "controller/mapping.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

kube::EndpointSlice Slice(const std::vector<kube::EndpointPort>& ports) {
  kube::EndpointSlice slice;
  slice.ports = ports;
  return slice;
}

TEST(ResolveTargetPort, ANumberIsItself) {
  MappedPort port;
  port.target_port = 8080;
  EXPECT_EQ(ResolveTargetPort(port, kube::Endpoints{}), 8080);
  EXPECT_EQ(ResolveTargetPort(port, absl::Span<const kube::EndpointSlice* const>()), 8080);
}

TEST(ResolveTargetPort, ANameIsTheFirstPortOfThatNameInEndpoints) {
  MappedPort port;
  port.port_name = "http";
  kube::Endpoints endpoints;
  EXPECT_EQ(ResolveTargetPort(port, endpoints), 0);
  endpoints.subsets = {
      {{}, {{"admin", 9000}}}, {{}, {{"admin", 9000}, {"http", 8081}}}, {{}, {{"http", 8080}}}};
  EXPECT_EQ(ResolveTargetPort(port, endpoints), 8081);
}

TEST(ResolveTargetPort, SlicesTellItOnlyWhereTheyAgree) {
  MappedPort port;
  port.port_name = "http";
  const kube::EndpointSlice a = Slice({{"admin", 9000}, {"http", 8080}});
  const kube::EndpointSlice b = Slice({{"http", 8080}});
  const kube::EndpointSlice c = Slice({{"http", 8081}});
  const kube::EndpointSlice none = Slice({});
  EXPECT_EQ(ResolveTargetPort(port, {&a, &none, &b}), 8080);
  EXPECT_EQ(ResolveTargetPort(port, {&a, &c}), 0);
  EXPECT_EQ(ResolveTargetPort(port, {&none}), 0);
}

TEST(PortInSlice, IsOfThatSliceAlone) {
  MappedPort port;
  port.port_name = "";
  port.target_port = 8080;
  EXPECT_EQ(PortInSlice(port, Slice({{"", 8081}})), 8081);
  EXPECT_EQ(PortInSlice(port, Slice({{"http", 8081}})), 0);
}

}  // namespace
}  // namespace controller

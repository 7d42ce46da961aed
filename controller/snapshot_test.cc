#include "controller/snapshot.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>

#include "controller/snapshot_types.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

using ::testing::HasSubstr;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// Converts to every field's type; to an optional by its own converting constructor.
// Nobody calls it, but Clang wants it to be defined.
struct Anything {
  template <typename T>
  requires(!kIsOptional<T>) operator T() const {  // NOLINT: implicit on purpose
    std::abort();
  }
};

template <typename T, typename... Initializers>
constexpr int FieldsOf() {
  if constexpr (requires { T{Initializers{}..., Anything{}}; }) {
    return FieldsOf<T, Initializers..., Anything>();
  } else {
    return sizeof...(Initializers);
  }
}

struct FieldCounter {
  int count = 0;
  template <typename T, typename F>
  void Field(const char*, F T::*) {
    ++count;
  }
  template <typename Function>
  void Derive(const Function&) {}
};

template <typename... Ts>
void ExpectEveryFieldDescribed() {
  const auto check = [](const char* name, int fields, auto describe) {
    FieldCounter counter;
    describe(counter);
    EXPECT_EQ(counter.count, fields) << name;
  };
  (check(typeid(Ts).name(), FieldsOf<Ts>(),
         [](FieldCounter& counter) { Describe(counter, Fields<Ts>()); }),
   ...);
}

TEST(Snapshot, DescribesEveryFieldOfEveryStruct) {
  struct Three {
    int a;
    std::optional<std::string> b;
    std::string c;
  };
  static_assert(FieldsOf<Three>() == 3);
  ExpectEveryFieldDescribed<
      drain::Input, drain::Options, drain::PodLookup, drain::Endpoint, drain::Workload,
      drain::Member, drain::Membership, drain::SetInput, drain::Read, drain::WorkRequests,
      drain::HealthAnswer, drain::LedgerEntry, drain::OwnWrite, drain::LostWrite,
      drain::KnownBackend, drain::Restoration, drain::Memory, kube::ObjectReference, oci::Backend,
      oci::BackendSet, oci::LoadBalancer, oci::WorkRequest, oci::BackendHealth>();
}

// Every member in use, with values that are not its default.
constexpr char kFull[] = R"({
  "about": "everything at once",
  "now": "2026-11-30T12:00:00.25Z",
  "load_balancer": "ocid1.loadbalancer.oc1.iad.x",
  "options": {"coalesce_window": "0", "brake_percent": 20, "write_mode": "set", "release": true,
              "carry_membership": false, "shut_out": "1m0.5s"},
  "paused": true,
  "carry_all": true,
  "last_ingress_change": "-1m30s",
  "sets": [{
    "name": "bs_x",
    "service": {"kind": "Service", "key": "shop/web", "uid": "s"},
    "opted_in": true, "publishes_terminating": true, "contested": true, "has_membership": false,
    "serving": "5s", "shutdown": "10s", "target_port": 8080,
    "membership": {"answered": false, "members": [{"ip": "10.0.0.1", "port": 8080},
                                                  {"backend": "odd"}]},
    "endpoints": [
      {"ip": "10.0.0.1", "port": 8080, "pod": "shop/web-0", "uid": "u0", "serving": false,
       "terminating": true, "cached_uid": "u0", "deletion_timestamp": "+45s",
       "deletion_grace": "45s", "workload": 0,
       "lookup": {"state": "found", "uid": "u1", "pod_ips": ["10.0.0.1", "fd00::1"],
                  "phase": "Failed", "disruption_target": true, "deletion_timestamp": "+0s",
                  "deletion_grace": "1s"}},
      {"ip": "fd00::1", "port": 8080, "backend": "fd00::1:8080"}
    ]
  }],
  "workloads": [{"reference": "Deployment shop/web", "wanted": 3, "max_unavailable": 1,
                 "deleting": true}],
  "read": {"at": "-2s", "this_pass": false, "etag": "e1", "load_balancer": {
    "id": "ocid1.loadbalancer.oc1.iad.y", "display_name": "d", "lifecycle_state": "DELETING",
    "backend_sets": {"bs_x": {
      "policy": "LEAST_CONNECTIONS", "health_checker_protocol": "TCP",
      "has_session_persistence": true,
      "backends": ["10.0.0.1:8080",
                   {"name": "10.0.0.2:8080", "drain": true, "weight": 3, "backup": true,
                    "offline": true, "max_connections": 300},
                   {"name": "odd", "ip_address": "10.0.0.3", "port": 1, "document": "{}",
                    "settings": "{\"a\":1}"}]},
      "bs_y": {"name": "other", "document": "{\"unknown\":[1]}"}}}},
  "read_failed": true,
  "work_requests": {"at": "-1s", "this_pass": false, "all": [
    {"id": "w", "type": "UpdateBackendSet", "state": "FAILED", "message": "m",
     "error_details": "BAD_INPUT: no", "time_accepted": "-9s", "time_finished": "-1s"}]},
  "work_requests_failed": true,
  "own_work_request": {"id": "w", "state": "IN_PROGRESS"},
  "own_work_request_failed": true,
  "own_work_request_polled_at": "-500ms",
  "health": {"bs_x/10.0.0.1:8080": {"answered": false,
             "health": {"status": "WARNING", "checked_at": "-3s"}}},
  "ledger": {"bs_x/10.0.0.1:8080": {"pod": "web-0", "pod_uid": "u0", "since": "-3s",
             "deadline": "+45s", "deleted_at": "-3s", "offline": true, "confirmed": true,
             "by_operator": true}},
  "ledger_loaded": false,
  "ledger_failing_since": "-1s",
  "write_not_before": "+1s",
  "memory": {
    "due_since": {"bs_x/10.0.0.1:8080": "-100ms"},
    "registered_at": {"bs_x/10.0.0.1:8080": "infinite-past"},
    "known": {"bs_x/10.0.0.1:8080": {"pod_uid": "u0", "seen_deleted": true}},
    "own_write": {"work_request": "w", "set": "bs_x", "reason": "behind_foreign",
                  "accepted_at": "-1s", "sent": {"name": "bs_x", "backends": ["10.0.0.1:8080"]},
                  "sent_backend": "10.0.0.1:8080", "behind": ["f"]},
    "lost_write": {"whole_set": true, "sent_at": "-2s", "behind": ["f"]},
    "last_write": "-5s",
    "last_burst": "-6s",
    "burst_sets": ["bs_y"],
    "pending_since": {"bs_x/10.0.0.5:8080": "-2s"},
    "in_wave": {"bs_x/10.0.0.1:8080": "u0"},
    "carried": {"bs_x/10.0.0.1:8080": "u0"},
    "beside_foreign": 2,
    "last_drained": ["bs_x/10.0.0.1:8080"],
    "answered": ["bs_x/f"],
    "restorations": {"bs_x": {"foreign": {"name": "bs_x", "policy": "IP_HASH"},
                              "sent": {"name": "bs_x"}, "restored_by": "w1"}},
    "drained_by_others": ["u9"],
    "service_times": ["9s", "11.25s"],
    "health_asked_at": {"bs_x/10.0.0.1:8080": "-5s"},
    "proven": ["bs_x/10.0.0.1:8080"],
    "told": ["TcpHealthCheck bs_x"],
    "first_read_done": true,
    "waves": 2
  }
})";

Snapshot Decode(absl::string_view json) {
  absl::StatusOr<Snapshot> snapshot = DecodeSnapshot(json);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  return snapshot.ok() ? *std::move(snapshot) : Snapshot();
}

TEST(Snapshot, WritesWhatItReadAndReadsWhatItWrote) {
  const std::string once = EncodeSnapshot(Decode(kFull));
  EXPECT_EQ(EncodeSnapshot(Decode(once)), once);
  const auto full = base::ParseJson(kFull, "full");
  const auto written = base::ParseJson(once, "written");
  ASSERT_TRUE(full.ok() && written.ok());
  for (const auto& member : full->GetObject()) {
    const absl::string_view name = base::StringOf(member.name);
    // Given in a longer form than is written.
    if (name == "sets" || name == "memory" || name == "options") continue;
    const rapidjson::Value* same = base::FindMember(*written, name);
    ASSERT_NE(same, nullptr) << name;
    EXPECT_TRUE(base::SameJson(*same, member.value))
        << name << ": " << base::WriteJson(*same) << " is not " << base::WriteJson(member.value);
  }
}

TEST(Snapshot, ReadsValues) {
  const drain::Input input = Decode(kFull).input;
  EXPECT_EQ(input.last_ingress_change, input.now - absl::Seconds(90));
  EXPECT_EQ(input.options.coalesce_window, absl::ZeroDuration());
  EXPECT_EQ(input.options.write_mode, drain::WriteMode::kBackendSet);
  ASSERT_EQ(input.sets.size(), 1u);
  const drain::SetInput& set = input.sets[0];
  EXPECT_EQ(set.service.api_version, "v1");
  EXPECT_EQ(set.service.key.ToString(), "shop/web");
  ASSERT_EQ(set.endpoints.size(), 2u);
  EXPECT_EQ(set.endpoints[0].backend.value(), "10.0.0.1:8080");
  EXPECT_EQ(set.endpoints[0].deletion_timestamp, input.now + absl::Seconds(45));
  EXPECT_EQ(set.endpoints[0].lookup.state, drain::LookupState::kFound);
  EXPECT_EQ(input.workloads[0].reference.api_version, "apps/v1");
  const auto& sets = input.read->load_balancer->backend_sets;
  const oci::BackendSet& read = sets.at(oci::BackendSetName("bs_x"));
  EXPECT_EQ(read.name.value(), "bs_x");
  ASSERT_EQ(read.backends.size(), 3u);
  EXPECT_EQ(read.backends[1].max_connections, 300);
  EXPECT_EQ(read.backends[2].settings, "{\"a\":1}");
  EXPECT_EQ(sets.at(oci::BackendSetName("bs_y")).name.value(), "other");
  const drain::BackendKey key{oci::BackendSetName("bs_x"), oci::BackendName("10.0.0.1:8080")};
  EXPECT_TRUE(input.ledger.at(key).by_operator);
  EXPECT_EQ(*input.memory.registered_at.Find(key), absl::InfinitePast());
  EXPECT_EQ(input.memory.service_times[1], absl::Milliseconds(11250));
}

TEST(Snapshot, WhatIsLeftOutHasTheDefaults) {
  const drain::Input input =
      Decode(R"({"read": {"load_balancer": {"backend_sets": {"b": {"backends": ["10.0.0.1:80"]}}}},
                 "work_requests": {}, "sets": [{"name": "b", "membership": {}}],
                 "health": {"b/10.0.0.1:80": {}}})")
          .input;
  EXPECT_EQ(input.options.coalesce_window, absl::Milliseconds(200));
  ASSERT_TRUE(input.read.has_value());
  EXPECT_TRUE(input.read->this_pass);
  EXPECT_EQ(input.read->at, input.now);
  EXPECT_EQ(input.read->load_balancer->id, input.load_balancer);
  EXPECT_EQ(input.read->load_balancer->lifecycle_state, "ACTIVE");
  EXPECT_TRUE(input.work_requests->this_pass);
  EXPECT_TRUE(input.sets[0].membership->answered);
  EXPECT_EQ(input.health.begin()->second.health.status, oci::HealthStatus::kOk);
  const oci::BackendSet& set = input.read->load_balancer->backend_sets.at(oci::BackendSetName("b"));
  EXPECT_EQ(set.settings, R"({"healthChecker":{"protocol":"HTTP"},"policy":"ROUND_ROBIN"})");
  EXPECT_EQ(set.backends[0].document,
            R"({"backup":false,"drain":false,"ipAddress":"10.0.0.1","name":"10.0.0.1:80",)"
            R"("offline":false,"port":80,"weight":1})");
  EXPECT_EQ(set.backends[0].settings,
            R"({"backup":false,"ipAddress":"10.0.0.1","port":80,"weight":1})");
  EXPECT_TRUE(input.ledger_loaded);
}

TEST(Snapshot, RefusesWithThePath) {
  const struct {
    const char* json;
    const char* error;
  } kCases[] = {
      {"", "snapshot: JSON error at byte 0"},
      {"[]", "the snapshot: expected an object, got a list"},
      {R"({"noww": "+1s"})", "noww: unknown; allowed: now, load_balancer"},
      {R"({"sets": [{"endpoints": [{}, {"prot": 1}]}]})",
       "sets[0].endpoints[1].prot: unknown; allowed: ip, port"},
      {R"({"sets": {}})", "sets: expected a list, got an object"},
      {R"({"sets": [{"name": 1}]})", "sets[0].name: expected a string, got a number"},
      {R"({"sets": [{"opted_in": "true"}]})", "sets[0].opted_in: expected a boolean"},
      {R"({"sets": [{"target_port": 8080.5}]})", "sets[0].target_port: expected an integer"},
      {R"({"sets": [{"serving": 5}]})", "sets[0].serving: expected a duration like \"30s\""},
      {R"({"sets": [{"serving": "5"}]})", "sets[0].serving: \"5\" is no duration"},
      {R"({"last_ingress_change": "5s"})", "last_ingress_change: \"5s\" is no time"},
      {R"({"options": {"write_mode": "Set"}})",
       "options.write_mode: \"Set\" is none of auto, backend, set"},
      {R"({"ledger": {"bs_x": {}}})", "ledger.bs_x: \"bs_x\" must be set/ip:port"},
      {R"({"ledger": {"b/x": {}, "b/x": {}}})", "ledger.b/x: given twice"},
      {R"({"paused": true, "paused": false})", "paused: given twice"},
      {R"({"memory": {"told": ["a", "a"]}})", "memory.told[1]: given twice"},
      {R"({"read": {"load_balancer": {"backend_sets": {"b": {"backends": [{"nam": "x"}]}}}}})",
       "read.load_balancer.backend_sets.b.backends[0].nam: unknown"},
      {R"({"sets": [{"service": "shop/web"}]})",
       "sets[0].service: \"shop/web\" must be \"Kind namespace/name\""},
      {R"({"sets": [{"service": "Service /web"}]})", "must be namespace/name"},
      {R"({"sets": [{"endpoints": [{"workload": 0}]}]})",
       "sets[0].endpoints[0].workload: 0 is not an index into workloads"},
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<Snapshot> snapshot = DecodeSnapshot(c.json);
    ASSERT_FALSE(snapshot.ok()) << c.json;
    EXPECT_EQ(snapshot.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(snapshot.status().message()), HasSubstr(c.error)) << c.json;
  }
}

}  // namespace
}  // namespace controller

#include "sim/backend_health.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "sim/load_balancer_document.h"
#include "sim/timestamp.h"

namespace sim {
namespace {

using rapidjson::Value;

void ForEachBackend(
    const Value& load_balancer,
    const std::function<void(const std::string& set, const Value& backend)>& visit) {
  for (const auto& set : load_balancer["backendSets"].GetObject()) {
    const std::string name(base::StringOf(set.name));
    for (const Value& backend : set.value["backends"].GetArray()) visit(name, backend);
  }
}

std::string Quoted(const std::vector<std::string>& names) {
  return absl::StrCat("[",
                      absl::StrJoin(names, ",",
                                    [](std::string* out, const std::string& name) {
                                      absl::StrAppend(out, base::QuoteJson(name));
                                    }),
                      "]");
}

// What the checks of the two nodes of the load balancer say.
std::array<absl::string_view, 2> CheckResults(Health health, bool offline) {
  if (offline) return {"OFFLINE", "OFFLINE"};
  switch (health) {
    case Health::kOk:
      return {"OK", "OK"};
    case Health::kWarning:
      return {"OK", "TIMED_OUT"};
    case Health::kCritical:
      return {"CONNECT_FAILED", "CONNECT_FAILED"};
    case Health::kUnknown:
      break;
  }
  return {"UNKNOWN", "UNKNOWN"};
}

}  // namespace

void BackendHealthBook::Summary::Add(Health health, const std::string& name) {
  ++total;
  if (health == Health::kWarning) warning.push_back(name);
  if (health == Health::kCritical) critical.push_back(name);
  if (health == Health::kUnknown) unknown.push_back(name);
}

Health BackendHealthBook::Overall(const Summary& summary) {
  const size_t bad = summary.warning.size() + summary.critical.size() + summary.unknown.size();
  if (summary.total == 0 || 2 * summary.unknown.size() > summary.total) return Health::kUnknown;
  if (bad == 0) return Health::kOk;
  return 2 * (summary.total - bad) >= summary.total ? Health::kWarning : Health::kCritical;
}

std::string BackendHealthBook::SummaryJson(const Summary& summary, absl::string_view noun) {
  return absl::StrCat(R"({"status":")", HealthName(summary.status), R"(","warningState)", noun,
                      R"(Names":)", Quoted(summary.warning), R"(,"criticalState)", noun,
                      R"(Names":)", Quoted(summary.critical), R"(,"unknownState)", noun,
                      R"(Names":)", Quoted(summary.unknown), R"(,"total)", noun, R"(Count":)",
                      summary.total, "}");
}

absl::string_view HealthName(Health health) {
  switch (health) {
    case Health::kOk:
      return "OK";
    case Health::kWarning:
      return "WARNING";
    case Health::kCritical:
      return "CRITICAL";
    case Health::kUnknown:
      break;
  }
  return "UNKNOWN";
}

void BackendHealthBook::Follow(const Value& load_balancer) {
  std::map<Key, State> states;
  ForEachBackend(load_balancer, [&](const std::string& set, const Value& backend) {
    const Key key(set, base::StringOf(backend["name"]));
    const auto known = states_.find(key);
    states[key] = known == states_.end() ? State() : known->second;
  });
  states_ = std::move(states);
}

void BackendHealthBook::Check(const Value& load_balancer, const ServingFunction& serving,
                              absl::Time now) {
  std::map<std::string, bool> has_listener;
  ForEachBackend(load_balancer, [&](const std::string& set, const Value& backend) {
    const Key key(set, base::StringOf(backend["name"]));
    State& state = states_[key];
    const auto [listener, fresh] = has_listener.try_emplace(set, false);
    if (fresh) listener->second = HasListener(load_balancer, set);
    state.offline = backend["offline"].IsTrue();
    if (!listener->second) {
      state = State();
      return;
    }
    state.checked_at = now;
    if (const auto fixed = fixed_.find(key); fixed != fixed_.end()) {
      state.health = fixed->second;
    } else if (state.offline) {
      state.health = Health::kUnknown;
    } else {
      const std::string ip(base::StringOf(backend["ipAddress"]));
      const bool up = serving == nullptr || serving(ip, backend["port"].GetInt());
      state.health = up ? Health::kOk : Health::kCritical;
    }
  });
}

void BackendHealthBook::Fix(const std::string& set, const std::string& backend,
                            std::optional<Health> health) {
  if (health.has_value()) {
    fixed_[{set, backend}] = *health;
  } else {
    fixed_.erase({set, backend});
  }
}

const BackendHealthBook::State& BackendHealthBook::StateOf(const std::string& set,
                                                           const std::string& backend) const {
  static const State& unchecked = *new State();
  const auto found = states_.find({set, backend});
  return found == states_.end() ? unchecked : found->second;
}

std::string BackendHealthBook::BackendJson(const std::string& set,
                                           const std::string& backend) const {
  const State& state = StateOf(set, backend);
  std::vector<std::string> results;
  if (state.checked_at != absl::InfinitePast()) {
    const auto nodes = CheckResults(state.health, state.offline);
    for (size_t node = 0; node < nodes.size(); ++node) {
      results.push_back(
          absl::StrCat(R"({"subnetId":"ocid1.subnet.oc1..example","sourceIpAddress":"10.0.255.)",
                       node + 2, R"(","timestamp":")", Timestamp(state.checked_at),
                       R"(","healthCheckStatus":")", nodes[node], R"("})"));
    }
  }
  return absl::StrCat(R"({"status":")", HealthName(state.health), R"(","healthCheckResults":[)",
                      absl::StrJoin(results, ","), "]}");
}

BackendHealthBook::Summary BackendHealthBook::Summarize(const Value& load_balancer,
                                                        const std::string& set) const {
  Summary summary;
  const Value& backends = FindBackendSet(load_balancer, set)->FindMember("backends")->value;
  for (const Value& backend : backends.GetArray()) {
    const std::string name(base::StringOf(backend["name"]));
    summary.Add(StateOf(set, name).health, name);
  }
  summary.status = HasListener(load_balancer, set) ? Overall(summary) : Health::kUnknown;
  return summary;
}

std::string BackendHealthBook::BackendSetJson(const Value& load_balancer,
                                              const std::string& set) const {
  return SummaryJson(Summarize(load_balancer, set), "Backend");
}

std::string BackendHealthBook::LoadBalancerJson(const Value& load_balancer) const {
  Summary summary;
  for (const auto& set : load_balancer["backendSets"].GetObject()) {
    const std::string name(base::StringOf(set.name));
    summary.Add(Summarize(load_balancer, name).status, name);
  }
  summary.status = Overall(summary);
  return SummaryJson(summary, "BackendSet");
}

}  // namespace sim

#include "drain/check.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "drain/draft.h"
#include "drain/judge.h"

namespace drain {
namespace {

absl::Status Broken(const Write& write, const oci::BackendName& backend, absl::string_view what) {
  return absl::InternalError(absl::StrCat("plan for backend set ", write.set.value(), ", backend ",
                                          backend.value(), ": ", what));
}

const SetInput* InputOf(const Input& input, const oci::BackendSetName& name) {
  for (const SetInput& set : input.sets) {
    if (set.name == name) return &set;
  }
  return nullptr;
}

bool HasPodBehind(const Input& input, const SetInput& set, const oci::BackendName& backend) {
  const BackendKey key{set.name, backend};
  if (input.ledger.count(key) != 0 || input.memory.known.Contains(key)) return true;
  return std::any_of(set.endpoints.begin(), set.endpoints.end(), [&](const Endpoint& endpoint) {
    return endpoint.backend == backend ||
           oci::MakeBackendName(endpoint.ip, set.target_port) == backend;
  });
}

absl::Status CheckTarget(const Input& input, const Plan& plan) {
  const Write& write = *plan.write;
  if (!plan.questions.empty()) return Broken(write, {}, "written while questions are open");
  if (input.paused) return Broken(write, {}, "written while paused");
  if (!input.read.has_value() || write.etag.empty() || write.etag != input.read->etag) {
    return Broken(write, {}, "written without the ETag of the read it was decided on");
  }
  const SetInput* set = InputOf(input, write.set);
  if (set == nullptr) return Broken(write, {}, "nothing maps to this set");
  if (set->contested) return Broken(write, {}, "the set is contested");
  const bool ruled = set->opted_in && set->publishes_terminating && !input.options.release;
  const bool drains = std::any_of(write.flips.begin(), write.flips.end(),
                                  [](const Flip& flip) { return flip.drain; });
  if (!ruled && drains) return Broken(write, {}, "a drain without opt-in");
  // A restoration leaves out what has left the set since the foreign write: that takes
  // nothing out of the set as it is.
  const auto& sets = input.read->load_balancer->backend_sets;
  const auto read = sets.find(write.set);
  const std::vector<oci::BackendName>& removals = write.change.removals;
  const bool takes_out = std::any_of(removals.begin(), removals.end(), [&](const auto& name) {
    return read == sets.end() || FindBackend(read->second, name) != nullptr;
  });
  const bool members = !write.change.additions.empty() || takes_out;
  if (!ruled && members && !input.carry_all) {
    return Broken(write, {}, "membership of a Service without opt-in");
  }
  return absl::OkStatus();
}

absl::Status CheckFlips(const Input& input, const Plan& plan) {
  const Write& write = *plan.write;
  const SetInput& set = *InputOf(input, write.set);
  const SetVerdicts verdicts(set);
  for (const Flip& flip : write.flips) {
    const Verdict* verdict = verdicts.Find(flip.key.backend.value());
    if (verdict == nullptr) return Broken(write, flip.key.backend, "no endpoint names it");
    if (flip.drain && verdict->want != Want::kDrained) {
      return Broken(write, flip.key.backend, "drained though its Pod is not known to end");
    }
    if (!flip.drain && verdict->want != Want::kUndrained) {
      return Broken(write, flip.key.backend, "un-drained though no live Pod has it");
    }
    const auto entry = (flip.drain ? plan.ledger : input.ledger).find(flip.key);
    const auto end = flip.drain ? plan.ledger.end() : input.ledger.end();
    if (entry == end) return Broken(write, flip.key.backend, "not in the ledger");
    if (!flip.drain && entry->second.by_operator && entry->second.pod_uid == flip.pod_uid) {
      return Broken(write, flip.key.backend, "an operator's drain of this Pod");
    }
  }
  for (const auto& [name, flags] : write.change.flips) {
    if (!HasPodBehind(input, set, name)) return Broken(write, name, "flag of a foreign backend");
  }
  for (const oci::BackendName& name : write.change.removals) {
    if (!HasPodBehind(input, set, name)) return Broken(write, name, "a foreign backend left out");
  }
  return absl::OkStatus();
}

absl::Status CheckLimits(const Input& input, const Write& write) {
  if (write.change.additions.empty()) return absl::OkStatus();
  size_t total = 0;
  for (const auto& [name, set] : input.read->load_balancer->backend_sets) {
    total += set.backends.size();
  }
  const auto& sets = input.read->load_balancer->backend_sets;
  const auto read = sets.find(write.set);
  const size_t before = read == sets.end() ? 0 : read->second.backends.size();
  const size_t after =
      write.base->backends.size() + write.change.additions.size() - write.change.removals.size();
  if (after > before && after > static_cast<size_t>(input.options.max_backends_per_set)) {
    return Broken(write, {}, "more backends than a set may have");
  }
  const size_t all = total - before + after;
  if (after > before && all > static_cast<size_t>(input.options.max_backends_per_load_balancer)) {
    return Broken(write, {}, "more backends than a load balancer may have");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPlan(const Input& input, const Plan& plan) {
  if (!plan.write.has_value()) return absl::OkStatus();
  absl::Status status = CheckTarget(input, plan);
  if (status.ok()) status = CheckFlips(input, plan);
  if (status.ok()) status = CheckLimits(input, *plan.write);
  return status;
}

}  // namespace drain

#include "controller/notices.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "drain/explain.h"
#include "glog/logging.h"

namespace controller {

void LogPlan(const drain::Input& input, const drain::Plan& plan, bool dry_run, LbState& state) {
  const std::string summary = drain::Summary(plan);
  if (plan.write.has_value() && (summary != state.last_summary || !dry_run)) {
    LOG(INFO) << (dry_run ? "dry run, not written: " : "plan: ") << drain::Explain(input, plan);
  } else {
    VLOG(1) << drain::Explain(input, plan);
  }
  state.last_summary = summary;
}

void LogUnresolved(const drain::Plan& plan, LbState& state) {
  std::map<drain::BackendKey, drain::Rule> unresolved;
  for (const drain::Decision& decision : plan.decisions) {
    if (decision.rule != drain::Rule::kPodWithoutAddress &&
        decision.rule != drain::Rule::kLookupFailed) {
      continue;
    }
    unresolved[decision.key] = decision.rule;
    const auto before = state.unresolved.find(decision.key);
    if (before != state.unresolved.end() && before->second == decision.rule) continue;
    LOG(WARNING) << "backend " << decision.key.backend << " of backend set " << decision.key.set
                 << ", Pod " << decision.pod.ToString() << ": " << drain::Sentence(decision.rule);
  }
  state.unresolved = std::move(unresolved);
}

void LogAccepted(const drain::Write& write, const drain::Memory& memory) {
  const auto drains = std::count_if(write.flips.begin(), write.flips.end(),
                                    [](const drain::Flip& flip) { return flip.drain; });
  LOG(INFO) << "write accepted: set=" << write.set << " reason=" << drain::Name(write.reason)
            << " call=" << (write.whole_set ? "UpdateBackendSet" : "UpdateBackend")
            << " carries_wave=" << (write.carries_wave ? "true" : "false")
            << " waves=" << memory.waves << " drains=" << drains
            << " undrains=" << static_cast<long>(write.flips.size()) - drains
            << " additions=" << write.change.additions.size()
            << " removals=" << write.change.removals.size()
            << " work_request=" << memory.own_write->work_request;
}

void LogRefused(const drain::Write& write, const absl::Status& status, absl::Duration wait) {
  LOG(WARNING) << "write refused: set=" << write.set << " reason=" << drain::Name(write.reason)
               << " next_in=" << wait
               << " status=" << status.ToString(absl::StatusToStringMode::kWithNoExtraData);
}

std::string DescribeRefusal(const drain::Write& write, const oci::Ocid& load_balancer,
                            const absl::Status& status) {
  std::string text = absl::StrCat("OCI did not take the ", drain::Name(write.reason),
                                  " write of backend set ", write.set.value(), " of load balancer ",
                                  load_balancer.value(), ": ", status.message());
  if (write.whole_set && absl::IsInvalidArgument(status)) {
    absl::StrAppend(&text, "; backends are drained one by one for the next 10 minutes");
  } else if (write.whole_set && absl::IsResourceExhausted(status)) {
    absl::StrAppend(&text,
                    "; drains go on without adding backends for the next 10 minutes; make room, "
                    "or set --max_backends_per_set and --max_backends_per_load_balancer to the "
                    "load balancer's limits");
  }
  return text;
}

std::string DescribeUnread(const oci::Ocid& load_balancer, const absl::Status& status) {
  std::string text = absl::StrCat("Load balancer ", load_balancer.value(),
                                  " cannot be read, nothing is drained on it: ", status.message());
  if (absl::IsNotFound(status)) {
    absl::StrAppend(&text,
                    "; check the IngressClass annotation oci-native-ingress.oraclecloud.com/id and "
                    "the policy that lets this identity use load balancers");
  }
  return text;
}

}  // namespace controller

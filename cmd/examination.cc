#include "cmd/examination.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "annotations/annotations.h"
#include "base/clock.h"
#include "cmd/oci_identity.h"
#include "controller/collector.h"
#include "controller/routing.h"
#include "drain/plan.h"

namespace cmd {
namespace {

// Events about what has no namespace are written there.
constexpr char kDefaultNamespace[] = "default";

kube::AccessQuestion QuestionOf(const controller::Right& right, const std::string& ns) {
  return {std::string(right.verb), std::string(right.group), std::string(right.resource),
          std::string(right.subresource), ns};
}

// A plan asks in turn for what it lacks; this is more turns than it has questions.
constexpr int kMostTurns = 12;

// Every question without an answer.
void LeaveUnanswered(const drain::Questions& questions, drain::Input& input) {
  if (questions.work_requests) input.work_requests_failed = true;
  if (questions.read) input.read_failed = true;
  for (const drain::BackendKey& key : questions.health) input.health[key] = {};
  for (const oci::BackendSetName& set : questions.set_health) input.set_health[set] = {};
  for (drain::SetInput& set : input.sets) {
    if (questions.memberships.count(set.service.key) != 0) set.membership = drain::Membership();
    for (drain::Endpoint& endpoint : set.endpoints) {
      if (questions.pods.count(endpoint.pod) == 0) continue;
      endpoint.lookup.state = drain::LookupState::kNoAnswer;
    }
  }
}

// The notices of a plan that tell what stands between an annotation and a drain. They
// rest on the photograph alone.
std::vector<drain::Notice> ObstaclesIn(drain::Input input) {
  drain::Plan plan = drain::MakePlan(input);
  for (int turn = 0; turn < kMostTurns && !plan.questions.empty(); ++turn) {
    LeaveUnanswered(plan.questions, input);
    plan = drain::MakePlan(input);
  }
  std::erase_if(plan.notices, [](const drain::Notice& notice) { return !IsObstacle(notice.kind); });
  return std::move(plan.notices);
}

// The workloads behind the Services that opted in, each once for a Service.
std::vector<Grace> GracesOf(const drain::Input& input, const kube::ClusterStore& store) {
  std::vector<Grace> graces;
  std::set<std::pair<kube::ObjectKey, std::string>> seen;
  for (const drain::SetInput& set : input.sets) {
    if (!set.opted_in) continue;
    for (const drain::Endpoint& endpoint : set.endpoints) {
      if (endpoint.workload < 0) continue;
      const kube::ObjectReference& owner =
          input.workloads[static_cast<size_t>(endpoint.workload)].reference;
      const std::string name = absl::StrCat(owner.kind, " ", owner.key.ToString());
      if (!seen.emplace(set.service.key, name).second) continue;
      const auto workload = store.FindWorkload(owner.kind, owner.key);
      if (!workload.has_value()) continue;
      graces.push_back({set.service.key, set.shutdown, name, workload->grace});
    }
  }
  return graces;
}

std::vector<kube::ObjectKey> OptedIn(const kube::ClusterStore& store) {
  std::vector<kube::ObjectKey> opted_in;
  for (const auto& service : store.Services()) {
    if (annotations::ParseServiceAnnotations(service->annotations).values.backend_draining) {
      opted_in.push_back(service->key);
    }
  }
  return opted_in;
}

}  // namespace

Examination::Examination(Clients& clients, const controller::Settings& settings,
                         ExaminationOptions options)
    : clients_(clients), settings_(settings), options_(std::move(options)) {}

void Examination::Tell(Finding finding) {
  if (options_.tell) options_.tell(finding);
  findings_.push_back(std::move(finding));
}

void Examination::Tell(std::vector<Finding> findings) {
  for (Finding& finding : findings) Tell(std::move(finding));
}

void Examination::Step(absl::string_view what) const {
  if (options_.step) options_.step(what);
}

void Examination::AskServers(const absl::Status& kube, const absl::Status& oci) {
  Step("the API server's version");
  if (clients_.has_kube()) {
    const auto version = clients_.rest_kube().GetVersion();
    Tell(JudgeVersion(clients_.cluster(), version));
    if (version.ok()) Tell(JudgeKubernetesClock(clients_.kube_clock()));
  } else {
    Tell(JudgeVersion("no cluster", kube));
  }
  Step("who we are to OCI");
  if (clients_.has_oci()) {
    Tell(JudgeRegion({clients_.region(), clients_.endpoint()}));
    Tell(JudgeIdentity(OciAuthFlag(), clients_.WhoAmI()));
  } else {
    Tell(JudgeIdentity(OciAuthFlag(), oci));
  }
}

bool Examination::Ask(const controller::Right& right, const std::string& ns) {
  if (!asks_rights_ || IsOver()) return false;
  auto answer = clients_.rest_kube().ReviewAccess(QuestionOf(right, ns));
  asks_rights_ = answer.ok();
  const bool by_namespace =
      ns.empty() && (right.scope == controller::RightScope::kServiceNamespaces ||
                     right.scope == controller::RightScope::kEventNamespaces);
  if (by_namespace && answer.ok() && !answer->allowed) {
    refused_everywhere_.push_back(right);
  } else {
    rights_.push_back({right, ns, std::move(answer)});
  }
  return asks_rights_;
}

bool Examination::AskRights() {
  Step("our rights");
  for (const controller::Right& right : controller::RightsFor(settings_, options_.elects)) {
    const bool own = right.scope == controller::RightScope::kOwnNamespace;
    if (!Ask(right, own ? settings_.ns : "")) break;
  }
  for (const RightAnswer& asked : rights_) {
    if (asked.right.scope == controller::RightScope::kCluster && asked.answer.ok() &&
        !asked.answer->allowed) {
      return false;
    }
  }
  return true;
}

void Examination::AskInNamespaces(const controller::TopologyView& view) {
  const std::set<std::string> namespaces = controller::PodWatchScopes(view, settings_);
  for (const controller::Right& right : refused_everywhere_) {
    for (const std::string& ns : namespaces) {
      if (!ns.empty()) {
        Ask(right, ns);
      } else {
        // So many namespaces are watched as one.
        rights_.push_back({right, "", kube::AccessAnswer{}});
      }
    }
    if (right.scope == controller::RightScope::kEventNamespaces &&
        namespaces.count(kDefaultNamespace) == 0) {
      Ask(right, kDefaultNamespace);
    }
  }
  refused_everywhere_.clear();
}

void Examination::AskLoadBalancer(const oci::Ocid& id, const controller::TopologyView* view,
                                  const kube::ClusterStore* store) {
  Step(absl::StrCat("load balancer ", id.value()));
  if (options_.pause > absl::ZeroDuration()) base::RealClock().SleepFor(options_.pause);
  if (IsOver()) return;
  LoadBalancerAnswers answers;
  answers.id = id;
  answers.read = clients_.oci().GetLoadBalancer(id);
  if (answers.read.ok()) answers.work_requests = clients_.oci().ListWorkRequests(id);
  if (view != nullptr) answers.paused = view->mapping.load_balancers.at(id).paused();
  Tell(JudgeLoadBalancer(answers, {clients_.region(), clients_.endpoint()}));
  if (view == nullptr || !answers.read.ok()) return;
  const absl::Time now = base::RealClock().Now();
  drain::Input input =
      controller::Collector(*store, settings_).Collect(*view, id, controller::LbState(), now);
  input.read = drain::Read{answers.read->load_balancer, answers.read->etag, now, true};
  const WorkRequestTimes times =
      answers.work_requests.ok() ? MeasureWorkRequests(*answers.work_requests) : WorkRequestTimes();
  // What is paused is not planned, and has its obstacles all the same.
  input.paused = false;
  Tell(JudgeServices(input, ObstaclesIn(input), times, GracesOf(input, *store)));
}

void Examination::AskAboutServices(controller::Controller& watching) {
  const std::shared_ptr<const controller::TopologyView> view = watching.topology().View();
  Step("our rights in the namespaces of Services");
  AskInNamespaces(*view);
  Tell(JudgeRights(std::exchange(rights_, {})));
  Tell(JudgeTopology(*view, settings_.controller_class, OptedIn(watching.store())));
  if (!clients_.has_oci()) return;
  for (const auto& [id, mapped] : view->mapping.load_balancers) {
    if (!options_.load_balancer.empty() && id.value() != options_.load_balancer) continue;
    AskLoadBalancer(id, view.get(), &watching.store());
  }
  const oci::Ocid wanted(options_.load_balancer);
  if (wanted.empty() || view->mapping.load_balancers.count(wanted) != 0) return;
  Tell(Finding{Level::kWarning, "NoLoadBalancer", absl::StrCat("load balancer ", wanted.value()),
               absl::StrCat("no IngressClass of ", settings_.controller_class,
                            " names it; compare its annotation "
                            "oci-native-ingress.oraclecloud.com/id")});
  AskLoadBalancer(wanted, nullptr, nullptr);
}

void Examination::SkipServices(absl::string_view why) {
  Tell(JudgeRights(std::exchange(rights_, {})));
  Tell(Finding{Level::kProblem, "ClusterUnread", "Services", absl::StrCat("not looked at: ", why)});
  if (clients_.has_oci() && !options_.load_balancer.empty()) {
    AskLoadBalancer(oci::Ocid(options_.load_balancer), nullptr, nullptr);
  }
}

void Examination::Finish() {
  if (clients_.has_oci() && !IsOver()) Tell(JudgeOciClock(clients_.oci_clock()));
}

}  // namespace cmd

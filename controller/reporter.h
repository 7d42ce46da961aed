// Tells people: Kubernetes Events and the log.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_REPORTER_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_REPORTER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "controller/topology.h"
#include "drain/plan.h"
#include "health/metrics.h"
#include "kube/event_recorder.h"
#include "oci/types.h"

namespace controller {

// Thread-safe. Never blocks on the network: the recorder sends on its own.
class Reporter {
 public:
  // All must outlive it.
  Reporter(kube::EventRecorder& recorder, base::Clock& clock,
           health::Metrics& metrics = health::NoMetrics())
      : recorder_(recorder), clock_(clock), metrics_(metrics) {}

  // What is counted and not told.
  health::Metrics& metrics() { return metrics_; }

  void TellNotices(const drain::Plan& plan, const TopologyView& view,
                   const oci::Ocid& load_balancer);
  // A write was accepted: its drains are under way. In a dry run: they would be.
  void TellDraining(const drain::Write& write, const drain::Input& input, bool dry_run);
  void TellBadAnnotation(const BadAnnotation& bad);
  void TellMappingProblem(const MappingProblem& problem);
  // Something about the load balancer as a whole: Warning on its IngressClasses.
  void TellLoadBalancer(absl::string_view reason, absl::string_view note, const TopologyView& view,
                        const oci::Ocid& load_balancer);

  // `subject`: what tells two events of one reason and object apart.
  struct News {
    bool warning = true;
    std::string reason;
    std::string note;
    std::string subject;
  };
  void Tell(const kube::ObjectReference& regarding, const News& news);
  void TellClasses(const News& news, const TopologyView& view, const oci::Ocid& load_balancer);

 private:
  kube::EventRecorder& recorder_;
  base::Clock& clock_;
  health::Metrics& metrics_;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_REPORTER_H_

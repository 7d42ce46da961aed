// Asks the cluster and OCI for what a diagnosis rests on. Writes nothing.
#ifndef OCI_BACKEND_DRAIN_CMD_EXAMINATION_H_
#define OCI_BACKEND_DRAIN_CMD_EXAMINATION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cmd/clients.h"
#include "cmd/diagnosis.h"
#include "controller/controller.h"
#include "controller/settings.h"

namespace cmd {

struct ExaminationOptions {
  bool elects = true;              // whether the rights for the election are asked for
  std::string load_balancer = {};  // this OCID only; empty: all
  // Waited before each load balancer, so that drains have the API to themselves.
  absl::Duration pause = absl::ZeroDuration();
  std::function<void(const Finding&)> tell = {};          // of each finding at once
  std::function<void(absl::string_view what)> step = {};  // what is asked next
  std::function<bool()> is_over = {};                     // nobody waits any more
};

// Its steps in this order, each of which may be left out. For one thread.
class Examination {
 public:
  // The references must outlive it. `clients` may lack one of the two sides; then what
  // needs it is not asked.
  Examination(Clients& clients, const controller::Settings& settings, ExaminationOptions options);

  // Versions, clocks, region and identity. The statuses say why a side of the clients is
  // missing.
  void AskServers(const absl::Status& kube, const absl::Status& oci);

  // The rights in all namespaces and in the controller's own. Answers whether what has to
  // be watched everywhere may be, or is not known.
  bool AskRights();

  // The rights in the namespaces of Services, the load balancers, and the Services.
  // `watching` has synced.
  void AskAboutServices(controller::Controller& watching);

  // In place of that: nothing is known of the cluster, and why.
  void SkipServices(absl::string_view why);

  // What has to wait for the others.
  void Finish();

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  void Tell(Finding finding);
  void Tell(std::vector<Finding> findings);
  void Step(absl::string_view what) const;
  bool IsOver() const { return options_.is_over && options_.is_over(); }
  // False: there was no answer, and the next question would have none either.
  bool Ask(const controller::Right& right, const std::string& ns);
  void AskInNamespaces(const controller::TopologyView& view);
  void AskLoadBalancer(const oci::Ocid& id, const controller::TopologyView* view,
                       const kube::ClusterStore* store);

  Clients& clients_;
  const controller::Settings& settings_;
  const ExaminationOptions options_;
  std::vector<Finding> findings_;
  std::vector<RightAnswer> rights_;
  std::vector<controller::Right> refused_everywhere_;  // to be asked by namespace
  bool asks_rights_ = true;
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_EXAMINATION_H_

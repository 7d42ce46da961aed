// The load balancer's API as the product calls it, straight on a FakeLoadBalancer:
// no HTTP, no signature, no thread. What RestLoadBalancerApi answers over the same
// fake, this answers too; the bodies go through the product's codec both ways.
#ifndef OCI_BACKEND_DRAIN_SIM_IN_MEMORY_LOAD_BALANCER_API_H_
#define OCI_BACKEND_DRAIN_SIM_IN_MEMORY_LOAD_BALANCER_API_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "oci/load_balancer_api.h"
#include "sim/fake_load_balancer.h"

namespace sim {

// Not thread-safe. `server` and `clock` must outlive it.
class InMemoryLoadBalancerApi final : public oci::LoadBalancerApi {
 public:
  // `client`: who writes, for the fake's log.
  InMemoryLoadBalancerApi(FakeLoadBalancer& server, base::Clock& clock, std::string client);

  absl::StatusOr<oci::LoadBalancerRead> GetLoadBalancer(const oci::Ocid& load_balancer) override;
  absl::StatusOr<oci::BackendSetHealth> GetBackendSetHealth(
      const oci::Ocid& load_balancer, const oci::BackendSetName& set) override;
  absl::StatusOr<oci::BackendHealth> GetBackendHealth(const oci::Ocid& load_balancer,
                                                      const oci::BackendSetName& set,
                                                      const oci::BackendName& backend) override;
  absl::StatusOr<oci::WorkRequestId> UpdateBackend(const oci::Ocid& load_balancer,
                                                   const oci::BackendSetName& set,
                                                   const oci::Backend& as_read,
                                                   const oci::BackendFlags& flags,
                                                   const oci::WriteGuard& guard) override;
  absl::StatusOr<oci::WorkRequestId> UpdateBackendSet(const oci::Ocid& load_balancer,
                                                      const oci::BackendSet& as_read,
                                                      const oci::BackendSetChange& change,
                                                      const oci::WriteGuard& guard) override;
  absl::StatusOr<oci::WorkRequest> GetWorkRequest(const oci::WorkRequestId& id) override;
  absl::StatusOr<std::vector<oci::WorkRequest>> ListWorkRequests(
      const oci::Ocid& load_balancer) override;

 private:
  // The last document of each load balancer: the same text decodes to the same.
  struct Decoded {
    std::string text;
    oci::LoadBalancer value;
  };

  // OK if the reply is a success.
  absl::Status StatusOf(const ApiReply& reply, const std::string& what) const;
  absl::StatusOr<oci::WorkRequestId> Write(const ApiReply& reply, const std::string& what) const;

  FakeLoadBalancer& server_;
  base::Clock& clock_;
  const std::string client_;
  std::map<oci::Ocid, Decoded> decoded_;
  std::string listed_text_;  // the last page of work requests
  std::vector<oci::WorkRequest> listed_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_IN_MEMORY_LOAD_BALANCER_API_H_

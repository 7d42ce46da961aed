// The doors through which contract_kube_test and contract_load_balancer_test try
// what KubeApi and LoadBalancerApi promise: the same cases behind each of them.
#ifndef OCI_BACKEND_DRAIN_SIM_CONTRACT_H_
#define OCI_BACKEND_DRAIN_SIM_CONTRACT_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/kube_api.h"
#include "oci/load_balancer_api.h"
#include "sim/fake_api_server.h"
#include "sim/fake_load_balancer.h"

namespace sim {

// Stands still but for SleepFor. Thread-safe: a server's threads ask it too.
class StillClock final : public base::Clock {
 public:
  absl::Time Now() override {
    std::lock_guard<std::mutex> lock(mutex_);
    return now_;
  }
  void SleepFor(absl::Duration duration) override {
    std::lock_guard<std::mutex> lock(mutex_);
    now_ += duration;
  }

 private:
  std::mutex mutex_;
  absl::Time now_ = absl::FromUnixSeconds(1'796'007'884);
};

// A client of a cluster whose namespace fx is as it was recorded: the Service shop
// that opts in, its Pods shop-0, shop-1 (terminating) and shop-2, their endpoints,
// and what became of shop-1 afterwards.
class KubeDoor {
 public:
  virtual ~KubeDoor() = default;
  virtual kube::KubeApi& api() = 0;
  // Where a watch of Pods begins that sees the deletion of shop-1.
  virtual std::string VersionBeforeDeletion() = 0;
  // From now on the client may not list Pods.
  virtual void ForbidPods() = 0;
};

// With a world behind it that can be changed: no recording.
class KubeWorldDoor : public KubeDoor {
 public:
  // `change` must not call api().
  virtual void With(const std::function<void(FakeApiServer&)>& change) = 0;
};

std::unique_ptr<KubeWorldDoor> MakeInMemoryKubeDoor();
// RestKubeApi over a socket of the loopback interface.
std::unique_ptr<KubeWorldDoor> MakeHttpKubeDoor();
// RestKubeApi over the recorded answers of a real API server.
std::unique_ptr<KubeDoor> MakeRecordedKubeDoor();

// A client of a load balancer that is as it was recorded (testdata/oci), in time
// that stands still.
class LoadBalancerDoor {
 public:
  virtual ~LoadBalancerDoor() = default;
  virtual oci::LoadBalancerApi& api() = 0;
  virtual absl::Time Now() = 0;
  virtual void Pass(absl::Duration duration) = 0;
  // `change` must not call api().
  virtual void With(const std::function<void(FakeLoadBalancer&)>& change) = 0;
};

std::unique_ptr<LoadBalancerDoor> MakeInMemoryLoadBalancerDoor();
// RestLoadBalancerApi over a socket, with signatures that are verified.
std::unique_ptr<LoadBalancerDoor> MakeHttpLoadBalancerDoor();

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_CONTRACT_H_

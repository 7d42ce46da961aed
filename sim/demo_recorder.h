// Writes down what happens in a world: for the meter as history, for people as a
// timeline.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_RECORDER_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_RECORDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rapidjson/document.h"
#include "sim/demo_meter.h"
#include "sim/demo_setup.h"
#include "sim/kubelet.h"
#include "sim/request_faults.h"
#include "sim/write_record.h"

namespace sim {

// Names under which the two writers speak to the fake load balancer.
inline constexpr char kDemoController[] = "controller";
inline constexpr char kDemoRival[] = "NIC";

// One thing that happened, in words.
struct DemoEvent {
  absl::Time time;
  std::string actor;  // "cluster", "controller", "NIC", "load balancer"
  std::string text;
  enum class Tone { kPlain, kGood, kBad } tone = Tone::kPlain;
};

// Thread-safe.
class DemoRecorder {
 public:
  explicit DemoRecorder(std::vector<DemoService> services);

  // From here on it counts; what was before is the starting point.
  void Trigger(absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);

  // Callbacks of the fakes.
  void OnPodEvent(const PodEvent& event) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnRequest(const RequestRecord& record) ABSL_LOCKS_EXCLUDED(mutex_);
  // `applied` is the load balancer after it.
  void OnWriteFinished(const WriteRecord& record, const rapidjson::Value& applied)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The load balancer at the start.
  void OnStart(const rapidjson::Value& applied, absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  // These Pods' drains are confirmed in the controller's ledger; told again and again.
  void OnConfirmed(const std::vector<std::string>& uids, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether a process listens at that address, as of what was told.
  bool Serves(const std::string& ip, int port) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Addresses of the Service's Pods that are ready, as "ip:port".
  std::vector<std::string> ReadyBackends(const DemoService& service) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Counts what OnPodEvent was told.
  int64_t pod_events() const ABSL_LOCKS_EXCLUDED(mutex_);

  ServiceHistory History(const DemoService& service, absl::Time end) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // What happened since the last call and before `until`, to which the fakes have
  // been advanced; in the order of time, neighbouring ones of a kind put together.
  std::vector<DemoEvent> TakeEvents(absl::Time until) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Tracked {
    PodTimes times;
    bool ready = false;
  };
  struct Item {
    absl::Time time;
    std::string actor;
    std::string text;         // "deleted", or all of it if there is no object
    std::string object = {};  // "web-abcde"
    DemoEvent::Tone tone = DemoEvent::Tone::kPlain;
    std::string ended_uid = {};  // then `text` is still to be made: see DescribeEnd
  };

  const DemoService* ServiceOf(absl::string_view pod) const;
  std::string PodOf(const std::string& backend) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  std::string PodsOf(const std::vector<std::string>& backends) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // What a Pod's end means for requests. Later than the end, when it is known which
  // writes had been applied by then.
  void DescribeEnd(Item& item) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  std::vector<Item> TakeItems(absl::Time until) ABSL_LOCKS_EXCLUDED(mutex_);
  std::string AskedFor(const RequestRecord& record) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  void AddStates(const rapidjson::Value& applied, const AppliedState& origin)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Say(Item item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::vector<DemoService> services_;
  mutable absl::Mutex mutex_;
  absl::Time trigger_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  std::map<std::string, Tracked> pods_ ABSL_GUARDED_BY(mutex_);                      // by UID
  std::map<std::string, std::vector<AppliedState>> states_ ABSL_GUARDED_BY(mutex_);  // by set
  std::map<std::string, absl::Time> confirmed_ ABSL_GUARDED_BY(mutex_);
  int64_t pod_events_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Item> items_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_RECORDER_H_

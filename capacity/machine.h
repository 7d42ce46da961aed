// One rollout's state machine: the Deployment or StatefulSet controller, the
// kubelet and the load balancer as counters and queues. Private to this folder.
#ifndef OCI_BACKEND_DRAIN_CAPACITY_MACHINE_H_
#define OCI_BACKEND_DRAIN_CAPACITY_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "capacity/rollout.h"

namespace capacity {

// Times are milliseconds since the rollouts began.
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Pods for which the same thing happens at the same moment. All delays of a
// rollout are constant, so what comes in later goes out later.
class PodQueue {
 public:
  void Push(int64_t at, int count);
  int64_t next() const { return head_ < items_.size() ? items_[head_].at : kNever; }
  bool empty() const { return head_ == items_.size(); }
  // Takes those that are due.
  int Pop(int64_t now);
  // Takes at most `count`, the first ones; `since` becomes the moment of the first.
  int Take(int count, int64_t* since);

 private:
  struct Item {
    int64_t at;
    int count;
  };
  std::vector<Item> items_;
  size_t head_ = 0;
};

class Machine {
 public:
  explicit Machine(const Rollout& rollout);

  int held() const { return held_; }        // slots of the load balancer
  int waiting() const { return waiting_; }  // published Pods without a slot
  bool done() const;
  // Of everything but a withdrawal.
  int64_t NextEvent() const;
  // When the Pod that has been drained longest may go.
  int64_t NextWithdrawal(absl::Duration minimum) const;

  // The backends of Pods that have gone leave the load balancer; how many.
  int Remove(int64_t now);
  // Everything else that is due happens.
  void Advance(int64_t now);
  // Kubernetes creates and deletes what it may.
  void Step(int64_t now);
  // `count` of the waiting get a slot. Answers how long the first has waited.
  int64_t Admit(int count, int64_t now);
  // At most `count` terminating Pods leave the load balancer; how many.
  int Withdraw(int count, int64_t now, absl::Duration minimum);

 private:
  // Pods deleted at one moment, and how many of them still hold a slot.
  struct Leaving {
    int64_t deleted_at;
    int holding;
  };

  void StepRolling(int64_t now);
  void StepOrdered(int64_t now);
  void Create(int64_t now, int count);
  void Delete(int64_t now, int count);
  void NoteReady(int64_t now);

  Rollout rollout_;
  int64_t startup_;
  int64_t address_;
  int64_t registration_;
  int64_t removal_;  // from the end of a Pod
  int64_t drained_;
  int64_t termination_;
  int64_t min_ready_;
  int target_;  // new Pods in the end
  int old_;     // not deleted
  int created_ = 0;
  int started_ = 0;
  int registered_ = 0;  // new ones that ever had a slot
  int ready_ = 0;
  int available_ = 0;
  int replacing_ = 0;  // kOrdered: deleted, successor not available yet
  int held_;
  int waiting_ = 0;
  PodQueue publishing_;
  PodQueue starting_;
  PodQueue becoming_available_;
  PodQueue ending_;
  PodQueue waits_;
  std::vector<Leaving> leaving_;
  size_t next_removal_ = 0;
  size_t next_withdrawal_ = 0;
};

}  // namespace capacity

#endif  // OCI_BACKEND_DRAIN_CAPACITY_MACHINE_H_

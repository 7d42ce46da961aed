// What a Kubernetes API server does with an object between the request and the
// store: defaults, validation, admission, field ownership, preconditions,
// graceful deletion. No HTTP, no watch, no authorization. Time is an argument.
//
// The controllers of the fake cluster write through this too, so that they can
// store only what a real server would have accepted.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_OBJECTS_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_OBJECTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "base/random.h"
#include "sim/json_tree.h"
#include "sim/kube_error.h"
#include "sim/kube_resources.h"
#include "sim/kube_store.h"

namespace sim {

struct KubeResult {
  int code = 200;                       // 201 when created
  KubeObject object = {};               // as stored; of a removal: its last state
  std::optional<KubeError> error = {};  // then `object` is null

  bool ok() const { return !error.has_value(); }
};

// Who writes, when, and which part.
struct KubeWriter {
  std::string manager;  // field manager: "kubectl", "kube-controller-manager"
  absl::Time now;
  std::string subresource = {};      // "status" or empty
  std::string operation = "Update";  // "Apply" for server-side apply
};

enum class PatchType { kMerge, kStrategic, kApply };

struct KubeDeleteOptions {
  std::optional<int64_t> grace_seconds = {};
  std::string uid = {};               // precondition; empty: none
  std::string resource_version = {};  // precondition; empty: none
};

// Not thread-safe. `store` must outlive it.
class KubeObjects {
 public:
  // `seed` decides UIDs, generated names and cluster IPs.
  KubeObjects(KubeStore& store, uint64_t seed);

  KubeResult Create(const KubeResource& resource, const std::string& ns, JsonTree object,
                    const KubeWriter& writer);
  KubeResult Replace(const KubeObjectRef& ref, JsonTree object, const KubeWriter& writer);
  // `force` is for kApply. Other patches that lead to no change store nothing.
  KubeResult Patch(const KubeObjectRef& ref, PatchType type, const JsonTree& patch, bool force,
                   const KubeWriter& writer);
  KubeResult Delete(const KubeObjectRef& ref, const KubeDeleteOptions& options, absl::Time now);

  // Reads, changes and writes. NotFound if there is none.
  KubeResult Modify(const KubeObjectRef& ref, const KubeWriter& writer,
                    const std::function<void(JsonTree&)>& change);

  KubeStore& store() { return store_; }
  const KubeStore& store() const { return store_; }

  // Whether metadata.managedFields is kept; server-side apply needs it.
  void SetFieldOwnership(bool kept) { field_ownership_ = kept; }

 private:
  KubeResult Write(const KubeObjectRef& ref, const KubeObject& before, JsonTree after,
                   const KubeWriter& writer);
  KubeResult Apply(const KubeObjectRef& ref, const KubeObject& before, JsonTree config, bool force,
                   const KubeWriter& writer);
  KubeResult DeletePod(const KubeObjectRef& ref, const KubeObject& before,
                       const KubeDeleteOptions& options, absl::Time now);
  std::string NewUid();

  void Own(const JsonTree* before, const KubeResource& resource, const KubeWriter& writer,
           JsonTree& after) const;

  KubeStore& store_;
  base::Random random_;
  bool field_ownership_ = true;
};

// "2026-11-30T03:04:44Z": metav1.Time has whole seconds.
std::string KubeTime(absl::Time time);
// "2026-11-30T03:04:44.123456Z": metav1.MicroTime.
std::string KubeMicroTime(absl::Time time);
// InfinitePast() if `value` is no time.
absl::Time ParseKubeTime(const JsonTree& value);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_OBJECTS_H_

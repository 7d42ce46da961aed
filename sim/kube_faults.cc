#include "sim/kube_faults.h"

namespace sim {
namespace {

bool Fits(const std::string& wanted, absl::string_view value) {
  return wanted.empty() || wanted == value;
}

// Counts a match; true if it hits.
template <typename Fault>
bool Use(Fault& fault) {
  if (fault.skip > 0) {
    --fault.skip;
    return false;
  }
  if (fault.times == 0) return false;
  if (fault.times > 0) --fault.times;
  return true;
}

}  // namespace

void KubeFaults::Clear() {
  faults_.clear();
  watch_faults_.clear();
}

std::optional<KubeFault> KubeFaults::Hit(const KubeRequestInfo& request) {
  const absl::string_view resource = request.resource == nullptr ? "" : request.resource->plural;
  for (KubeFault& fault : faults_) {
    if (Fits(fault.verb, request.verb) && Fits(fault.resource, resource) &&
        Fits(fault.ns, request.ns) && Fits(fault.name, request.name) &&
        (!fault.only_if || fault.only_if(request)) && Use(fault)) {
      return fault;
    }
  }
  return std::nullopt;
}

std::optional<KubeWatchFault> KubeFaults::Hit(const KubeResource& resource,
                                              const KubeChange& change) {
  const JsonTree& metadata = (*change.object)["metadata"];
  for (KubeWatchFault& fault : watch_faults_) {
    if (Fits(fault.resource, resource.plural) && Fits(fault.ns, metadata["namespace"].AsString()) &&
        Fits(fault.name, metadata["name"].AsString()) &&
        (!fault.only_if || fault.only_if(change)) && Use(fault)) {
      return fault;
    }
  }
  return std::nullopt;
}

}  // namespace sim

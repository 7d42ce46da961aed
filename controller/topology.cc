#include "controller/topology.h"

#include <utility>

#include "annotations/annotations.h"

namespace controller {

Topology::Topology(const kube::ClusterStore& store, const Settings& settings)
    : store_(store), settings_(settings) {}

void Topology::MarkDirty() {
  absl::MutexLock lock(&mutex_);
  dirty_ = true;
}

std::shared_ptr<const TopologyView> Topology::View() {
  absl::MutexLock computing(&compute_mutex_);
  {
    absl::MutexLock lock(&mutex_);
    if (!dirty_ && view_ != nullptr) return view_;
    // What changes from here on is computed the next time.
    dirty_ = false;
  }
  std::shared_ptr<const TopologyView> view = Compute();
  absl::MutexLock lock(&mutex_);
  view_ = std::move(view);
  return view_;
}

std::shared_ptr<const TopologyView> Topology::Last() {
  absl::MutexLock lock(&mutex_);
  return view_;
}

std::shared_ptr<const TopologyView> Topology::Compute() const {
  const auto classes = store_.IngressClasses();
  const auto ingresses = store_.Ingresses();
  const auto services = store_.Services();
  MappingInput input;
  input.controller_class = settings_.controller_class;
  input.lb_map = settings_.lb_map;
  for (const auto& item : classes) input.classes.push_back(item.get());
  for (const auto& item : ingresses) input.ingresses.push_back(item.get());
  for (const auto& item : services) input.services.push_back(item.get());

  auto view = std::make_shared<TopologyView>();
  view->mapping = MapBackendSets(input);
  for (const auto& item : classes) {
    if (item->controller != settings_.controller_class) continue;
    const kube::ObjectReference reference{
        "networking.k8s.io/v1", "IngressClass", {"", item->name}, item->uid};
    for (const auto& bad : annotations::ParseIngressClassAnnotations(item->annotations).bad) {
      view->bad_annotations.insert({reference, bad.ToString()});
    }
  }
  std::map<kube::ObjectKey, annotations::ServiceAnnotations> parsed;
  for (const auto& service : services) {
    parsed[service->key] = annotations::ParseServiceAnnotations(service->annotations);
  }
  for (const auto& [ocid, load_balancer] : view->mapping.load_balancers) {
    for (const auto& [name, set] : load_balancer.sets) {
      for (const MappedPort& port : set.ports) {
        view->load_balancers_of_service[port.service].insert(ocid);
        const annotations::ServiceAnnotations& service = parsed[port.service];
        if (service.values.backend_draining) view->pod_namespaces.insert(port.service.ns);
        for (const auto& bad : service.bad) {
          view->bad_annotations.insert({{"v1", "Service", port.service, port.uid}, bad.ToString()});
        }
      }
    }
  }
  return view;
}

}  // namespace controller

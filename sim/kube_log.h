// What happened in the fake cluster, as lines of JSON and as a kubeconfig for
// programs that are to speak to it.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_LOG_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_LOG_H_

#include <string>

#include "sim/fake_api_server.h"
#include "sim/kubelet.h"

namespace sim {

// {"time","user","verb","method","target","userAgent","body","status"}
std::string KubeRequestLine(const KubeRequestRecord& record);

// {"time","event":"deleted","namespace","name","uid","ip"}
std::string PodEventLine(const PodEvent& event);

struct KubeconfigOptions {
  std::string server;  // URL
  std::string ca_pem = {};
  std::string token = {};
  std::string client_certificate_pem = {};
  std::string client_key_pem = {};
};

// With one cluster, user and context, each named "fake".
std::string MakeKubeconfig(const KubeconfigOptions& options);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_LOG_H_

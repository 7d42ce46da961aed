// How to reach the Kubernetes API: from inside a Pod, or from a kubeconfig.
#ifndef OCI_BACKEND_DRAIN_KUBE_CONFIG_H_
#define OCI_BACKEND_DRAIN_KUBE_CONFIG_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "kube/token_source.h"

namespace kube {

// Everything a transport and RestKubeApi need. PEM texts, not paths.
struct ConnectionConfig {
  std::string server;  // "https://10.96.0.1:443"
  std::string ca_pem;  // empty: the system's CAs
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::shared_ptr<TokenSource> token_source;  // null: no token
  // Of the Pod, or of the context; empty if neither says.
  std::string default_namespace;
  // For messages: "in-cluster", "context oke of /etc/kubeconfig".
  std::string source;
};

struct ConfigOptions {
  // --kubeconfig; several files are separated by ":", as in $KUBECONFIG.
  std::string kubeconfig;
  // --context; empty: the kubeconfig's current-context.
  std::string context;
  // Looks up an environment variable; empty: this process's own.
  std::function<std::optional<std::string>(const std::string&)> environment = nullptr;
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// The first that there is: options.kubeconfig, $KUBECONFIG, the service account
// of the Pod ($KUBERNETES_SERVICE_HOST is set), ~/.kube/config. Errors name the
// file, the field and what to do about it; they never hold a secret. `clock` must
// outlive the token source.
//
// Refused with a message, since not doing what they say would be worse:
// insecure-skip-tls-verify, tls-server-name, proxy-url, auth-provider,
// impersonation, user name with password. In a cluster of IPv6 Services the
// server is https://kubernetes.default.svc.
absl::StatusOr<ConnectionConfig> LoadConfig(const ConfigOptions& options, base::Clock& clock);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_CONFIG_H_

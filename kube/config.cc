#include "kube/config.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "kube/kubeconfig.h"

namespace kube {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

std::optional<std::string> ProcessEnvironment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::vector<std::string> SplitPaths(const std::string& paths) {
  return absl::StrSplit(paths, ':', absl::SkipEmpty());
}

absl::StatusOr<ConnectionConfig> InCluster(const std::string& host, const std::string& port,
                                           const std::string& folder, base::Clock& clock) {
  ConnectionConfig config;
  config.source = "in-cluster";
  int port_number = 0;
  if (!absl::SimpleAtoi(port, &port_number) || port_number < 1 || port_number > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("KUBERNETES_SERVICE_PORT: \"", port, "\" is no port"));
  }
  // The API server's certificate has this name in every cluster; an address with
  // colons is none that the transport takes.
  const bool is_ipv6 = absl::StrContains(host, ':');
  config.server =
      absl::StrCat("https://", is_ipv6 ? "kubernetes.default.svc" : host, ":", port_number);
  absl::StatusOr<std::string> ca = base::ReadFile(folder + "/ca.crt", kMaxFileBytes);
  if (!ca.ok()) {
    return absl::Status(ca.status().code(),
                        absl::StrCat(ca.status().message(),
                                     "; in-cluster configuration needs the mounted token of a "
                                     "service account (automountServiceAccountToken)"));
  }
  config.ca_pem = *std::move(ca);
  config.token_source = std::make_shared<FileTokenSource>(folder + "/token", clock);
  if (absl::StatusOr<std::string> token = config.token_source->Token(); !token.ok()) {
    return token.status();
  }
  const absl::StatusOr<std::string> ns = base::ReadFile(folder + "/namespace", kMaxFileBytes);
  if (ns.ok()) config.default_namespace = std::string(absl::StripAsciiWhitespace(*ns));
  return config;
}

}  // namespace

absl::StatusOr<ConnectionConfig> LoadConfig(const ConfigOptions& options, base::Clock& clock) {
  const auto look_up = options.environment ? options.environment : ProcessEnvironment;
  const std::string paths =
      options.kubeconfig.empty() ? look_up("KUBECONFIG").value_or("") : options.kubeconfig;
  if (!SplitPaths(paths).empty()) return LoadKubeconfig(SplitPaths(paths), options.context, clock);
  const std::optional<std::string> host = look_up("KUBERNETES_SERVICE_HOST");
  if (host.has_value() && options.context.empty()) {
    return InCluster(*host, look_up("KUBERNETES_SERVICE_PORT").value_or("443"),
                     options.service_account_folder, clock);
  }
  const std::optional<std::string> home = look_up("HOME");
  if (home.has_value()) {
    absl::StatusOr<ConnectionConfig> config =
        LoadKubeconfig({*home + "/.kube/config"}, options.context, clock);
    if (config.ok() || !absl::IsNotFound(config.status())) return config;
  }
  return absl::NotFoundError(
      "no way to the Kubernetes API is known: this is no Pod (KUBERNETES_SERVICE_HOST is not "
      "set) and there is no ~/.kube/config; name a kubeconfig with --kubeconfig or KUBECONFIG");
}

}  // namespace kube

#include "sim/kube_log.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "sim/json_tree.h"
#include "sim/kube_objects.h"

namespace sim {

std::string KubeRequestLine(const KubeRequestRecord& record) {
  return JsonTree(JsonTree::Object{{"time", KubeMicroTime(record.time)},
                                   {"user", record.user},
                                   {"verb", record.verb},
                                   {"method", record.method},
                                   {"target", record.target},
                                   {"userAgent", record.user_agent},
                                   {"body", record.body},
                                   {"status", record.status}})
      .Dump();
}

std::string PodEventLine(const PodEvent& event) {
  return JsonTree(JsonTree::Object{{"time", KubeMicroTime(event.time)},
                                   {"event", PodEventName(event.kind)},
                                   {"namespace", event.ns},
                                   {"name", event.name},
                                   {"uid", event.uid},
                                   {"ip", event.ip}})
      .Dump();
}

std::string MakeKubeconfig(const KubeconfigOptions& options) {
  std::string text = absl::StrCat(
      "apiVersion: v1\nkind: Config\ncurrent-context: fake\n"
      "contexts:\n- name: fake\n  context: {cluster: fake, user: fake}\n"
      "clusters:\n- name: fake\n  cluster:\n    server: ",
      options.server, "\n");
  if (!options.ca_pem.empty()) {
    absl::StrAppend(&text, "    certificate-authority-data: ", absl::Base64Escape(options.ca_pem),
                    "\n");
  }
  absl::StrAppend(&text, "users:\n- name: fake\n  user:\n");
  if (!options.client_certificate_pem.empty()) {
    absl::StrAppend(
        &text, "    client-certificate-data: ", absl::Base64Escape(options.client_certificate_pem),
        "\n    client-key-data: ", absl::Base64Escape(options.client_key_pem), "\n");
  }
  // Always one, so that the user is not empty; a server that asks for none ignores it.
  absl::StrAppend(&text, "    token: ", options.token.empty() ? "none" : options.token, "\n");
  return text;
}

}  // namespace sim

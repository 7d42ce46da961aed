#include "kube/kubeconfig.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/json.h"
#include "http/loopback.h"
#include "kube/exec_token_source.h"
#include "kube/yaml_view.h"

namespace kube {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr size_t kMaxQuotedBytes = 120;

// One entry of clusters, contexts or users, and where it was written.
struct Entry {
  YamlView value;
  std::string path;    // of the file
  std::string folder;  // relative paths start there
  std::string where;   // "/etc/kubeconfig: users[oke].user"

  absl::Status Error(absl::string_view field, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(where, ".", field, ": ", what));
  }
};

struct Kubeconfig {
  std::string current_context;
  std::map<std::string, Entry> clusters;
  std::map<std::string, Entry> contexts;
  std::map<std::string, Entry> users;
};

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void AddEntries(const YamlView& document, absl::string_view list, absl::string_view member,
                const std::string& path, std::map<std::string, Entry>& entries) {
  for (const YamlView& element : document[list].Elements()) {
    const std::string name = element["name"].Text().value_or("");
    entries.try_emplace(name, Entry{element[member], path, FolderOf(path),
                                    absl::StrCat(path, ": ", list, "[",
                                                 name.substr(0, kMaxQuotedBytes), "].", member)});
  }
}

absl::Status AddFile(const std::string& path, Kubeconfig& kubeconfig) {
  const absl::StatusOr<std::string> text = base::ReadFile(path, kMaxFileBytes);
  if (!text.ok()) return text.status();
  const absl::StatusOr<YamlView> document = ParseYaml(*text);
  if (!document.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", document.status().message()));
  }
  if (!(*document)["clusters"].exists() && !(*document)["contexts"].exists() &&
      !(*document)["users"].exists()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": this is no kubeconfig: it has neither clusters nor contexts"));
  }
  if (kubeconfig.current_context.empty()) {
    kubeconfig.current_context = (*document)["current-context"].Text().value_or("");
  }
  AddEntries(*document, "clusters", "cluster", path, kubeconfig.clusters);
  AddEntries(*document, "contexts", "context", path, kubeconfig.contexts);
  AddEntries(*document, "users", "user", path, kubeconfig.users);
  return absl::OkStatus();
}

absl::StatusOr<Kubeconfig> ReadAll(const std::vector<std::string>& paths) {
  Kubeconfig kubeconfig;
  absl::Status missing;
  size_t read = 0;
  for (const std::string& path : paths) {
    const absl::Status status = AddFile(path, kubeconfig);
    if (absl::IsNotFound(status)) {
      missing = status;
    } else if (!status.ok()) {
      return status;
    } else {
      ++read;
    }
  }
  if (read == 0) return missing;
  return kubeconfig;
}

std::string NamesOf(const std::map<std::string, Entry>& entries) {
  if (entries.empty()) return "there is none";
  constexpr size_t kMaxNames = 20;
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries) {
    if (names.size() == kMaxNames) break;
    names.push_back(absl::StrCat("\"", name.substr(0, kMaxQuotedBytes), "\""));
  }
  return absl::StrCat("there ", names.size() == 1 ? "is " : "are ", absl::StrJoin(names, ", "));
}

absl::StatusOr<const Entry*> FindEntry(const std::map<std::string, Entry>& entries,
                                       absl::string_view kind, const std::string& name,
                                       const std::string& asked_by) {
  const auto it = entries.find(name);
  if (it != entries.end()) return &it->second;
  return absl::InvalidArgumentError(absl::StrCat(asked_by, ": there is no ", kind, " \"",
                                                 name.substr(0, kMaxQuotedBytes), "\"; ",
                                                 NamesOf(entries)));
}

std::string Resolve(const Entry& entry, const std::string& path) {
  return absl::StartsWith(path, "/") ? path : absl::StrCat(entry.folder, "/", path);
}

// "<field>-data" in base64, or the file that <field> names; empty if neither.
absl::StatusOr<std::string> ReadPem(const Entry& entry, const std::string& field) {
  const std::string data_field = field + "-data";
  std::string pem;
  if (const std::optional<std::string> data = entry.value[data_field].Text();
      data.has_value() && !data->empty()) {
    if (!absl::Base64Unescape(*data, &pem)) return entry.Error(data_field, "not base64");
    if (!absl::StrContains(pem, "-----BEGIN ")) {
      return entry.Error(data_field, "base64 of something that is not PEM");
    }
    return pem;
  }
  const std::string file = entry.value[field].Text().value_or("");
  if (file.empty()) return "";
  absl::StatusOr<std::string> text = base::ReadFile(Resolve(entry, file), kMaxFileBytes);
  if (!text.ok()) return entry.Error(field, text.status().message());
  if (!absl::StrContains(*text, "-----BEGIN ")) {
    return entry.Error(field, absl::StrCat(Resolve(entry, file), " is not PEM"));
  }
  return text;
}

bool IsSet(const YamlView& value) {
  if (!value.exists()) return false;
  const std::optional<std::string> text = value.Text();
  return !text.has_value() || (!text->empty() && *text != "false");
}

struct Unsupported {
  absl::string_view field;
  absl::string_view cure;
};

template <size_t n>
absl::Status RefuseUnsupported(const Entry& entry, const Unsupported (&fields)[n]) {
  for (const Unsupported& unsupported : fields) {
    if (IsSet(entry.value[unsupported.field])) {
      return entry.Error(unsupported.field, absl::StrCat("is not supported; ", unsupported.cure));
    }
  }
  return absl::OkStatus();
}

absl::Status ApplyCluster(const Entry& cluster, ConnectionConfig& config) {
  static constexpr Unsupported kUnsupported[] = {
      {"insecure-skip-tls-verify",
       "give the server's CA as certificate-authority-data instead (oci ce cluster "
       "create-kubeconfig does so)"},
      {"tls-server-name", "name the server in `server` as its certificate does"},
      {"proxy-url", "let the server be reached without a proxy"},
  };
  if (absl::Status status = RefuseUnsupported(cluster, kUnsupported); !status.ok()) return status;
  config.server = cluster.value["server"].Text().value_or("");
  if (!absl::StartsWith(config.server, "https://") && !absl::StartsWith(config.server, "http://")) {
    return cluster.Error("server", "missing, or neither https:// nor http://");
  }
  absl::string_view clear = config.server;
  if (absl::ConsumePrefix(&clear, "http://") &&
      !http::IsLoopback(clear.substr(0, clear.find_first_of(":/")))) {
    return cluster.Error("server",
                         "http:// is for this machine itself (127.0.0.1, localhost), since tokens "
                         "would be sent in the clear; give https://");
  }
  absl::StatusOr<std::string> ca = ReadPem(cluster, "certificate-authority");
  if (!ca.ok()) return ca.status();
  config.ca_pem = *std::move(ca);
  return absl::OkStatus();
}

// What client-go tells a plugin.
std::string ExecInfo(const std::string& api_version, const ConnectionConfig* cluster) {
  std::string spec = "\"interactive\":false";
  if (cluster != nullptr) {
    absl::StrAppend(&spec, ",\"cluster\":{\"server\":", base::QuoteJson(cluster->server),
                    ",\"certificate-authority-data\":",
                    base::QuoteJson(absl::Base64Escape(cluster->ca_pem)), "}");
  }
  return absl::StrCat("{\"apiVersion\":", base::QuoteJson(api_version),
                      ",\"kind\":\"ExecCredential\",\"spec\":{", spec, "}}");
}

absl::StatusOr<ExecPlugin> ReadExecPlugin(const Entry& user, const ConnectionConfig& config) {
  const YamlView exec = user.value["exec"];
  ExecPlugin plugin;
  plugin.api_version = exec["apiVersion"].Text().value_or("");
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    return user.Error("exec.apiVersion",
                      absl::StrCat("\"", plugin.api_version.substr(0, kMaxQuotedBytes),
                                   "\" is not supported; use client.authentication.k8s.io/v1 or "
                                   "client.authentication.k8s.io/v1beta1"));
  }
  if (exec["interactiveMode"].Text().value_or("") == "Always") {
    return user.Error("exec.interactiveMode",
                      "\"Always\" needs a terminal, and here is none; use \"Never\"");
  }
  plugin.command.program = exec["command"].Text().value_or("");
  if (plugin.command.program.empty()) return user.Error("exec.command", "missing");
  if (absl::StrContains(plugin.command.program, '/')) {
    plugin.command.program = Resolve(user, plugin.command.program);
  }
  for (const YamlView& argument : exec["args"].Elements()) {
    plugin.command.arguments.push_back(argument.Text().value_or(""));
  }
  for (const YamlView& variable : exec["env"].Elements()) {
    plugin.command.environment.emplace_back(variable["name"].Text().value_or(""),
                                            variable["value"].Text().value_or(""));
  }
  const bool tell_cluster = exec["provideClusterInfo"].Text().value_or("") == "true";
  plugin.command.environment.emplace_back(
      "KUBERNETES_EXEC_INFO", ExecInfo(plugin.api_version, tell_cluster ? &config : nullptr));
  plugin.install_hint = exec["installHint"].Text().value_or("");
  return plugin;
}

absl::Status ApplyToken(const Entry& user, ConnectionConfig& config, base::Clock& clock) {
  const std::string file = user.value["tokenFile"].Text().value_or("");
  const std::string text = user.value["token"].Text().value_or("");
  if (!file.empty()) {
    config.token_source = std::make_shared<FileTokenSource>(Resolve(user, file), clock);
    const absl::StatusOr<std::string> token = config.token_source->Token();
    return token.ok() ? absl::OkStatus() : user.Error("tokenFile", token.status().message());
  }
  if (!text.empty()) {
    absl::StatusOr<std::string> token = CheckToken(text, absl::StrCat(user.where, ".token"));
    if (!token.ok()) return token.status();
    config.token_source = std::make_shared<FixedTokenSource>(*std::move(token));
    return absl::OkStatus();
  }
  if (!user.value["exec"].exists()) return absl::OkStatus();
  absl::StatusOr<ExecPlugin> plugin = ReadExecPlugin(user, config);
  if (!plugin.ok()) return plugin.status();
  config.token_source = std::make_shared<ExecTokenSource>(*std::move(plugin), clock);
  return absl::OkStatus();
}

absl::Status ApplyUser(const Entry& user, ConnectionConfig& config, base::Clock& clock) {
  static constexpr Unsupported kUnsupported[] = {
      {"auth-provider", "use exec"},
      {"username", "use a token, a client certificate or exec"},
      {"password", "use a token, a client certificate or exec"},
      {"as", "use the account itself"},
      {"as-groups", "use the account itself"},
      {"as-uid", "use the account itself"},
      {"as-user-extra", "use the account itself"},
  };
  if (absl::Status status = RefuseUnsupported(user, kUnsupported); !status.ok()) return status;
  absl::StatusOr<std::string> certificate = ReadPem(user, "client-certificate");
  if (!certificate.ok()) return certificate.status();
  absl::StatusOr<std::string> key = ReadPem(user, "client-key");
  if (!key.ok()) return key.status();
  if (certificate->empty() != key->empty()) {
    return user.Error(certificate->empty() ? "client-certificate" : "client-key",
                      "missing; certificate and key go together");
  }
  config.client_certificate_pem = *std::move(certificate);
  config.client_key_pem = *std::move(key);
  return ApplyToken(user, config, clock);
}

}  // namespace

absl::StatusOr<ConnectionConfig> LoadKubeconfig(const std::vector<std::string>& paths,
                                                const std::string& context, base::Clock& clock) {
  const absl::StatusOr<Kubeconfig> kubeconfig = ReadAll(paths);
  if (!kubeconfig.ok()) return kubeconfig.status();
  const std::string all_paths = absl::StrJoin(paths, ":");
  const std::string name = context.empty() ? kubeconfig->current_context : context;
  if (name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(all_paths, ": current-context is not set; name one with --context; ",
                     NamesOf(kubeconfig->contexts)));
  }
  const auto chosen = FindEntry(kubeconfig->contexts, "context", name, all_paths);
  if (!chosen.ok()) return chosen.status();
  const Entry& entry = **chosen;
  ConnectionConfig config;
  config.source = absl::StrCat("context ", name, " of ", entry.path);
  config.default_namespace = entry.value["namespace"].Text().value_or("");
  const auto cluster =
      FindEntry(kubeconfig->clusters, "cluster", entry.value["cluster"].Text().value_or(""),
                absl::StrCat(entry.where, ".cluster"));
  if (!cluster.ok()) return cluster.status();
  if (absl::Status status = ApplyCluster(**cluster, config); !status.ok()) return status;
  const std::string user_name = entry.value["user"].Text().value_or("");
  if (user_name.empty()) return config;
  const auto user =
      FindEntry(kubeconfig->users, "user", user_name, absl::StrCat(entry.where, ".user"));
  if (!user.ok()) return user.status();
  if (absl::Status status = ApplyUser(**user, config, clock); !status.ok()) return status;
  return config;
}

}  // namespace kube

#include "sim/kube_discovery.h"

#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/kube_resources.h"

namespace sim {
namespace {

JsonTree Version() {
  return JsonTree::Object{{"major", "1"},
                          {"minor", "36"},
                          {"emulationMajor", "1"},
                          {"emulationMinor", "36"},
                          {"minCompatibilityMajor", "1"},
                          {"minCompatibilityMinor", "35"},
                          {"gitVersion", "v1.36.2"},
                          {"gitCommit", "8e16b12fda5b1dccc41a6de48b3e356cc7d5048b"},
                          {"gitTreeState", "archive"},
                          {"buildDate", "1970-01-01T00:00:00Z"},
                          {"goVersion", "go1.26.10"},
                          {"compiler", "gc"},
                          {"platform", "linux/amd64"}};
}

JsonTree Groups() {
  JsonTree groups = JsonTree::Array{};
  std::set<absl::string_view> seen;
  for (const KubeResource& resource : KubeResources()) {
    if (resource.group.empty() || !seen.insert(resource.group).second) continue;
    const JsonTree version =
        JsonTree::Object{{"groupVersion", resource.api_version()}, {"version", resource.version}};
    groups.Append(JsonTree::Object{{"name", resource.group},
                                   {"versions", JsonTree::Array{version}},
                                   {"preferredVersion", version}});
  }
  return JsonTree::Object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", groups}};
}

JsonTree Verbs(const std::vector<const char*>& verbs) {
  JsonTree out = JsonTree::Array{};
  for (const char* verb : verbs) out.Append(verb);
  return out;
}

JsonTree Entry(const KubeResource& resource, absl::string_view subresource) {
  const std::string name = subresource.empty() ? std::string(resource.plural)
                                               : absl::StrCat(resource.plural, "/", subresource);
  const std::string singular =
      subresource.empty() ? absl::AsciiStrToLower(resource.kind) : std::string();
  JsonTree entry = JsonTree::Object{
      {"name", name},
      {"singularName", singular},
      {"namespaced", resource.traits.namespaced},
      {"kind", resource.kind},
      {"verbs", subresource.empty()
                    ? Verbs({"create", "delete", "get", "list", "patch", "update", "watch"})
                    : Verbs({"get", "patch", "update"})}};
  if (subresource.empty() && !resource.short_name.empty()) {
    entry.Set("shortNames", JsonTree::Array{resource.short_name});
  }
  return entry;
}

std::optional<JsonTree> ResourceList(absl::string_view group, absl::string_view version) {
  JsonTree list = JsonTree::Array{};
  std::string api_version;
  for (const KubeResource& resource : KubeResources()) {
    if (resource.group != group || resource.version != version) continue;
    api_version = resource.api_version();
    list.Append(Entry(resource, ""));
    if (resource.traits.status) list.Append(Entry(resource, "status"));
  }
  if (list.items().empty()) return std::nullopt;
  return JsonTree(JsonTree::Object{{"kind", "APIResourceList"},
                                   {"apiVersion", "v1"},
                                   {"groupVersion", api_version},
                                   {"resources", list}});
}

}  // namespace

std::optional<JsonTree> DiscoveryDocument(absl::string_view path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  if (parts.empty() || parts.size() > 3) return std::nullopt;
  if (parts[0] == "version" && parts.size() == 1) return Version();
  if (parts[0] == "api" && parts.size() == 1) {
    return JsonTree(JsonTree::Object{{"kind", "APIVersions"}, {"versions", JsonTree::Array{"v1"}}});
  }
  if (parts[0] == "api" && parts.size() == 2) return ResourceList("", parts[1]);
  if (parts[0] == "apis" && parts.size() == 1) return Groups();
  if (parts[0] == "apis" && parts.size() == 3) return ResourceList(parts[1], parts[2]);
  return std::nullopt;
}

JsonTree TokenReview(const JsonTree& request, const std::string& user, const std::string& time) {
  const JsonTree fields =
      JsonTree::Object{{"f:spec", JsonTree::Object{{"f:token", JsonTree::Object{}}}}};
  const JsonTree entry = JsonTree::Object{{"manager", "unknown"},
                                          {"operation", "Update"},
                                          {"apiVersion", "authentication.k8s.io/v1"},
                                          {"time", time},
                                          {"fieldsType", "FieldsV1"},
                                          {"fieldsV1", fields}};
  JsonTree status = JsonTree::Object{{"user", JsonTree::Object{}}};
  if (!user.empty()) {
    const JsonTree who = JsonTree::Object{
        {"username", user}, {"uid", user}, {"groups", JsonTree::Array{"system:authenticated"}}};
    status = JsonTree::Object{{"authenticated", true},
                              {"user", who},
                              {"audiences", JsonTree::Array{"https://kubernetes.default.svc"}}};
  }
  return JsonTree::Object{{"kind", "TokenReview"},
                          {"apiVersion", "authentication.k8s.io/v1"},
                          {"metadata", JsonTree::Object{{"managedFields", JsonTree::Array{entry}}}},
                          {"spec", request["spec"]},
                          {"status", status}};
}

}  // namespace sim

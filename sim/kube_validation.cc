#include "sim/kube_validation.h"

#include <arpa/inet.h>

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sim {
namespace {

using field_error::Forbidden;
using field_error::Invalid;
using field_error::NotSupported;
using field_error::Required;
using field_error::TooLong;
using Errors = std::vector<FieldError>;

constexpr absl::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr absl::string_view kLabelRule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

bool IsLabel(absl::string_view text) {
  return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
         absl::c_all_of(text, [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

bool IsSubdomain(absl::string_view text) {
  if (text.size() > 253) return false;
  const std::vector<absl::string_view> labels = absl::StrSplit(text, '.');
  return absl::c_all_of(labels, [](absl::string_view label) { return IsLabel(label); });
}

bool IsLabelValue(absl::string_view text) {
  if (text.empty()) return true;
  return text.size() <= 63 && absl::ascii_isalnum(text.front()) &&
         absl::ascii_isalnum(text.back()) && absl::c_all_of(text, [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

void ValidateMetadata(const KubeResource& resource, const JsonTree& metadata, Errors& errors) {
  const std::string& name = metadata["name"].AsString();
  if (name.empty()) {
    errors.push_back(Required("metadata.name", "name or generateName is required"));
  } else if (resource.kind == "Service" ? !IsLabel(name) || !absl::ascii_islower(name[0])
                                        : !IsSubdomain(name)) {
    errors.push_back(Invalid("metadata.name", metadata["name"].Dump(),
                             resource.kind == "Service" ? kLabelRule : kSubdomainRule));
  }
  for (const auto& [key, value] : metadata["labels"].members()) {
    if (IsLabelValue(value.AsString())) continue;
    errors.push_back(Invalid("metadata.labels", value.Dump(),
                             "a valid label must be an empty string or consist of alphanumeric "
                             "characters, '-', '_' or '.', and must start and end with an "
                             "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
                             "regex used for validation is "
                             "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"));
  }
}

void ValidateService(const JsonTree& spec, Errors& errors) {
  const JsonTree::Array& ports = spec["ports"].items();
  if (ports.empty() && spec["type"].AsString() != "ExternalName" &&
      spec["clusterIP"].AsString() != "None") {
    errors.push_back(Required("spec.ports"));
  }
  std::set<std::string> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string path = absl::StrCat("spec.ports[", i, "]");
    const std::string& name = ports[i]["name"].AsString();
    if (name.empty() && ports.size() > 1) errors.push_back(Required(path + ".name"));
    if (!name.empty() && !names.insert(name).second) {
      errors.push_back(field_error::Duplicate(path + ".name", ports[i]["name"].Dump()));
    }
    ValidatePort(ports[i]["port"], path + ".port", errors);
    const JsonTree& target = ports[i]["targetPort"];
    if (!target.is_string()) ValidatePort(target, path + ".targetPort", errors);
  }
}

void ValidateAddress(const std::string& address, const std::string& type, const std::string& path,
                     Errors& errors) {
  const std::string quoted = JsonTree(address).Dump();
  in_addr v4{};
  in6_addr v6{};
  if (type == "IPv4" && inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    const uint32_t bits = ntohl(v4.s_addr);
    if (bits == 0)
      errors.push_back(Invalid(path, quoted, "may not be unspecified (0.0.0.0 or ::)"));
    if (bits >> 24 == 127) {
      errors.push_back(
          Invalid(path, quoted, "may not be in the loopback range (127.0.0.0/8, ::1/128)"));
    }
    if (bits >> 16 == 0xa9fe) {
      errors.push_back(
          Invalid(path, quoted, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
    }
    if (bits >> 8 == 0xe00000) {
      errors.push_back(Invalid(
          path, quoted, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"));
    }
  } else if (type == "IPv6" && inet_pton(AF_INET6, address.c_str(), &v6) == 1) {
    if (IN6_IS_ADDR_UNSPECIFIED(&v6)) {
      errors.push_back(Invalid(path, quoted, "may not be unspecified (0.0.0.0 or ::)"));
    }
    if (IN6_IS_ADDR_LOOPBACK(&v6)) {
      errors.push_back(
          Invalid(path, quoted, "may not be in the loopback range (127.0.0.0/8, ::1/128)"));
    }
    if (IN6_IS_ADDR_LINKLOCAL(&v6)) {
      errors.push_back(
          Invalid(path, quoted, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
    }
  } else if (type != "FQDN") {
    errors.push_back(Invalid(
        path, quoted, absl::StrCat("must be a valid ", type.empty() ? "IP" : type, " address")));
  }
}

void ValidateEndpointSlice(const JsonTree& slice, Errors& errors) {
  const std::string& type = slice["addressType"].AsString();
  if (type.empty()) errors.push_back(Required("addressType"));
  const JsonTree::Array& endpoints = slice["endpoints"].items();
  if (endpoints.size() > 1000) {
    errors.push_back(
        {"endpoints", "FieldValueTooMany",
         absl::StrCat("Too many: ", endpoints.size(), ": must have at most 1000 items")});
    return;
  }
  for (size_t i = 0; i < endpoints.size(); ++i) {
    const std::string path = absl::StrCat("endpoints[", i, "].addresses");
    const JsonTree::Array& addresses = endpoints[i]["addresses"].items();
    if (addresses.empty()) errors.push_back(Required(path, "must contain at least 1 address"));
    for (size_t j = 0; j < addresses.size(); ++j) {
      ValidateAddress(addresses[j].AsString(), type, absl::StrCat(path, "[", j, "]"), errors);
    }
  }
}

void ValidateEndpoints(const JsonTree& endpoints, Errors& errors) {
  const JsonTree::Array& subsets = endpoints["subsets"].items();
  for (size_t i = 0; i < subsets.size(); ++i) {
    const std::string path = absl::StrCat("subsets[", i, "]");
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      const JsonTree::Array& addresses = subsets[i][list].items();
      for (size_t j = 0; j < addresses.size(); ++j) {
        const std::string& ip = addresses[j]["ip"].AsString();
        ValidateAddress(ip, absl::StrContains(ip, ':') ? "IPv6" : "IPv4",
                        absl::StrCat(path, ".", list, "[", j, "].ip"), errors);
      }
    }
    if (subsets[i]["addresses"].items().empty() &&
        subsets[i]["notReadyAddresses"].items().empty()) {
      errors.push_back(Required(path, "must specify `addresses` or `notReadyAddresses`"));
    }
  }
}

void ValidateIngressBackend(const JsonTree& backend, const std::string& path, Errors& errors) {
  if (backend.Has("resource")) return;
  const JsonTree& service = backend["service"];
  if (service.is_null()) {
    errors.push_back(Required(path, "must specify either service or resource"));
    return;
  }
  if (service["name"].AsString().empty()) errors.push_back(Required(path + ".service.name"));
  const JsonTree& port = service["port"];
  const bool named = !port["name"].AsString().empty();
  const bool numbered = port["number"].AsInt() != 0;
  if (named == numbered) {
    errors.push_back(Required(path, named ? "cannot set both port name & port number"
                                          : "port name or number is required"));
  } else if (numbered) {
    ValidatePort(port["number"], path + ".service.port.number", errors);
  }
}

void ValidateIngress(const JsonTree& spec, Errors& errors) {
  const JsonTree::Array& rules = spec["rules"].items();
  if (rules.empty() && !spec.Has("defaultBackend")) {
    errors.push_back(
        Invalid("spec", spec.Dump(), "either `defaultBackend` or `rules` must be specified"));
  }
  if (spec.Has("defaultBackend")) {
    ValidateIngressBackend(spec["defaultBackend"], "spec.defaultBackend", errors);
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    const JsonTree::Array& paths = rules[i]["http"]["paths"].items();
    const std::string http = absl::StrCat("spec.rules[", i, "].http.paths");
    if (rules[i].Has("http") && paths.empty()) errors.push_back(Required(http));
    for (size_t j = 0; j < paths.size(); ++j) {
      const std::string path = absl::StrCat(http, "[", j, "]");
      const std::string& type = paths[j]["pathType"].AsString();
      if (type.empty()) {
        errors.push_back(Required(path + ".pathType", "pathType must be specified"));
      } else if (type != "Exact" && type != "Prefix" && type != "ImplementationSpecific") {
        errors.push_back(NotSupported(path + ".pathType", paths[j]["pathType"].Dump(),
                                      "\"Exact\", \"ImplementationSpecific\", \"Prefix\""));
      } else if (type != "ImplementationSpecific" &&
                 !absl::StartsWith(paths[j]["path"].AsString(), "/")) {
        errors.push_back(
            Invalid(path + ".path", paths[j]["path"].Dump(), "must be an absolute path"));
      }
      ValidateIngressBackend(paths[j]["backend"], path + ".backend", errors);
    }
  }
}

void ValidateShortText(const JsonTree& value, const char* field, Errors& errors) {
  if (value.AsString().empty()) errors.push_back(Required(field));
  if (value.AsString().size() > 128) {
    errors.push_back(Invalid(field, "\"\"", "can have at most 128 characters"));
  }
}

void ValidateEvent(const JsonTree& event, Errors& errors) {
  const std::string& ns = event["metadata"]["namespace"].AsString();
  const JsonTree& about = event["regarding"]["namespace"];
  // Events about cluster-scoped objects live in "default".
  if (about.AsString().empty() ? ns != "default" : about.AsString() != ns) {
    errors.push_back(Invalid("involvedObject.namespace", JsonTree(about.AsString()).Dump(),
                             "does not match event.namespace"));
  }
  if (event["eventTime"].AsString().empty()) errors.push_back(Required("eventTime"));
  if (event["reportingController"].AsString().empty()) {
    errors.push_back(Required("reportingController"));
  }
  ValidateShortText(event["reportingInstance"], "reportingInstance", errors);
  ValidateShortText(event["action"], "action", errors);
  ValidateShortText(event["reason"], "reason", errors);
  if (event["note"].AsString().size() > 1024) {
    errors.push_back(Invalid("message", "\"\"", "can have at most 1024 characters"));
  }
  const std::string& type = event["type"].AsString();
  if (type != "Normal" && type != "Warning") {
    errors.push_back(Invalid("type", "\"\"", "has invalid value: " + type));
  }
  if (event.Has("series") && event["series"].is_object()) {
    if (event["series"]["count"].AsInt() < 2) {
      errors.push_back(Invalid("series.count", "\"\"", "should be at least 2"));
    }
    if (event["series"]["lastObservedTime"].AsString().empty()) {
      errors.push_back(Required("series.lastObservedTime"));
    }
  }
}

void ValidateLease(const JsonTree& spec, Errors& errors) {
  for (const auto& [field, least] : {std::pair<const char*, int>{"leaseDurationSeconds", 1},
                                     std::pair<const char*, int>{"leaseTransitions", 0}}) {
    if (spec[field].is_null() || spec[field].AsInt() >= least) continue;
    errors.push_back(
        Invalid(absl::StrCat("spec.", field), spec[field].Dump(),
                least == 1 ? "must be greater than 0" : "must be greater than or equal to 0"));
  }
}

void ValidateConfigMap(const JsonTree& config_map, Errors& errors) {
  size_t total = 0;
  for (const auto& [key, value] : config_map["data"].members()) total += value.AsString().size();
  if (total > 1024 * 1024) {
    errors.push_back(TooLong("", "may not be more than 1048576 bytes"));
  }
}

void MustNotChange(const JsonTree& before, const JsonTree& after, const std::string& field,
                   Errors& errors) {
  if (!(before == after)) errors.push_back(Invalid(field, after.Dump(), "field is immutable"));
}

// Only images and the like may change in a Pod's spec.
bool SamePodSpec(JsonTree before, JsonTree after) {
  for (JsonTree* spec : {&before, &after}) {
    spec->Erase("activeDeadlineSeconds");
    spec->Erase("tolerations");
    for (JsonTree& container : spec->Child("containers").MutableItems()) container.Erase("image");
  }
  // The scheduler binds.
  if (before["nodeName"].is_null()) after.Erase("nodeName");
  return before == after;
}

}  // namespace

void ValidatePort(const JsonTree& port, const std::string& path, Errors& errors) {
  if (port.AsInt() >= 1 && port.AsInt() <= 65535) return;
  errors.push_back(
      Invalid(path, absl::StrCat(port.AsInt()), "must be between 1 and 65535, inclusive"));
}

bool SelectsLabels(const JsonTree& selector, const JsonTree& labels) {
  return absl::c_all_of(selector.members(), [&](const JsonTree::Member& member) {
    return labels[member.first] == member.second;
  });
}

std::vector<FieldError> ValidateObject(const KubeResource& resource, const JsonTree& object) {
  Errors errors;
  ValidateMetadata(resource, object["metadata"], errors);
  const absl::string_view kind = resource.kind;
  if (kind == "Service") ValidateService(object["spec"], errors);
  if (kind == "Pod") ValidatePodSpec(object["spec"], "spec", errors);
  if (resource.group == "apps") ValidateWorkload(resource, object, errors);
  if (kind == "EndpointSlice") ValidateEndpointSlice(object, errors);
  if (kind == "Endpoints") ValidateEndpoints(object, errors);
  if (kind == "Ingress") ValidateIngress(object["spec"], errors);
  if (kind == "IngressClass" && object["spec"]["controller"].AsString().empty()) {
    errors.push_back(Required("spec.controller"));
  }
  if (kind == "Event") ValidateEvent(object, errors);
  if (kind == "Lease") ValidateLease(object["spec"], errors);
  if (kind == "ConfigMap") ValidateConfigMap(object, errors);
  return errors;
}

std::vector<FieldError> ValidateUpdate(const KubeResource& resource, const JsonTree& before,
                                       const JsonTree& after, absl::string_view subresource) {
  Errors errors;
  const absl::string_view kind = resource.kind;
  for (const char* field : {"name", "namespace", "uid", "creationTimestamp"}) {
    const JsonTree& now = after["metadata"][field];
    if (now.is_null()) continue;
    MustNotChange(before["metadata"][field], now, absl::StrCat("metadata.", field), errors);
    // A Pod's status is validated by two strategies, and both complain.
    if (kind == "Pod" && subresource == "status" && !errors.empty()) errors.push_back(errors[0]);
  }
  if (kind == "Pod" && subresource.empty() && !SamePodSpec(before["spec"], after["spec"])) {
    errors.push_back(Forbidden(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
        "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
        "set to 1 if it was previously negative)"));
  }
  if (resource.group == "apps") {
    MustNotChange(before["spec"]["selector"], after["spec"]["selector"], "spec.selector", errors);
  }
  if (kind == "IngressClass") {
    MustNotChange(before["spec"]["controller"], after["spec"]["controller"], "spec.controller",
                  errors);
  }
  if (kind == "EndpointSlice") {
    MustNotChange(before["addressType"], after["addressType"], "addressType", errors);
  }
  if (kind == "Event") {
    for (const auto& [field, called] :
         {std::pair<const char*, const char*>{"regarding", "involvedObject"},
          {"reason", "reason"},
          {"note", "message"},
          {"type", "type"},
          {"eventTime", "eventTime"},
          {"action", "action"},
          {"reportingController", "reportingController"},
          {"reportingInstance", "reportingInstance"}}) {
      MustNotChange(before[field], after[field], called, errors);
    }
  }
  return errors;
}

}  // namespace sim

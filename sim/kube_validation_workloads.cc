#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/kube_validation.h"

namespace sim {
namespace {

using field_error::Forbidden;
using field_error::Invalid;
using field_error::NotSupported;
using field_error::Required;
using Errors = std::vector<FieldError>;

// "250m", "64Mi", "1.5": in units; negative if it is no quantity.
double ParseQuantity(const JsonTree& value) {
  if (value.is_number()) return value.AsDouble();
  const std::string& text = value.AsString();
  static constexpr struct {
    absl::string_view suffix;
    double factor;
  } kSuffixes[] = {{"Ki", 1024.0},
                   {"Mi", 1024.0 * 1024},
                   {"Gi", 1024.0 * 1024 * 1024},
                   {"Ti", 1024.0 * 1024 * 1024 * 1024},
                   {"m", 1e-3},
                   {"k", 1e3},
                   {"M", 1e6},
                   {"G", 1e9},
                   {"T", 1e12},
                   {"", 1.0}};
  for (const auto& [suffix, factor] : kSuffixes) {
    double number = 0;
    if (absl::EndsWith(text, suffix) &&
        absl::SimpleAtod(absl::string_view(text).substr(0, text.size() - suffix.size()), &number)) {
      return number * factor;
    }
  }
  return -1;
}

void ValidateResources(const JsonTree& resources, const std::string& path, Errors& errors) {
  for (const char* list : {"limits", "requests"}) {
    for (const auto& [name, quantity] : resources[list].members()) {
      const std::string field = absl::StrCat(path, ".", list, "[", name, "]");
      if (ParseQuantity(quantity) < 0) {
        errors.push_back(Invalid(field, quantity.Dump(), "must be greater than or equal to 0"));
      }
    }
  }
  for (const auto& [name, quantity] : resources["requests"].members()) {
    const JsonTree& limit = resources["limits"][name];
    if (!limit.is_null() && ParseQuantity(quantity) > ParseQuantity(limit)) {
      errors.push_back(Invalid(path + ".requests", quantity.Dump(),
                               absl::StrCat("must be less than or equal to ", name, " limit of ",
                                            limit.is_string() ? limit.AsString() : limit.Dump())));
    }
  }
}

void ValidateHandler(const JsonTree& handler, const std::string& path, Errors& errors) {
  int handlers = 0;
  for (const char* name : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    if (!handler.Has(name)) continue;
    if (++handlers > 1) {
      errors.push_back(
          Forbidden(absl::StrCat(path, ".", name), "may not specify more than 1 handler type"));
    }
  }
  if (handlers == 0) errors.push_back(Required(path, "must specify a handler type"));
  if (handler.Has("httpGet") && !handler["httpGet"]["port"].is_string()) {
    ValidatePort(handler["httpGet"]["port"], path + ".httpGet.port", errors);
  }
  if (handler.Has("exec") && handler["exec"]["command"].items().empty()) {
    errors.push_back(Required(path + ".exec.command"));
  }
}

void ValidateContainer(const JsonTree& container, const std::string& path, int64_t grace,
                       Errors& errors) {
  if (container["name"].AsString().empty()) errors.push_back(Required(path + ".name"));
  if (container["image"].AsString().empty()) errors.push_back(Required(path + ".image"));
  const JsonTree::Array& ports = container["ports"].items();
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string port = absl::StrCat(path, ".ports[", i, "]");
    ValidatePort(ports[i]["containerPort"], port + ".containerPort", errors);
    if (ports[i]["name"].AsString().size() > 15) {
      errors.push_back(
          Invalid(port + ".name", ports[i]["name"].Dump(), "must be no more than 15 characters"));
    }
  }
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    if (container.Has(probe)) {
      ValidateHandler(container[probe], absl::StrCat(path, ".", probe), errors);
    }
  }
  if (container["lifecycle"].Has("preStop")) {
    const JsonTree& pre_stop = container["lifecycle"]["preStop"];
    ValidateHandler(pre_stop, path + ".lifecycle.preStop", errors);
    const int64_t seconds = pre_stop["sleep"]["seconds"].AsInt();
    if (pre_stop.Has("sleep") && (seconds < 0 || seconds > grace)) {
      errors.push_back(Invalid(path + ".lifecycle.preStop.sleep", absl::StrCat(seconds),
                               absl::StrCat("must be non-negative and less than "
                                            "terminationGracePeriodSeconds (",
                                            grace, ")")));
    }
  }
  ValidateResources(container["resources"], path + ".resources", errors);
}

// An int or a percentage; negative if neither.
int64_t CountOrPercent(const JsonTree& value) {
  if (value.is_int()) return value.AsInt();
  int64_t percent = 0;
  const std::string& text = value.AsString();
  if (!absl::EndsWith(text, "%") || !absl::SimpleAtoi(text.substr(0, text.size() - 1), &percent)) {
    return -1;
  }
  return percent;
}

void ValidateStrategy(const JsonTree& strategy, Errors& errors) {
  const std::string& type = strategy["type"].AsString();
  const JsonTree& rolling = strategy["rollingUpdate"];
  if (type == "Recreate") {
    if (!rolling.is_null()) {
      errors.push_back(Forbidden("spec.strategy.rollingUpdate",
                                 "may not be specified when strategy `type` is 'Recreate'"));
    }
    return;
  }
  if (type != "RollingUpdate") {
    errors.push_back(NotSupported("spec.strategy.type", strategy["type"].Dump(),
                                  "\"Recreate\", \"RollingUpdate\""));
    return;
  }
  for (const char* field : {"maxUnavailable", "maxSurge"}) {
    if (CountOrPercent(rolling[field]) < 0) {
      errors.push_back(Invalid(absl::StrCat("spec.strategy.rollingUpdate.", field),
                               rolling[field].Dump(), "must be greater than or equal to 0"));
    }
  }
  if (CountOrPercent(rolling["maxUnavailable"]) == 0 && CountOrPercent(rolling["maxSurge"]) == 0) {
    errors.push_back(Invalid("spec.strategy.rollingUpdate.maxUnavailable",
                             rolling["maxUnavailable"].Dump(),
                             "may not be 0 when `maxSurge` is 0"));
  }
}

}  // namespace

void ValidatePodSpec(const JsonTree& spec, const std::string& path, Errors& errors) {
  const int64_t grace = spec["terminationGracePeriodSeconds"].AsInt();
  if (grace < 0) {
    errors.push_back(Invalid(path + ".terminationGracePeriodSeconds", absl::StrCat(grace),
                             "must be greater than or equal to 0"));
  }
  const JsonTree::Array& containers = spec["containers"].items();
  if (containers.empty()) errors.push_back(Required(path + ".containers"));
  for (size_t i = 0; i < containers.size(); ++i) {
    ValidateContainer(containers[i], absl::StrCat(path, ".containers[", i, "]"), grace, errors);
  }
}

void ValidateWorkload(const KubeResource& resource, const JsonTree& object, Errors& errors) {
  const JsonTree& spec = object["spec"];
  if (spec["replicas"].AsInt() < 0) {
    errors.push_back(
        Invalid("spec.replicas", spec["replicas"].Dump(), "must be greater than or equal to 0"));
  }
  const JsonTree& labels = spec["template"]["metadata"]["labels"];
  const JsonTree& match_labels = spec["selector"]["matchLabels"];
  if (spec["selector"].is_null()) {
    errors.push_back(Required("spec.selector"));
  } else if (match_labels.members().empty() &&
             spec["selector"]["matchExpressions"].items().empty()) {
    errors.push_back(
        Invalid("spec.selector", spec["selector"].Dump(),
                absl::StrCat("empty selector is invalid for ",
                             resource.kind == "StatefulSet" ? "statefulset" : "deployment")));
  }
  if (labels.members().empty() || !SelectsLabels(match_labels, labels)) {
    errors.push_back(Invalid("spec.template.metadata.labels",
                             labels.is_null() ? "null" : labels.Dump(),
                             "`selector` does not match template `labels`"));
  }
  if (resource.kind == "Deployment") ValidateStrategy(spec["strategy"], errors);
  const JsonTree& pod = spec["template"]["spec"];
  ValidatePodSpec(pod, "spec.template.spec", errors);
  if (pod["restartPolicy"].AsString() != "Always") {
    errors.push_back(NotSupported("spec.template.spec.restartPolicy", pod["restartPolicy"].Dump(),
                                  "\"Always\""));
  }
}

}  // namespace sim

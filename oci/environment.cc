#include "oci/environment.h"

#include <cstdlib>

namespace oci {

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::string ValueOf(const Environment& environment, const std::string& name) {
  return environment(name).value_or("");
}

}  // namespace oci

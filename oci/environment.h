// Environment variables as an argument, so that a test has its own.
#ifndef OCI_BACKEND_DRAIN_OCI_ENVIRONMENT_H_
#define OCI_BACKEND_DRAIN_OCI_ENVIRONMENT_H_

#include <functional>
#include <optional>
#include <string>

namespace oci {

// The value of an environment variable, if it is set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// That of this process.
Environment ProcessEnvironment();

// The value; empty if it is not set.
std::string ValueOf(const Environment& environment, const std::string& name);

}  // namespace oci

#endif  // OCI_BACKEND_DRAIN_OCI_ENVIRONMENT_H_

// Which build this is.
#ifndef OCI_BACKEND_DRAIN_CMD_VERSION_H_
#define OCI_BACKEND_DRAIN_CMD_VERSION_H_

#include <string>

namespace cmd {

// "0.1.0, built by g++ 12.2.0, optimised".
std::string Version();

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_VERSION_H_

#include "cmd/version.h"

namespace cmd {
namespace {

// From version.bzl.
constexpr char kVersion[] = OCI_DRAIN_VERSION;

#ifdef __clang__
constexpr char kCompiler[] = "clang " __clang_version__;
#else
constexpr char kCompiler[] = "g++ " __VERSION__;
#endif

#ifdef NDEBUG
constexpr char kKind[] = ", optimised";
#else
constexpr char kKind[] = ", with checks";
#endif

}  // namespace

std::string Version() { return std::string(kVersion) + ", built by " + kCompiler + kKind; }

}  // namespace cmd

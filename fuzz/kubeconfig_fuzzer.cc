// A kubeconfig: a server and how to reach it, or an error that names the file.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "fuzz/fuzzer.h"
#include "kube/config.h"

namespace {

// The reader takes paths. One file of this process, written anew for each input.
const std::string& Path() {
  static const std::string* const path = new std::string(
      absl::StrCat(std::filesystem::temp_directory_path().string(), "/kubeconfig.", getpid()));
  return *path;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::ofstream(Path(), std::ios::binary) << fuzz::TextOf(data, size);
  for (const std::string context : {"", "other"}) {
    kube::ConfigOptions options;
    options.kubeconfig = Path();
    options.context = context;
    options.environment = [](const std::string&) { return std::nullopt; };
    const absl::StatusOr<kube::ConnectionConfig> config =
        kube::LoadConfig(options, base::RealClock());
    if (config.ok()) {
      fuzz::Require(absl::StartsWith(config->server, "http"), "a server is an address");
      fuzz::Require(config->client_certificate_pem.empty() == config->client_key_pem.empty(),
                    "a certificate comes with its key");
    } else {
      fuzz::Require(absl::StrContains(config.status().message(), Path()),
                    "an error names the file");
      fuzz::Require(config.status().message().size() < 8192, "a message has a bound");
    }
  }
  std::filesystem::remove(Path());
  return 0;
}

// --lb_map_file: entries that name all they need, or InvalidArgument.
#include <vector>

#include "controller/lb_map.h"
#include "fuzz/fuzzer.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<std::vector<controller::LbMapEntry>> entries =
      controller::ParseLbMap(fuzz::TextOf(data, size));
  if (!entries.ok()) {
    fuzz::Require(entries.status().code() == absl::StatusCode::kInvalidArgument,
                  "a map is read or InvalidArgument");
    fuzz::Require(entries.status().message().size() < 4096, "a message has a bound");
    return 0;
  }
  fuzz::Require(entries->size() <= controller::kMaxLbMapEntries, "a map has a bound");
  for (const controller::LbMapEntry& entry : *entries) {
    fuzz::Require(!entry.service.ns.empty() && !entry.service.name.empty() && entry.port > 0 &&
                      entry.port <= 65'535 && !entry.load_balancer.value().empty() &&
                      !entry.backend_set.value().empty(),
                  "an entry names all that it needs");
  }
  return 0;
}

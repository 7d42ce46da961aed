// Many objects of one resource as pages of JSON that cost one copy each.
#ifndef OCI_BACKEND_DRAIN_BENCH_MASS_TABLE_H_
#define OCI_BACKEND_DRAIN_BENCH_MASS_TABLE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace bench {

// Objects of one resource, as JSON text in the order of their namespaces.
class MassTable {
 public:
  void Add(absl::string_view ns, absl::string_view json);
  // A List of at most `limit` objects from the `from`th on; of all namespaces if `ns`
  // is empty.
  std::string Page(absl::string_view ns, absl::string_view kind, size_t from, size_t limit) const;
  size_t Size(absl::string_view ns) const;

 private:
  struct Range {
    size_t first = 0;
    size_t end = 0;
  };
  Range RangeOf(absl::string_view ns) const;

  std::string text_;  // joined by commas
  std::vector<size_t> ends_;
  std::map<std::string, Range, std::less<>> namespaces_;
};

}  // namespace bench

#endif  // OCI_BACKEND_DRAIN_BENCH_MASS_TABLE_H_

#include "bench/mass_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace bench {

void MassTable::Add(absl::string_view ns, absl::string_view json) {
  if (!ends_.empty()) text_ += ',';
  text_.append(json.data(), json.size());
  const auto range = namespaces_.try_emplace(std::string(ns), Range{ends_.size(), 0}).first;
  ends_.push_back(text_.size());
  range->second.end = ends_.size();
}

MassTable::Range MassTable::RangeOf(absl::string_view ns) const {
  if (ns.empty()) return {0, ends_.size()};
  const auto it = namespaces_.find(ns);
  return it == namespaces_.end() ? Range() : it->second;
}

size_t MassTable::Size(absl::string_view ns) const {
  const Range range = RangeOf(ns);
  return range.end - range.first;
}

std::string MassTable::Page(absl::string_view ns, absl::string_view kind, size_t from,
                            size_t limit) const {
  const Range range = RangeOf(ns);
  const size_t first = std::min(range.first + from, range.end);
  const size_t end = std::min(first + limit, range.end);
  const size_t begin_byte = first == 0 ? 0 : ends_[first - 1] + 1;
  const absl::string_view items =
      first == end ? absl::string_view()
                   : absl::string_view(text_).substr(begin_byte, ends_[end - 1] - begin_byte);
  const std::string next =
      end == range.end ? "" : absl::StrCat(R"(,"continue":")", end - range.first, R"(")");
  return absl::StrCat(R"({"kind":")", kind, R"(","apiVersion":"v1","metadata":)",
                      R"({"resourceVersion":"9000000")", next, R"(},"items":[)", items, "]}");
}

}  // namespace bench

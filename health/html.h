// Pieces of HTML: text that is text whatever it holds, tables, and the bars of slots.
#ifndef OCI_BACKEND_DRAIN_HEALTH_HTML_H_
#define OCI_BACKEND_DRAIN_HEALTH_HTML_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "health/metrics.h"

namespace health {

// As text between tags and as the value of an attribute in quotes.
std::string EscapeHtml(absl::string_view text);

// A table that stays one for screen readers when it is laid out as cards on a phone,
// where each cell shows the name of its column. Contents are HTML.
class TableWriter {
 public:
  struct CellOf {
    absl::string_view label;
    std::string html;
    absl::string_view style;  // classes
  };

  // Columns from `first_number` on are numbers.
  TableWriter(absl::string_view caption, std::vector<absl::string_view> columns,
              size_t first_number = 1000);

  TableWriter& Row();
  // The next one of the row.
  TableWriter& Cell(absl::string_view html, absl::string_view style = "");
  void Raw(absl::string_view row);
  std::string Html() &&;

  static std::string RowOf(const std::vector<CellOf>& cells);

 private:
  const std::vector<absl::string_view> columns_;
  std::string text_;
  std::string row_;  // cells
  size_t column_ = 0;
};

// The slots of a set as a bar as long as its limit; `words` is what it says.
std::string Bar(const SetSlots& set, absl::string_view words);
std::string SlotLegend();
// Once a page: what reserved slots are filled with, so that colour is not all that tells
// them apart.
std::string HatchPattern();

}  // namespace health

#endif  // OCI_BACKEND_DRAIN_HEALTH_HTML_H_

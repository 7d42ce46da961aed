#include "cmd/text_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cmd {

std::string AlignRows(const std::vector<TextRow>& rows, size_t first_number) {
  std::vector<size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.cells.size()));
    for (size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], row.cells[i].size());
    }
  }
  std::string text;
  for (const TextRow& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const std::string& cell = row.cells[i];
      const std::string space(widths[i] - cell.size(), ' ');
      const bool number = i >= first_number && (cell.empty() || cell[0] != '[');
      absl::StrAppend(&line, " ", number ? space : "", cell, number ? "" : space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, row.color, line, row.color.empty() ? "" : kNoColor, "\n");
  }
  return text;
}

}  // namespace cmd

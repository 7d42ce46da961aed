// Columns of text, for terminals.
#ifndef OCI_BACKEND_DRAIN_CMD_TEXT_TABLE_H_
#define OCI_BACKEND_DRAIN_CMD_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cmd {

struct TextRow {
  std::vector<std::string> cells;
  // An escape sequence for the whole line; empty: none.
  absl::string_view color = "";
};

inline constexpr absl::string_view kRed = "\033[31m";
inline constexpr absl::string_view kYellow = "\033[33m";
inline constexpr absl::string_view kGreen = "\033[32m";
inline constexpr absl::string_view kBold = "\033[1m";
inline constexpr absl::string_view kNoColor = "\033[0m";

// A line for each row, two spaces before it and one between columns, which are as wide as
// their longest cell. Cells from `first_number` on are right-aligned, but for those that
// begin with "[".
std::string AlignRows(const std::vector<TextRow>& rows, size_t first_number);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_TEXT_TABLE_H_

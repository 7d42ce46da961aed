#include "health/html.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace health {
namespace {

// A bar's length in its own units, and the least of a part that is not empty: one
// backend of 512 is to be seen.
constexpr int kBarUnits = 1000;
constexpr int kLeast = 12;

std::string CellHtml(const TableWriter::CellOf& cell) {
  return absl::StrCat("<td role=\"cell\"",
                      cell.style.empty() ? "" : absl::StrCat(" class=\"", cell.style, "\""),
                      " data-label=\"", cell.label, "\">", cell.html, "</td>");
}

}  // namespace

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"},
                                    {"<", "&lt;"},
                                    {">", "&gt;"},
                                    {"\"", "&quot;"},
                                    {"'", "&#39;"},
                                    {"`", "&#96;"}});
}

TableWriter::TableWriter(absl::string_view caption, std::vector<absl::string_view> columns,
                         size_t first_number)
    : columns_(std::move(columns)) {
  text_ = absl::StrCat("<table role=\"table\"><caption class=\"hidden\">", EscapeHtml(caption),
                       "</caption><thead role=\"rowgroup\"><tr role=\"row\">");
  for (size_t i = 0; i < columns_.size(); ++i) {
    absl::StrAppend(&text_, "<th role=\"columnheader\" scope=\"col\"",
                    i >= first_number ? " class=\"number\"" : "", ">", columns_[i], "</th>");
  }
  absl::StrAppend(&text_, "</tr></thead><tbody role=\"rowgroup\">");
}

TableWriter& TableWriter::Row() {
  if (!row_.empty()) Raw(absl::StrCat("<tr role=\"row\">", row_, "</tr>"));
  row_.clear();
  column_ = 0;
  return *this;
}

TableWriter& TableWriter::Cell(absl::string_view html, absl::string_view style) {
  row_ += CellHtml({columns_[column_++], std::string(html), html.empty() ? "empty" : style});
  return *this;
}

void TableWriter::Raw(absl::string_view row) { absl::StrAppend(&text_, row, "\n"); }

std::string TableWriter::Html() && {
  Row();
  return absl::StrCat(text_, "</tbody></table>");
}

std::string TableWriter::RowOf(const std::vector<CellOf>& cells) {
  std::string row;
  for (const CellOf& cell : cells) row += CellHtml(cell);
  return absl::StrCat("<tr role=\"row\">", row, "</tr>");
}

std::string Bar(const SetSlots& set, absl::string_view words) {
  std::string parts;
  int from = 0;
  const auto add = [&](int count, absl::string_view style) {
    if (count <= 0 || set.limit <= 0) return;
    const auto share = static_cast<int>(int64_t{count} * kBarUnits / set.limit);
    const int wide = std::min(std::max(share, kLeast), kBarUnits - from);
    absl::StrAppend(&parts, "<rect class=\"", style, "\" x=\"", from, "\" width=\"", wide,
                    "\" height=\"14\"/>");
    from += wide;
  };
  add(set.live, "live");
  add(set.draining, "draining");
  add(set.foreign, "foreign");
  add(set.reserved, "reserved");
  return absl::StrCat("<svg class=\"bar\" role=\"img\" aria-label=\"", EscapeHtml(words),
                      "\" viewBox=\"0 0 ", kBarUnits, " 14\" preserveAspectRatio=\"none\"><title>",
                      EscapeHtml(words), "</title>", parts, "</svg>");
}

std::string SlotLegend() {
  std::string items;
  for (const char* style : {"live", "draining", "foreign", "reserved", "free"}) {
    absl::StrAppend(&items, "<li><svg aria-hidden=\"true\"><rect class=\"", style,
                    "\" width=\"12\" height=\"12\"",
                    absl::string_view(style) == "free" ? " fill=\"none\"" : "", "/></svg>", style,
                    "</li>");
  }
  return absl::StrCat("<ul class=\"legend\" aria-label=\"Parts of the bars\">", items, "</ul>");
}

std::string HatchPattern() {
  return "<svg width=\"0\" height=\"0\" class=\"hidden\" aria-hidden=\"true\"><defs><pattern "
         "id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
         "patternTransform=\"rotate(45)\"><path d=\"M0 0V6\"/></pattern></defs></svg>\n";
}

}  // namespace health

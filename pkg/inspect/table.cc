#include "pkg/inspect/table.h"

#include <algorithm>

#include "pkg/base/text.h"

namespace inspect {
namespace {

constexpr std::size_t kGap = 3;

std::string_view Colour(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return "";
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kNear:
      return "\x1b[33m";
    case Tone::kFull:
      return "\x1b[31m";
    case Tone::kFaint:
      return "\x1b[2m";
  }
  return "";
}

std::vector<Cell> CellsOf(const std::vector<std::string>& titles) {
  return {titles.begin(), titles.end()};
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field.append(c == '"' ? "\"\"" : std::string(1, c));
  return field + "\"";
}

template <typename Range, typename Text>
void CsvRow(const Range& cells, Text text, std::string& out) {
  bool first = true;
  for (const auto& cell : cells) {
    if (!first) out += ',';
    first = false;
    out += CsvField(text(cell));
  }
  out += "\r\n";
}

}  // namespace

std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string Harmless(std::string_view text) {
  std::string safe(text);
  std::ranges::replace_if(
      safe, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return safe;
}

void TablePrinter::Widen(const Table& table) {
  widths_.resize(table.titles.size());
  const auto widen = [this](std::size_t column, const std::string& text) {
    widths_[column] = std::max(widths_[column], WidthOf(text) + kGap);
  };
  for (std::size_t i = 0; i < table.titles.size(); ++i) {
    if (style_.titles) widen(i, table.titles[i]);
    for (const auto& row : table.rows) widen(i, row[i].text);
  }
}

void TablePrinter::PrintRow(const std::vector<Cell>& cells, std::string& out) const {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string text = Harmless(cells[i].text);
    const std::string_view colour = style_.colours ? Colour(cells[i].tone) : "";
    out.append(colour).append(text).append(colour.empty() ? "" : "\x1b[0m");
    const bool last = i + 1 == cells.size();
    if (!last) out.append(widths_[i] - WidthOf(text), ' ');
  }
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

std::string TablePrinter::Print(const Table& table) {
  Widen(table);
  std::string out;
  if (style_.titles && !began_) PrintRow(CellsOf(table.titles), out);
  began_ = true;
  for (const auto& row : table.rows) PrintRow(row, out);
  return out;
}

std::string PrintTable(const Table& table, TableStyle style) {
  return TablePrinter(style).Print(table);
}

std::string PrintCsv(const Table& table, bool titles) {
  std::string out;
  if (titles) {
    CsvRow(
        table.titles, [](const std::string& title) { return base::ToLower(title); }, out);
  }
  for (const auto& row : table.rows) {
    CsvRow(
        row, [](const Cell& cell) { return cell.text; }, out);
  }
  return out;
}

}  // namespace inspect

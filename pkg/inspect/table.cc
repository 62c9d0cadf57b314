#include "pkg/inspect/table.h"

#include <algorithm>

#include "pkg/base/text.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/quantity/quantity.h"

namespace inspect {
namespace {

constexpr std::size_t kGap = 3;

constexpr std::string_view kColourEnd = "\x1b[0m";

constexpr std::string_view Colour(Tone tone) {
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

constexpr std::string_view kColours[] = {Colour(Tone::kGood), Colour(Tone::kNear),
                                         Colour(Tone::kFull), Colour(Tone::kFaint), kColourEnd};

std::vector<Cell> CellsOf(const std::vector<std::string>& titles) {
  return {titles.begin(), titles.end()};
}

// Spreadsheets of some languages take full-width signs for the plain ones.
constexpr std::string_view kFormulaSigns[] = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};

bool IsFormula(std::string_view text) {
  const std::string_view rest = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  const auto begins = [rest](std::string_view sign) { return rest.starts_with(sign); };
  return std::ranges::any_of(kFormulaSigns, begins) && !quantity::Quantity::Parse(rest);
}

std::string CsvField(std::string_view foreign) {
  std::string text = Harmless(foreign);
  if (IsFormula(text)) text.insert(0, "'");
  if (text.find_first_of(",\"") == std::string::npos) return text;
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

std::size_t ColourLength(std::string_view text) {
  const auto* const colour = std::ranges::find_if(
      kColours, [text](std::string_view sequence) { return text.starts_with(sequence); });
  return colour == std::end(kColours) ? 0 : colour->size();
}

void TablePrinter::Widen(const Table& table) {
  widths_.resize(table.titles.size());
  const auto widen = [this](std::size_t column, const std::string& text) {
    widths_[column] = std::max(widths_[column], WidthOf(text) + kGap);
  };
  for (std::size_t i = 0; i < table.titles.size(); ++i) {
    if (style_.titles) widen(i, table.titles[i]);
    for (const auto& row : table.rows) widen(i, Harmless(row[i].text));
  }
}

void TablePrinter::PrintRow(const std::vector<Cell>& cells, std::string& out) const {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string text = Harmless(cells[i].text);
    const std::string_view colour = style_.colours ? Colour(cells[i].tone) : "";
    out.append(colour).append(text).append(colour.empty() ? "" : kColourEnd);
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

#pragma once

// Tables as kubectl prints them: columns padded with three blanks, titles in capitals, no rules.
// Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

namespace inspect {

enum class Tone { kPlain, kGood, kNear, kFull, kFaint };

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
  Cell(std::string words, Tone how = Tone::kPlain)  // NOLINT: cells are mostly mere texts
      : text(std::move(words)), tone(how) {}
  Cell(const char* words) : text(words) {}  // NOLINT
};

struct Table {
  std::vector<std::string> titles;
  std::vector<std::vector<Cell>> rows;  // each with as many cells as there are titles
};

struct TableStyle {
  bool titles = true;
  bool colours = false;
};

// Prints one table, or several with the same columns one after another, as a watch does. Titles are
// printed once, and a column never becomes narrower.
class TablePrinter {
 public:
  explicit TablePrinter(TableStyle style) : style_(style) {}
  std::string Print(const Table& table);

 private:
  void Widen(const Table& table);
  void PrintRow(const std::vector<Cell>& cells, std::string& out) const;

  TableStyle style_;
  bool began_ = false;
  std::vector<std::size_t> widths_;
};

std::string PrintTable(const Table& table, TableStyle style);

// Comma separated values (RFC 4180); titles in lower case. Spreadsheets run text that begins with
// "=", "+", "-" or "@" as a formula; a quote in front of it makes it text. Amounts stay as they
// are.
std::string PrintCsv(const Table& table, bool titles);

// Returns the width of UTF-8 text in a terminal, if each character is one column wide.
std::size_t WidthOf(std::string_view text);

// Returns the length of the colour sequence of a table at the beginning of `text`; 0 if it begins
// with something else.
std::size_t ColourLength(std::string_view text);

}  // namespace inspect

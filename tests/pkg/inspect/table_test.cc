#include "pkg/inspect/table.h"

#include <catch2/catch.hpp>

namespace table_test {

using inspect::Table;
using inspect::Tone;

TEST_CASE("table: columns are three blanks wider than their widest cell", "[inspect]") {
  const Table table{.titles = {"A", "LONGER", "C"}, .rows = {{"1", "2", "3"}, {"four", "5", "6"}}};
  CHECK(inspect::PrintTable(table, {}) ==
        "A      LONGER   C\n"
        "1      2        3\n"
        "four   5        6\n");
  CHECK(inspect::PrintTable(table, {.titles = false}) ==
        "1      2   3\n"
        "four   5   6\n");
}

TEST_CASE("table: a character of several bytes is one column wide", "[inspect]") {
  const Table table{.titles = {"BAR", "X"}, .rows = {{"██", "1"}, {"ab", "2"}}};
  CHECK(inspect::PrintTable(table, {.titles = false}) == "██   1\nab   2\n");
}

TEST_CASE("table: colours do not change the alignment", "[inspect]") {
  const Table table{.titles = {"A", "B"}, .rows = {{{"x", Tone::kFull}, "y"}}};
  CHECK(inspect::PrintTable(table, {.titles = false, .colours = true}) == "\x1b[31mx\x1b[0m   y\n");
  CHECK(inspect::PrintTable(table, {.titles = false}) == "x   y\n");
}

TEST_CASE("table: foreign text cannot control the terminal", "[inspect]") {
  const Table table{.titles = {"A"}, .rows = {{"a\x1b[2Jb\nc\x7f"}}};
  CHECK(inspect::PrintTable(table, {.titles = false}) == "a [2Jb c\n");
}

TEST_CASE("table: later parts keep the columns and have no titles", "[inspect]") {
  inspect::TablePrinter printer({});
  const Table first{.titles = {"A", "B"}, .rows = {{"wide cell", "1"}}};
  const Table second{.titles = {"A", "B"}, .rows = {{"x", "2"}}};
  CHECK(printer.Print(first) == "A           B\nwide cell   1\n");
  CHECK(printer.Print(second) == "x           2\n");
}

TEST_CASE("csv: fields are quoted if necessary", "[inspect]") {
  const Table table{.titles = {"A", "B"}, .rows = {{"x,y", "say \"hi\""}, {"plain", ""}}};
  CHECK(inspect::PrintCsv(table, true) == "a,b\r\n\"x,y\",\"say \"\"hi\"\"\"\r\nplain,\r\n");
  CHECK(inspect::PrintCsv(table, false) == "\"x,y\",\"say \"\"hi\"\"\"\r\nplain,\r\n");
}

TEST_CASE("csv: foreign text is no formula and no control character", "[inspect]") {
  const Table table{.titles = {"A"},
                    .rows = {{"=cmd|' /c calc'!a0"},
                             {" @SUM(A1)"},
                             {"+1+1"},
                             {"-2+3"},
                             {"-500m"},
                             {"+2"},
                             {"＝1+1"},
                             {"a\x1b[2J\r\nb"}}};
  CHECK(inspect::PrintCsv(table, false) ==
        "'=cmd|' /c calc'!a0\r\n' @SUM(A1)\r\n'+1+1\r\n'-2+3\r\n-500m\r\n+2\r\n'＝1+1\r\na [2J  "
        "b\r\n");
}

}  // namespace table_test

// Text that strangers wrote, in every format in which the plugin shows it: one line, without hidden
// characters; documents keep the value; no cell of a spreadsheet is a formula.

#include "pkg/inspect/foreign_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "pkg/config/yaml.h"
#include "pkg/inspect/table.h"
#include "pkg/json/utf8.h"
#include "pkg/json/value.h"
#include "tests/fuzz/target.h"

namespace {

bool IsControl(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x20 || byte == 0x7F) return true;
  const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
  return byte == 0xC2 && next < 0xA0;  // C1
}

// Stated anew, by bytes: controls, and marks that change the direction of text.
bool IsHarmless(std::string_view text) {
  if (json::FindInvalidUtf8(text) != std::string_view::npos) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsControl(text, i)) return false;
  }
  for (const char* mark : {"\u061C", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u202B",
                           "\u202C", "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    if (text.find(mark) != std::string_view::npos) return false;
  }
  return true;
}

// The length without bytes that continue a character.
std::size_t Characters(std::string_view text) { return inspect::WidthOf(text); }

void CheckTable(const std::string& text) {
  const inspect::Table table{.titles = {"A", "B"}, .rows = {{text, "x"}, {"y", text}}};
  const std::string printed = inspect::PrintTable(table, {.titles = true, .colours = true});
  fuzz::RequireSame(inspect::HarmlessOutput(printed), printed, "a table needs no gate");
  fuzz::Require(std::count(printed.begin(), printed.end(), '\n') == 3, "a row is a line");
}

// Returns the fields of the one row, as a spreadsheet reads it.
std::vector<std::string> FieldsOf(std::string_view row) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '"' && quoted && i + 1 < row.size() && row[i + 1] == '"') {
      fields.back() += row[++i];
    } else if (row[i] == '"') {
      quoted = !quoted;
    } else if (row[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += row[i];
    }
  }
  return fields;
}

void CheckCsv(const std::string& text) {
  const inspect::Table table{.titles = {"A", "B"}, .rows = {{text, "x"}}};
  std::string row = inspect::PrintCsv(table, false);
  fuzz::RequireSame(inspect::HarmlessOutput(row), row, "a row of CSV needs no gate");
  fuzz::Require(row.ends_with("\r\n"), "a row ends");
  row.resize(row.size() - 2);
  const std::vector<std::string> fields = FieldsOf(row);
  fuzz::Require(fields.size() == 2 && fields[1] == "x", "a field stays one");
  const std::size_t first = fields[0].find_first_not_of(' ');
  const char begin = first == std::string::npos ? 'x' : fields[0][first];
  fuzz::Require(begin != '=' && begin != '@', "no field is a formula");
  const std::string safe = inspect::Harmless(text);
  fuzz::Require(fields[0] == safe || fields[0] == "'" + safe, "a field is the text");
}

void CheckDocument(const json::Value& value) {
  const std::string pretty = inspect::HarmlessJson(json::WritePretty(value));
  const std::string yaml = inspect::HarmlessYaml(config::WriteYaml(value));
  for (const std::string& document : {pretty, yaml}) {
    fuzz::RequireSame(inspect::HarmlessOutput(document), document, "a document needs no gate");
  }
  const auto read = json::Parse(pretty);
  fuzz::Require(read.has_value(), "JSON can be read");
  fuzz::RequireSame(json::Write(*read), json::Write(value), "JSON keeps the value");
  const auto again = config::ParseYaml(yaml);
  fuzz::Require(again.has_value(), "YAML can be read");
  fuzz::RequireSame(json::Write(*again), json::Write(value), "YAML keeps the value");
}

FUZZ_TARGET(foreign_text) {
  const std::string text(input);
  const std::string safe = inspect::Harmless(text);
  fuzz::Require(IsHarmless(safe), "nothing hidden is left");
  fuzz::RequireSame(inspect::Harmless(safe), safe, "what is harmless stays as it is");
  fuzz::RequireSame(inspect::HarmlessOutput(safe), safe, "and passes the gate");
  const std::string output = inspect::HarmlessOutput(text);
  fuzz::RequireSame(inspect::HarmlessOutput(output), output, "the gate opens once");
  CheckTable(text);
  CheckCsv(text);
  if (json::FindInvalidUtf8(text) != std::string::npos) return;
  fuzz::Require(Characters(safe) == Characters(text), "each character is one");
  CheckDocument(json::Object{{text, text}, {"list", json::Array{text}}});
}

}  // namespace

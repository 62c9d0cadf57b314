#include "pkg/inspect/check_view.h"

#include <algorithm>
#include <set>

namespace inspect {
namespace {

std::string BeforeText(const FitLine& line) { return line.before ? line.before->ToString() : "-"; }

std::string FitText(const FitLine& line) {
  if (line.lacking) return "no, lacks " + line.lacking->ToString();
  return line.before ? "yes" : "not counted yet";
}

std::string XmlText(std::string_view text) {
  std::string safe;
  for (const char c : Harmless(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

// `failure` "": it passes.
std::string TestCase(const std::string& classname, const std::string& name,
                     const std::string& failure) {
  std::string text =
      "    <testcase classname=\"" + XmlText(classname) + "\" name=\"" + XmlText(name) + "\"";
  if (failure.empty()) return text + "/>\n";
  return text + ">\n      <failure message=\"" + XmlText(failure) + "\"/>\n    </testcase>\n";
}

std::string SuiteOf(const CheckedSpace& space) {
  std::string cases;
  std::size_t tests = 0;
  std::size_t failures = 0;
  const auto add = [&](const std::string& classname, const std::string& name,
                       const std::string& failure) {
    ++tests;
    failures += failure.empty() ? 0 : 1;
    cases += TestCase(classname, name, failure);
  };
  for (const FitLine& line : space.book.Lines()) {
    const std::string failure =
        line.lacking ? "used " + BeforeText(line) + ", asked " + line.asked.ToString() +
                           ", limit " + line.hard.ToString() + ": lacks " + line.lacking->ToString()
                     : "";
    add("quota " + space.book.quotas()[line.quota].key.name, line.name, failure);
  }
  for (const Objection& objection : space.book.objections()) {
    add(objection.of.ToString(), "what is demanded of it", objection.text);
  }
  return "  <testsuite name=\"" + XmlText("quota of " + (space.ns.empty() ? "files" : space.ns)) +
         "\" tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
         "\">\n" + cases + "  </testsuite>\n";
}

json::Value LineValue(const CheckedSpace& space, const FitLine& line) {
  json::Object item{{"namespace", space.ns},
                    {"quota", space.book.quotas()[line.quota].key.name},
                    {"resource", line.name}};
  if (line.before) item.Set("before", line.before->ToString());
  item.Set("asked", line.asked.ToString());
  item.Set("after", line.after.ToString());
  item.Set("hard", line.hard.ToString());
  if (line.lacking) item.Set("lacking", line.lacking->ToString());
  return item;
}

}  // namespace

bool FitsAll(const std::vector<CheckedSpace>& spaces) {
  return std::ranges::all_of(spaces, [](const CheckedSpace& space) { return space.book.Fits(); });
}

std::string ServerText(const std::vector<ServerAnswer>& answers) {
  std::string text;
  for (const ServerAnswer& answer : answers) {
    const bool refused = !answer.refusal.empty();
    text += "server: " + answer.of.ToString() + " is " + (refused ? "refused: " : "accepted");
    text += Harmless(answer.refusal);
    if (refused != answer.refusal_foreseen) text += " (otherwise than foreseen)";
    text += "\n";
  }
  return text;
}

Table CheckTable(const std::vector<CheckedSpace>& spaces) {
  const bool namespaces = spaces.size() > 1;
  Table table{.titles = {"QUOTA", "RESOURCE", "BEFORE", "ASKED", "AFTER", "LIMIT", "FITS"},
              .rows = {}};
  if (namespaces) table.titles.insert(table.titles.begin(), "NAMESPACE");
  for (const CheckedSpace& space : spaces) {
    for (const FitLine& line : space.book.Lines()) {
      std::vector<Cell> row{space.book.quotas()[line.quota].key.name,
                            line.name,
                            BeforeText(line),
                            line.asked.ToString(),
                            line.after.ToString(),
                            line.hard.ToString(),
                            {FitText(line), line.lacking ? Tone::kFull : Tone::kGood}};
      if (namespaces) row.insert(row.begin(), space.ns);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::string CheckVerdict(const std::vector<CheckedSpace>& spaces) {
  std::string text;
  std::size_t lacking = 0;
  std::size_t lines = 0;
  std::set<std::string> refused;
  for (const CheckedSpace& space : spaces) {
    for (const Objection& objection : space.book.objections()) {
      text += objection.of.ToString() + ": " + Harmless(objection.text) + "\n";
      refused.insert(objection.of.ToString());
    }
    for (const FitLine& line : space.book.Lines()) {
      ++lines;
      lacking += line.lacking ? 1 : 0;
    }
  }
  if (lacking == 0 && refused.empty()) {
    return text + (lines == 0 ? "Yes: no quota limits any of it.\n" : "Yes: all of it fits.\n");
  }
  text += "No:";
  if (lacking > 0) {
    text += " " + std::to_string(lacking) + " of " + std::to_string(lines) +
            " limits would be exceeded";
  }
  if (!refused.empty()) {
    text += std::string(lacking > 0 ? ", and " : " ") + std::to_string(refused.size()) +
            (refused.size() == 1 ? " object or its pods" : " objects or their pods") +
            " would be refused whatever is free";
  }
  return text + ".\n";
}

json::Value CheckValue(const std::vector<CheckedSpace>& spaces,
                       const std::vector<std::string>& notes) {
  json::Array items;
  json::Array objections;
  for (const CheckedSpace& space : spaces) {
    for (const FitLine& line : space.book.Lines()) items.push_back(LineValue(space, line));
    for (const Objection& objection : space.book.objections()) {
      objections.emplace_back(json::Object{{"namespace", space.ns},
                                           {"object", objection.of.ToString()},
                                           {"message", objection.text}});
    }
  }
  json::Array said;
  for (const std::string& note : notes) said.emplace_back(note);
  return json::Object{{"kind", "QuotaCheck"},
                      {"fits", FitsAll(spaces)},
                      {"items", std::move(items)},
                      {"objections", std::move(objections)},
                      {"notes", std::move(said)}};
}

std::string CheckJunit(const std::vector<CheckedSpace>& spaces) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const CheckedSpace& space : spaces) text += SuiteOf(space);
  return text + "</testsuites>\n";
}

}  // namespace inspect

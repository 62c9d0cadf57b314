#include "pkg/inspect/check_view.h"

#include <algorithm>
#include <set>
#include <utility>

#include "pkg/base/text.h"
#include "pkg/inspect/counted.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/inspect/output_version.h"

namespace inspect {
namespace {

std::string BeforeText(const FitLine& line) { return line.before ? line.before->ToString() : "-"; }

std::string Mode(const quota::Quota& quota) { return base::ToLower(ModeText(quota)); }

std::string FitText(const FitLine& line, const quota::Quota& quota) {
  if (!line.lacking) return line.before ? "yes" : "not counted yet";
  const std::string lacks = "lacks " + line.lacking->ToString();
  return line.tried ? lacks + ", would " + Mode(quota) : "no, " + lacks;
}

// Returns the refusals of ClusterQuotas that lack something.
std::vector<std::pair<std::size_t, std::string>> RefusalsIn(const FitBook& book) {
  std::vector<std::pair<std::size_t, std::string>> refusals;
  std::set<std::size_t> seen;
  for (const FitLine& line : book.Lines()) {
    if (!line.lacking || !seen.insert(line.quota).second) continue;
    std::string text = book.RefusalOf(line.quota);
    if (!text.empty()) refusals.emplace_back(line.quota, std::move(text));
  }
  return refusals;
}

std::string ClusterText(const FitBook& book) {
  std::string text;
  for (const auto& [quota, refusal] : RefusalsIn(book)) {
    const quota::Quota& of = book.quotas()[quota];
    text += Line((IsTried(of) ? "would " + Mode(of) + ": " : "") + refusal);
  }
  for (const Objection& warning : book.warnings()) {
    text += Line(warning.of.ToString() + ": would warn: " + warning.text);
  }
  return text;
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

// A JUnit suite under construction.
class Suite {
 public:
  // An empty `failure` means that the case passes.
  void Add(const std::string& classname, const std::string& name, const std::string& failure) {
    failures_ += failure.empty() ? 0 : 1;
    Put(classname, name, failure.empty() ? "" : "<failure message=\"" + XmlText(failure) + "\"/>");
  }
  void Skip(const std::string& classname, const std::string& name, const std::string& why) {
    ++skipped_;
    Put(classname, name, "<skipped message=\"" + XmlText(why) + "\"/>");
  }
  [[nodiscard]] std::string ToString(const std::string& name) const {
    std::string text = "  <testsuite name=\"" + XmlText(name) + "\" tests=\"" +
                       std::to_string(tests_) + "\" failures=\"" + std::to_string(failures_) + "\"";
    if (skipped_ > 0) text += " skipped=\"" + std::to_string(skipped_) + "\"";
    return text + ">\n" + cases_ + "  </testsuite>\n";
  }

 private:
  void Put(const std::string& classname, const std::string& name, const std::string& inner) {
    ++tests_;
    cases_ +=
        "    <testcase classname=\"" + XmlText(classname) + "\" name=\"" + XmlText(name) + "\"";
    cases_ += inner.empty() ? "/>\n" : ">\n      " + inner + "\n    </testcase>\n";
  }

  std::string cases_;
  std::size_t tests_ = 0;
  std::size_t failures_ = 0;
  std::size_t skipped_ = 0;
};

std::string HeldText(const FitLine& line) {
  return line.held.IsZero() ? "" : ", guaranteed to others " + line.held.ToString();
}

std::string SuiteOf(const CheckedSpace& space) {
  Suite suite;
  for (const FitLine& line : space.book.Lines()) {
    const std::string failure =
        line.Refuses()
            ? "used " + BeforeText(line) + ", asked " + line.asked.ToString() + ", limit " +
                  line.hard.ToString() + HeldText(line) + ": lacks " + line.lacking->ToString()
            : "";
    suite.Add("quota " + space.book.TitleOf(line.quota), line.name, failure);
  }
  for (const Objection& objection : space.book.objections()) {
    suite.Add(objection.of.ToString(), "what is demanded of it", objection.text);
  }
  return suite.ToString("quota of " + (space.ns.empty() ? "files" : space.ns));
}

std::string SuiteOfServer(const std::vector<ServerAnswer>& answers) {
  Suite suite;
  for (const ServerAnswer& answer : answers) {
    const std::string of = answer.of.ToString();
    if (answer.unknown.empty()) {
      suite.Add(of, "dry run", answer.refusal);
    } else {
      suite.Skip(of, "dry run", answer.unknown);
    }
  }
  return suite.ToString("server");
}

// Each of several namespaces may tell the same.
std::vector<std::string> Distinct(const std::vector<std::string>& texts) {
  std::vector<std::string> distinct;
  for (const std::string& text : texts) {
    if (std::ranges::find(distinct, text) == distinct.end()) distinct.push_back(text);
  }
  return distinct;
}

json::Value AnswerValue(const ServerAnswer& answer) {
  json::Object value{{"object", answer.of.ToString()}};
  if (!answer.unknown.empty()) {
    value.Set("unknown", answer.unknown);
    return value;
  }
  value.Set("accepted", !answer.Refused());
  if (answer.Refused()) value.Set("message", answer.refusal);
  value.Set("foreseen", answer.Refused() == answer.refusal_foreseen);
  return value;
}

// Notes and warnings have all of them.
std::string FewOf(const std::vector<std::string>& unknown) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> few = Distinct(unknown);
  const std::size_t more = few.size() - std::min(few.size(), kMost);
  few.resize(few.size() - more);
  if (more > 0) few.push_back("and " + std::to_string(more) + " more");
  return base::Join(few, "; ");
}

std::string SuiteOfUnknown(const Checked& checked) {
  Suite suite;
  for (const std::string& text : Distinct(checked.unknown)) {
    if (checked.allow_unknown) {
      suite.Skip("check", "everything is known", text);
    } else {
      suite.Add("check", "everything is known", text);
    }
  }
  return suite.ToString("unknown");
}

// "3 pods by its replicas 1500m", "change by the manifest -1Gi".
std::string PartText(const FitPart& part) {
  std::string text;
  if (!part.role.part.empty()) {
    const bool plural = part.count > 1 && !part.role.part.ends_with('s');
    if (part.count > 0) text += std::to_string(part.count) + " ";
    text += part.role.part + (plural ? "s" : "");
    if (!part.role.by.empty()) text += " by " + part.role.by;
    text += " ";
  }
  return text + part.amount.ToString();
}

// "deployment.apps/web: 3 pods by its replicas 1500m, …; pod/a: 500m"
std::string PartsText(const std::vector<FitPart>& parts) {
  constexpr std::size_t kMost = 8;
  std::string text;
  const ObjectName* of = nullptr;
  for (std::size_t i = 0; i < std::min(parts.size(), kMost); ++i) {
    const bool same = of != nullptr && *of == parts[i].of;
    if (!same) text += (text.empty() ? "" : "; ") + parts[i].of.ToString() + ": ";
    text += (same ? ", " : "") + PartText(parts[i]);
    of = &parts[i].of;
  }
  if (parts.size() > kMost) text += "; and " + std::to_string(parts.size() - kMost) + " more";
  return text;
}

json::Value PartsValue(const std::vector<FitPart>& parts) {
  json::Array values;
  for (const FitPart& part : parts) {
    json::Object value{{"object", part.of.ToString()}};
    if (!part.role.part.empty()) value.Set("part", part.role.part);
    if (!part.role.by.empty()) value.Set("by", part.role.by);
    if (part.count != 0) value.Set("count", part.count);
    value.Set("amount", part.amount.ToString());
    values.emplace_back(std::move(value));
  }
  return values;
}

json::Value LineValue(const CheckedSpace& space, const FitLine& line) {
  const quota::Quota& quota = space.book.quotas()[line.quota];
  json::Object item{
      {"namespace", space.ns}, {"quota", space.book.TitleOf(line.quota)}, {"resource", line.name}};
  if (line.before) item.Set("before", line.before->ToString());
  item.Set("asked", line.asked.ToString());
  item.Set("askedBy", PartsValue(space.book.PartsOf(line)));
  item.Set("after", line.after.ToString());
  item.Set("hard", line.hard.ToString());
  if (!line.held.IsZero()) item.Set("guaranteedToOthers", line.held.ToString());
  if (line.lacking) item.Set("lacking", line.lacking->ToString());
  if (quota.cluster) item.Set("mode", std::string(ModeText(quota)));
  return item;
}

}  // namespace

bool FitsAll(const std::vector<CheckedSpace>& spaces) {
  return std::ranges::all_of(spaces, [](const CheckedSpace& space) { return space.book.Fits(); });
}

std::string ServerText(const std::vector<ServerAnswer>& answers) {
  std::string text;
  for (const ServerAnswer& answer : answers) {
    std::string line = "server: " + answer.of.ToString();
    if (!answer.unknown.empty()) {
      text += Line(line + " is not judged: " + answer.unknown);
      continue;
    }
    line += answer.Refused() ? " is refused: " + answer.refusal : " is accepted";
    if (answer.Refused() != answer.refusal_foreseen) {
      line += answer.Refused() ? " (check foresees no refusal)" : " (check foresees a refusal)";
    }
    text += Line(line);
  }
  return text;
}

Table CheckTable(const std::vector<CheckedSpace>& spaces, bool wide) {
  // A namespace has a space for each quota API.
  const bool namespaces = std::ranges::any_of(
      spaces, [&](const CheckedSpace& space) { return space.ns != spaces.front().ns; });
  Table table{.titles = {"QUOTA", "RESOURCE", "BEFORE", "ASKED", "AFTER", "LIMIT", "FITS"},
              .rows = {}};
  if (namespaces) table.titles.insert(table.titles.begin(), "NAMESPACE");
  if (wide) table.titles.emplace_back("ASKED BY");
  for (const CheckedSpace& space : spaces) {
    for (const FitLine& line : space.book.Lines()) {
      const quota::Quota& quota = space.book.quotas()[line.quota];
      const Tone tone = !line.lacking ? Tone::kGood : line.tried ? Tone::kNear : Tone::kFull;
      std::vector<Cell> row{space.book.TitleOf(line.quota),
                            line.name,
                            BeforeText(line),
                            line.asked.ToString(),
                            line.after.ToString(),
                            line.hard.ToString(),
                            {FitText(line, quota), tone}};
      if (namespaces) row.insert(row.begin(), space.ns);
      if (wide) row.emplace_back(PartsText(space.book.PartsOf(line)));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Answer AnswerOf(const Checked& checked) {
  const bool refused = std::ranges::any_of(checked.server, &ServerAnswer::Refused);
  if (refused || !FitsAll(checked.spaces)) return Answer::kNo;
  const bool known = checked.unknown.empty() || checked.allow_unknown;
  return known ? Answer::kYes : Answer::kUnknown;
}

std::string CheckVerdict(const Checked& checked) {
  std::string text;
  std::size_t lacking = 0;
  std::size_t told = 0;  // lines and warnings of quotas in mode Warn or Audit
  std::int64_t lines = 0;
  std::set<std::string> refused;
  for (const CheckedSpace& space : checked.spaces) {
    for (const Objection& objection : space.book.objections()) {
      text += Line(objection.of.ToString() + ": " + objection.text);
      refused.insert(objection.of.ToString());
    }
    for (const FitLine& line : space.book.Lines()) {
      ++lines;
      lacking += line.Refuses() ? 1 : 0;
      told += line.lacking && line.tried ? 1 : 0;
    }
    text += ClusterText(space.book);
    told += space.book.warnings().size();
  }
  if (AnswerOf(checked) == Answer::kUnknown) {
    return text + Line("Cannot tell: all that is known fits, but: " + FewOf(checked.unknown));
  }
  if (AnswerOf(checked) == Answer::kNo && lacking == 0 && refused.empty()) {
    const auto others = std::ranges::count_if(checked.server, &ServerAnswer::Refused);
    return text + "No: the server refuses " + Counted(others, "object") + ".\n";
  }
  if (lacking == 0 && refused.empty() && told > 0) {
    return text + "Yes: nothing is refused, but quotas in mode Warn or Audit would be exceeded.\n";
  }
  if (lacking == 0 && refused.empty()) {
    return text + (lines == 0 ? "Yes: no quota limits any of it.\n" : "Yes: all of it fits.\n");
  }
  text += "No:";
  if (lacking > 0) {
    text += " " + std::to_string(lacking) + " of " + Counted(lines, "limit") + " would be exceeded";
  }
  if (!refused.empty()) {
    text += std::string(lacking > 0 ? ", and " : " ") + std::to_string(refused.size()) +
            (refused.size() == 1 ? " object or its pods" : " objects or their pods") +
            " would be refused whatever is free";
  }
  return text + ".\n";
}

json::Value CheckValue(const Checked& checked) {
  json::Array items;
  json::Array objections;
  json::Array refusals;
  for (const CheckedSpace& space : checked.spaces) {
    for (const FitLine& line : space.book.Lines()) items.push_back(LineValue(space, line));
    for (const Objection& objection : space.book.objections()) {
      objections.emplace_back(json::Object{{"namespace", space.ns},
                                           {"object", objection.of.ToString()},
                                           {"message", objection.text}});
    }
    for (const auto& [quota, text] : RefusalsIn(space.book)) {
      refusals.emplace_back(json::Object{
          {"namespace", space.ns}, {"quota", space.book.TitleOf(quota)}, {"message", text}});
    }
  }
  json::Object value{{"apiVersion", kOutputVersion},
                     {"kind", "QuotaCheck"},
                     {"fits", AnswerOf(checked) == Answer::kYes},
                     {"items", std::move(items)},
                     {"objections", std::move(objections)},
                     {"notes", json::Array(checked.notes.begin(), checked.notes.end())}};
  if (!refusals.empty()) value.Set("refusals", std::move(refusals));
  const std::vector<std::string> unknown = Distinct(checked.unknown);
  if (!unknown.empty()) value.Set("unknown", json::Array(unknown.begin(), unknown.end()));
  json::Array server;
  for (const ServerAnswer& answer : checked.server) server.push_back(AnswerValue(answer));
  if (!server.empty()) value.Set("server", std::move(server));
  return value;
}

std::string CheckJunit(const Checked& checked) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const CheckedSpace& space : checked.spaces) text += SuiteOf(space);
  if (!checked.server.empty()) text += SuiteOfServer(checked.server);
  if (!checked.unknown.empty()) text += SuiteOfUnknown(checked);
  return text + "</testsuites>\n";
}

}  // namespace inspect

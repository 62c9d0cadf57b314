// The output of `kubectl quota why`.

#include <algorithm>
#include <chrono>
#include <utility>

#include "pkg/api/time.h"
#include "pkg/base/text.h"
#include "pkg/inspect/counted.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/inspect/output_version.h"
#include "pkg/inspect/table.h"
#include "pkg/inspect/why.h"

namespace inspect {
namespace {

using quota::Quantity;

std::string Words(const quota::ResourceList& list) {
  std::string text;
  for (const auto& [name, amount] : list) {
    text.append(text.empty() ? "" : " ").append(name).append("=").append(amount.ToString());
  }
  return text;
}

std::string NameText(const WhyName& name) {
  const std::string used = name.used ? name.used->ToString() : "-";
  std::string text = name.name + " " + used + "/" + name.hard.ToString();
  if (!name.used) return text + ", not counted yet";
  if (!name.lacks_for_all) return text + ", fits";
  text += ", " + quota::Rest(name.hard, *name.used).ToString() + " free";
  if (!name.held.IsZero()) text += ", " + name.held.ToString() + " guaranteed to others";
  if (!name.lacks_for_next) return text + ", lacks " + name.lacks_for_all->ToString() + " for all";
  text += ", lacks " + name.lacks_for_next->ToString();
  if (*name.lacks_for_next == *name.lacks_for_all) return text;
  return text + " for the next, " + name.lacks_for_all->ToString() + " for all";
}

std::string Head(const WhyAnswer& answer) {
  const bool known = answer.wants_unknown.empty();
  std::string text = answer.of.ToString() + " wants " +
                     (known ? Counted(answer.wants, answer.of_what) : "? " + answer.of_what + "s") +
                     " and has " + std::to_string(answer.has);
  if (!known) text += " (" + answer.wants_unknown + ")";
  if (answer.earlier > 0) {
    text += ", beside " + std::to_string(answer.earlier) + " of an earlier template";
  }
  text += ": ";
  if (answer.each.empty()) {
    return text + (!answer.RefusesMore() ? "no quota limits what they need"
                   : answer.Satisfied()  ? "another would be refused"
                                         : "each is refused");
  }
  return text + "each needs " + Words(answer.each);
}

Table QuotaTable(const WhyAnswer& answer) {
  Table table{.titles = {"", "", ""}, .rows = {}};
  const Cell refusal = answer.Satisfied() ? Cell{"← would refuse another", Tone::kNear}
                                          : Cell{"← refuses", Tone::kFull};
  for (const std::string& text : answer.refusals) {
    table.rows.push_back({"  the server", text, refusal});
  }
  for (const WhyQuota& quota : answer.quotas) {
    const Cell mark =
        quota.Tried() ? Cell{"← would " + base::ToLower(quota.mode), Tone::kNear} : refusal;
    const std::string title = (quota.mode.empty() ? "  quota " : "  cluster quota ") + quota.quota;
    const auto row = [&](const std::string& words, bool refuses) {
      table.rows.push_back({title, words, refuses ? mark : Cell{""}});
    };
    if (!quota.objection.empty()) row(quota.objection, true);
    for (const WhyName& name : quota.names) row(NameText(name), name.lacks_for_next.has_value());
  }
  return table;
}

// Returns the words of admission that a ClusterQuota would use; "" if another one refuses first.
std::string FirstText(const WhyAnswer& answer) {
  const auto first = std::ranges::find_if(answer.quotas, &WhyQuota::Refuses);
  return first == answer.quotas.end() ? "" : first->text;
}

std::string Verdict(const WhyAnswer& answer) {
  const std::string first = FirstText(answer);
  if (answer.Refused()) return first.empty() ? "" : Line("the next is refused: " + first);
  if (answer.Satisfied() && answer.RefusesMore()) {
    return Line("it has what it wants, so nothing is refused now; another " + answer.of_what +
                " would be refused" + (first.empty() ? "" : ": " + first));
  }
  if (answer.Satisfied()) return "it has what it wants\n";
  if (!answer.unknown.empty()) return Line("cannot tell: " + base::Join(answer.unknown, "; "));
  if (!answer.wants_unknown.empty()) return "no quota refuses one more\n";
  return "no quota refuses the next one\n";
}

}  // namespace

std::string AgeText(base::WallTime::duration age) {
  const auto seconds =
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(age).count());
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  if (seconds < 172'800) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / 86'400) + " d";
}

std::string WhyText(const WhyAnswer& answer, base::WallTime now) {
  std::string text = Line(Head(answer)) + PrintTable(QuotaTable(answer), {.titles = false});
  text += Verdict(answer);
  if (answer.refusal) {
    std::string line = "last refused " + AgeText(now - answer.refusal->last) + " ago";
    if (answer.refusal->times > 1) line += " (" + std::to_string(answer.refusal->times) + " times)";
    text += Line(line + ": " + answer.refusal->message);
  }
  if (!answer.room.empty()) text += Line("room: " + answer.room);
  return text;
}

json::Value WhyValue(const WhyAnswer& answer) {
  json::Array quotas;
  for (const WhyQuota& quota : answer.quotas) {
    json::Array names;
    for (const WhyName& name : quota.names) {
      json::Object item{
          {"resource", name.name}, {"hard", name.hard.ToString()}, {"each", name.each.ToString()}};
      if (name.used) item.Set("used", name.used->ToString());
      if (!name.held.IsZero()) item.Set("guaranteedToOthers", name.held.ToString());
      if (name.lacks_for_next) item.Set("lacksForNext", name.lacks_for_next->ToString());
      if (name.lacks_for_all) item.Set("lacksForAll", name.lacks_for_all->ToString());
      names.emplace_back(std::move(item));
    }
    // A quota refuses nothing if no pod is missing.
    const bool refuses = answer.has < answer.wants && quota.Refuses();
    json::Object item{{"quota", quota.quota}, {"refuses", refuses}};
    if (!quota.mode.empty()) item.Set("mode", quota.mode);
    if (!quota.text.empty()) item.Set("message", quota.text);
    if (!quota.objection.empty()) item.Set("objection", quota.objection);
    item.Set("resources", std::move(names));
    quotas.emplace_back(std::move(item));
  }
  json::Object value{{"apiVersion", kOutputVersion},
                     {"kind", "QuotaExplanation"},
                     {"object", answer.of.ToString()}};
  json::Array unknown(answer.unknown.begin(), answer.unknown.end());
  if (answer.wants_unknown.empty()) {
    value.Set("wants", answer.wants);
  } else {
    unknown.insert(unknown.begin(), answer.wants_unknown);
  }
  if (!unknown.empty()) value.Set("unknown", std::move(unknown));
  value.Set("has", answer.has);
  if (answer.of_what != "pod") value.Set("of", answer.of_what);
  if (answer.earlier > 0) value.Set("ofEarlierTemplate", answer.earlier);
  value.Set("refused", answer.Refused());
  value.Set("quotas", std::move(quotas));
  if (!answer.refusals.empty()) {
    value.Set("refusals", json::Array(answer.refusals.begin(), answer.refusals.end()));
  }
  if (answer.refusal) {
    value.Set("lastRefusal", json::Object{{"message", answer.refusal->message},
                                          {"time", api::FormatTime(answer.refusal->last)},
                                          {"times", answer.refusal->times}});
  }
  if (!answer.room.empty()) value.Set("room", answer.room);
  return value;
}

}  // namespace inspect

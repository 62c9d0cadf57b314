// A schedule as text: "replicas=2 seed=7 ahead0=0 rate0=100 …", then "+120 claim ns=0 name=1
// size=3". "api=ironcore": a schedule of machines. "api=cluster": of ClusterQuotas. "advance=1":
// replicas reserve in advance; "advance=2": for longer. "webhooks=1": there are webhooks of others.

#include <sstream>

#include "tests/simulation/schedule.h"

namespace simulation {
namespace {

base::Error Malformed(const std::string& line) {
  return {.code = base::ErrorCode::kMalformed, .message = "no line of a schedule: " + line};
}

// Splits "name=value".
std::optional<std::pair<std::string, std::string>> Split(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  return std::pair(word.substr(0, equals), word.substr(equals + 1));
}

std::optional<std::int64_t> NumberOf(const std::string& text) {
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') return std::nullopt;
  return number;
}

bool ReadHead(const std::string& line, Schedule& schedule) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const auto pair = Split(word);
    if (!pair) return false;
    const auto& [name, value] = *pair;
    if (name == "planted") {
      schedule.planted = value;
      continue;
    }
    if (name == "api") {
      const auto api = ApiNamed(value);
      if (!api) return false;
      schedule.api = *api;
      continue;
    }
    if (name == "seed") {
      schedule.seed = std::strtoull(value.c_str(), nullptr, 10);
      continue;
    }
    const auto number = NumberOf(value);
    if (!number) return false;
    if (name == "reserving" || name == "once") {  // from old texts, when these were options
      continue;
    }
    if (name == "advance") {
      if (*number < 0 || *number > 2) return false;
      schedule.bursts = static_cast<Bursts>(*number);
      continue;
    }
    if (name == "odd") {
      schedule.odd = *number != 0;
      continue;
    }
    if (name == "webhooks") {
      schedule.webhooks = *number != 0;
      continue;
    }
    if (name == "shared") {
      schedule.shared = *number != 0;
      continue;
    }
    if (name == "lagging") {
      schedule.lagging = *number != 0;
      continue;
    }
    if (name == "replicas") {
      schedule.clocks.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(*number, 1, 9)));
      continue;
    }
    const std::size_t replica = static_cast<std::size_t>(name.back() - '0');
    if (replica >= schedule.clocks.size()) return false;
    ClockOf& clock = schedule.clocks[replica];
    (name.starts_with("rate") ? clock.rate_percent : clock.ahead_seconds) =
        static_cast<int>(*number);
  }
  return !schedule.clocks.empty();
}

bool ReadAction(const std::string& line, Schedule& schedule) {
  std::istringstream words(line);
  std::string word;
  Action action;
  words >> word;
  const auto after = word.starts_with("+") ? NumberOf(word.substr(1)) : std::nullopt;
  if (!after || !(words >> action.what)) return false;
  action.after = static_cast<int>(*after);
  while (words >> word) {
    const auto pair = Split(word);
    const auto number = pair ? NumberOf(pair->second) : std::nullopt;
    if (!number) return false;
    action.numbers[pair->first] = static_cast<int>(*number);
  }
  schedule.actions.push_back(std::move(action));
  return true;
}

}  // namespace

std::string ToText(const Action& action) {
  std::ostringstream text;
  text << "+" << action.after << " " << action.what;
  for (const auto& [name, number] : action.numbers) text << " " << name << "=" << number;
  return text.str();
}

std::string ToText(const Schedule& schedule) {
  std::ostringstream text;
  text << "replicas=" << schedule.clocks.size() << " seed=" << schedule.seed;
  for (std::size_t i = 0; i < schedule.clocks.size(); ++i) {
    text << " ahead" << i << "=" << schedule.clocks[i].ahead_seconds << " rate" << i << "="
         << schedule.clocks[i].rate_percent;
  }
  if (schedule.api != Api::kCore) text << " api=" << NameOf(schedule.api);
  if (schedule.bursts != Bursts::kNone) {
    text << " advance=" << static_cast<int>(schedule.bursts);
  }
  if (schedule.webhooks) text << " webhooks=1";
  if (schedule.shared) text << " shared=1";
  if (schedule.lagging) text << " lagging=1";
  if (schedule.odd) text << " odd=1";
  if (!schedule.planted.empty()) text << " planted=" << schedule.planted;
  text << "\n";
  for (const Action& action : schedule.actions) text << ToText(action) << "\n";
  return text.str();
}

base::Result<Schedule> ParseSchedule(const std::string& text) {
  Schedule schedule;
  std::istringstream lines(text);
  bool head = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    const bool read = head ? ReadHead(line, schedule) : ReadAction(line, schedule);
    if (!read) return Malformed(line);
    head = false;
  }
  if (head) return Malformed("(none)");
  return schedule;
}

}  // namespace simulation

#include "pkg/logging/record.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>

#include "pkg/api/time.h"
#include "pkg/json/utf8.h"
#include "pkg/json/value.h"

namespace logging {
namespace {

using Field = std::pair<std::string, std::string>;

constexpr std::array<std::string_view, 5> kReserved{"ts", "level", "caller", "msg", "stacktrace"};

bool IsKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The length of the JSON string at the beginning of `text`, with its quotes; 0 if it has no end.
std::size_t QuotedLength(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return 0;
}

std::optional<std::string> Unquoted(std::string_view quoted) {
  const auto value = json::Parse(quoted);
  if (!value || !value->IsString()) return std::nullopt;
  return *value->AsString();
}

// A word of the message: up to the next blank that is not inside of a quoted value.
struct Word {
  std::size_t length = 0;
  std::optional<Field> field;  // set if the word is one
};

Word NextWord(std::string_view text) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  Word word{.length = blank, .field = {}};
  const std::size_t equals = text.substr(0, blank).find('=');
  if (equals == 0 || equals == std::string_view::npos) return word;
  const std::string_view key = text.substr(0, equals);
  if (!std::ranges::all_of(key, IsKeyCharacter)) return word;
  const std::string_view value = text.substr(equals + 1);
  if (!value.starts_with('"')) {
    word.field.emplace(key, value.substr(0, blank - equals - 1));
    return word;
  }
  const std::size_t length = QuotedLength(value);
  const bool ends = length != 0 && (length == value.size() || value[length] == ' ');
  auto unquoted = ends ? Unquoted(value.substr(0, length)) : std::nullopt;
  if (!unquoted) return word;
  word.length = equals + 1 + length;
  word.field.emplace(key, std::move(*unquoted));
  return word;
}

// A JSON object must not have a name twice.
void MakeUnique(std::vector<Field>& fields) {
  std::set<std::string> taken(kReserved.begin(), kReserved.end());
  for (auto& [key, value] : fields) {
    while (!taken.insert(key).second) key += '_';
  }
}

// "2026-01-02T03:04:05.000006Z", or with "+01:00".
std::string FormatLocal(base::WallTime time, std::chrono::seconds zone) {
  std::string text = api::FormatMicroTime(time + zone);
  if (zone.count() == 0) return text;
  text.pop_back();
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(zone).count();
  const auto ahead = minutes < 0 ? -minutes : minutes;
  std::array<char, 16> suffix{};
  std::snprintf(suffix.data(), suffix.size(), "%c%02d:%02d", minutes < 0 ? '-' : '+',
                static_cast<int>(ahead / 60 % 24), static_cast<int>(ahead % 60));
  return text + suffix.data();
}

// As in a JSON string, without quotes; but quotes and backslashes stay as they are.
std::string OneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = json::SequenceLength(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0) {
      line += json::kReplacementCharacter;
    } else if (first < 0x20 || first == 0x7F) {
      const std::string quoted = json::Quote(text.substr(0, 1));
      line += first == 0x7F ? "\\u007f" : quoted.substr(1, quoted.size() - 2);
    } else {
      line += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return line;
}

std::string_view NameOf(Level level) {
  constexpr std::array<std::string_view, 4> kNames{"info", "warning", "error", "fatal"};
  return kNames[static_cast<std::size_t>(level)];
}

void Add(std::string& json, std::string_view key, std::string_view value) {
  json += json.empty() ? '{' : ',';
  json += json::Quote(key);
  json += ':';
  json += json::Quote(value);
}

}  // namespace

Split SplitFields(std::string_view message) {
  Split split{.text = message, .fields = {}};
  std::size_t at = 0;
  while (at <= message.size()) {
    Word word = NextWord(message.substr(at));
    if (word.field) {
      if (split.fields.empty()) split.text = message.substr(0, at == 0 ? 0 : at - 1);
      split.fields.push_back(std::move(*word.field));
    } else {
      split = {.text = message, .fields = {}};
    }
    at += word.length + 1;
  }
  MakeUnique(split.fields);
  return split;
}

std::string ToText(const Record& record) {
  std::string line(1, "IWEF"[static_cast<std::size_t>(record.level)]);
  line += FormatLocal(record.time, record.zone);
  line.append(" ").append(OneLine(record.file)).append(":").append(std::to_string(record.line));
  return line.append("] ").append(OneLine(record.message)).append("\n");
}

std::string ToJson(const Record& record) {
  const Split split = SplitFields(record.message);
  std::string line;
  Add(line, "ts", FormatLocal(record.time, record.zone));
  Add(line, "level", NameOf(record.level));
  Add(line, "caller", std::string(record.file) + ":" + std::to_string(record.line));
  Add(line, "msg", split.text);
  for (const auto& [key, value] : split.fields) Add(line, key, value);
  if (!record.stack.empty()) Add(line, "stacktrace", record.stack);
  return line += "}\n";
}

}  // namespace logging

#pragma once

// One record of the log as one line, whatever bytes it contains. Pure functions; any thread.
//
// Text:  W2026-01-02T03:04:05.000006+01:00 quota_store.cc:157] drift repaired resource=pods
// JSON:  {"ts":"2026-…","level":"warning","caller":"quota_store.cc:157","msg":"drift repaired",
//         "resource":"pods"}
//
// The fields are the words `key=value` at the end of a message. A value with blanks is a JSON
// string: `error="cannot read \"x\""`, as json::Quote() writes it. In JSON every value is a string,
// so that a collector sees one type for each key.

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"

namespace logging {

enum class Level { kInfo, kWarning, kError, kFatal };

struct Record {
  Level level = Level::kInfo;
  base::WallTime time{};
  std::chrono::seconds zone{0};  // how far local time is ahead of UTC
  std::string_view file;         // without folders: "recounter.cc"
  int line = 0;
  std::string_view message;
  std::string_view stack = {};  // of a fatal record
};

// A message and the fields at its end.
struct Split {
  std::string_view text;
  // Values are unquoted. A key that is taken (also "ts", "msg", …) has "_" at its end.
  std::vector<std::pair<std::string, std::string>> fields;
};
Split SplitFields(std::string_view message);

// With a line feed at the end and nowhere else. Control characters are escaped as in JSON, and
// bytes that are not UTF-8 become U+FFFD.
std::string ToText(const Record& record);
std::string ToJson(const Record& record);

}  // namespace logging

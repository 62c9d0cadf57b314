#include "pkg/logging/record.h"

#include <catch2/catch.hpp>
#include <random>

#include "pkg/api/time.h"
#include "pkg/json/utf8.h"
#include "pkg/json/value.h"

namespace record_test {

namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;

logging::Record Of(std::string_view message) {
  return {.level = logging::Level::kWarning,
          .time = api::ParseTime("2026-01-02T03:04:05.000006Z").value(),
          .file = "quota_store.cc",
          .line = 157,
          .message = message};
}

std::string Fields(std::string_view message) {
  const logging::Split split = logging::SplitFields(message);
  std::string text(split.text);
  for (const auto& [key, value] : split.fields) text += "|" + key + "|" + value;
  return text;
}

}  // namespace

TEST_CASE("log record: a line of text has level, date, zone and caller", "[logging]") {
  logging::Record record = Of("drift repaired resource=pods");
  CHECK(logging::ToText(record) ==
        "W2026-01-02T03:04:05.000006Z quota_store.cc:157] drift repaired resource=pods\n");
  record.level = logging::Level::kInfo;
  record.zone = 1h;
  CHECK(logging::ToText(record) ==
        "I2026-01-02T04:04:05.000006+01:00 quota_store.cc:157] drift repaired resource=pods\n");
  record.level = logging::Level::kFatal;
  record.zone = -(3h + 30min);
  CHECK(logging::ToText(record) ==
        "F2026-01-01T23:34:05.000006-03:30 quota_store.cc:157] drift repaired resource=pods\n");
}

TEST_CASE("log record: a line of JSON has the same and the fields", "[logging]") {
  CHECK(logging::ToJson(Of("drift repaired resource=pods error=\"cannot read \\\"x\\\"\"")) ==
        R"({"ts":"2026-01-02T03:04:05.000006Z","level":"warning","caller":"quota_store.cc:157",)"
        R"("msg":"drift repaired","resource":"pods","error":"cannot read \"x\""})"
        "\n");
  logging::Record fatal = Of("Check failed: 1 == 2");
  fatal.level = logging::Level::kFatal;
  fatal.stack = "a\nb\n";
  const auto read = json::Parse(logging::ToJson(fatal)).value();
  CHECK(read.StringAt({"level"}) == "fatal");
  CHECK(read.StringAt({"stacktrace"}) == "a\nb\n");
}

TEST_CASE("log record: the fields are the words at the end of a message", "[logging]") {
  CHECK(Fields("stopped") == "stopped");
  CHECK(Fields("") == "");
  CHECK(Fields("blanks at the end  ") == "blanks at the end  ");
  CHECK(Fields("serving what=\"health probes\" port=8081 tls=no") ==
        "serving|what|health probes|port|8081|tls|no");
  CHECK(Fields("a=1 b=2") == "|a|1|b|2");
  CHECK(Fields("empty a= b=\"\"") == "empty|a||b|");
  CHECK(Fields("a value may have more of them url=https://x/?a=b") ==
        "a value may have more of them|url|https://x/?a=b");
  CHECK(Fields("in a=1 the middle b=2") == "in a=1 the middle|b|2");
  CHECK(Fields("no key =1") == "no key =1");
  CHECK(Fields("no key a-b=1") == "no key a-b=1");
  CHECK(Fields("a=\"no end") == "a=\"no end");
  CHECK(Fields("a=\"no\"end") == "a=\"no\"end");
  CHECK(Fields("a=\"no escape: \\x\"") == "a=\"no escape: \\x\"");
}

TEST_CASE("log record: the text of a value cannot become another field", "[logging]") {
  const std::string foreign = "x\" leader=\"me\" a=b \\";
  const std::string message = "failed error=" + json::Quote(foreign) + " quota=a/b";
  CHECK(Fields(message) == "failed|error|" + foreign + "|quota|a/b");
}

TEST_CASE("log record: no key of a JSON line is repeated", "[logging]") {
  CHECK(Fields("twice a=1 a=2 a_=3 msg=4 ts=5") == "twice|a|1|a_|2|a__|3|msg_|4|ts_|5");
}

TEST_CASE("log record: any bytes make one line of UTF-8", "[logging]") {
  const std::string odd("\xFF\n\r\t\0\x1B[31m\x7F \xC3\xA4 \xED\xA0\x80 a=\"\xC0\\n\"", 26);
  for (const std::string& line : {logging::ToText(Of(odd)), logging::ToJson(Of(odd))}) {
    CAPTURE(line);
    CHECK(line.find('\n') == line.size() - 1);
    CHECK(json::FindInvalidUtf8(line) == std::string_view::npos);
    for (const char c : line.substr(0, line.size() - 1)) {
      CHECK(static_cast<unsigned char>(c) >= 0x20);
    }
  }
  CHECK(logging::ToText(Of("two\nlines \xFF \"quoted\"")) ==
        "W2026-01-02T03:04:05.000006Z quota_store.cc:157] two\\nlines \xEF\xBF\xBD \"quoted\"\n");
}

TEST_CASE("log record: random bytes are one JSON object with the same text", "[logging]") {
  std::mt19937 random(7);
  const std::string alphabet("\x00\n\"\\ =abn\xFF\xC3\xA4\xE2\x82\xAC", 15);
  for (int round = 0; round < 20'000; ++round) {
    std::string message;
    for (std::size_t left = random() % 40; left > 0; --left) {
      message += alphabet[random() % alphabet.size()];
    }
    CAPTURE(json::Quote(message));
    const std::string line = logging::ToJson(Of(message));
    REQUIRE(line.find('\n') == line.size() - 1);
    const auto read = json::Parse(line);
    REQUIRE(read.has_value());
    // The text is a beginning of the message.
    const std::string text(read->StringAt({"msg"}));
    const std::string all = *json::Parse(json::Quote(message)).value().AsString();
    REQUIRE(all.starts_with(text));
  }
}

}  // namespace record_test

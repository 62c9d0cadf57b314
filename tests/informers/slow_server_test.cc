// A server that never stops sending, and never ends.
#include <catch2/catch.hpp>

#include "informers/reflector.h"
#include "pkg/metrics/informer_metrics.h"
#include "tests/fake/captured_log.h"
#include "tests/informers/collection.h"

namespace slow_server_test {
namespace {

using namespace std::chrono_literals;
using namespace informers::testing;
using base::ErrorCode;
using fake::Answer;

// `text` in pieces of `size` bytes, one each `every`.
Answer Drip(const std::string& text, std::size_t size, base::Duration every) {
  Answer answer;
  for (std::size_t at = 0; at < text.size(); at += size) {
    answer.pieces.push_back({text.substr(at, size), every});
  }
  return answer;
}

// A page of about `kib` KiB.
std::string LargePage(const std::string& version, std::size_t kib, const std::string& next = "") {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kib * 5; ++i) names.push_back("o" + std::to_string(i));
  return List(version, names, next);
}

Answer Expired() { return Answer::Whole(ServerError(410, "Expired")); }

}  // namespace

TEST_CASE("slow server: a list of one byte at a time is given up and reported", "[informers]") {
  Fixture f;
  const auto every = GENERATE(1s, 10s);
  f.server.OnList(Answer::Whole(List("10", {"a1", "a2"})));
  f.server.OnWatch(Expired());
  for (int i = 0; i < 50; ++i) f.server.OnList(Drip(List("30", {"a1", "a2", "a3"}), 1, every));
  f.RunFor(70s);
  REQUIRE(f.state().trouble);
  CHECK(f.state().trouble->code == ErrorCode::kTimeout);
  f.RunFor(5min);
  CHECK(f.state().trouble);
  CHECK(f.server.lists.size() >= 4);   // it was asked again
  CHECK(f.server.lists.size() <= 10);  // with pauses
  CHECK(f.store.names() == Names{"a1", "a2"});
  CHECK(f.state().current_as_of < f.scheduler.Now() - 5min);
}

TEST_CASE("slow server: a list whose objects arrive one by one makes nothing current",
          "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.server.OnWatch(Expired());
  std::string page = LargePage("30", 64);
  f.server.OnList(Drip(page, 200, 500ms));  // an object each
  f.RunFor(1s);
  const base::TimePoint before = f.state().current_as_of;
  f.RunFor(10s);
  CHECK(f.state().lists == 1);
  CHECK(f.state().current_as_of == before);
}

TEST_CASE("slow server: a page of a useful rate is read to its end", "[informers]") {
  Fixture f;
  f.server.OnList(Drip(LargePage("10", 1024), std::size_t{100} << 10, 30s));  // 3.4 KiB/s
  f.RunFor(6min);
  CHECK(f.state().synced);
  CHECK(f.state().failures == 0);
  CHECK(f.server.lists.size() == 1);
}

TEST_CASE("slow server: a page ends after ten minutes, whatever its rate", "[informers]") {
  Fixture f;
  f.server.OnList(Drip(LargePage("10", 4096), std::size_t{64} << 10, 20s));
  f.RunFor(11min);
  REQUIRE(f.state().trouble);
  CHECK_FALSE(f.state().synced);
}

TEST_CASE("slow server: pages without an end are given up after an hour", "[informers]") {
  Fixture f;
  for (int i = 0; i < 900; ++i) {
    Answer page = Answer::Whole(List("10", {"a1"}, "t" + std::to_string(i)));
    page.delay = 5s;
    f.server.OnList(page);
  }
  f.RunFor(59min);
  CHECK_FALSE(f.state().trouble);
  f.RunFor(2min);
  CHECK(f.state().trouble);
}

TEST_CASE("slow server: a list after an expired version is trouble after a minute", "[informers]") {
  const fake::CapturedLog log;
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.server.OnWatch(Expired());
  for (int i = 0; i < 4; ++i) {
    Answer page = Answer::Whole(List("30", {"a1"}, i < 3 ? "t" + std::to_string(i) : ""));
    page.delay = 25s;
    f.server.OnList(page);
  }
  f.RunFor(55s);
  CHECK_FALSE(f.state().trouble);
  CHECK(f.store.states == 1);
  f.RunFor(15s);
  REQUIRE(f.state().trouble);
  CHECK(f.store.states == 2);  // the sink was told
  CHECK(log.With("cannot follow").size() == 1);
  f.RunFor(40s);
  CHECK_FALSE(f.state().trouble);  // it has ended
  CHECK(f.store.states == 3);
  CHECK(f.state().resource_version == "30");
}

TEST_CASE("slow server: the first list may take longer than a minute", "[informers]") {
  Fixture f;
  for (int i = 0; i < 8; ++i) {
    Answer page = Answer::Whole(List("10", {"a1"}, i < 7 ? "t" + std::to_string(i) : ""));
    page.delay = 25s;
    f.server.OnList(page);
  }
  f.RunFor(190s);
  CHECK_FALSE(f.state().trouble);
  CHECK_FALSE(f.state().synced);
  f.RunFor(20s);
  CHECK(f.state().synced);
}

TEST_CASE("slow server: a watch that never completes an event is trouble until one is complete",
          "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  for (int i = 0; i < 3; ++i) f.server.OnWatch(Drip(Added("a2", "11"), 1, 1s));
  f.server.OnList(Answer::Whole(List("20", {"a1", "a2"})));
  f.server.OnWatch(Answer::Open(Bookmark("21")));
  f.RunFor(50s);
  CHECK_FALSE(f.state().trouble);
  f.RunFor(15s);
  REQUIRE(f.state().trouble);
  CHECK(f.state().trouble->code == ErrorCode::kTimeout);
  f.RunFor(50s);
  CHECK(f.state().trouble);  // a watch that opens, and lasts, proves nothing
  CHECK(f.server.lists.size() == 1);
  f.RunFor(2min);
  CHECK(f.server.lists.size() == 2);  // the third in a row: the version is given up
  CHECK_FALSE(f.state().trouble);
  CHECK(f.store.names() == Names{"a1", "a2"});
}

TEST_CASE("slow server: a watch that is cut inside of the same event again and again is trouble",
          "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  for (int i = 0; i < 3; ++i) {
    Answer half = Answer::Whole(Added("a2", "11").substr(0, 60));
    half.EndingAfter(10s, i == 1 ? Answer::End::kBroken : Answer::End::kClean);
    f.server.OnWatch(half);
  }
  f.server.OnList(Answer::Whole(List("20", {"a1", "a2"})));
  f.RunFor(15s);
  CHECK_FALSE(f.state().trouble);  // once may happen to every connection
  f.RunFor(45s);
  CHECK(f.state().failures >= 1);
  CHECK(f.server.lists.size() == 2);
  CHECK(f.store.names() == Names{"a1", "a2"});
}

TEST_CASE("slow server: events in pieces are no trouble while they are completed", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  std::string events;
  for (int i = 11; i < 60; ++i) events += Added("b", std::to_string(i));
  Answer slow = Drip(events, 100, 20s);  // never at the end of an event
  slow.end = Answer::End::kSilent;
  f.server.OnWatch(slow);
  f.RunFor(4min);
  CHECK_FALSE(f.state().trouble);
  CHECK(f.state().failures == 0);
  CHECK(f.state().events >= 3);
}

}  // namespace slow_server_test

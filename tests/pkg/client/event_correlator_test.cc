#include "pkg/client/event_correlator.h"

#include <catch2/catch.hpp>

#include <set>

namespace event_correlator_test {

using namespace std::chrono_literals;
using client::Event;
using client::EventCorrelator;
using client::EventType;
using client::EventWrite;

namespace {

Event About(const std::string& object, const std::string& message = "as it is") {
  return {.about = {.api_version = "v1",
                    .kind = "ResourceQuota",
                    .ns = "team-a",
                    .name = object,
                    .uid = "uid-of-" + object,
                    .resource_version = "7"},
          .type = EventType::kWarning,
          .reason = "QuotaStale",
          .message = message};
}

struct Fixture {
  std::optional<EventWrite> Observe(Event event) {
    return correlator.Observe(std::move(event), clock.Now(), clock.WallNow());
  }
  base::ManualClock clock;
  EventCorrelator correlator;
};

}  // namespace

TEST_CASE("events: a first event is new, and its name has the object and the time",
          "[client][events]") {
  Fixture f;
  const auto write = f.Observe(About("q"));
  REQUIRE(write);
  CHECK_FALSE(write->repeats);
  CHECK(write->ns == "team-a");
  CHECK(write->count == 1);
  CHECK(write->first == f.clock.WallNow());
  CHECK(write->last == f.clock.WallNow());
  // 55 years of 365 days in nanoseconds.
  CHECK(write->name == "q.18121c5ece050000");
}

TEST_CASE("events: a repetition within ten minutes raises the count of the first event",
          "[client][events]") {
  Fixture f;
  const auto first = f.Observe(About("q"));
  f.clock.Advance(9min);
  const auto second = f.Observe(About("q"));
  REQUIRE(second);
  CHECK(second->repeats);
  CHECK(second->name == first->name);
  CHECK(second->count == 2);
  CHECK(second->first == first->first);
  CHECK(second->last == f.clock.WallNow());
  f.clock.Advance(10min);  // since the last one
  CHECK(f.Observe(About("q"))->count == 3);
}

TEST_CASE("events: a repetition after more than ten minutes is a new event", "[client][events]") {
  Fixture f;
  const auto first = f.Observe(About("q"));
  f.clock.Advance(10min + 1s);
  const auto second = f.Observe(About("q"));
  CHECK_FALSE(second->repeats);
  CHECK(second->name != first->name);
  CHECK(second->count == 1);
}

TEST_CASE("events: another type, reason, message or object is another event", "[client][events]") {
  Fixture f;
  auto normal = About("q");
  normal.type = EventType::kNormal;
  auto healed = About("q");
  healed.reason = "QuotaHealed";
  auto successor = About("q");
  successor.about.uid = "another";
  std::set<std::string> names;
  for (const Event& event :
       {About("q"), normal, healed, About("q", "other"), About("other"), successor}) {
    const auto write = f.Observe(event);
    REQUIRE(write);
    CHECK_FALSE(write->repeats);
    names.insert(write->name);
  }
  CHECK(names.size() == 6);  // all at the same time
}

TEST_CASE("events: from the tenth message on similar ones are combined", "[client][events]") {
  Fixture f;
  for (int i = 1; i <= 9; ++i) {
    CHECK_FALSE(f.Observe(About("q", "message " + std::to_string(i)))->repeats);
  }
  const auto tenth = f.Observe(About("q", "message 10"));
  CHECK_FALSE(tenth->repeats);
  CHECK(tenth->event.message == "(combined from similar events): message 10");
  const auto eleventh = f.Observe(About("q", "message 11"));
  CHECK(eleventh->repeats);
  CHECK(eleventh->name == tenth->name);
  CHECK(eleventh->count == 2);
  CHECK(eleventh->event.message == "(combined from similar events): message 11");
}

TEST_CASE("events: an object has at most 25 events at once, then one in five minutes",
          "[client][events]") {
  Fixture f;
  for (int i = 0; i < 25; ++i) CHECK(f.Observe(About("loud")));
  CHECK_FALSE(f.Observe(About("loud")));
  CHECK(f.Observe(About("quiet")));
  f.clock.Advance(299s);
  CHECK_FALSE(f.Observe(About("loud")));
  f.clock.Advance(1s);
  CHECK(f.Observe(About("loud")));
  CHECK_FALSE(f.Observe(About("loud")));
  f.clock.Advance(24h);
  for (int i = 0; i < 25; ++i) CHECK(f.Observe(About("loud")));
  CHECK_FALSE(f.Observe(About("loud")));
}

TEST_CASE("events: only the most recent objects are remembered", "[client][events]") {
  Fixture f;
  f.correlator = EventCorrelator({.objects = 2});
  f.Observe(About("a"));
  f.Observe(About("b"));
  CHECK(f.Observe(About("a"))->repeats);
  f.Observe(About("c"));
  CHECK(f.Observe(About("a"))->repeats);
  CHECK_FALSE(f.Observe(About("b"))->repeats);
}

TEST_CASE("events: texts and names are as long as the API server allows", "[client][events]") {
  Fixture f;
  std::string message(1020, 'x');
  message += "\xC3\xA4\xC3\xA4\xC3\xA4";
  auto event = About(std::string(252, 'q'), message);
  event.about.name[235] = '.';
  const auto write = f.Observe(event);
  CHECK(write->name.size() <= 253);
  std::string beginning(235, 'q');
  beginning += ".";
  CHECK(write->name.starts_with(beginning));
  CHECK(write->name.find("..") == std::string::npos);
  std::string cut(1020, 'x');
  cut += "...";
  CHECK(write->event.message == cut);
  CHECK(f.Observe(About("q", std::string(1024, 'y')))->event.message.size() == 1024);
}

TEST_CASE("events: events of cluster-scoped objects are stored in the default namespace",
          "[client][events]") {
  Fixture f;
  auto event = About("lease");
  event.about.ns.clear();
  CHECK(f.Observe(event)->ns == "default");
}

}  // namespace event_correlator_test

#pragma once

// What of the events of an object reaches the server, decided as client-go's recorder does
// (v0.36.3, tools/record/events_cache.go). No I/O.
//
// - The same event again within `window`: the count of the first is raised instead of a new object.
// - From the 10th different message on, all else equal, within `window`: one event for all of them,
//   whose message begins with "(combined from similar events): ".
// - A token bucket per object: `burst` at once, then one per `refill`.
//
// Remembers the `objects` that spoke last, and of each at most as many events as its bucket let
// through. Values and arithmetic; one thread.

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/client/event_recorder.h"

namespace client {

struct EventCorrelatorOptions {
  std::chrono::seconds window{600};
  std::size_t similar = 10;
  int burst = 25;
  std::chrono::seconds refill{300};
  std::size_t objects = 4096;
};

// One request to be made.
struct EventWrite {
  bool repeats = false;  // the server has an event of this name, whose count is to be raised
  std::string ns;
  std::string name;  // unique: "<object>.<hex of the time>"
  Event event;       // the message as it is to be shown
  int count = 1;
  base::WallTime first{};
  base::WallTime last{};
};

class EventCorrelator {
 public:
  explicit EventCorrelator(EventCorrelatorOptions options = {}) : options_(options) {}

  // nullopt: this object has said enough.
  std::optional<EventWrite> Observe(Event event, base::TimePoint now, base::WallTime wall);

 private:
  // An event that was let through. Texts are kept as hashes.
  struct Said {
    std::size_t kind = 0;     // type and reason
    std::size_t message = 0;  // 0: the one that stands for all similar ones
    std::string name;
    int count = 0;
    base::WallTime first{};
    base::TimePoint last{};
  };
  struct Speaker {
    std::string key;
    double tokens = 0;
    base::TimePoint refilled{};
    std::vector<Said> said;
  };
  Speaker& Find(const ObjectReference& about, base::TimePoint now);
  bool Spend(Speaker& speaker, base::TimePoint now) const;
  std::string NewName(const std::string& object, base::WallTime wall);

  EventCorrelatorOptions options_;
  std::list<Speaker> speakers_;  // the latest first
  std::unordered_map<std::string, std::list<Speaker>::iterator> index_;
  std::uint64_t last_stamp_ = 0;  // in a name: no two names are equal
};

}  // namespace client

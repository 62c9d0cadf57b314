#pragma once

// Decides which events of an object are sent, with the rules of client-go's recorder (v0.36.3,
// tools/record/events_cache.go). No I/O.
//
// - A repetition within `window` raises the count of the first event instead of creating another.
// - From the 10th different message within `window`, if all else is equal, one event stands for
//   all. Its message begins with "(combined from similar events): ".
// - Each object has a token bucket: `burst` events at once, then one per `refill`.
//
// Remembers the last `objects` that had events, and for each at most as many events as its bucket
// allows. Values and arithmetic; one thread.

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

// One request to send.
struct EventWrite {
  bool repeats = false;  // the server has an event of this name: raise its count
  std::string ns;
  std::string name;  // unique: "<object>.<hex of the time>"
  Event event;       // with the message to store
  int count = 1;
  base::WallTime first{};
  base::WallTime last{};
};

class EventCorrelator {
 public:
  explicit EventCorrelator(EventCorrelatorOptions options = {}) : options_(options) {}

  // nullopt: the object has used up its token bucket.
  std::optional<EventWrite> Observe(Event event, base::TimePoint now, base::WallTime wall);

 private:
  // An event that was sent. Texts are kept as hashes.
  struct Said {
    std::size_t kind = 0;     // type and reason
    std::size_t message = 0;  // 0: the event that stands for all similar ones
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
  [[nodiscard]] std::size_t MostSaid() const;
  std::string NewName(const std::string& object, base::WallTime wall);

  EventCorrelatorOptions options_;
  std::list<Speaker> speakers_;  // the most recent first
  std::unordered_map<std::string, std::list<Speaker>::iterator> index_;
  std::uint64_t last_stamp_ = 0;  // part of the name, so that no two names are equal
};

}  // namespace client

#pragma once

// Builds the events about refused requests: on the quota, and on the owner of the object that was
// not stored (its ReplicaSet, Job, …). The first refusal causes an event at once. Those of the next
// minute cause one event with their number, so a controller that retries does not flood the event
// stream.
//
// No I/O; one thread.

#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/admission/observer.h"
#include "pkg/base/clock.h"
#include "pkg/client/event_recorder.h"

namespace admission {

struct RefusalDigestOptions {
  base::Duration period = std::chrono::minutes(1);
  // The maximum of pairs of a quota and an object with events, in one period. Further pairs get no
  // event. It is less than half of what the recorder sends in a period.
  std::size_t most = 512;
};

class RefusalDigest {
 public:
  using Events = std::vector<client::Event>;

  explicit RefusalDigest(RefusalDigestOptions options = {}) : options_(options) {}

  // Returns the events to send at once. `quota_type` has the quota's apiVersion and kind.
  Events Add(const client::ObjectReference& quota_type, const Refusal& refusal,
             base::TimePoint now);
  // The events of all pairs whose period is over.
  Events TakeDue(base::TimePoint now);
  // The events of all pairs, when the daemon stops.
  Events TakeAll();
  // When TakeDue() is due next; nullopt: never.
  [[nodiscard]] std::optional<base::TimePoint> NextDue() const;
  [[nodiscard]] std::size_t size() const { return subjects_.size(); }

 private:
  using Key = std::pair<std::string, std::string>;  // of the quota, of the object with the event
  struct Subject {
    client::ObjectReference about;
    bool tried = false;        // the quota is not enforced
    std::size_t gathered = 0;  // refusals since the last event
    std::string last;          // the message of the last of them
    base::TimePoint due{};     // end of the period
  };
  void AddTo(client::ObjectReference about, const Refusal& refusal, base::TimePoint now,
             Events& events);
  static client::Event Gathered(Subject& subject);

  const RefusalDigestOptions options_;
  std::map<Key, Subject> subjects_;
  std::list<Key> by_due_;  // all keys; every period is equally long, so the first is due first
};

}  // namespace admission

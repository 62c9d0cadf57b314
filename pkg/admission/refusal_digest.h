#pragma once

// Builds the events about refused requests: on the quota, on the owner of the object that was not
// stored (its ReplicaSet, Job, …), and on the workload that owns that one (its Deployment,
// CronJob, …). The first refusal causes an event at once. Those of the next minute cause one event
// with their number, so a controller that retries does not flood the event stream.
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
  // Bytes of a stored message; EventRecorder keeps no more.
  static constexpr std::size_t kMostText = 1024;

  explicit RefusalDigest(RefusalDigestOptions options = {}) : options_(options) {}

  // Returns the events to send at once. `quota_type` has the quota's apiVersion and kind.
  Events Add(const client::ObjectReference& quota_type, const Refusal& refusal,
             base::TimePoint now);
  // The same for the workload that the owner belongs to. It has at most one event in a period,
  // however many quotas refuse.
  Events AddWorkload(const Owner& workload, const Refusal& refusal, base::TimePoint now);
  // False for an owner that can have no events. A client may write anything into ownerReferences.
  [[nodiscard]] static bool CanHaveEvents(const Owner& owner);
  // The events of all pairs whose period is over.
  Events TakeDue(base::TimePoint now);
  // The events of all pairs, when the daemon stops.
  Events TakeAll();
  // When TakeDue() is due next; nullopt: never.
  [[nodiscard]] std::optional<base::TimePoint> NextDue() const;
  [[nodiscard]] std::size_t size() const { return subjects_.size(); }

 private:
  // Of the quota, of the object with the event. A workload has no quota.
  using Key = std::pair<std::string, std::string>;
  struct Subject {
    client::ObjectReference about;
    bool tried = false;        // the quota is not enforced
    std::size_t gathered = 0;  // refusals since the last event
    std::string last;          // the message of the last of them
    base::TimePoint due{};     // end of the period
  };
  void AddTo(client::ObjectReference about, std::string quota_uid, const Refusal& refusal,
             base::TimePoint now, Events& events);
  static client::Event Gathered(Subject& subject);

  const RefusalDigestOptions options_;
  std::map<Key, Subject> subjects_;
  std::list<Key> by_due_;  // all keys; every period is equally long, so the first is due first
};

}  // namespace admission

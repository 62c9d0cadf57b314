#pragma once

// Decides which AppliedClusterQuotas are written, and when: each object at most once in ten
// seconds, and at most twenty a second in all. The watch reports the stored objects. The source
// returns the desired content when there is time to write it.
//
// Two queues of namespaces take turns, so that neither blocks the other. The first has namespaces
// in which something happened: a quota was added or removed, usage changed, the status of a quota
// that selects the namespace changed, or somebody edited an object. The second has namespaces in
// which only a quota further above changed; these may be all namespaces. While the usage of such
// quotas keeps changing, the second queue is slow. In each queue a namespace gets one write and
// goes to the end.
//
// No I/O, one thread. No call visits all namespaces. Memory is bounded by the number of stored
// objects and of namespaces that the quotas reach.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/applied/applied_source.h"
#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/queue/work_queue.h"

namespace controllers {

struct AppliedPace {
  base::Duration each = std::chrono::seconds(10);      // between two writes of an object
  base::Duration any = std::chrono::milliseconds(50);  // between two writes
  // The delay after a change, so that one write contains related changes.
  base::Duration settle = std::chrono::milliseconds(500);
  // Between two writes for quotas further above, until their usage was at rest for some time.
  base::Duration above = std::chrono::milliseconds(500);
  base::Duration rest = std::chrono::seconds(30);
};

struct AppliedWrite {
  enum class Verb : std::uint8_t { kCreate, kUpdate, kDelete };
  Verb verb = Verb::kCreate;
  std::string ns;
  std::string name;
  std::string version;    // resourceVersion of the stored object; "": it is not stored
  json::Value object;     // the desired object; null: delete it
  base::TimePoint since;  // when the stored object became outdated
};

class AppliedPlan {
 public:
  // `clock` and `source` must outlive the plan.
  AppliedPlan(const base::Clock& clock, const AppliedSource& source, AppliedPace pace = {})
      : clock_(clock), source_(source), pace_(pace), soon_(clock), round_(clock) {}

  // Called for the watch of AppliedClusterQuotas, like the functions of informers::CollectionSink.
  void BeginList();
  // Returns true, once for each object, if somebody else's object has a name that the plan wants.
  bool OnStored(const json::Value& object);
  void OnGone(const json::Value& object);
  bool SweepSome();
  void EndList();

  enum class Changed : std::uint8_t {
    kUsage,  // only `used` and `available`
    kMore,
  };
  // Like the functions of ClusterListener.
  void OnClusterQuota(const std::string& name, Changed what = Changed::kMore);
  void OnReachOf(const std::string& ns);
  void OnUsageIn(const std::string& ns);
  // Call while this process is not the leader.
  void OnFollowing() { leads_since_.reset(); }

  struct Next {
    std::optional<AppliedWrite> write;  // report its outcome before the next call of Decide()
    base::TimePoint again;              // without a write: call Decide() again then
  };
  // Does a small part of the work. Let other coroutines run before the next call.
  Next Decide();
  // `version` is the resourceVersion in the answer.
  void OnWritten(const AppliedWrite& write, std::string_view version);
  enum class Failure : std::uint8_t {
    kExpected,  // the object or namespace changed meanwhile, or the namespace is terminating
    kTaken,     // somebody else's object has this name
    kFailed,
  };
  Failure OnFailed(const AppliedWrite& write, const base::Error& error);

  struct Tally {
    std::size_t stored = 0;
    std::size_t changed = 0;          // stored objects that are outdated or missing
    base::TimePoint oldest_change{};  // max(): nothing is outdated
    std::string place;                // the last namespace that was counted
  };
  // Counts some more namespaces. Returns true if more remain, false if the tally is complete.
  bool Count(Tally& tally) const;

 private:
  static constexpr base::TimePoint kNever = base::TimePoint::max();

  struct Entry {
    std::string name;     // of the quota
    std::string version;  // "": the daemon has no stored object
    std::uint64_t digest = 0;
    base::TimePoint due = base::TimePoint::min();  // the earliest time of the next write
    base::TimePoint since = kNever;                // outdated since; kNever: up to date
    std::uint32_t list = 0;  // number of the list that was newest when it was seen
    bool wanted = false;     // the quota reaches the namespace
    bool above = false;      // it reaches the namespace only through a quota below it
    bool slow = false;       // outdated only because such a quota changed: left to round_
    bool taken = false;      // somebody else's object has this name
  };
  struct Space {
    std::vector<Entry> entries;  // by name
    base::TimePoint not_before = base::TimePoint::min();
    int refusals = 0;        // of writes in the namespace, in a row
    std::uint32_t next = 0;  // the entry to compare next
    bool moved = true;       // the quotas that reach it may have changed
    bool touched = false;    // all entries were marked since the last look
  };
  using Spaces = std::map<std::string, Space, std::less<>>;
  using Queue = queue::WorkQueue<std::string>;

  [[nodiscard]] Entry* Find(std::string_view ns, std::string_view name);
  static Entry& Add(Space& space, std::string_view name);
  void Take(Entry& entry, std::string_view version, std::uint64_t digest);
  void Mark(Entry& entry) const;
  static void MarkSince(Entry& entry, base::TimePoint changed);
  void Touch(const std::string& ns, Space& space);
  void Lose(const std::string& ns, Space& space, Entry& entry);
  bool TakeMoved();
  bool MarkSome();
  Queue* PickQueue();
  void NoteWrite(const Queue& queue);
  std::optional<AppliedWrite> LookAt(const std::string& ns, Queue& queue);
  void Reconcile(const std::string& ns, Space& space);
  std::optional<AppliedWrite> LookAtEntries(const std::string& ns, Space& space, bool slow_too,
                                            base::TimePoint& again);
  std::optional<AppliedWrite> Compare(const std::string& ns, Entry& entry, base::TimePoint& again);

  const base::Clock& clock_;
  const AppliedSource& source_;
  const AppliedPace pace_;
  Spaces spaces_;
  Queue soon_;   // namespaces in which something happened
  Queue round_;  // namespaces in which only a quota further above changed
  bool soon_is_next_ = true;
  std::set<std::string> moved_;                     // namespaces whose quotas may have changed
  std::map<std::string, base::TimePoint> changed_;  // quotas whose objects must be marked
  std::map<std::string, base::TimePoint> marking_;  // quotas of the current walk
  std::string marked_;                              // the last namespace of the walk so far
  base::TimePoint next_marks_ = base::TimePoint::min();
  base::TimePoint next_write_ = base::TimePoint::min();
  base::TimePoint next_round_ = base::TimePoint::min();  // no write for round_ before this time
  // When the usage of a quota changed last; min(): something else changed since.
  base::TimePoint usage_changed_ = base::TimePoint::min();
  std::optional<base::TimePoint> leads_since_;
  struct InFlight {
    std::string ns;
    std::string name;
    std::uint64_t digest = 0;
    std::string gone = {};  // the version of the last deletion that was shown since; "": none
  };
  std::optional<InFlight> in_flight_;  // the watch may show a write before its answer arrives
  int failures_ = 0;                   // in a row
  std::uint32_t list_ = 0;
  std::string swept_;
  bool listing_ = false;
  bool listed_ = false;
};

}  // namespace controllers

#pragma once

// The invariants, checked whenever something is stored, answered, or believed. What may break them
// without anybody's fault is said with each (DESIGN.md has the list); everything else is a
// violation, of which the first is kept.

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/admission/review.h"
#include "pkg/base/clock.h"
#include "tests/simulation/replica.h"
#include "tests/simulation/server.h"

namespace simulation {

class Judge final : public ServerObserver, public Tell {
 public:
  // By `more` all that depends on how long charges are held takes longer.
  Judge(const Timeline& timeline, std::function<void(const std::string&)> narrate,
        base::Duration more)
      : timeline_(timeline), narrate_(std::move(narrate)), more_(more) {}
  [[nodiscard]] base::Duration more() const { return more_; }
  void Narrate(const std::string& what) const;
  void Watch(const Server& server) { server_ = &server; }

  // The first violation.
  [[nodiscard]] const std::optional<std::string>& violation() const { return violation_; }
  void Violation(const std::string& what) override;

  void OnThing(const Thing* before, const Thing* after) override;
  void OnQuotaSpec(const StoredQuota* before, const StoredQuota* after) override;
  void OnStatus(const StoredQuota& before, const StoredQuota& after) override;
  void OnClass(const StoredClass* before, const StoredClass* after) override;
  void OnTree() override;
  void OnReach(const StoredQuota& quota, bool gained) override;
  void OnHistory(Resource resource) override { on_history(resource); }
  std::function<void(Resource)> on_history;

  // Somebody who is no replica writes the status: what `used` lacks then may be admitted.
  void OnForeignLowering(const StoredQuota& quota);
  void OnForeignRaise(const StoredQuota& quota, const std::string& name, std::int64_t by);
  void OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) override;
  // A replica's webhook was called for `after`; `before` is null for a creation.
  void OnCall(const std::string& replica, const Thing* before, const Thing& after);
  void OnAnswer(const Thing* before, const Thing& after, const admission::Answer& answer,
                base::TimePoint asked);
  // Something of which a status may suffer: whoever was to heal it may be unable for a while.
  void OnTrouble() { OnTroubleUntil(timeline_.Now()); }
  void OnTroubleUntil(base::TimePoint end) { calm_since_ = std::max(calm_since_, end); }
  // The server was put back to an earlier state, or somebody's watch shows nothing for that reason.
  void OnPutBack();
  // Somebody's watch shows nothing for long: what was stored before a quota came may be unseen.
  void OnSilent(bool silent) { silent_ = silent; }
  // All replicas have seen the last change of a class.
  void OnClassesShown(bool shown);
  // All replicas have seen the last change of a namespace's labels, and of a ClusterQuota's spec.
  void OnTreeShown(bool shown);
  // Who believes to lead at this moment; nullptr: nobody who runs.
  void OnLeaders(const std::vector<const Replica*>& leaders);

  // Since when one and the same replica leads; nullopt: none does.
  [[nodiscard]] std::optional<base::TimePoint> led_since() const { return led_since_; }
  [[nodiscard]] base::TimePoint last_event() const { return last_event_; }
  void Touch() { last_event_ = timeline_.Now(); }
  // At the end of a quiet time: the status is the truth.
  void CheckTruth();
  // And what a ClusterQuota says of its place, and of what may still be used.
  void CheckPlaces();
  // From now on no status may be written.
  void ExpectSilence() { silence_ = true; }

 private:
  // Times in which a limit may be exceeded.
  struct Excuses {
    std::vector<std::pair<base::TimePoint, base::TimePoint>> closed;
    std::optional<base::TimePoint> since;  // open
  };
  // What a parent keeps free for a quota, from a moment on: at least, and at most.
  struct Promise {
    base::TimePoint since;
    Amounts least;
    Amounts most;
  };
  // What has been enforced of a quota, and whether it may be exceeded.
  struct Limits {
    std::vector<std::pair<base::TimePoint, Amounts>> hard;  // status.hard, since when
    Excuses excuses;
    Excuses by_class;               // of the names that classes say
    Amounts kept;                   // of what is unknown: at least what was known last
    std::vector<Promise> promises;  // to a ClusterQuota, by its parent
    std::string parent;             // of a ClusterQuota, since the first of these
    Amounts guaranteed;             // under that parent, as all have seen it
  };
  // May raise `used` beyond the truth for a while.
  struct Charged {
    base::TimePoint at;
    std::string quota_uid;  // of a foreign charge; else ""
    std::string replica;    // "" of a foreign charge
    Thing before;
    Thing after;
    Amounts amount;       // of a foreign charge
    bool closed = false;  // it was refused: the next call may add the same again
    // Quotas that another replica has lowered since: it covers no call about another version.
    std::set<std::string> lowered;
  };

  [[nodiscard]] std::string At(const std::string& what) const;
  void Excuse(const StoredQuota& quota) { Open(limits_[quota.uid].excuses); }
  void Open(Excuses& excuses);
  void Settle(Excuses& excuses, bool covers);
  void EndExcuses();
  [[nodiscard]] bool IsExcused(const Excuses& excuses) const;
  [[nodiscard]] bool IsExcused(const Limits& limits) const { return IsExcused(limits.excuses); }
  [[nodiscard]] bool IsExcused(const Limits& limits, const std::string& name) const;
  [[nodiscard]] std::optional<std::int64_t> HighestLimit(const Limits& limits,
                                                         const std::string& name) const;
  void CheckLimits(const Thing* before, const Thing& after);
  void CheckCovered();
  void CheckCharged(const StoredQuota& before, const StoredQuota& after);
  void NoteLowered(const StoredQuota& before, const StoredQuota& after);
  [[nodiscard]] bool IsCalm(base::TimePoint since) const;
  void CheckRefusal(const Thing& after, const std::string& message);
  [[nodiscard]] std::optional<std::int64_t> LowestLimit(const Limits& limits,
                                                        const std::string& name,
                                                        base::TimePoint since) const;
  [[nodiscard]] std::int64_t MostThatMayBeUsed(const StoredQuota& quota, const std::string& name,
                                               base::TimePoint since) const;
  [[nodiscard]] base::TimePoint MemoryBegins();

  // judge_classes.cc
  [[nodiscard]] bool IsCalmFor(const StoredQuota& quota, const std::string& name,
                               base::TimePoint since) const;
  void Remember(const StoredClass* before, const StoredClass& changed);
  void Keep();
  void CheckKept(const StoredQuota& quota);
  void CheckClassRefusal(const Thing& after, const std::string& message, base::TimePoint asked);
  void CheckWithoutClass(const Thing& after);

  // judge_tree.cc
  void NoteWays();
  void NotePromises();
  [[nodiscard]] Amounts LeastPromised(const StoredQuota& quota) const;
  [[nodiscard]] Amounts MostPromised(const StoredQuota& quota, base::TimePoint since) const;
  [[nodiscard]] std::int64_t MostHeldBack(const StoredQuota& quota, const std::string& name,
                                          base::TimePoint since) const;
  void CheckGuarantees(const Thing* before, const Thing& after);
  [[nodiscard]] bool IsTreeCalm(const StoredQuota& quota, base::TimePoint since) const;
  [[nodiscard]] const StoredQuota* RefusedBy(const Thing& after, const std::string& message) const;
  void NoteHard(const StoredQuota& quota);

  const Timeline& timeline_;
  const std::function<void(const std::string&)> narrate_;  // may be null
  const base::Duration more_;
  const Server* server_ = nullptr;
  std::optional<std::string> violation_;
  std::map<std::string, Limits> limits_;  // by quota uid
  std::vector<Charged> charged_;
  std::vector<std::pair<base::TimePoint, Thing>> gone_;  // objects as they were, until when
  base::TimePoint last_event_{};
  base::TimePoint calm_since_{};
  base::TimePoint memory_begins_{};
  struct Changed {
    base::TimePoint at{};
    bool incomplete = false;  // there was a time when it did not say all
  };
  std::map<std::string, Changed> changed_;  // classes
  Classes remembered_;  // what each class that is, or was, said: the least of what somebody knows
  bool classes_shown_ = true;
  base::TimePoint classes_calm_since_{};
  bool tree_shown_ = true;
  base::TimePoint tree_unseen_since_{};
  // By namespace: the quotas that reach it, with those above them, and since when all know it.
  struct Way {
    std::set<std::pair<std::string, std::string>> quotas;
    base::TimePoint since;
  };
  std::map<std::string, Way> ways_;
  base::TimePoint tree_calm_since_{};
  const Replica* leader_ = nullptr;
  std::optional<base::TimePoint> led_since_;
  bool silence_ = false;
  bool silent_ = false;
};

}  // namespace simulation

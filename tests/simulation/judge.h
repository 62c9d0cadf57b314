#pragma once

// Checks the invariants (DESIGN.md) whenever the server stores something, a replica answers, or a
// replica begins or ceases to lead. Each check knows its excuses. The first violation is kept.

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "pkg/accounting/reservation_list.h"
#include "pkg/admission/answers.h"
#include "pkg/admission/review.h"
#include "pkg/base/clock.h"
#include "tests/simulation/replica.h"
#include "tests/simulation/server.h"

namespace simulation {

class Judge final : public ServerObserver, public Tell {
 public:
  // `more` is added to each time that depends on how long charges are held.
  Judge(const Timeline& timeline, std::function<void(const std::string&)> narrate,
        base::Duration more)
      : timeline_(timeline), narrate_(std::move(narrate)), more_(more) {}
  [[nodiscard]] base::Duration more() const { return more_; }
  // If false, Narrate() does nothing.
  [[nodiscard]] bool narrates() const { return narrate_ != nullptr; }
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

  // A writer other than a replica lowers `used`. The replicas may admit as much beyond the limit.
  // `lost`: the name whose amount it replaces by what cannot be read.
  void OnExternalLowering(const StoredQuota& quota, const std::string& lost = "");
  // `by` may be for an object that is stored later: `after`.
  void OnExternalRaise(const StoredQuota& quota, const std::string& name, std::int64_t by,
                       const Thing& after = {});
  void OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) override;
  void OnReserve(std::string reservations) override;
  // A replica's webhook was called for `after`; `before` is null for a creation.
  void OnCall(const std::string& replica, const Thing* before, const Thing& after);
  void OnAnswer(const Thing* before, const Thing& after, const admission::Answer& answer,
                base::TimePoint asked);
  // Some time after a request was refused, no quota may have a reservation for it.
  void CheckRefused();
  // A fault happened. A replica may be unable to repair a status for a while.
  void OnTrouble() { OnTroubleUntil(timeline_.Now()); }
  void OnTroubleUntil(base::TimePoint end) { calm_since_ = std::max(calm_since_, end); }
  // The server was restored to an earlier state, or a watch shows nothing because of that.
  void OnPutBack();
  // A watch shows nothing for long. Its replica may not have seen objects that are older than a
  // quota.
  void OnSilent(bool silent) { silent_ = silent; }
  // All replicas have seen the last change of a class.
  void OnClassesShown(bool shown);
  // All replicas have seen the last change of a namespace's labels, and of a ClusterQuota's spec.
  void OnTreeShown(bool shown);
  // An object whose size is no amount is stored without an admission.
  void OnUnreadable(const Thing& thing);
  // The replicas that believe at this moment that they lead, including stopped ones.
  void OnLeaders(const std::vector<const Replica*>& leaders);

  // When the present leader began to lead; nullopt if there is none.
  [[nodiscard]] std::optional<base::TimePoint> led_since() const { return led_since_; }
  [[nodiscard]] base::TimePoint last_event() const { return last_event_; }
  void Touch() { last_event_ = timeline_.Now(); }
  // At the end of a quiet time: the status is the truth.
  void CheckTruth();
  // The other fields in the status of a ClusterQuota: its place in the tree, and the free amounts.
  void CheckPlaces();
  // From now on each call that allows a creation must have reserved for it in each quota of all
  // quota APIs, in an entry that names the object.
  void ExpectReserved() { all_reserved_ = true; }
  // From now on no status may be written.
  void ExpectSilence() { silence_ = true; }

 private:
  // From an admission to the store of the object, including repeated calls and conflicts.
  static constexpr base::Duration kAdmissionLasts = std::chrono::seconds(15);

  // Times in which a limit may be exceeded.
  struct Excuses {
    std::vector<std::pair<base::TimePoint, base::TimePoint>> closed;
    std::optional<base::TimePoint> since;  // open
  };
  // What a parent keeps free for a quota since a moment: at least `least`, at most `most`.
  struct Promise {
    base::TimePoint since;
    Amounts least;
    Amounts most;
  };
  // The enforced limits of a quota, and when they may be exceeded.
  struct Limits {
    std::vector<std::pair<base::TimePoint, Amounts>> hard;  // status.hard, since when
    Excuses excuses;
    Excuses by_class;               // for the names that may be unknown
    Amounts kept;                   // of unknown names: at least the last known value
    std::vector<Promise> promises;  // of the parent to this ClusterQuota
    std::string parent;             // of a ClusterQuota, since the first of these promises
    Amounts guaranteed;             // under that parent, as all replicas have seen it
  };
  // May raise `used` beyond the truth for a while.
  struct Charged {
    base::TimePoint at;
    std::string quota_uid;  // of an external charge; else ""
    std::string replica;    // "" of an external charge
    Thing before;
    Thing after;          // of an external charge: it has a uid if the charge is for an object
    Amounts amount;       // of an external charge
    bool closed = false;  // it was refused, so the next call may add the same again
    // Quotas that another replica has lowered since. For them this charge does not cover a call
    // about another version.
    std::set<std::string> lowered;
  };

  // Calls about one object.
  struct Asked {
    int open = 0;
    bool allowed = false;  // at least one call
    base::TimePoint refused{};
  };

  [[nodiscard]] std::string At(const std::string& what) const;
  void Excuse(const StoredQuota& quota) { Open(limits_[quota.uid].excuses); }
  void Open(Excuses& excuses);
  void Settle(Excuses& excuses, bool covers);
  void EndExcuses();
  // The list of reservations of the quota; null if it is not valid.
  [[nodiscard]] std::shared_ptr<const accounting::ReservationList> ListIn(
      const StoredQuota& quota) const;
  [[nodiscard]] Amounts ReservedBeyond(const StoredQuota& quota) const;
  [[nodiscard]] Amounts ChargedBeyond(const StoredQuota& quota) const;
  [[nodiscard]] bool CoversTruth(const StoredQuota& quota, const Amounts& truth) const;
  [[nodiscard]] bool IsExcused(const Excuses& excuses) const;
  [[nodiscard]] bool IsExcused(const Limits& limits) const { return IsExcused(limits.excuses); }
  [[nodiscard]] bool IsExcused(const Limits& limits, const std::string& name) const;
  [[nodiscard]] static bool WasExcused(const Limits& limits, base::TimePoint since);
  [[nodiscard]] std::optional<std::int64_t> HighestLimit(const Limits& limits,
                                                         const std::string& name) const;
  // The usage of this name may be unknown.
  [[nodiscard]] bool MayBeUnknown(const std::string& name) const {
    return IsSaidByClasses(name) || (unread_objects_ && name == kStorage);
  }
  void CheckLimits(const Thing* before, const Thing& after);
  void CheckCovered();
  void CheckCharged(const StoredQuota& before, const StoredQuota& after);
  void NoteLowered(const StoredQuota& before, const StoredQuota& after);
  [[nodiscard]] bool IsCalm(base::TimePoint since) const;
  void NoteAnswer(const Thing* before, const Thing& after, const admission::Answer& answer);
  void NoteUnreserved(const Thing& after);
  void CheckAllReserved(const Thing& after);
  void CheckLaterFormat(const StoredQuota& before, const StoredQuota& after);
  void CheckReserved(const StoredQuota& before, const StoredQuota& after);
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
  std::map<std::string, Asked> asked_;                           // by uid
  std::deque<std::pair<base::TimePoint, std::string>> refused_;  // when, and the uid
  std::set<std::string> reserving_;  // lists of reservations that admission has sent
  std::vector<std::pair<base::TimePoint, Thing>> gone_;  // earlier states of objects, and their end
  base::TimePoint last_event_{};
  base::TimePoint calm_since_{};
  base::TimePoint memory_begins_{};
  struct Changed {
    base::TimePoint at{};
    bool incomplete = false;  // for some time it did not state each name
  };
  std::map<std::string, Changed> changed_;  // classes
  // For each present or deleted class, the least that some replica may believe that it states.
  Classes remembered_;
  bool classes_shown_ = true;
  base::TimePoint classes_calm_since_{};
  bool tree_shown_ = true;
  base::TimePoint tree_unseen_since_{};
  // By namespace: the quotas that reach it with their parents, and since when all replicas know it.
  struct Way {
    std::set<std::pair<std::string, std::string>> quotas;
    base::TimePoint since;
  };
  std::map<std::string, Way> ways_;
  base::TimePoint tree_calm_since_{};
  const Replica* leader_ = nullptr;
  std::optional<base::TimePoint> led_since_;
  std::map<std::string, base::TimePoint> later_since_;  // by uid: its list has a later format
  bool silence_ = false;
  bool unread_objects_ = false;  // there was one
  bool all_reserved_ = false;    // what is admitted is reserved in each quota
  bool silent_ = false;
  // Parsed lists of reservations, by text.
  mutable std::unordered_map<std::string, std::shared_ptr<const accounting::ReservationList>>
      lists_;
  // By the UID of a quota: the last list that could be read.
  std::map<std::string, std::shared_ptr<const accounting::ReservationList>> last_lists_;
};

}  // namespace simulation

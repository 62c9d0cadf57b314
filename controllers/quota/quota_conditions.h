#pragma once

// What people are to be told about a quota, and when: once for each change, not for each look.
//
// A name that is not counted now is an Obstacle. One that passes by itself within a moment is not
// worth a word, so each kind has a patience; when it is gone after it was said, that is said too.
// What was said is remembered by the quota's uid, and only while there is something to remember: a
// healthy quota costs nothing. After a restart what is wrong is said once more, what healed is not.
//
// No I/O; one thread.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/client/event_recorder.h"
#include "pkg/quota/quota.h"

namespace controllers {

// Why some names of a quota are not counted now. At most one for each resource.
struct Obstacle {
  enum class Kind {
    kPending,       // on the way, and nothing speaks against it
    kRefused,       // the server answers, but not with this resource's objects
    kSilent,        // no answer for this resource
    kUnreadable,    // an object's amounts cannot be read
    kClassMissing,  // objects use a class that does not exist
    kNotServed,     // the server has no such resource
  };
  Kind kind = Kind::kPending;
  std::string resource;            // "widgets.example.com"
  std::vector<std::string> names;  // of the quota
  std::string why;                 // what was attempted and what stood in the way
  bool operator==(const Obstacle&) const = default;
};

// What an event says, whichever object it is about.
struct Announcement {
  client::EventType type = client::EventType::kNormal;
  std::string reason;
  std::string message;
};

struct ConditionPatience {
  // Longer than a watch takes to be opened again; several attempts have failed by then. And longer
  // than it takes to create a class right after what uses it, or to replace one.
  std::chrono::seconds refused{5};
  // One resource is silent, others are not: longer than a silent watch takes to be noticed (150 s),
  // so that a server that is away is known to be before that.
  std::chrono::seconds silent{180};
  // A custom kind is often created together with the quota that limits it.
  std::chrono::seconds not_served{30};
  // After the server was away: longer than the longest pause between two attempts, so that nothing
  // is said that was not tried since.
  std::chrono::seconds after_outage{15};
  std::chrono::seconds pending{10};    // how often what is on the way is looked at
  std::chrono::seconds say_again{30};  // what was not taken
};

class QuotaConditions {
 public:
  // Says it; false if it could not be taken now.
  using Say = std::function<bool(const Announcement&)>;
  // How many quotas were told that names of a resource are "stale", "class-missing" or
  // "not-served".
  using Standings = std::map<std::pair<std::string, std::string>, std::size_t>;

  explicit QuotaConditions(ConditionPatience patience = {}) : patience_(patience) {}

  // All that stands in the way now, and the names that can never be counted. The server answers,
  // and has done so since `server_since`. Returns when to look again, if nothing else happens.
  std::optional<base::TimePoint> Look(const quota::Quota& quota,
                                      const std::vector<Obstacle>& obstacles,
                                      const std::vector<std::string>& uncountable,
                                      base::TimePoint now, base::TimePoint server_since,
                                      const Say& say);
  // Why nothing can match the quota's selector; "" if something can.
  std::optional<base::TimePoint> LookAtSelector(const quota::Quota& quota, const std::string& why,
                                                base::TimePoint now, const Say& say);
  // Whether admission refuses nothing in the quota's namespace.
  std::optional<base::TimePoint> LookAtExemption(const quota::Quota& quota, bool exempt,
                                                 base::TimePoint now, const Say& say);
  // What was said of the quota's names, and holds still. Of names that nothing is counted under,
  // and of selectors that match nothing, too.
  [[nodiscard]] std::vector<Announcement> ToldOf(const quota::Quota& quota) const;
  void Forget(const std::string& uid);
  [[nodiscard]] const Standings& Count() const { return told_; }
  [[nodiscard]] std::size_t size() const { return memories_.size(); }  // quotas remembered

 private:
  enum class Topic { kNone, kStale, kClassMissing, kNotServed };
  struct Standing {
    Topic topic = Topic::kNone;  // what it is
    base::TimePoint since{};
    Topic said = Topic::kNone;
    std::vector<std::string> names;  // said
    Announcement told = {};          // said
  };
  struct Memory {
    std::map<std::string, Standing> standings;  // by resource
    std::vector<std::string> uncountable;       // said
    std::string matches_nothing;                // said
    bool exempt = false;                        // said
    [[nodiscard]] bool empty() const {
      return standings.empty() && uncountable.empty() && matches_nothing.empty() && !exempt;
    }
  };
  using When = std::optional<base::TimePoint>;

  static Topic TopicOf(Obstacle::Kind kind);
  static std::string_view NameOf(Topic topic);
  static Announcement AnnouncementOf(Topic topic, const Obstacle& obstacle);
  [[nodiscard]] base::TimePoint DueAt(const Standing& standing, Obstacle::Kind kind,
                                      base::TimePoint server_since) const;
  When LookAt(Standing& standing, const Obstacle& obstacle, base::TimePoint now,
              base::TimePoint server_since, const Say& say);
  When Heal(Memory& memory, const quota::Quota& quota, const std::vector<Obstacle>& obstacles,
            base::TimePoint now, const Say& say);
  // One quota was told `after` of the resource, of which it was told `before`.
  void Retell(const std::string& resource, Topic before, Topic after);
  When LookAtUncountable(Memory& memory, const std::vector<std::string>& names, base::TimePoint now,
                         const Say& say) const;

  ConditionPatience patience_;
  std::unordered_map<std::string, Memory> memories_;  // by the quota's uid
  Standings told_;                                    // what these say, counted as it changes
};

// The names of `hard` under which this quota API counts nothing, whatever the server serves.
std::vector<std::string> UncountableNames(const quota::QuotaApi& api,
                                          const quota::ResourceList& hard);

// Why no object of any kind that this quota API counts can match the selector; "" if one can.
std::string WhyNothingMatches(const quota::QuotaApi& api, const quota::ScopeSelector& selector);

// Set if by this change of the status a limit came to lie below what is used: the limit fell or is
// new, or its use became known. Nothing for usage that grows beyond a limit.
std::optional<Announcement> BecameExceeded(const quota::QuotaStatus& before,
                                           const quota::QuotaStatus& after);

}  // namespace controllers

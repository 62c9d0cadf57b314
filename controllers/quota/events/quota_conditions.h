#pragma once

// Decides which events a quota gets, and when: one for each change, not one for each check.
//
// The reports are remembered by the uid of the quota, and only while something is wrong (DESIGN.md,
// "Events for users"). No I/O; one thread.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/usage/obstacle.h"
#include "pkg/base/clock.h"
#include "pkg/client/event_recorder.h"
#include "pkg/quota/quota.h"

namespace controllers {

// The content of an event.
struct Announcement {
  client::EventType type = client::EventType::kNormal;
  std::string reason;
  std::string message;
  std::string condition = {};  // the reason of the condition that says the same
  bool logged = false;         // the log says it, too: a limit above it is not in force
  bool by_any = false;         // any replica may meet it, so each that does sends it
};

// The reason of a quota that nobody enforces.
inline constexpr std::string_view kNotEnforced = "NotEnforced";

// Why a quota is not in force as its spec wants it, although its names are counted.
struct NotInForce {
  std::string reason = {};  // as of a condition Ready: see NotInForceOf(); "": it is
  std::string message = {};
};

// What is wrong with a quota until somebody changes it.
struct Flaws {
  std::vector<std::string> uncountable = {};  // names that can never be counted
  std::string matches_nothing = {};           // why nothing matches its selector; "": something can
  bool exempt = false;                        // admission refuses nothing in its namespace
  std::string unreadable = {};                // UnreadableSpec::why
  std::string unwritable = {};                // why the API server refuses to write its status
  NotInForce not_in_force = {};
  [[nodiscard]] bool empty() const {
    return uncountable.empty() && matches_nothing.empty() && !exempt && unreadable.empty() &&
           unwritable.empty() && not_in_force.reason.empty();
  }
};

struct ConditionPatience {
  // Longer than it takes to open a watch again: several attempts have failed by then. Also longer
  // than it takes to create a class right after the object that uses it, or to replace a class.
  std::chrono::seconds refused{5};
  // For one resource without an answer while others answer. Longer than it takes to notice a silent
  // watch (150 s), so that an outage of the whole server is known before.
  std::chrono::seconds silent{180};
  // A custom kind is often created together with the quota that limits it.
  std::chrono::seconds not_served{30};
  // After an outage of the server. Longer than the longest pause between two attempts, so that each
  // resource was tried again before anything is reported.
  std::chrono::seconds after_outage{15};
  // Of a quota that is not in force. Children are often created before their parent.
  std::chrono::seconds not_in_force{5};
  std::chrono::seconds pending{10};    // how often an obstacle in progress is checked
  std::chrono::seconds say_again{30};  // after a report that was not accepted
};

class QuotaConditions {
 public:
  // When to check again if nothing else happens; nullopt: not at all.
  using When = std::optional<base::TimePoint>;
  // Sends the event. False if it cannot be accepted now.
  using Say = std::function<bool(const Announcement&)>;
  // How many quotas have an event that names of a resource are "stale", "class-missing" or
  // "not-served".
  using Standings = std::map<std::pair<std::string, std::string>, std::size_t>;

  explicit QuotaConditions(ConditionPatience patience = {}) : patience_(patience) {}

  // `obstacles` and `flaws` are complete. The server has answered since `server_since`.
  When Look(const quota::Quota& quota, const std::vector<Obstacle>& obstacles, const Flaws& flaws,
            base::TimePoint now, base::TimePoint server_since, const Say& say);
  // The events about the names of the quota that still hold. Includes names under which nothing is
  // counted, and selectors that match nothing.
  [[nodiscard]] std::vector<Announcement> ToldOf(const quota::Quota& quota) const;
  void Forget(const std::string& uid);
  [[nodiscard]] const Standings& Count() const { return told_; }
  // number of remembered quotas
  [[nodiscard]] std::size_t size() const { return memories_.size(); }

 private:
  struct Standing {
    std::string_view topic;  // of the current obstacle, as in Standings; "": it is in progress
    base::TimePoint since{};
    std::string_view said;           // the topic of the last event; "": there was none
    std::vector<std::string> names;  // in the last event
    Announcement told = {};          // the last event
  };
  struct Memory {
    std::map<std::string, Standing> standings;  // by resource
    Flaws flaws;                                // reported
    std::string not_in_force;                   // the reason now
    base::TimePoint not_in_force_since{};
    [[nodiscard]] bool empty() const {
      return standings.empty() && flaws.empty() && not_in_force.empty();
    }
  };
  When LookAt(Standing& standing, const Obstacle& obstacle, base::TimePoint now,
              base::TimePoint server_since, const Say& say);
  When Heal(Memory& memory, const quota::Quota& quota, const std::vector<Obstacle>& obstacles,
            base::TimePoint now, const Say& say);
  static When LookAtWrites(Memory& memory, const std::string& unwritable, When later,
                           const Say& say);
  When LookAtForce(Memory& memory, const NotInForce& now_is, base::TimePoint now, const Say& say);
  // Updates the statistics: the topic that one quota was told of the resource changed from `before`
  // to `after`.
  void Retell(const std::string& resource, std::string_view before, std::string_view after);

  ConditionPatience patience_;
  // By the quota's uid. Ordered, like all tables of quotas: a hash table that grows would block the
  // event loop for too long.
  std::map<std::string, Memory> memories_;
  Standings told_;  // statistics of `memories_`
};

// Why no object of any kind that this quota API counts can match the selector; "" if one can.
std::string WhyNothingMatches(const quota::QuotaApi& api, const quota::ScopeSelector& selector);

// The part of a condition Ready that QuotaConditions reports: the quota is not enforced, or has not
// its place in the tree, or not its guarantee. Other reasons have events of their own.
NotInForce NotInForceOf(const json::Value* conditions);

// What happens to a creation that exceeds the quota.
std::string_view WhenFull(const quota::Quota& quota);

// Set if a change of the status moved a limit below the usage: the limit fell or is new, or its
// usage became known. Not set for usage that grows beyond a limit.
std::optional<Announcement> BecameExceeded(const quota::QuotaStatus& before,
                                           const quota::Quota& quota);

}  // namespace controllers

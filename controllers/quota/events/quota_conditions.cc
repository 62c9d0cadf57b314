#include "controllers/quota/events/quota_conditions.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "controllers/quota/events/status_conditions.h"
#include "pkg/base/text.h"

namespace controllers {
namespace {

using client::EventType;

std::string Are(const std::vector<std::string>& names) {
  return base::Join(names, ", ") + (names.size() == 1 ? " is" : " are");
}

// A quota can have tens of thousands of names, so they are not searched one by one.
std::set<std::string_view> SetOf(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

bool Contains(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  return std::ranges::includes(SetOf(all), SetOf(some));
}

// Of the obstacle's event, as in QuotaConditions::Standings; "" for an obstacle in progress.
std::string_view TopicOf(Obstacle::Kind kind) {
  if (kind == Obstacle::Kind::kPending) return "";
  if (kind == Obstacle::Kind::kClassMissing) return "class-missing";
  return kind == Obstacle::Kind::kNotServed ? "not-served" : "stale";
}

std::string StaleCondition(Obstacle::Kind kind) {
  if (kind == Obstacle::Kind::kUnreadable) return "ObjectUnreadable";
  if (kind == Obstacle::Kind::kForbidden) return "ListForbidden";
  return kind == Obstacle::Kind::kSilent ? "NoAnswer" : "ListFailed";
}

// Some of the names may have been counted before.
Announcement HeldOut(const Obstacle& obstacle) {
  std::vector<std::string> counted = obstacle.names;
  std::erase_if(counted, [held_out = SetOf(obstacle.held_out)](const std::string& name) {
    return held_out.contains(name);
  });
  std::string text = Are(obstacle.held_out) + " not in force until counted for the first time";
  if (!counted.empty())
    text += "; " + Are(counted) + " stale, status.used keeps what was last known";
  return {EventType::kWarning, "QuotaStale", text + ": " + obstacle.why,
          StaleCondition(obstacle.kind)};
}

Announcement AnnouncementOf(const Obstacle& obstacle) {
  const std::string are = Are(obstacle.names);
  if (obstacle.kind == Obstacle::Kind::kNotServed) {
    return {EventType::kWarning, "ResourceNotServed",
            are + " not counted until the API server serves " + obstacle.resource +
                " as a namespaced resource that can be listed and watched",
            "KindNotServed"};
  }
  if (!obstacle.held_out.empty()) return HeldOut(obstacle);
  const bool no_class = obstacle.kind == Obstacle::Kind::kClassMissing;
  std::string text = are + (no_class ? " not known" : " stale");
  text += ", status.used keeps what was last known";
  if (obstacle.in_part) text = are + " counted only as far as objects can be read";
  text += ": " + obstacle.why;
  if (no_class) return {EventType::kWarning, "ClassNotFound", std::move(text), "ClassNotFound"};
  return {EventType::kWarning, "QuotaStale", std::move(text), StaleCondition(obstacle.kind)};
}

Announcement UnknownNames(const std::vector<std::string>& names) {
  return {EventType::kWarning, "UnknownResourceName",
          "nothing is counted under " + base::Join(names, ", ") + ": such a limit has no effect",
          "UnknownResourceName"};
}

Announcement NotEnforced(const std::string& ns) {
  return {EventType::kWarning, "QuotaNotEnforced",
          "this quota is counted, but nothing is refused: namespace " + ns +
              " is exempt, by --exempt-namespaces, --exempt-namespace-selector or as "
              "quota-controller-manager's own"};
}

Announcement MatchesNothing(const std::string& why) {
  return {EventType::kWarning, "ScopeMatchesNothing",
          "no object counts for this quota, it limits nothing: " + why, "ScopeMatchesNothing"};
}

Announcement UnreadableSpec(const quota::Quota& quota) {
  const quota::UnreadableSpec& unreadable = quota.unreadable;
  std::string text = unreadable.why + "; what can be read is enforced";
  if (!unreadable.names.empty()) {
    text += ", the usage of " + base::Join(unreadable.names, ", ") + " is unknown";
    if (quota::MayRefuse(quota)) text += ", and requests that need it are refused";
  }
  return {EventType::kWarning, "QuotaUnreadable", std::move(text), "SpecUnreadable"};
}

// `why`: the API server refuses to write the status; "": it is written again.
Announcement WriteEvent(const std::string& why) {
  const bool again = why.empty();
  return {.type = again ? EventType::kNormal : EventType::kWarning,
          .reason = again ? "QuotaHealed" : "StatusRefused",
          .message = again ? "the status of the quota is written again"
                           : "the API server refuses to write the status of this quota, so its "
                             "usage is stale, and what needs it may be refused: " +
                                 why,
          .by_any = true};
}

// The reasons that NotInForceOf() returns, and what an event adds to the message of the condition.
struct ForceReason {
  std::string_view reason;
  std::string_view effect;
  std::string_view healed;
};
constexpr std::array kForceReasons{
    ForceReason{kNotEnforced, "", "is enforced again"},
    ForceReason{"ParentNotFound", "; until there is one, only its own limits hold",
                "has its place in the tree again"},
    ForceReason{"ParentCycle", "; until then only its own limits hold",
                "has its place in the tree again"},
    ForceReason{"GuaranteedExceedsParent", "", "has what is guaranteed to it again"},
};

const ForceReason* FindForceReason(std::string_view reason) {
  const auto* const found = std::ranges::find(kForceReasons, reason, &ForceReason::reason);
  return found == kForceReasons.end() ? nullptr : found;
}

Announcement ForceEvent(const std::string& before, const NotInForce& now_is) {
  if (now_is.reason.empty()) {
    return {EventType::kNormal, "QuotaHealed",
            "the quota " + std::string(FindForceReason(before)->healed), "", true};
  }
  return {EventType::kWarning, now_is.reason,
          now_is.message + std::string(FindForceReason(now_is.reason)->effect), now_is.reason,
          true};
}

// Reports what is not in `said` yet. False: some event was not accepted.
bool SayFlaws(Flaws& said, const quota::Quota& quota, const Flaws& flaws,
              const QuotaConditions::Say& say) {
  const std::vector<std::string>& names = flaws.uncountable;
  const bool counted = Contains(said.uncountable, names) || say(UnknownNames(names));
  if (counted) said.uncountable = names;
  const std::string& why = flaws.matches_nothing;
  const bool matched = why.empty() || said.matches_nothing == why || say(MatchesNothing(why));
  if (matched) said.matches_nothing = why;
  const std::string& unread = flaws.unreadable;
  const bool read = unread.empty() || said.unreadable == unread || say(UnreadableSpec(quota));
  if (read) said.unreadable = unread;
  const bool all = counted && matched && read;
  if (!flaws.exempt) return all;
  said.exempt = said.exempt || say(NotEnforced(quota.key.ns));
  return all && said.exempt;
}

}  // namespace

QuotaConditions::When QuotaConditions::Look(const quota::Quota& quota,
                                            const std::vector<Obstacle>& obstacles,
                                            const Flaws& flaws, base::TimePoint now,
                                            base::TimePoint server_since, const Say& say) {
  const bool well = obstacles.empty() && flaws.empty();
  if (well && !memories_.contains(quota.uid)) return std::nullopt;
  Memory& memory = memories_[quota.uid];
  When again = Heal(memory, quota, obstacles, now, say);
  const auto sooner = [&](When other) {
    if (other) again = std::min(again.value_or(*other), *other);
  };
  for (const Obstacle& obstacle : obstacles) {
    Standing& standing = memory.standings[obstacle.resource];
    sooner(LookAt(standing, obstacle, now, server_since, say));
  }
  if (!SayFlaws(memory.flaws, quota, flaws, say)) sooner(now + patience_.say_again);
  sooner(LookAtWrites(memory, flaws.unwritable, now + patience_.say_again, say));
  sooner(LookAtForce(memory, flaws.not_in_force, now, say));
  if (memory.empty()) memories_.erase(quota.uid);
  return again;
}

QuotaConditions::When QuotaConditions::LookAt(Standing& standing, const Obstacle& obstacle,
                                              base::TimePoint now, base::TimePoint server_since,
                                              const Say& say) {
  const std::string_view topic = TopicOf(obstacle.kind);
  if (standing.topic != topic) standing.since = now;
  standing.topic = topic;
  if (topic.empty()) return now + patience_.pending;
  if (standing.said == topic && Contains(standing.names, obstacle.names)) return std::nullopt;
  if (obstacle.kind != Obstacle::Kind::kUnreadable) {
    std::chrono::seconds patience = patience_.refused;
    if (obstacle.kind == Obstacle::Kind::kSilent) patience = patience_.silent;
    if (obstacle.kind == Obstacle::Kind::kNotServed) patience = patience_.not_served;
    const base::TimePoint due = std::max(std::max(standing.since, server_since) + patience,
                                         server_since + patience_.after_outage);
    if (due > now) return due;
  }
  Announcement announcement = AnnouncementOf(obstacle);
  if (!say(announcement)) return now + patience_.say_again;
  Retell(obstacle.resource, std::exchange(standing.said, topic), topic);
  standing.told = std::move(announcement);
  standing.names = obstacle.names;
  return std::nullopt;
}

// The message of a policy may change with each write, so only the first one is reported. `later`:
// when to try again if the event is not accepted.
QuotaConditions::When QuotaConditions::LookAtWrites(Memory& memory, const std::string& unwritable,
                                                    When later, const Say& say) {
  std::string& said = memory.flaws.unwritable;
  if (said.empty() == unwritable.empty()) return std::nullopt;
  if (!say(WriteEvent(unwritable))) return later;
  said = unwritable;
  return std::nullopt;
}

// The message may change with each object that is created, so only another reason is reported.
QuotaConditions::When QuotaConditions::LookAtForce(Memory& memory, const NotInForce& now_is,
                                                   base::TimePoint now, const Say& say) {
  if (memory.not_in_force != now_is.reason) memory.not_in_force_since = now;
  memory.not_in_force = now_is.reason;
  std::string& said = memory.flaws.not_in_force.reason;
  if (said == now_is.reason) return std::nullopt;
  const base::TimePoint due = memory.not_in_force_since + patience_.not_in_force;
  if (!now_is.reason.empty() && due > now) return due;
  if (!say(ForceEvent(said, now_is))) return now + patience_.say_again;
  said = now_is.reason;
  return std::nullopt;
}

QuotaConditions::When QuotaConditions::Heal(Memory& memory, const quota::Quota& quota,
                                            const std::vector<Obstacle>& obstacles,
                                            base::TimePoint now, const Say& say) {
  When again;
  std::set<std::string_view> standing;
  for (const Obstacle& obstacle : obstacles) standing.insert(obstacle.resource);
  for (auto entry = memory.standings.begin(); entry != memory.standings.end();) {
    const auto here = entry++;
    if (standing.contains(here->first)) continue;
    std::vector<std::string>& names = here->second.names;
    // No report for names that the quota no longer has.
    std::erase_if(names, [&](const std::string& name) { return !quota.hard.Find(name); });
    const bool said =
        names.empty() || say({EventType::kNormal, "QuotaHealed", Are(names) + " counted again"});
    if (said) {
      Retell(here->first, here->second.said, "");
      memory.standings.erase(here);
    } else {
      again = now + patience_.say_again;
    }
  }
  return again;
}

std::vector<Announcement> QuotaConditions::ToldOf(const quota::Quota& quota) const {
  std::vector<Announcement> told;
  const auto found = memories_.find(quota.uid);
  if (found == memories_.end()) return told;
  for (const auto& [resource, standing] : found->second.standings) {
    if (!standing.said.empty()) told.push_back(standing.told);
  }
  const Flaws& flaws = found->second.flaws;
  if (!flaws.unreadable.empty()) told.insert(told.begin(), UnreadableSpec(quota));
  if (!flaws.uncountable.empty()) told.push_back(UnknownNames(flaws.uncountable));
  if (!flaws.matches_nothing.empty()) told.push_back(MatchesNothing(flaws.matches_nothing));
  return told;
}

void QuotaConditions::Forget(const std::string& uid) {
  const auto memory = memories_.find(uid);
  if (memory == memories_.end()) return;
  for (const auto& [resource, standing] : memory->second.standings) {
    Retell(resource, standing.said, "");
  }
  memories_.erase(memory);
}

void QuotaConditions::Retell(const std::string& resource, std::string_view before,
                             std::string_view after) {
  if (!after.empty()) ++told_[{resource, std::string(after)}];
  if (before.empty()) return;
  const auto told = told_.find({resource, std::string(before)});
  if (--told->second == 0) told_.erase(told);
}

std::string WhyNothingMatches(const quota::QuotaApi& api, const quota::ScopeSelector& selector) {
  std::vector<std::string> scopes;
  for (const quota::ScopeRequirement& requirement : selector) {
    if (requirement.scope.empty()) {
      return "an expression of its scope selector names no scope, or an operator that there is not";
    }
    const bool none = requirement.op == quota::ScopeOperator::kIn && requirement.values.empty();
    if (none) return "its scope selector has In " + requirement.scope + " without a value";
    if (!base::IsOneOf(requirement.scope, scopes)) scopes.push_back(requirement.scope);
  }
  const bool some = std::ranges::any_of(api.evaluators, [&](const quota::Evaluator& evaluator) {
    return Contains(evaluator.scopes, scopes);
  });
  if (some || scopes.empty()) return "";
  return scopes.size() == 1 ? "there is no scope " + scopes[0]
                            : "no kind has all of the scopes " + base::Join(scopes, ", ");
}

NotInForce NotInForceOf(const json::Value* conditions) {
  for (const Problem& problem : ProblemsIn(conditions)) {
    if (problem.condition != "Ready" || FindForceReason(problem.reason) == nullptr) continue;
    return {std::string(problem.reason), std::string(problem.message)};
  }
  return {};
}

std::string_view WhenFull(const quota::Quota& quota) {
  using Enforcement = quota::ClusterSpec::Enforcement;
  const auto mode = quota.cluster ? quota.cluster->enforcement : Enforcement::kDeny;
  if (mode == Enforcement::kWarn) return "what exceeds it is admitted with a warning";
  if (mode == Enforcement::kAudit) return "what exceeds it is admitted, and noted in the audit log";
  return "nothing more can be created";
}

std::optional<Announcement> BecameExceeded(const quota::QuotaStatus& before,
                                           const quota::Quota& quota) {
  const quota::QuotaStatus& after = quota.status;
  std::string text;
  for (const auto& [name, limit] : after.hard) {
    const quota::Quantity* used = after.used.Find(name);
    if (used == nullptr || *used <= limit) continue;
    const quota::Quantity* old = before.hard.Find(name);
    const bool lowered = old == nullptr || limit < *old || before.used.Find(name) == nullptr;
    if (!lowered) continue;
    text += (text.empty() ? "" : "; ") + name + ": used " + used->ToString() + ", hard " +
            limit.ToString();
  }
  if (text.empty()) return std::nullopt;
  return Announcement{
      EventType::kWarning, "QuotaExceeded",
      "the limit lies below what is used, " + std::string(WhenFull(quota)) + ": " + text};
}

}  // namespace controllers

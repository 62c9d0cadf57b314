#include "pkg/quota/decision.h"

#include <algorithm>
#include <utility>

#include "pkg/quota/cluster/guarantee.h"

namespace quota {
namespace {

using Names = std::vector<std::string>;
using Enforcement = ClusterSpec::Enforcement;

ResourceList Only(const ResourceList& list, const Names& names) {
  ResourceList kept;
  kept.Reserve(names.size());
  for (const std::string& name : names) {
    if (const Quantity* amount = list.Find(name)) kept.Set(name, *amount);
  }
  return kept;
}

std::string Join(const Names& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ",").append(name);
  return text;
}

Verdict Refuse(std::string message) {
  return {.kind = Verdict::Kind::kRefused, .code = 403, .message = std::move(message), .needs = {}};
}

Verdict RefuseBy(const Quota& quota, std::string message, Names exceeded = {}) {
  Verdict verdict = Refuse(std::move(message));
  verdict.refuser = Refuser{quota.key.name, quota.uid, std::move(exceeded)};
  return verdict;
}

Enforcement ModeOf(const Quota& quota) {
  return quota.cluster ? quota.cluster->enforcement : Enforcement::kDeny;
}

// "quota: compute", "cluster quota: engineering (above team-a)".
std::string Title(const Standing& standing) {
  const std::string& name = standing.quota->key.name;
  if (!standing.quota->cluster) return "quota: " + name;
  const std::string& above = standing.tree.above;
  return "cluster quota: " + name + (above.empty() ? "" : " (above " + above + ")");
}

// The names of status.hard that the evaluator owns; none if the quota does not match the object.
Names NamesAtStake(const Request& request, const Quota& quota) {
  const Evaluator& evaluator = *request.evaluator;
  Names names = OwnedNames(evaluator, quota.status.hard, request.classes);
  const bool concerns =
      !names.empty() && MatchesObject(quota.selector, request.after, evaluator.scopes);
  return concerns ? names : Names();
}

bool IsUnknown(const Request& request, const std::string& name) {
  if (!request.unknown) return false;
  const Names& unknown = request.unknown->names;
  if (!unknown.empty()) return std::ranges::find(unknown, name) != unknown.end();
  return request.evaluator->classes && request.evaluator->classes->concerns(name);
}

bool AnyUnknown(const Request& request, const Names& names) {
  return std::ranges::any_of(names, [&](const auto& name) { return IsUnknown(request, name); });
}

// A quota that applies to the request: it matches the object and limits a name of its kind.
struct Concern {
  std::size_t standing = 0;
  Names names;  // of status.hard, those that the evaluator owns
};

std::vector<Concern> ConcernsOf(const Request& request, const std::vector<Standing>& standings,
                                const std::vector<std::size_t>* by) {
  std::vector<Concern> concerns;
  const std::size_t count = by != nullptr ? by->size() : standings.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = by != nullptr ? (*by)[i] : i;
    if (!standings[index].tree.reaches) continue;
    Names names = NamesAtStake(request, *standings[index].quota);
    if (!names.empty()) concerns.push_back({index, std::move(names)});
  }
  return concerns;
}

// Why amounts cannot be compared yet; "" if they can.
std::string Objection(const Request& request, const Standing& standing, const Names& names) {
  if (request.evaluator->guard.constraints && request.object != nullptr) {
    const std::string missing = request.evaluator->guard.constraints(*request.object, names);
    if (!missing.empty()) return "failed " + Title(standing) + ": " + missing;
  }
  if (AnyUnknown(request, names)) {
    return "failed " + Title(standing) + ": " + request.unknown->why.message;
  }
  const ResourceList& used = standing.quota->status.used;
  const bool unknown =
      std::ranges::any_of(names, [&](const auto& name) { return used.Find(name) == nullptr; });
  if (unknown) return "status unknown for " + Title(standing) + ", resources: " + Join(names);
  return "";
}

std::string NegativeUsage(const ResourceList& usage) {
  Names names;
  for (const auto& [name, amount] : usage) {
    if (amount.Sign() < 0) names.push_back(name);
  }
  return names.empty() ? "" : "quota usage is negative for resource(s): " + Join(names);
}

// The part of the object's usage that this quota counts.
ResourceList UsageFor(const Quota& quota, const Subject& subject, const Request& request) {
  const std::vector<std::string>& scopes = request.evaluator->scopes;
  if (!CountsParts(quota.selector, subject)) return subject.usage;
  return UsageOfParts(quota.selector, subject, scopes);
}

// The same, under these names.
ResourceList UsageAtStake(const Quota& quota, const Request& request, const Names& names) {
  const Subject& subject = request.after;
  if (!CountsParts(quota.selector, subject)) return Only(subject.usage, names);
  return Only(UsageFor(quota, subject, request), names);
}

// The part of the old object's usage that this quota counts; empty if it did not match that.
ResourceList StoredUsage(const Request& request, const Quota& quota) {
  const bool matched =
      request.before && MatchesObject(quota.selector, *request.before, request.evaluator->scopes);
  return matched ? UsageFor(quota, *request.before, request) : ResourceList();
}

// A quota that is only tried admits what it has no count of: there is nothing to add to.
ResourceList Countable(const Quota& quota, ResourceList amounts) {
  if (ModeOf(quota) == Enforcement::kDeny) return amounts;
  ResourceList countable;
  for (const auto& [name, amount] : amounts) {
    if (quota.status.used.Find(name) != nullptr) countable.Set(name, amount);
  }
  return countable;
}

std::vector<Need> NeedsOf(const Request& request, const std::vector<Standing>& standings,
                          const std::vector<Concern>& concerns) {
  std::vector<Need> needs;
  for (const auto& [index, names] : concerns) {
    const Standing& standing = standings[index];
    ResourceList absolute =
        Countable(*standing.quota, UsageAtStake(*standing.quota, request, names));
    ResourceList stored = StoredUsage(request, *standing.quota);
    ResourceList has = standing.answer != nullptr ? Larger(stored, *standing.answer) : stored;
    if (Excess(absolute, has).empty()) continue;
    if (standing.reserved) has = Larger(has, standing.reserved(stored));
    ResourceList amount = Excess(absolute, has);
    needs.push_back({index, std::move(amount), std::move(absolute), std::move(stored)});
  }
  return needs;
}

// What `used` of quotas with a parent has for the object already: a call that is repeated, or is
// decided again because another quota could not be written.
Had HadOf(const Request& request, const std::vector<Standing>& standings,
          const std::vector<Concern>& concerns) {
  Had had;
  for (const auto& [index, names] : concerns) {
    const Standing& standing = standings[index];
    if (!standing.tree.parent || (standing.answer == nullptr && !standing.reserved)) continue;
    const ResourceList stored = StoredUsage(request, *standing.quota);
    ResourceList has = standing.answer != nullptr ? Larger(stored, *standing.answer) : stored;
    if (standing.reserved) has = Larger(has, standing.reserved(stored));
    had[index] = Excess(Smaller(UsageAtStake(*standing.quota, request, names), has), stored);
  }
  return had;
}

// What a refusal says of the names that do not fit.
struct Exceeded {
  ResourceList requested;
  ResourceList used;
  ResourceList limited;
  ResourceList guaranteed;  // to others
};

std::string Text(const Standing& standing, const Exceeded& exceeded) {
  std::string text =
      "exceeded " + Title(standing) + ", requested: " + exceeded.requested.ToString() +
      ", used: " + exceeded.used.ToString() + ", limited: " + exceeded.limited.ToString();
  if (exceeded.guaranteed.empty()) return text;
  return text + ", guaranteed to others: " + exceeded.guaranteed.ToString();
}

// A refusal, unless it fits. Only names whose usage increases are compared: a quota that is
// exceeded under other names does not refuse.
std::optional<Verdict> RefuseExceeding(const std::vector<Standing>& standings,
                                       const std::vector<Need>& needs, const Had& had,
                                       const Need& need) {
  const Standing& standing = standings[need.standing];
  Exceeded exceeded;
  for (const auto& [name, grown] : need.amount) {
    const Quantity limit = standing.quota->status.hard.Get(name);
    const Quantity now = standing.used.Get(name);
    const Quantity held = HeldBack(standings, needs, had, need, name);
    const base::Result<Quantity> then = now.Add(grown);
    const base::Result<Quantity> weight = then ? then->Add(held) : then;
    if (weight && *weight <= limit) continue;
    exceeded.requested.Set(name, grown);
    exceeded.used.Set(name, now);
    exceeded.limited.Set(name, limit);
    if (!held.IsZero()) exceeded.guaranteed.Set(name, held);
  }
  if (exceeded.requested.empty()) return std::nullopt;
  Names names;
  for (const auto& [name, grown] : exceeded.requested) names.push_back(name);
  return RefuseBy(*standing.quota, Text(standing, exceeded), std::move(names));
}

// The refusals of a request. One by a quota that is only tried is noted, once for each quota.
class Refusals {
 public:
  // True if the request is refused.
  bool Take(const Quota& quota, Verdict refusal) {
    const Enforcement mode = ModeOf(quota);
    if (mode == Enforcement::kDeny) {
      refusal_ = std::move(refusal);
      return true;
    }
    const bool noted = std::ranges::find(noted_, &quota) != noted_.end();
    if (noted) return false;
    noted_.push_back(&quota);
    Refuser refuser = refusal.refuser.value_or(Refuser{quota.key.name, quota.uid});
    would_refuse_.push_back({mode, std::move(refusal.message), std::move(refuser)});
    return false;
  }
  Verdict Refusal() && { return std::move(refusal_); }
  std::vector<WouldRefuse> WouldRefuseBy() && { return std::move(would_refuse_); }

 private:
  Verdict refusal_;
  std::vector<WouldRefuse> would_refuse_;
  std::vector<const Quota*> noted_;
};

// True if the request is refused.
bool AnyRefuses(const Request& request, const std::vector<Standing>& standings,
                const std::vector<Concern>& concerns, const std::vector<Need>& needs,
                Refusals& refusals) {
  for (const auto& [index, names] : concerns) {
    const Quota& quota = *standings[index].quota;
    std::string objection = Objection(request, standings[index], names);
    if (objection.empty()) continue;
    if (refusals.Take(quota, RefuseBy(quota, std::move(objection)))) return true;
  }
  const std::string negative = NegativeUsage(request.after.usage);
  for (const auto& [index, names] : concerns) {
    if (negative.empty()) break;
    if (refusals.Take(*standings[index].quota, Refuse(negative))) return true;
  }
  const Had had = HadOf(request, standings, concerns);
  return std::ranges::any_of(needs, [&](const Need& need) {
    auto refusal = RefuseExceeding(standings, needs, had, need);
    return refusal && refusals.Take(*standings[need.standing].quota, *std::move(refusal));
  });
}

}  // namespace

Verdict Decide(const Request& request, const std::vector<Standing>& standings,
               const std::vector<std::size_t>* by) {
  if (request.outdated) return {};
  const std::vector<Concern> concerns = ConcernsOf(request, standings, by);
  std::vector<Need> needs = NeedsOf(request, standings, concerns);
  // Other violations existed before the request.
  if (request.before && needs.empty() && !request.unknown) return {};
  Refusals refusals;
  if (AnyRefuses(request, standings, concerns, needs, refusals)) {
    return std::move(refusals).Refusal();
  }
  return {.kind = needs.empty() ? Verdict::Kind::kFree : Verdict::Kind::kFits,
          .message = "",
          .needs = std::move(needs),
          .would_refuse = std::move(refusals).WouldRefuseBy()};
}

bool DependsOnUnknown(const Request& request, const std::vector<const Quota*>& quotas) {
  return request.unknown && std::ranges::any_of(quotas, [&](const Quota* quota) {
           return AnyUnknown(request, NamesAtStake(request, *quota));
         });
}

base::Result<void> Apply(const std::vector<Need>& needs, std::vector<Standing>& standings) {
  for (const Need& need : needs) {
    Standing& standing = standings[need.standing];
    const auto added = standing.used.Add(need.amount);
    if (!added) return added.error();
    ResourceList& promised = standing.tree.promised;
    if (!promised.empty()) promised = Excess(promised, need.amount);
  }
  return {};
}

std::vector<std::string> NearLimits(const std::vector<Need>& needs,
                                    const std::vector<Standing>& standings) {
  std::vector<std::string> warnings;
  for (const Need& need : needs) {
    const Standing& standing = standings[need.standing];
    if (ModeOf(*standing.quota) != Enforcement::kDeny) continue;
    for (const auto& [name, grown] : need.amount) {
      const Quantity limit = standing.quota->status.hard.Get(name);
      const Quantity used = standing.used.Get(name);
      const base::Result<Quantity> left = limit.Sub(used);
      const base::Result<Quantity> tenfold = left ? left->Mul(10) : left;
      if (!tenfold || *tenfold >= limit) continue;
      warnings.push_back(standing.quota->key.name + ": " + name + " " + used.ToString() + " of " +
                         limit.ToString());
    }
  }
  return warnings;
}

}  // namespace quota

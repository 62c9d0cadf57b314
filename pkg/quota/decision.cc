#include "pkg/quota/decision.h"

#include <algorithm>
#include <utility>

namespace quota {
namespace {

using Names = std::vector<std::string>;

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

std::vector<Concern> ConcernsOf(const Request& request, const std::vector<Standing>& standings) {
  std::vector<Concern> concerns;
  for (std::size_t i = 0; i < standings.size(); ++i) {
    Names names = NamesAtStake(request, *standings[i].quota);
    if (!names.empty()) concerns.push_back({i, std::move(names)});
  }
  return concerns;
}

// Why amounts cannot be compared yet; "" if they can.
std::string Objection(const Request& request, const Standing& standing, const Names& names) {
  const std::string& quota = standing.quota->key.name;
  if (request.evaluator->guard.constraints && request.object != nullptr) {
    const std::string missing = request.evaluator->guard.constraints(*request.object, names);
    if (!missing.empty()) return "failed quota: " + quota + ": " + missing;
  }
  if (AnyUnknown(request, names)) {
    return "failed quota: " + quota + ": " + request.unknown->why.message;
  }
  const ResourceList& used = standing.quota->status.used;
  const bool unknown =
      std::ranges::any_of(names, [&](const auto& name) { return used.Find(name) == nullptr; });
  if (unknown) return "status unknown for quota: " + quota + ", resources: " + Join(names);
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

std::vector<Need> NeedsOf(const Request& request, const std::vector<Standing>& standings,
                          const std::vector<Concern>& concerns) {
  std::vector<Need> needs;
  for (const auto& [index, names] : concerns) {
    const Standing& standing = standings[index];
    ResourceList absolute = UsageAtStake(*standing.quota, request, names);
    ResourceList stored = StoredUsage(request, *standing.quota);
    ResourceList has = standing.answer != nullptr ? Larger(stored, *standing.answer) : stored;
    if (Excess(absolute, has).empty()) continue;
    if (standing.reserved) has = Larger(has, standing.reserved(stored));
    ResourceList amount = Excess(absolute, has);
    needs.push_back({index, std::move(amount), std::move(absolute), std::move(stored)});
  }
  return needs;
}

// A refusal, unless it fits. Only names whose usage increases are compared: a quota that is
// exceeded under other names does not refuse.
std::optional<Verdict> RefuseExceeding(const Standing& standing, const ResourceList& amount) {
  ResourceList requested;
  ResourceList used;
  ResourceList limited;
  for (const auto& [name, grown] : amount) {
    const Quantity limit = standing.quota->status.hard.Get(name);
    const Quantity now = standing.used.Get(name);
    const base::Result<Quantity> then = now.Add(grown);
    if (then && *then <= limit) continue;
    requested.Set(name, grown);
    used.Set(name, now);
    limited.Set(name, limit);
  }
  if (requested.empty()) return std::nullopt;
  Names exceeded;
  for (const auto& [name, grown] : requested) exceeded.push_back(name);
  return RefuseBy(*standing.quota,
                  "exceeded quota: " + standing.quota->key.name +
                      ", requested: " + requested.ToString() + ", used: " + used.ToString() +
                      ", limited: " + limited.ToString(),
                  std::move(exceeded));
}

}  // namespace

Verdict Decide(const Request& request, const std::vector<Standing>& standings) {
  if (request.outdated) return {};
  const std::vector<Concern> concerns = ConcernsOf(request, standings);
  std::vector<Need> needs = NeedsOf(request, standings, concerns);
  // Other violations existed before the request.
  if (request.before && needs.empty() && !request.unknown) return {};
  for (const auto& [index, names] : concerns) {
    std::string objection = Objection(request, standings[index], names);
    if (!objection.empty()) return RefuseBy(*standings[index].quota, std::move(objection));
  }
  std::string negative = NegativeUsage(request.after.usage);
  if (!concerns.empty() && !negative.empty()) return Refuse(std::move(negative));
  for (const Need& need : needs) {
    auto refusal = RefuseExceeding(standings[need.standing], need.amount);
    if (refusal) return *std::move(refusal);
  }
  if (needs.empty()) return {};
  return {.kind = Verdict::Kind::kFits, .message = "", .needs = std::move(needs)};
}

bool DependsOnUnknown(const Request& request, const std::vector<const Quota*>& quotas) {
  return request.unknown && std::ranges::any_of(quotas, [&](const Quota* quota) {
           return AnyUnknown(request, NamesAtStake(request, *quota));
         });
}

base::Result<void> Apply(const std::vector<Need>& needs, std::vector<Standing>& standings) {
  for (const Need& need : needs) {
    const auto added = standings[need.standing].used.Add(need.amount);
    if (!added) return added.error();
  }
  return {};
}

std::vector<std::string> NearLimits(const std::vector<Need>& needs,
                                    const std::vector<Standing>& standings) {
  std::vector<std::string> warnings;
  for (const Need& need : needs) {
    const Standing& standing = standings[need.standing];
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

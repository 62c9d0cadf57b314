#include "pkg/quota/decision.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pkg/base/text.h"
#include "pkg/quota/guarantee.h"

namespace quota {
namespace {

using Names = std::vector<std::string>;
using Causes = std::vector<Cause>;
using Enforcement = ClusterSpec::Enforcement;

ResourceList Only(const ResourceList& list, const Names& names) {
  ResourceList kept;
  kept.Reserve(names.size());
  for (const std::string& name : names) {
    if (const Quantity* amount = list.Find(name)) kept.Set(name, *amount);
  }
  return kept;
}

Verdict Refuse(std::string message, Causes causes) {
  return {.kind = Verdict::Kind::kRefused,
          .code = 403,
          .message = std::move(message),
          .needs = {},
          .causes = std::move(causes)};
}

Verdict RefuseBy(const Quota& quota, std::string message, Causes causes, Names exceeded = {}) {
  Verdict verdict = Refuse(std::move(message), std::move(causes));
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

// Returns "" if they are counted. `lasting`: also if that will change by itself.
std::string WhyUncounted(const Standing& standing, const Names& names, bool lasting) {
  if (!standing.uncounted) return "";
  const Uncounted uncounted = standing.uncounted(names);
  return uncounted.lasting || !lasting ? uncounted.why : "";
}

// The names of status.hard that the evaluator owns, or may own because of classes that are not
// known; none if the quota does not match the object.
Names NamesAtStake(const Request& request, const Quota& quota) {
  const Evaluator& evaluator = *request.evaluator;
  const ResourceList& hard = quota.status.hard;
  Names names = OwnedNames(evaluator, hard, request.classes);
  const bool may_own = request.unknown && evaluator.classes && evaluator.classes->owns;
  if (may_own && request.classes == nullptr) {
    std::ranges::move(NamesOfClasses(evaluator, hard), std::back_inserter(names));
  }
  const bool concerns =
      !names.empty() && MatchesObject(quota.selector, request.after, evaluator.scopes);
  return concerns ? names : Names();
}

bool IsUnknown(const Request& request, const std::string& name) {
  if (!request.unknown) return false;
  const Names& unknown = request.unknown->names;
  if (!unknown.empty()) return std::ranges::binary_search(unknown, name);
  return request.evaluator->classes && request.evaluator->classes->concerns(name);
}

bool AnyUnknown(const Request& request, const Names& names) {
  return std::ranges::any_of(names, [&](const auto& name) { return IsUnknown(request, name); });
}

// NotCounted for the names of which this is true.
template <typename Lacks>
Causes NotCounted(const Names& names, const std::string& why, Lacks lacks) {
  Causes causes;
  for (const std::string& name : names) {
    if (lacks(name)) causes.push_back({cause::kNotCounted, name, why});
  }
  return causes;
}

// What the object lacks under each of the names.
Causes MustSpecify(const Request& request, const Names& names) {
  Causes causes;
  for (const std::string& name : names) {
    std::string missing = request.evaluator->guard.constraints(*request.object, {name});
    if (!missing.empty()) causes.push_back({cause::kMustSpecify, name, std::move(missing)});
  }
  return causes;
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
    Names names = NamesAtStake(request, *standings[index].quota);
    if (!names.empty()) concerns.push_back({index, std::move(names)});
  }
  return concerns;
}

bool LacksCount(const Request& request, const Quota& quota, const std::string& name) {
  if (quota.status.used.Find(name) != nullptr) return false;
  const auto& shares = request.evaluator->guard.shares;
  return !shares || !shares(name) || request.after.usage.Find(name) != nullptr;
}

// Returns a refusal if the quota refuses before any amounts are compared.
std::optional<Verdict> Objection(const Request& request, const Standing& standing,
                                 const Names& names) {
  const Quota& quota = *standing.quota;
  if (request.evaluator->guard.constraints && request.object != nullptr) {
    const std::string missing = request.evaluator->guard.constraints(*request.object, names);
    if (!missing.empty()) {
      return RefuseBy(quota, "failed " + Title(standing) + ": " + missing,
                      MustSpecify(request, names));
    }
  }
  if (AnyUnknown(request, names)) {
    const base::Error& why = request.unknown->why;
    Verdict refusal = RefuseBy(
        quota, "failed " + Title(standing) + ": " + why.message,
        NotCounted(names, why.message, [&](const auto& name) { return IsUnknown(request, name); }));
    if (why.Is(base::ErrorCode::kUnavailable)) refusal.code = 503;
    return refusal;
  }
  const auto lacks = [&](const auto& name) { return LacksCount(request, quota, name); };
  if (std::ranges::none_of(names, lacks)) return std::nullopt;
  const std::string why = WhyUncounted(standing, names, false);
  Causes causes = NotCounted(names, why.empty() ? "there is no count yet" : why, lacks);
  std::string text =
      "status unknown for " + Title(standing) + ", resources: " + base::Join(names, ",");
  if (!why.empty()) text += "; " + why;
  return RefuseBy(quota, std::move(text), std::move(causes));
}

std::string NegativeUsage(const ResourceList& usage) {
  Names names;
  for (const auto& [name, amount] : usage) {
    if (amount.Sign() < 0) names.push_back(name);
  }
  return names.empty() ? "" : "quota usage is negative for resource(s): " + base::Join(names, ",");
}

// The part of the object's usage that this quota counts.
ResourceList UsageFor(const Quota& quota, const Subject& subject, const Request& request) {
  const std::vector<std::string>& scopes = request.evaluator->scopes;
  if (!CountsParts(quota.selector, subject)) return subject.usage;
  return UsageOfParts(quota.selector, subject, scopes);
}

// UsageFor() of the new object, only under these names.
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

// A quota in mode Warn or Audit admits names without a count. They are dropped: there is no `used`
// to add to.
ResourceList Countable(const Quota& quota, ResourceList amounts) {
  if (ModeOf(quota) == Enforcement::kDeny) return amounts;
  ResourceList countable;
  for (const auto& [name, amount] : amounts) {
    if (quota.status.used.Find(name) != nullptr) countable.Set(name, amount);
  }
  return countable;
}

// Returns what the object may use without a new reservation: its stored usage, or the reservation
// that answers the request, whichever is larger.
ResourceList AnsweredFor(const Standing& standing, const ResourceList& stored) {
  return standing.answer != nullptr ? Larger(stored, *standing.answer) : stored;
}

// Returns what `used` already includes for the object, if its stored usage is `stored`. The
// reservation that answers an update may have started from more than `stored`, because the quota's
// scopes have changed. Then `used` does not include all of it.
ResourceList HasFor(const Standing& standing, const Request& request, const ResourceList& stored) {
  if (!standing.reserved) return AnsweredFor(standing, stored);
  return Larger(request.before ? stored : AnsweredFor(standing, stored), standing.reserved(stored));
}

std::vector<Need> NeedsOf(const Request& request, const std::vector<Standing>& standings,
                          const std::vector<Concern>& concerns) {
  std::vector<Need> needs;
  for (const auto& [index, names] : concerns) {
    const Standing& standing = standings[index];
    ResourceList absolute =
        Countable(*standing.quota, UsageAtStake(*standing.quota, request, names));
    // A quota in mode Warn or Audit admits it, and has nothing to reserve for it.
    absolute.EraseIf([](const ResourceList::Item& item) { return item.second.Sign() < 0; });
    ResourceList stored = StoredUsage(request, *standing.quota);
    ResourceList amount = Excess(absolute, HasFor(standing, request, stored));
    const bool answered = Excess(absolute, AnsweredFor(standing, stored)).empty();
    if (answered && amount.empty()) continue;
    needs.push_back({index, std::move(amount), std::move(absolute), std::move(stored)});
  }
  return needs;
}

// Returns what `used` already includes for the object beyond its stored usage. This is not empty if
// a call is repeated, or if it is decided again after the write of another quota failed.
ResourceList HadBy(const Standing& standing, const Request& request, const Names& names) {
  if (standing.answer == nullptr && !standing.reserved) return {};
  const ResourceList stored = StoredUsage(request, *standing.quota);
  const ResourceList has = HasFor(standing, request, stored);
  return Excess(Smaller(UsageAtStake(*standing.quota, request, names), has), stored);
}

// Returns what the request takes of each quota with a parent. `needs` has needs of some of the
// concerns, in the same order.
Takings TakingsOf(const Request& request, const std::vector<Standing>& standings,
                  const std::vector<Concern>& concerns, const std::vector<Need>& needs) {
  Takings takings;
  auto need = needs.begin();
  for (const auto& [index, names] : concerns) {
    const bool grows = need != needs.end() && need->standing == index;
    const ResourceList growth = grows ? (need++)->amount : ResourceList();
    const Standing& standing = standings[index];
    if (!standing.tree.parent) continue;
    takings.emplace(*standing.tree.parent, Taking{index, growth, HadBy(standing, request, names)});
  }
  return takings;
}

// The amounts that a refusal names.
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

// One for each name. The amounts have the form of Text().
Causes CausesOf(const Exceeded& exceeded) {
  Causes causes;
  for (const auto& [name, requested] : exceeded.requested) {
    const Quantity used = exceeded.used.Get(name);
    const Quantity limited = exceeded.limited.Get(name);
    const bool over = !(used.Add(requested) <= limited);
    std::string amounts = "requested: " + requested.ToString() + ", used: " + used.ToString() +
                          ", limited: " + limited.ToString();
    const Quantity* const guaranteed = exceeded.guaranteed.Find(name);
    if (guaranteed != nullptr) amounts += ", guaranteed to others: " + guaranteed->ToString();
    causes.push_back(
        {over ? cause::kQuotaExceeded : cause::kGuaranteedToOthers, name, std::move(amounts)});
  }
  return causes;
}

// Returns a refusal if the need does not fit. Compares only names whose usage grows: a quota that
// is exceeded under other names does not refuse. Growth that an earlier request has reserved is
// compared, too: the limit may have been lowered since.
std::optional<Verdict> RefuseExceeding(const std::vector<Standing>& standings,
                                       const Takings& takings, const Need& need) {
  const Standing& standing = standings[need.standing];
  Exceeded exceeded;
  for (const auto& [name, growth] : Excess(need.absolute, need.stored)) {
    const Quantity limit = standing.quota->status.hard.Get(name);
    const Quantity now = standing.used.Get(name);
    const Quantity grown = need.amount.Get(name);
    const Quantity held = HeldBack(standings, takings, need, name);
    // A saturated limit admits everything: it is at least as large as all that can be counted.
    if (now.Add(grown).Add(held) <= limit) continue;
    // If all of the growth is reserved, `used` includes it. The message shows both without that.
    exceeded.requested.Set(name, grown.IsZero() ? growth : grown);
    exceeded.used.Set(name, grown.IsZero() ? Rest(now, growth) : now);
    exceeded.limited.Set(name, limit);
    if (!held.IsZero()) exceeded.guaranteed.Set(name, held);
  }
  if (exceeded.requested.empty()) return std::nullopt;
  Names names;
  for (const auto& [name, grown] : exceeded.requested) names.push_back(name);
  std::string text = Text(standing, exceeded);
  // The stored usage may be too high: objects that were deleted meanwhile are still in it.
  const std::string why = WhyUncounted(standing, names, true);
  if (!why.empty()) text += "; " + why;
  return RefuseBy(*standing.quota, std::move(text), CausesOf(exceeded), std::move(names));
}

// Collects the refusals of a request. A quota in mode Warn or Audit does not refuse: what it would
// say is recorded, once for each quota.
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

// Returns true if the request is refused. Checks in upstream's order: what the object must specify
// and whether usage is known, then negative usage, then the limits.
bool AnyRefuses(const Request& request, const std::vector<Standing>& standings,
                const std::vector<Concern>& concerns, const std::vector<Need>& needs,
                Refusals& refusals) {
  for (const auto& [index, names] : concerns) {
    auto refusal = Objection(request, standings[index], names);
    if (refusal && refusals.Take(*standings[index].quota, *std::move(refusal))) return true;
  }
  const std::string negative = NegativeUsage(request.after.usage);
  for (const auto& [index, names] : concerns) {
    if (negative.empty()) break;
    const bool refuses = refusals.Take(*standings[index].quota,
                                       Refuse(negative, {{cause::kNegativeUsage, "", negative}}));
    if (refuses) return true;
  }
  const Takings takings = TakingsOf(request, standings, concerns, needs);
  return std::ranges::any_of(needs, [&](const Need& need) {
    auto refusal = RefuseExceeding(standings, takings, need);
    return refusal && refusals.Take(*standings[need.standing].quota, *std::move(refusal));
  });
}

}  // namespace

Verdict Decide(const Request& request, const std::vector<Standing>& standings,
               const std::vector<std::size_t>* by) {
  if (request.outdated) return {};
  const std::vector<Concern> concerns = ConcernsOf(request, standings, by);
  std::vector<Need> needs = NeedsOf(request, standings, concerns);
  // An UPDATE that raises no usage is admitted: other violations existed before it.
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

void Apply(const std::vector<Need>& needs, std::vector<Standing>& standings) {
  for (const Need& need : needs) {
    Standing& standing = standings[need.standing];
    standing.used.Add(need.amount);
    const ResourceList& promised = standing.tree.promised;
    if (!promised.empty()) Promise(standings, need.standing, Excess(promised, need.amount));
  }
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
      if (limit.Sub(used).Mul(10) >= limit) continue;
      warnings.push_back(standing.quota->key.name + ": " + name + " " + used.ToString() + " of " +
                         limit.ToString());
    }
  }
  return warnings;
}

}  // namespace quota

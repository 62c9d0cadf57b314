#include "pkg/inspect/why.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace inspect {
namespace {

using quota::Quantity;

// Returns by how much the usage and `needed` and `held` exceed the limit; nullopt if they fit.
std::optional<Quantity> Lack(const WhyName& name, const Quantity& needed, const Quantity& held) {
  const Quantity then = needed.Add(name.used.value_or(Quantity())).Add(held);
  const Quantity beyond = quota::Above(then, name.hard);
  return beyond.IsZero() ? std::nullopt : std::optional(beyond);
}

std::vector<quota::ResourceList> Times(const std::vector<quota::ResourceList>& each,
                                       std::int64_t times) {
  std::vector<quota::ResourceList> all;
  for (const quota::ResourceList& list : each) {
    all.emplace_back().Add(list, times);
  }
  return all;
}

void AddAll(std::vector<quota::ResourceList>& sums, const std::vector<quota::ResourceList>& more) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].Add(more[i]);
}

// Asks each quota for one pod, and for all missing pods, with the claims that they need first.
class Explainer {
 public:
  Explainer(const FitBook& fit, const Demand& demand, std::int64_t missing,
            const std::vector<ClaimDemand>& claims)
      : fit_(fit),
        standings_(fit.Standings()),
        one_(demand.of),
        all_(Times(demand.of, std::max<std::int64_t>(1, missing))) {
    for (const ClaimDemand& claim : claims) {
      if (claim.for_next) AddAll(one_, claim.each.of);
      AddAll(all_, Times(claim.each.of, claim.missing));
    }
  }

  // What the next pod needs of the quota.
  [[nodiscard]] const quota::ResourceList& One(std::size_t index) const { return one_[index]; }

  [[nodiscard]] WhyQuota Explain(std::size_t index) const {
    const quota::Quota& quota = *standings_[index].quota;
    WhyQuota answer{.quota = fit_.NameOf(index), .names = {}, .objection = ""};
    if (quota.cluster) answer.mode = ModeText(quota);
    for (const auto& [name, amount] : all_[index]) {
      WhyName line{.name = name, .hard = LimitsOf(quota).Get(name)};
      if (const Quantity* used = quota.status.used.Find(name)) line.used = *used;
      if (const Quantity* next = one_[index].Find(name)) {
        line.each = *next;
        line.lacks_for_next = Lack(line, *next, HeldBack(standings_, one_, index, name));
      }
      line.held = HeldBack(standings_, all_, index, name);
      line.lacks_for_all = Lack(line, amount, line.held);
      if (line.lacks_for_next) answer.text = RefusalText(standings_, one_, index);
      answer.names.push_back(std::move(line));
    }
    return answer;
  }
  // Returns the beginning of admission's refusals by this quota.
  [[nodiscard]] std::string PrefixOf(std::size_t index) const {
    const quota::Quota& quota = *standings_[index].quota;
    if (!quota.cluster) return "failed quota: " + quota.key.name + ": ";
    const std::string& above = standings_[index].tree.above;
    return "failed cluster quota: " + quota.key.name +
           (above.empty() ? "" : " (above " + above + ")") + ": ";
  }

 private:
  const FitBook& fit_;
  std::vector<quota::Standing> standings_;
  std::vector<quota::ResourceList> one_;
  std::vector<quota::ResourceList> all_;
};

// Returns what a quota demands, without the prefix of its refusals; "" if nothing.
std::string ObjectionOf(const std::vector<const Demand*>& demands, const std::string& prefix) {
  std::string objection;
  for (const Demand* demand : demands) {
    for (const auto* texts : {&demand->objections, &demand->warnings}) {
      for (const std::string& text : *texts) {
        if (text.starts_with(prefix)) objection = text.substr(prefix.size());
      }
    }
  }
  return objection;
}

// "must specify limits.cpu for: c; limits.memory for: c,d" without its beginning, in parts.
std::vector<std::string> DemandedParts(const std::string& objection) {
  constexpr std::string_view kMust = "must specify ";
  std::vector<std::string> parts;
  if (!objection.starts_with(kMust)) return parts;
  for (std::size_t from = kMust.size(); from < objection.size();) {
    const std::size_t to = std::min(objection.find("; ", from), objection.size());
    parts.push_back(objection.substr(from, to - from));
    from = to + 2;
  }
  return parts;
}

}  // namespace

bool WhyQuota::Refuses() const {
  if (Tried()) return false;
  return !objection.empty() || std::ranges::any_of(names, [](const WhyName& name) {
    return name.lacks_for_next.has_value();
  });
}

bool WhyAnswer::RefusesMore() const {
  return !refusals.empty() || std::ranges::any_of(quotas, &WhyQuota::Refuses);
}

WhyAnswer Explain(const ObjectName& of, std::int64_t wants, std::int64_t has, const FitBook& fit,
                  const Demand& demand, std::int64_t at_once,
                  const std::vector<ClaimDemand>& claims) {
  WhyAnswer answer{.of = of, .top = of, .wants = wants, .has = has, .each = {}, .quotas = {}};
  const Explainer explainer(fit, demand, std::min(wants - has, at_once), claims);
  std::vector<const Demand*> next{&demand};
  for (const ClaimDemand& claim : claims) {
    if (claim.for_next) next.push_back(&claim.each);
  }
  for (const Demand* each : next) {
    if (!each->uncountable.empty()) answer.refusals.push_back(each->uncountable);
  }
  for (std::size_t i = 0; i < fit.quotas().size(); ++i) {
    WhyQuota line = explainer.Explain(i);
    line.objection = ObjectionOf(next, explainer.PrefixOf(i));
    for (const auto& [name, amount] : explainer.One(i)) answer.each.Set(name, amount);
    if (!line.names.empty() || !line.objection.empty()) answer.quotas.push_back(std::move(line));
  }
  return answer;
}

void Join(WhyAnswer more, WhyAnswer& answer) {
  for (const auto& [name, amount] : more.each) answer.each.Set(name, amount);
  std::ranges::move(more.quotas, std::back_inserter(answer.quotas));
  std::ranges::move(more.unknown, std::back_inserter(answer.unknown));
  for (std::string& text : more.refusals) {
    const bool told = std::ranges::find(answer.refusals, text) != answer.refusals.end();
    if (!told) answer.refusals.push_back(std::move(text));
  }
}

void TellMissing(const FitBook& fit, const Demand& least, std::int64_t pods, WhyAnswer& answer) {
  for (WhyQuota& line : answer.quotas) {
    for (std::size_t i = 0; i < fit.quotas().size(); ++i) {
      const quota::Quota& quota = fit.quotas()[i];
      const bool same =
          fit.NameOf(i) == line.quota && quota.cluster.has_value() != line.mode.empty();
      if (!same) continue;
      for (std::string& part : DemandedParts(line.objection)) {
        const std::string name = part.substr(0, part.find(' '));
        line.missing.push_back({.name = name,
                                .what = std::move(part),
                                .least = least.of[i].Get(name).Mul(pods),
                                .used = quota.status.used.Get(name),
                                .hard = LimitsOf(quota).Get(name)});
      }
    }
  }
}

}  // namespace inspect

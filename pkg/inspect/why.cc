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

// True if the control plane creates the object again: the ConfigMap with the CA, the default
// ServiceAccount, the API server's own Service, Endpoints, and pods that a node runs from files.
bool ComesBack(const std::string& title) {
  return title == "configmap/kube-root-ca.crt" || title == "serviceaccount/default" ||
         title == "service/kubernetes" || title.starts_with("endpoints/") ||
         title.starts_with("node/");
}

// True if the deletion of the holder makes room: it is a real object that goes and stays away, and
// it is not the workload itself or a claim of it.
bool CouldGo(const Holder& holder, const WhyAnswer& answer) {
  return holder.sort == Holder::Sort::kGroup && holder.title != answer.of.ToString() &&
         holder.title != answer.top.ToString() && !answer.stay.contains(holder.title) &&
         !ComesBack(holder.title);
}

// "specify limits.cpu for: c" for "must specify limits.cpu for: c".
std::string Instruction(const std::string& objection) {
  constexpr std::string_view kMust = "must ";
  return objection.starts_with(kMust) ? objection.substr(kMust.size()) : objection;
}

Quantity LackOf(const WhyAnswer& answer, const LackHolders& lack) {
  for (const WhyQuota& quota : answer.quotas) {
    for (const WhyName& name : quota.names) {
      const bool same = quota.quota == lack.quota && quota.mode.empty() != lack.cluster;
      if (same && name.name == lack.name && name.lacks_for_all) {
        return *name.lacks_for_all;
      }
    }
  }
  return {};
}

// True if enough would be free for all lacking names without the holder of this title.
bool Suffices(const std::string& title, const WhyAnswer& answer,
              const std::vector<LackHolders>& lacks) {
  return std::ranges::all_of(lacks, [&](const LackHolders& lack) {
    const auto holder = std::ranges::find(lack.holders, title, &Holder::title);
    return holder != lack.holders.end() && holder->amount >= LackOf(answer, lack);
  });
}

std::string DeletionText(const WhyAnswer& answer, const std::vector<LackHolders>& lacks) {
  if (lacks.empty()) return "";
  const Holder* smallest = nullptr;
  for (const Holder& holder : lacks.front().holders) {
    if (!CouldGo(holder, answer) || !Suffices(holder.title, answer, lacks)) continue;
    if (smallest == nullptr || holder.amount < smallest->amount) smallest = &holder;
  }
  if (smallest == nullptr) return "";
  return "delete " + smallest->title + " (" + lacks.front().name + "=" +
         smallest->amount.ToString() + ")";
}

}  // namespace

bool WhyQuota::Refuses() const {
  if (Tried()) return false;
  return !objection.empty() || std::ranges::any_of(names, [](const WhyName& name) {
    return name.lacks_for_next.has_value();
  });
}

bool WhyAnswer::Refused() const {
  return has < wants && (!refusals.empty() || std::ranges::any_of(quotas, &WhyQuota::Refuses));
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
  for (std::string& text : more.refusals) {
    const bool told = std::ranges::find(answer.refusals, text) != answer.refusals.end();
    if (!told) answer.refusals.push_back(std::move(text));
  }
}

std::string RoomFor(const WhyAnswer& answer, const std::vector<LackHolders>& lacks) {
  std::string text;
  if (!answer.refusals.empty()) return text;
  for (const WhyQuota& quota : answer.quotas) {
    if (quota.objection.empty() || quota.Tried()) continue;
    text.append(text.empty() ? "" : ", and ").append(Instruction(quota.objection));
  }
  if (!text.empty()) return text;
  for (const WhyQuota& quota : answer.quotas) {
    for (const WhyName& name : quota.names) {
      if (!name.lacks_for_all || quota.Tried()) continue;
      text.append(text.empty() ? "raise " : " and ").append(name.name);
      text.append(quota.mode.empty() ? " of quota " : " of cluster quota ")
          .append(quota.quota)
          .append(" to ")
          .append(name.hard.Add(*name.lacks_for_all).ToString());
    }
  }
  const std::string deletion = DeletionText(answer, lacks);
  if (!text.empty() && !deletion.empty()) text += ", or ";
  return text + deletion;
}

}  // namespace inspect

#include "pkg/admission/batch.h"

#include <algorithm>
#include <map>
#include <utility>

namespace admission {
namespace {

// `used` without `advance`, which it contains.
quota::ResourceList Without(quota::ResourceList used, const quota::ResourceList& advance) {
  for (const auto& [name, amount] : advance) {
    const auto rest = used.Get(name).Sub(amount);
    if (rest) used.Set(name, *rest);
  }
  return used;
}

class Planner {
 public:
  Planner(const std::vector<const quota::Quota*>& quotas, const CoveringOf& covering_of,
          const AdvanceOf& advance_of)
      : covering_of_(covering_of), charges_(quotas.size()) {
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      const quota::ResourceList& used = quotas[i]->status.used;
      quota::ResourceList& advance = charges_[i].advance;
      advance = advance_of(*quotas[i]);
      if (!quota::Contains(used, advance)) advance = {};  // somebody has wiped the status
      standings_.push_back(
          {.quota = quotas[i], .used = Without(used, advance), .covering = nullptr});
    }
  }

  void Add(std::size_t index, const quota::Request& request, BatchPlan& plan) {
    CoverFor(request);
    quota::Verdict verdict = quota::Decide(request, standings_);
    std::vector<std::string> warnings;
    if (verdict.kind == quota::Verdict::Kind::kFits && !request.dry_run) {
      const auto applied = quota::Apply(verdict.needs, standings_);
      if (applied) {
        warnings = quota::NearLimits(verdict.needs, standings_);
        Charge(index, request, verdict);
        NoteCovered(index, request, verdict, plan);
      } else {  // cannot come from what fits below a limit, but is no reason to end the process
        verdict = {.kind = quota::Verdict::Kind::kRefused,
                   .code = 500,
                   .message = applied.error().message,
                   .needs = {}};
      }
    }
    if (verdict.kind == quota::Verdict::Kind::kFree) NoteCovered(index, request, verdict, plan);
    plan.verdicts.push_back(std::move(verdict));
    plan.warnings.push_back(std::move(warnings));
  }

  void Finish(BatchPlan& plan) {
    for (std::size_t i = 0; i < charges_.size(); ++i) {
      if (charges_[i].members.empty()) continue;
      charges_[i].quota = *standings_[i].quota;
      charges_[i].used = std::move(standings_[i].used);
      charges_[i].prepaid = IsPrepaid(charges_[i]);
      plan.charges.push_back(std::move(charges_[i]));
    }
  }

 private:
  // Creations alone are granted in advance: what an update needs depends on what is stored.
  static bool IsPrepaid(const PlannedCharge& charge) {
    const bool creations = std::ranges::all_of(
        charge.grants, [](const Grant& grant) { return grant.version.empty() && !grant.covered; });
    const auto added = charge.Added();
    return creations && added && quota::Contains(charge.advance, *added);
  }

  void CoverFor(const quota::Request& request) {
    for (std::size_t i = 0; i < standings_.size(); ++i) {
      const auto charged = charged_.find({i, request.uid});
      standings_[i].covering = charged != charged_.end()
                                   ? &charged->second
                                   : covering_of_(*standings_[i].quota, request);
    }
  }

  void Charge(std::size_t index, const quota::Request& request, const quota::Verdict& verdict) {
    for (const quota::Need& need : verdict.needs) {
      const quota::Charge* covering = standings_[need.standing].covering;
      const quota::Charge granted{need.absolute, need.amount, need.stored};
      quota::Charge after = covering != nullptr ? *covering : quota::Charge();
      after.amount = quota::Larger(need.absolute, after.amount);
      quota::Extend(after, granted);
      charged_.insert_or_assign(std::pair(need.standing, request.uid), std::move(after));
      charges_[need.standing].members.push_back(index);
      charges_[need.standing].grants.push_back({.evaluator = request.evaluator,
                                                .uid = request.uid,
                                                .charge = granted,
                                                .covered = covering != nullptr,
                                                .version = std::string(request.version)});
    }
  }

  // What the object was charged before, or by an earlier request of the batch, may be what this one
  // needs of that quota.
  void NoteCovered(std::size_t index, const quota::Request& request, const quota::Verdict& verdict,
                   BatchPlan& plan) {
    if (request.dry_run) return;
    for (std::size_t i = 0; i < standings_.size(); ++i) {
      const bool needs = std::ranges::any_of(
          verdict.needs, [i](const quota::Need& need) { return need.standing == i; });
      if (standings_[i].covering == nullptr) continue;
      PlannedCharge& charge = charges_[i];
      const auto last = std::find_if(charge.grants.rbegin() + (needs ? 1 : 0), charge.grants.rend(),
                                     [&](const Grant& grant) { return grant.uid == request.uid; });
      if (last == charge.grants.rend()) {
        plan.covered.push_back({index, standings_[i].quota});
      } else if (!needs) {
        last->others.emplace_back(request.version);
        charge.relying.push_back(
            {index, static_cast<std::size_t>(charge.grants.rend() - last) - 1});
      }
    }
  }

  const CoveringOf& covering_of_;
  std::vector<quota::Standing> standings_;
  std::vector<PlannedCharge> charges_;  // by standing
  std::map<std::pair<std::size_t, quota::Uid>, quota::Charge> charged_;
};

}  // namespace

BatchPlan PlanBatch(const std::vector<const quota::Request*>& requests,
                    const std::vector<const quota::Quota*>& quotas, const CoveringOf& covering_of,
                    const AdvanceOf& advance_of) {
  BatchPlan plan;
  Planner planner(quotas, covering_of, advance_of);
  for (std::size_t i = 0; i < requests.size(); ++i) planner.Add(i, *requests[i], plan);
  planner.Finish(plan);
  return plan;
}

}  // namespace admission

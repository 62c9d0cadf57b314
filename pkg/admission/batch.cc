#include "pkg/admission/batch.h"

#include <algorithm>
#include <map>
#include <utility>

#include "pkg/quota/cluster/guarantee.h"

namespace admission {
namespace {

// True if `list` has at least `part` of each of its names.
bool Contains(const quota::ResourceList& list, const quota::ResourceList& part) {
  return quota::Excess(part, list).empty();
}

// `used` without `burst`, which it contains.
quota::ResourceList Without(quota::ResourceList used, const quota::ResourceList& burst) {
  for (const auto& [name, amount] : burst) {
    const auto rest = used.Get(name).Sub(amount);
    if (rest) used.Set(name, *rest);
  }
  return used;
}

class Planner {
 public:
  Planner(const BatchQuotas& quotas, std::vector<quota::TreePlace> places,
          const OwnReserved& answer_of)
      : quotas_(quotas),
        answer_of_(answer_of),
        in_tree_(!places.empty()),
        writes_(quotas.all().size()) {
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      const BookedQuota& booked = quotas.all()[i];
      const quota::ResourceList& used = booked.quota->status.used;
      quota::ResourceList& burst = writes_[i].burst;
      burst = booked.burst;
      if (!Contains(used, burst)) burst = {};  // somebody has wiped the status
      quota::Standing& standing = standings_.emplace_back();
      standing.quota = booked.quota;
      standing.used = Without(used, burst);
      if (places.empty()) continue;
      standing.tree = std::move(places[i]);
      if (standing.tree.parent) {
        standing.tree.promised = quota::Promised(*booked.quota, standing.used);
      }
    }
  }

  void Add(std::size_t index, const BatchRequest& asked, BatchPlan& plan) {
    const quota::Request& request = *asked.request;
    const std::vector<std::size_t>& by = asked.by->quotas;
    FindAnswers(request, by);
    NoteAbove(*asked.by);
    quota::Verdict verdict = quota::Decide(request, standings_, &by);
    std::vector<std::string> warnings;
    if (verdict.kind == quota::Verdict::Kind::kFits && !request.dry_run) {
      const auto applied = quota::Apply(verdict.needs, standings_);
      if (applied) {
        warnings = quota::NearLimits(verdict.needs, standings_);
        Grant(index, asked, verdict);
        NoteAnswered(index, asked, verdict, plan);
      } else {  // cannot come from what fits below a limit, but is no reason to end the process
        verdict = {.kind = quota::Verdict::Kind::kRefused,
                   .code = 500,
                   .message = applied.error().message,
                   .needs = {}};
      }
    }
    if (verdict.kind == quota::Verdict::Kind::kFree) NoteAnswered(index, asked, verdict, plan);
    plan.verdicts.push_back(std::move(verdict));
    plan.warnings.push_back(std::move(warnings));
  }

  void Finish(BatchPlan& plan) {
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      if (writes_[i].members.empty()) continue;
      writes_[i].quota = *standings_[i].quota;
      writes_[i].from_burst = FitsBurst(writes_[i]);
      plan.writes.push_back(std::move(writes_[i]));
    }
  }

 private:
  using Object = std::pair<std::size_t, quota::Uid>;  // in a standing

  // Creations alone are granted from a burst: what an update needs depends on what is stored. Nor
  // is what an object needs beyond what is reserved for it.
  bool FitsBurst(const PlannedWrite& write) const {
    const bool creations = std::ranges::all_of(
        write.grants, [](const auto& grant) { return grant.version.empty() && !grant.extends; });
    const auto added = write.Added();
    return creations && !write.burst.empty() && added && Contains(write.burst, *added);
  }

  void FindAnswers(const quota::Request& request, const std::vector<std::size_t>& by) {
    for (const std::size_t i : by) {
      const auto granted = granted_.find({i, request.uid});
      standings_[i].answer =
          granted != granted_.end() ? &granted->second : answer_of_(*standings_[i].quota, request);
      const accounting::ReservationList* list = quotas_.all()[i].list;
      const bool named = list != nullptr && list->Names(request.uid);
      standings_[i].reserved = nullptr;
      if (!named) continue;
      standings_[i].reserved = [list, &request](const quota::ResourceList& stored) {
        return list->Granted(request.uid, stored);
      };
    }
  }

  void NoteAbove(const BatchQuotas::OfNamespace& of) {
    if (!in_tree_) return;
    for (std::size_t i = 0; i < of.quotas.size(); ++i) {
      standings_[of.quotas[i]].tree.above = of.above.empty() ? "" : of.above[i];
    }
  }

  void Grant(std::size_t index, const BatchRequest& asked, const quota::Verdict& verdict) {
    const quota::Request& request = *asked.request;
    for (const quota::Need& need : verdict.needs) {
      const quota::Standing& standing = standings_[need.standing];
      const bool answered = standing.answer != nullptr;
      const quota::ResourceList usage = answered ? *standing.answer : quota::ResourceList();
      granted_.insert_or_assign(Object(need.standing, request.uid),
                                quota::Larger(need.absolute, usage));
      writes_[need.standing].members.push_back(index);
      writes_[need.standing].grants.push_back(
          {.evaluator = request.evaluator,
           .ns = std::string(standing.quota->cluster ? asked.ns : ""),
           .uid = request.uid,
           .usage = need.absolute,
           .stored = need.stored,
           .added = need.amount,
           .extends = answered || standing.reserved != nullptr,
           .version = std::string(request.version)});
    }
  }

  // What was reserved for the object before, or by an earlier request of the batch, may be what
  // this one needs of that quota.
  void NoteAnswered(std::size_t index, const BatchRequest& asked, const quota::Verdict& verdict,
                    BatchPlan& plan) {
    const quota::Request& request = *asked.request;
    if (request.dry_run) return;
    for (const std::size_t i : asked.by->quotas) {
      const bool needs = std::ranges::any_of(
          verdict.needs, [i](const quota::Need& need) { return need.standing == i; });
      if (standings_[i].answer == nullptr) continue;
      PlannedWrite& write = writes_[i];
      const auto last = std::find_if(write.grants.rbegin() + (needs ? 1 : 0), write.grants.rend(),
                                     [&](const auto& grant) { return grant.uid == request.uid; });
      if (last == write.grants.rend()) {
        plan.answered.push_back({index, standings_[i].quota});
      } else if (!needs) {
        last->others.emplace_back(request.version);
        write.relying.push_back({index, static_cast<std::size_t>(write.grants.rend() - last) - 1});
      }
    }
  }

  const BatchQuotas& quotas_;
  const OwnReserved& answer_of_;
  const bool in_tree_;
  std::vector<quota::Standing> standings_;         // by quota
  std::vector<PlannedWrite> writes_;               // by quota
  std::map<Object, quota::ResourceList> granted_;  // by this batch, and what was reserved before
};

}  // namespace

const BatchQuotas::OfNamespace* BatchQuotas::Find(std::string_view ns) const {
  const auto found = of_.find(ns);
  return found == of_.end() ? nullptr : &found->second;
}

// Most batches are of one namespace.
const BatchQuotas::OfNamespace& BatchQuotas::Add(std::string_view ns,
                                                 std::vector<BookedQuota> quotas) {
  const bool first = of_.empty();
  OfNamespace& of = of_[ns];
  const bool in_tree =
      std::ranges::any_of(quotas, [](const auto& one) { return !one.above.empty(); });
  if (in_tree) {
    for (BookedQuota& booked : quotas) of.above.push_back(std::move(booked.above));
  }
  if (first) {
    all_ = std::move(quotas);
    for (std::size_t i = 0; i < all_.size(); ++i) of.quotas.push_back(i);
    return of;
  }
  if (index_.empty()) {
    for (std::size_t i = 0; i < all_.size(); ++i) index_.emplace(all_[i].quota, i);
  }
  for (BookedQuota& booked : quotas) {
    const auto [entry, added] = index_.try_emplace(booked.quota, all_.size());
    of.quotas.push_back(entry->second);
    if (added) all_.push_back(std::move(booked));
  }
  return of;
}

BatchPlan PlanBatch(const std::vector<BatchRequest>& requests, const BatchQuotas& quotas,
                    std::vector<quota::TreePlace> places, const OwnReserved& answer_of) {
  BatchPlan plan;
  Planner planner(quotas, std::move(places), answer_of);
  for (std::size_t i = 0; i < requests.size(); ++i) planner.Add(i, requests[i], plan);
  planner.Finish(plan);
  return plan;
}

}  // namespace admission

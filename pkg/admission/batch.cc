#include "pkg/admission/batch.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <utility>

#include "pkg/quota/guarantee.h"

namespace admission {
namespace {

constexpr const char* kOutlasted = "the creation of this object takes too long, create it again";

// True if `list` has at least the amounts of `part`.
bool Contains(const quota::ResourceList& list, const quota::ResourceList& part) {
  return quota::Excess(part, list).empty();
}

class Planner {
 public:
  explicit Planner(const BatchQuotas& quotas) : quotas_(quotas), writes_(quotas.all().size()) {
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      const BookedQuota& booked = quotas.all()[i];
      quota::ResourceList used = booked.quota->status.used;
      quota::ResourceList& burst = writes_[i].burst;
      burst = booked.burst;
      writes_[i].not_before = booked.not_before;
      writes_[i].turn = booked.turn;
      if (!Contains(used, burst)) burst = {};  // somebody has lowered `used`
      quota::Lower(used, burst);
      standings_.push_back({.quota = booked.quota,
                            .used = std::move(used),
                            .tree = booked.tree,
                            .uncounted = booked.uncounted});
    }
    for (std::size_t i = 0; i < standings_.size(); ++i) {
      if (!standings_[i].tree.parent) continue;
      quota::Promise(standings_, i, quota::Promised(*standings_[i].quota, standings_[i].used));
    }
  }

  void Add(std::size_t index, const BatchRequest& asked, BatchPlan& plan) {
    const quota::Request& request = *asked.request;
    const std::vector<std::size_t>& by = asked.by->quotas;
    FindAnswers(request, by);
    NoteAbove(*asked.by);
    quota::Verdict verdict = quota::Decide(request, standings_, &by);
    std::vector<std::string> warnings;
    if (verdict.kind == quota::Verdict::Kind::kFits && Outlasts(request, verdict)) {
      verdict = {.kind = quota::Verdict::Kind::kRefused,
                 .code = 500,
                 .message = kOutlasted,
                 .needs = {},
                 .causes = {{quota::cause::kTookTooLong, "", kOutlasted}}};
    }
    if (verdict.kind == quota::Verdict::Kind::kFits && !request.dry_run) {
      quota::Apply(verdict.needs, standings_);
      warnings = quota::NearLimits(verdict.needs, standings_);
      Grant(index, asked, verdict);
      NoteAnswered(index, asked, verdict, plan);
    }
    if (verdict.kind == quota::Verdict::Kind::kFree) NoteAnswered(index, asked, verdict, plan);
    plan.verdicts.push_back(std::move(verdict));
    plan.warnings.push_back(std::move(warnings));
  }

  void Finish(BatchPlan& plan) {
    std::vector<std::optional<std::size_t>> places(writes_.size());  // in the plan
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      if (!writes_[i].grants.empty()) places[i] = plan.grants.size();
      if (!places[i]) continue;
      writes_[i].quota = *standings_[i].quota;
      writes_[i].batch = plan.verdicts.size();
      writes_[i].promised = standings_[i].tree.promised_below;
      if (FitsBurst(writes_[i])) writes_[i].from = ReservePlan::From::kBurst;
      plan.grants.push_back(std::move(writes_[i]));
    }
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      const quota::Standing& standing = standings_[i];
      const bool waits = places[i] && standing.tree.parent && standing.quota->cluster &&
                         !standing.quota->cluster->guaranteed.empty();
      if (waits) plan.grants[*places[i]].after = places[*standing.tree.parent];
    }
  }

 private:
  using Object = std::pair<std::size_t, quota::Uid>;  // index of a standing, uid

  // What this batch granted to an object, by the version that the requests start from.
  class Granted {
   public:
    // Returns the usage that was granted to requests from this version; null: none.
    [[nodiscard]] const quota::ResourceList* For(std::string_view version) const {
      const auto entry = std::ranges::find(entries_, version, &accounting::Reservation::from);
      return entry == entries_.end() ? nullptr : &entry->usage;
    }
    // As ReservationList::Granted().
    [[nodiscard]] quota::ResourceList Paid(const quota::ResourceList& stored) const {
      quota::ResourceList paid;
      for (const auto& entry : entries_) {
        paid = quota::Larger(paid, accounting::PaidBy(entry, stored));
      }
      return paid;
    }
    void Add(std::string version, quota::ResourceList usage, const quota::ResourceList& stored) {
      std::erase_if(entries_, [&](const auto& entry) { return entry.from == version; });
      quota::ResourceList from = quota::Excess(quota::Smaller(usage, stored), {});
      entries_.push_back(
          {.usage = std::move(usage), .from = std::move(version), .stored = std::move(from)});
    }

   private:
    std::vector<accounting::Reservation> entries_;
  };

  // Only creations are granted from a burst, because the need of an update depends on the stored
  // version. Grants that extend a reservation of the object also need a write.
  bool FitsBurst(const PlannedGrants& write) const {
    const bool creations = std::ranges::all_of(
        write.grants, [](const auto& grant) { return grant.version.empty() && !grant.extends; });
    return creations && !write.burst.empty() && Contains(write.burst, write.Added());
  }

  void FindAnswers(const quota::Request& request, const std::vector<std::size_t>& by) {
    for (const std::size_t i : by) {
      const auto granted = granted_.find({i, request.uid});
      const Granted* const earlier = granted != granted_.end() ? &granted->second : nullptr;
      const BookedQuota& booked = quotas_.all()[i];
      standings_[i].answer = earlier != nullptr ? earlier->For(request.version) : nullptr;
      if (standings_[i].answer == nullptr && booked.answer) {
        standings_[i].answer = booked.answer(request.uid, request.version);
      }
      const accounting::ReservationList* list = booked.list;
      const bool named = list != nullptr && list->Names(request.uid);
      standings_[i].reserved = nullptr;
      if (!named && earlier == nullptr) continue;
      standings_[i].reserved = [list, earlier, &request](const quota::ResourceList& stored) {
        const auto listed =
            list != nullptr ? list->Granted(request.uid, stored) : quota::ResourceList();
        return earlier != nullptr ? quota::Larger(listed, earlier->Paid(stored)) : listed;
      };
    }
  }

  // True for a call that could only keep a reservation for an object that is never stored.
  [[nodiscard]] bool Outlasts(const quota::Request& request, const quota::Verdict& verdict) const {
    if (!request.version.empty()) return false;
    return std::ranges::any_of(verdict.needs, [&](const quota::Need& need) {
      const BookedQuota& booked = quotas_.all()[need.standing];
      return quota::MayRefuse(*booked.quota) && booked.outlasted && booked.outlasted(request.uid);
    });
  }

  void NoteAbove(const BatchQuotas::OfNamespace& of) {
    CHECK(of.above.empty() || of.above.size() == of.quotas.size()) << "not one for each quota";
    for (std::size_t i = 0; i < of.above.size(); ++i) {
      standings_[of.quotas[i]].tree.above = of.above[i];
    }
  }

  static admission::Grant GrantTo(const BatchRequest& asked, const quota::Standing& standing,
                                  const quota::ResourceList& usage) {
    const quota::Request& request = *asked.request;
    return {.evaluator = request.evaluator,
            .ns = std::string(standing.quota->cluster ? asked.ns : ""),
            .uid = request.uid,
            .usage = usage,
            .stored = {},
            .added = {},
            .version = std::string(request.version)};
  }

  void Grant(std::size_t index, const BatchRequest& asked, const quota::Verdict& verdict) {
    const quota::Request& request = *asked.request;
    for (const quota::Need& need : verdict.needs) {
      const quota::Standing& standing = standings_[need.standing];
      const bool answered = standing.answer != nullptr;
      const quota::ResourceList usage = answered ? *standing.answer : quota::ResourceList();
      granted_[Object(need.standing, request.uid)].Add(
          std::string(request.version), quota::Larger(need.absolute, usage), need.stored);
      PlannedGrants& write = writes_[need.standing];
      write.relying.push_back({index, write.grants.size()});
      admission::Grant& grant = write.grants.emplace_back(GrantTo(asked, standing, need.absolute));
      grant.stored = need.stored;
      grant.added = need.amount;
      grant.extends = answered || standing.reserved != nullptr;
    }
  }

  // Records which earlier grants the request relies on: the grant of an earlier request of the
  // batch for the same object, or an earlier reservation of this process.
  void NoteAnswered(std::size_t index, const BatchRequest& asked, const quota::Verdict& verdict,
                    BatchPlan& plan) {
    const quota::Request& request = *asked.request;
    if (request.dry_run) return;
    for (const std::size_t i : asked.by->quotas) {
      if (standings_[i].answer == nullptr) continue;
      const bool needs = std::ranges::any_of(
          verdict.needs, [i](const quota::Need& need) { return need.standing == i; });
      PlannedGrants& write = writes_[i];
      const auto last = std::find_if(write.grants.rbegin() + (needs ? 1 : 0), write.grants.rend(),
                                     [&](const auto& grant) { return grant.uid == request.uid; });
      if (last == write.grants.rend()) {
        PlannedGrants& answered = plan.grants.emplace_back();
        answered.quota = *standings_[i].quota;
        answered.from = ReservePlan::From::kReserved;
        answered.relying = {{index, 0}};
        answered.grants.push_back(GrantTo(asked, standings_[i], *standings_[i].answer));
      } else if (!needs) {
        last->others.emplace_back(request.version);
        write.relying.push_back({index, static_cast<std::size_t>(write.grants.rend() - last) - 1});
      }
    }
  }

  const BatchQuotas& quotas_;
  std::vector<quota::Standing> standings_;  // by quota
  std::vector<PlannedGrants> writes_;       // by quota
  std::map<Object, Granted> granted_;
};

}  // namespace

const BatchQuotas::OfNamespace* BatchQuotas::Find(std::string_view ns) const {
  const auto found = of_.find(ns);
  return found == of_.end() ? nullptr : &found->second;
}

// Most batches have one namespace, so the index is built only for a second one.
const BatchQuotas::OfNamespace& BatchQuotas::Add(std::string_view ns,
                                                 std::vector<BookedQuota> quotas) {
  const bool first = of_.empty();
  const auto [place, is_new] = of_.try_emplace(ns);
  CHECK(is_new) << "the quotas of namespace " << ns << " are added twice";
  OfNamespace& of = place->second;
  if (std::ranges::any_of(quotas, [](const auto& one) { return one.quota->cluster.has_value(); })) {
    for (const BookedQuota& booked : quotas) of.above.push_back(booked.tree.above);
  }
  if (first) {
    all_ = std::move(quotas);
    for (std::size_t i = 0; i < all_.size(); ++i) of.quotas.push_back(i);
    return of;
  }
  if (index_.empty()) {
    for (std::size_t i = 0; i < all_.size(); ++i) index_.emplace(all_[i].quota, i);
  }
  const std::size_t known = all_.size();
  for (BookedQuota& booked : quotas) {
    const auto [entry, added] = index_.try_emplace(booked.quota, all_.size());
    of.quotas.push_back(entry->second);
    if (added) all_.push_back(std::move(booked));
  }
  // TreePlace::parent of a new quota is an index of `quotas`. Make it an index of all_.
  for (const std::size_t i : of.quotas) {
    std::optional<std::size_t>& parent = all_[i].tree.parent;
    if (i < known || !parent) continue;
    CHECK_LT(*parent, of.quotas.size()) << "the parent of a quota is not one of namespace " << ns;
    parent = of.quotas[*parent];
  }
  return of;
}

BatchPlan PlanBatch(const std::vector<BatchRequest>& requests, const BatchQuotas& quotas) {
  BatchPlan plan;
  Planner planner(quotas);
  for (std::size_t i = 0; i < requests.size(); ++i) planner.Add(i, requests[i], plan);
  planner.Finish(plan);
  return plan;
}

}  // namespace admission

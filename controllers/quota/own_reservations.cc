#include "controllers/quota/own_reservations.h"

#include <algorithm>
#include <iterator>

#include "pkg/accounting/timing.h"

namespace controllers {
namespace {

using accounting::kAnswersRepeats;
using accounting::Reservation;
using accounting::ReservationList;
using accounting::Standing;
using std::chrono_literals::operator""ms;

// Longer than any request that relies on a grant.
constexpr std::chrono::seconds kKept{30};

std::string ResourceOf(const admission::Grant& grant) {
  return grant.evaluator->resource.ToString();
}

// Entries of a namespaced quota do not say it.
std::string NamespaceOf(const admission::ReservePlan& plan, const admission::Grant& grant) {
  return plan.quota.key.ns.empty() ? grant.ns : "";
}

bool AllOf(const admission::ReservePlan& plan, const std::string& resource) {
  return std::ranges::all_of(plan.grants, [&](const auto& grant) {
    return grant.version.empty() && ResourceOf(grant) == resource;
  });
}

// Of a request, and of the others that it answers.
std::vector<std::string> VersionsOf(const admission::Grant& grant) {
  std::vector<std::string> versions = grant.others;
  versions.push_back(grant.version);
  std::ranges::sort(versions);
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return versions;
}

// Puts the object into the entry of a creation in its namespace that uses the same, or into a new
// one. Returns its number.
std::uint64_t AddTo(std::vector<Reservation>& creations, const std::string& of,
                    const std::string& ns, const quota::ResourceList& usage, const quota::Uid& uid,
                    Author& author) {
  const auto same = std::ranges::find_if(creations, [&](const Reservation& entry) {
    return entry.of == of && entry.ns == ns && entry.usage == usage &&
           std::ranges::find(entry.objects, uid) == entry.objects.end();
  });
  Reservation& entry =
      same != creations.end() ? *same : creations.emplace_back(author.Entry(of, ns, usage));
  entry.objects.push_back(uid);
  return entry.n;
}

}  // namespace

OwnReservations::Own OwnReservations::OwnOf(base::TimePoint now, const admission::ReservePlan& plan,
                                            const admission::Grant& grant) {
  return {.grant = grant.number,
          .ns = NamespaceOf(plan, grant),
          .from = grant.version,
          .usage = grant.usage,
          .at = now,
          .relying = 1 + grant.others.size()};
}

OwnReservations::Own* OwnReservations::Find(base::TimePoint now, const ReservationList& list,
                                            const Author& author, const quota::Uid& uid,
                                            std::string_view version) {
  const auto own = own_.find(uid);
  if (own == own_.end()) return nullptr;
  for (auto mine = own->second.rbegin(); mine != own->second.rend(); ++mine) {
    const bool young = now - mine->at <= kAnswersRepeats;
    const bool same = mine->from == version && young && mine->relying > 0;
    if (same && list.Find(author.by, mine->n) != nullptr) return &*mine;
  }
  return nullptr;
}

// Of requests from other versions each has an entry of its own.
OwnReservations::Added OwnReservations::AddEntries(base::TimePoint now,
                                                   const admission::ReservePlan& plan,
                                                   Author& author, Standing& standing) {
  Added added;
  std::vector<Reservation> creations;
  for (const admission::Grant& grant : plan.grants) {
    Own& mine = added.emplace_back(grant.uid, OwnOf(now, plan, grant)).second;
    if (grant.version.empty()) {
      mine.n = AddTo(creations, ResourceOf(grant), mine.ns, grant.usage, grant.uid, author);
      continue;
    }
    for (std::string& version : VersionsOf(grant)) {
      Reservation entry = author.Entry(ResourceOf(grant), mine.ns, grant.usage);
      entry.objects = {grant.uid};
      if (version == grant.version) mine.n = entry.n;
      entry.from = std::move(version);
      entry.stored = quota::Excess(quota::Smaller(grant.usage, grant.stored), {});
      accounting::Reserve(standing, std::move(entry));
    }
  }
  for (Reservation& entry : creations) accounting::Reserve(standing, std::move(entry));
  return added;
}

void OwnReservations::Assign(Author& author, Standing& standing, Added& added) const {
  std::vector<std::uint64_t> unassigned;
  for (const Reservation& entry : standing.list.entries()) {
    if (entry.by == author.by && entry.unassigned > 0) unassigned.push_back(entry.n);
  }
  std::vector<Reservation> drawn;
  for (const std::uint64_t n : unassigned) {
    (void)accounting::Withdraw(standing, author.by, n);
    if (!burst_ || burst_->n != n) continue;  // of a write that seemed to fail
    for (auto [uid, mine] : burst_->drawn) {
      mine.n = AddTo(drawn, burst_->of, mine.ns, mine.usage, uid, author);
      added.emplace_back(uid, std::move(mine));
    }
  }
  for (Reservation& entry : drawn) accounting::Reserve(standing, std::move(entry));
}

std::optional<OwnReservations::Burst> OwnReservations::NextBurst(base::TimePoint now,
                                                                 const admission::ReservePlan& plan,
                                                                 Author& author,
                                                                 Standing& standing) {
  const std::string of = ResourceOf(plan.grants.front());
  const auto added = plan.Added();
  if (!AllOf(plan, of) || !added) return std::nullopt;
  crowd_.OnGranted(now, *added, plan.grants.size());
  accounting::NextBurst next = crowd_.Next(now, plan.quota.status.hard, standing.used);
  if (next.usage.empty()) return std::nullopt;
  Reservation entry = author.Entry(of, "", next.usage);
  entry.unassigned = next.creations;
  const std::uint64_t n = entry.n;
  accounting::Reserve(standing, std::move(entry));
  return Burst{.n = n,
               .of = of,
               .left = std::move(next.usage),
               .creations = next.creations,
               .at = now,
               .drawn = {}};
}

void OwnReservations::Keep(base::TimePoint now, Added added) {
  std::erase_if(own_, [&](const auto& one) { return now - one.second.back().at > kKept; });
  for (auto& [uid, mine] : added) {
    std::vector<Own>& held = own_[uid];
    std::erase_if(held, [&](const Own& other) { return other.grant == mine.grant; });
    held.push_back(std::move(mine));
  }
  last_grant_ = now;
}

void OwnReservations::Keep(base::TimePoint now, std::optional<Burst> burst) {
  burst_ = std::move(burst);
  if (burst_) crowd_.OnReserved(now, burst_->creations);
}

quota::ResourceList OwnReservations::Usable(base::TimePoint now, const Author& author,
                                            const ReservationList& list) const {
  if (!burst_ || burst_->closed || now - burst_->at > kAnswersRepeats) return {};
  return list.Find(author.by, burst_->n) != nullptr ? burst_->left : quota::ResourceList();
}

bool OwnReservations::Draw(base::TimePoint now, const Author& author, const ReservationList& list,
                           const admission::ReservePlan& plan) {
  const auto added = plan.Added();
  if (!burst_ || !added || !quota::Excess(*added, Usable(now, author, list)).empty()) return false;
  if (!AllOf(plan, burst_->of)) {
    burst_->closed = true;
    return false;
  }
  burst_->left = quota::Excess(burst_->left, *added);
  for (const admission::Grant& grant : plan.grants) {
    Own own = OwnOf(now, plan, grant);
    own.n = burst_->n;
    own.at = burst_->at;
    burst_->drawn[grant.uid] = own;
    own_[grant.uid].push_back(std::move(own));
  }
  crowd_.OnGranted(now, *added, plan.grants.size());
  return true;
}

void OwnReservations::Close() {
  if (burst_) burst_->closed = true;
}

bool OwnReservations::Release(const quota::Uid& uid, std::uint64_t grant) {
  const auto own = own_.find(uid);
  if (own == own_.end()) return false;
  const auto mine = std::ranges::find(own->second, grant, &Own::grant);
  if (mine == own->second.end() || mine->relying == 0 || --mine->relying > 0) return false;
  withdrawals_.push_back({mine->n, grant, uid});
  return true;
}

bool OwnReservations::MustTakeBack(base::TimePoint now, const Author& author,
                                   const ReservationList& list) const {
  if (!withdrawals_.empty()) return true;
  return std::ranges::any_of(list.entries(), [&](const Reservation& entry) {
    if (entry.by != author.by || entry.unassigned == 0) return false;
    const bool usable = burst_ && burst_->n == entry.n && !burst_->closed;
    return !usable || now - burst_->at > kAnswersRepeats;
  });
}

std::vector<OwnReservations::Withdrawal> OwnReservations::TakeBack(Author& author,
                                                                   Standing& standing) {
  std::vector<Withdrawal> withdrawals = std::exchange(withdrawals_, {});
  Added assigned;
  Close();
  Assign(author, standing, assigned);
  for (const Withdrawal& one : withdrawals) {
    // What was granted from a burst has an entry of its own by now.
    const auto drawn = std::ranges::find_if(assigned, [&](const auto& mine) {
      return mine.first == one.uid && mine.second.grant == one.grant;
    });
    const std::uint64_t n = drawn != assigned.end() ? drawn->second.n : one.n;
    (void)accounting::Withdraw(standing, author.by, n, one.uid);
  }
  return withdrawals;
}

void OwnReservations::Again(std::vector<Withdrawal> withdrawals) {
  std::ranges::move(withdrawals, std::back_inserter(withdrawals_));
}

std::optional<base::TimePoint> OwnReservations::BurstEnds() const {
  if (!burst_ || burst_->closed) return std::nullopt;
  return burst_->at + kAnswersRepeats + 1ms;
}

}  // namespace controllers

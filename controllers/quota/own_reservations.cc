#include "controllers/quota/own_reservations.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "pkg/accounting/timing.h"

namespace controllers {
namespace {

using accounting::kAnswersRepeats;
using accounting::Reservation;
using accounting::ReservationList;
using accounting::Standing;
using std::chrono_literals::operator""ms;

// Longer than any request that relies on a grant may take.
constexpr std::chrono::seconds kKept{30};
static_assert(kKept > accounting::kLongestAnswer + accounting::kLongBurstLasts + kAnswersRepeats);
// Of one object. A request whose grant is forgotten cannot give it up: its reservation ends with
// its hold.
constexpr std::size_t kMostOfOne = 64;

std::string ResourceOf(const admission::Grant& grant) {
  return grant.evaluator->resource.ToString();
}

// Entries of a namespaced quota do not record the namespace.
std::string NamespaceOf(const admission::ReservePlan& plan, const admission::Grant& grant) {
  return plan.quota.key.ns.empty() ? grant.ns : "";
}

bool AllOf(const admission::ReservePlan& plan, const std::string& resource) {
  return std::ranges::all_of(plan.grants, [&](const auto& grant) {
    return grant.version.empty() && ResourceOf(grant) == resource;
  });
}

// The versions of a request, and of the other requests that its grant answers.
std::set<std::string> VersionsOf(const admission::Grant& grant) {
  std::set<std::string> versions(grant.others.begin(), grant.others.end());
  versions.insert(grant.version);
  return versions;
}

OwnReservations::Own OwnOf(base::TimePoint now, const admission::ReservePlan& plan,
                           const admission::Grant& grant) {
  return {.grant = grant.number,
          .ns = NamespaceOf(plan, grant),
          .from = grant.version,
          .usage = grant.usage,
          .at = now,
          .relying = 1 + grant.others.size()};
}

// Adds the object to an entry for creations in its namespace with the same usage, or to a new one.
// Returns the number of the entry.
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

// Outlasted() needs the first grant of a creation as long as there are others.
std::vector<OwnReservations::Own>::iterator FirstToForget(std::vector<OwnReservations::Own>& own) {
  return own.begin() + (own.front().from.empty() ? 1 : 0);
}

}  // namespace

const OwnReservations::Own* OwnReservations::Find(base::TimePoint now, const ReservationList& list,
                                                  const quota::Uid& uid,
                                                  std::string_view version) const {
  const auto own = own_.find(uid);
  if (own == own_.end()) return nullptr;
  for (auto mine = own->second.rbegin(); mine != own->second.rend(); ++mine) {
    const bool same = mine->from == version && mine->relying > 0 && AnswersRepeats(now, *mine);
    if (same && list.Find(author_->by, mine->n) != nullptr) return &*mine;
  }
  return nullptr;
}

// An object of a burst has no entry of its own yet. A second grant from the burst would take the
// place of the first, and take it along when it is withdrawn.
bool OwnReservations::AnswersRepeats(base::TimePoint now, const Own& own) const {
  const bool unassigned = burst_ && burst_->n == own.n;
  return unassigned ? now - burst_->at <= burst_->lasts : now - own.at <= kAnswersRepeats;
}

bool OwnReservations::Outlasted(base::TimePoint now, const quota::Uid& uid) const {
  const auto own = own_.find(uid);
  CHECK(own == own_.end() || !own->second.empty()) << "an object of ours without a grant";
  if (own == own_.end() || !own->second.front().from.empty()) return false;
  return now - own->second.front().at > accounting::HoldFor(author_->webhook);
}

// Requests that start from different versions get separate entries: an entry ends when a later
// version than its own is shown.
OwnReservations::Added OwnReservations::AddEntries(base::TimePoint now,
                                                   const admission::ReservePlan& plan,
                                                   Standing& standing) {
  Added added;
  std::vector<Reservation> creations;
  for (const admission::Grant& grant : plan.grants) {
    Own& mine = added.emplace_back(grant.uid, OwnOf(now, plan, grant)).second;
    if (grant.version.empty()) {
      mine.n = AddTo(creations, ResourceOf(grant), mine.ns, grant.usage, grant.uid, *author_);
      continue;
    }
    for (const std::string& version : VersionsOf(grant)) {
      Reservation entry = author_->Entry(ResourceOf(grant), mine.ns, grant.usage);
      entry.objects = {grant.uid};
      if (version == grant.version) mine.n = entry.n;
      entry.from = version;
      entry.stored = quota::Excess(quota::Smaller(grant.usage, grant.stored), {});
      accounting::Reserve(standing, std::move(entry));
    }
  }
  for (Reservation& entry : creations) accounting::Reserve(standing, std::move(entry));
  return added;
}

void OwnReservations::Assign(Standing& standing) {
  if (burst_) burst_->closed = true;
  std::vector<std::uint64_t> unassigned;
  for (const Reservation& entry : standing.list.entries()) {
    if (entry.by == author_->by && entry.unassigned > 0) unassigned.push_back(entry.n);
  }
  std::vector<Reservation> drawn;
  for (const std::uint64_t n : unassigned) {
    (void)accounting::Withdraw(standing, author_->by, n);
    // from a write that seemed to fail: nothing was granted from it
    if (!burst_ || burst_->n != n) continue;
    for (auto& [uid, mine] : burst_->drawn) {
      const std::uint64_t before = mine.n;
      mine.n = AddTo(drawn, burst_->of, mine.ns, mine.usage, uid, *author_);
      const auto held = own_.find(uid);
      if (held == own_.end()) continue;
      for (Own& own : held->second) {
        if (own.n == before) own.n = mine.n;
      }
    }
  }
  for (Reservation& entry : drawn) accounting::Assign(standing, std::move(entry));
}

// Creations count once their write is made: those of a write that meets conflicts are no crowd.
void OwnReservations::AddBurst(base::TimePoint now, const admission::ReservePlan& plan,
                               Standing& standing, Reserved& reserved) const {
  const std::string of = ResourceOf(plan.grants.front());
  if (!AllOf(plan, of)) return;
  reserved.crowd = crowd_;
  reserved.crowd->OnGranted(now, plan.Added(), plan.grants.size());
  // Readers refuse an entry with a longer timeout than a webhook can have.
  const auto held = accounting::WebhookOfBurst(author_->webhook, accounting::kLongBurstLasts);
  const std::size_t batch = held <= accounting::kLongestWebhook ? plan.batch : 0;
  quota::ResourceList used = standing.used;
  used.Add(plan.promised);
  accounting::NextBurst next = reserved.crowd->Next(now, plan.quota.status.hard, used, batch);
  if (next.usage.empty()) return;
  Reservation entry = author_->Entry(of, "", next.usage);
  entry.unassigned = next.creations;
  entry.webhook = accounting::WebhookOfBurst(author_->webhook, next.lasts);
  const std::uint64_t n = entry.n;
  accounting::Reserve(standing, std::move(entry));
  reserved.burst = Burst{.n = n,
                         .of = of,
                         .left = std::move(next.usage),
                         .creations = next.creations,
                         .covers = next.covers,
                         .lasts = next.lasts,
                         .webhook = author_->webhook,
                         .at = now,
                         .drawn = {}};
}

void OwnReservations::Commit(base::TimePoint now, Reserved reserved) {
  // Outlasted() must know the first grant as long as its reservation may be renewed.
  const auto kept = std::max<base::Duration>(kKept, accounting::HoldFor(author_->webhook));
  for (; !remembered_.empty() && now - remembered_.front().at > kept; remembered_.pop_front()) {
    Forget(now - kept, remembered_.front().uid);
  }
  for (auto& [uid, mine] : reserved.added) Remember(now, uid, std::move(mine));
  CHECK(own_.size() <= remembered_.size()) << "a grant would never be forgotten";
  last_grant_ = now;
  if (reserved.crowd) crowd_ = *std::move(reserved.crowd);
  burst_ = std::move(reserved.burst);
  if (burst_) crowd_.OnReserved(now, burst_->creations, burst_->covers);
}

void OwnReservations::Remember(base::TimePoint now, const quota::Uid& uid, Own own) {
  std::vector<Own>& grants = own_[uid];
  if (grants.size() == kMostOfOne) grants.erase(FirstToForget(grants));
  grants.push_back(std::move(own));
  remembered_.push_back({now, uid});
}

void OwnReservations::Forget(base::TimePoint before, const quota::Uid& uid) {
  const auto own = own_.find(uid);
  if (own == own_.end()) return;
  std::vector<Own>& grants = own->second;
  const auto is_old = [&](const Own& one) { return one.at < before; };
  if (is_old(grants.back())) {
    own_.erase(own);
    return;
  }
  const auto first = FirstToForget(grants);
  grants.erase(first, std::find_if_not(first, grants.end(), is_old));
}

quota::ResourceList OwnReservations::Usable(base::TimePoint now,
                                            const ReservationList& list) const {
  if (!burst_ || burst_->closed || now - burst_->at > burst_->lasts) return {};
  if (author_->webhook > burst_->webhook) return {};  // its entry is not held long enough any more
  return list.Find(author_->by, burst_->n) != nullptr ? burst_->left : quota::ResourceList();
}

bool OwnReservations::Draw(base::TimePoint now, const ReservationList& list,
                           const admission::ReservePlan& plan) {
  if (plan.from == admission::ReservePlan::From::kBurst) {
    return DrawFromBurst(now, list, plan);
  }
  for (const admission::Grant& grant : plan.grants) {
    const Own* const held = Find(now, list, grant.uid, grant.version);
    if (held == nullptr) return false;
    Own mine = *held;
    mine.grant = grant.number;
    // The new grant shares the entry, and can be given up by itself.
    mine.relying = 1;
    Remember(now, grant.uid, std::move(mine));
  }
  return true;
}

bool OwnReservations::DrawFromBurst(base::TimePoint now, const ReservationList& list,
                                    const admission::ReservePlan& plan) {
  const quota::ResourceList added = plan.Added();
  if (!burst_ || !quota::Excess(added, Usable(now, list)).empty()) return false;
  if (!AllOf(plan, burst_->of)) {
    burst_->closed = true;
    return false;
  }
  quota::ResourceList left = quota::Excess(burst_->left, added);
  CHECK(quota::Excess(left, burst_->left).empty()) << "a burst grew";
  burst_->left = std::move(left);
  for (const admission::Grant& grant : plan.grants) {
    Own own = OwnOf(now, plan, grant);
    own.n = burst_->n;
    burst_->drawn[grant.uid] = own;
    // an earlier grant of the same burst, withdrawn since
    const auto held = own_.find(grant.uid);
    if (held != own_.end()) std::erase_if(held->second, [&](const Own& o) { return o.n == own.n; });
    Remember(now, grant.uid, std::move(own));
  }
  crowd_.OnGranted(now, added, plan.grants.size());
  return true;
}

bool OwnReservations::Release(const quota::Uid& uid, std::uint64_t grant) {
  const auto own = own_.find(uid);
  if (own == own_.end()) return false;
  const auto mine = std::ranges::find(own->second, grant, &Own::grant);
  if (mine == own->second.end() || mine->relying == 0 || --mine->relying > 0) return false;
  const bool other = std::ranges::any_of(
      own->second, [&](const Own& one) { return one.n == mine->n && one.relying > 0; });
  if (other) return false;
  withdrawals_.push_back({uid, grant});
  return true;
}

bool OwnReservations::MustTakeBack(base::TimePoint now, const ReservationList& list) const {
  if (!withdrawals_.empty()) return true;
  return std::ranges::any_of(list.entries(), [&](const Reservation& entry) {
    if (entry.by != author_->by || entry.unassigned == 0) return false;
    // After a conflict the burst is closed, but admission writes again at once.
    const bool last = burst_ && burst_->n == entry.n;
    return !last || now - burst_->at > burst_->lasts;
  });
}

std::size_t OwnReservations::TakeBack(Standing& standing) {
  Assign(standing);  // after this, grants from a burst have entries that can be withdrawn
  std::erase_if(withdrawals_, [&](const Withdrawal& withdrawal) {
    const auto own = own_.find(withdrawal.uid);
    if (own == own_.end()) return true;
    const auto mine = std::ranges::find(own->second, withdrawal.grant, &Own::grant);
    return mine == own->second.end() ||
           !accounting::Withdraw(standing, author_->by, mine->n, withdrawal.uid);
  });
  return withdrawals_.size();
}

void OwnReservations::TookBack(std::size_t withdrawals) {
  CHECK(withdrawals <= withdrawals_.size()) << "withdrawals were forgotten during a write";
  withdrawals_.erase(withdrawals_.begin(),
                     withdrawals_.begin() + static_cast<std::ptrdiff_t>(withdrawals));
}

std::optional<base::TimePoint> OwnReservations::BurstEnds() const {
  if (!burst_) return std::nullopt;
  return burst_->at + burst_->lasts + 1ms;
}

}  // namespace controllers

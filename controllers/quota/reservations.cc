#include "controllers/quota/reservations.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "controllers/quota/events/uncounted.h"
#include "pkg/quota/cluster/tree_place.h"

namespace controllers {
namespace {

// A namespace that the watch has not shown is read at most this often.
constexpr std::chrono::milliseconds kLearntAge{250};
// Longer than any request waits that relies on these labels.
constexpr std::chrono::seconds kLearntKept{30};
static_assert(kLearntKept > accounting::kLongestAnswer + kLearntAge);
constexpr std::size_t kMostLearnt = 10'000;

}  // namespace

base::Task<base::Result<void>> Reservations::Refresh(std::string ns, base::TimePoint deadline) {
  if (!quotas_.Current()) {
    std::string where = reach_.quota_tree() != nullptr ? std::string() : ns;
    const auto refreshed = co_await quotas_.Refresh(std::move(where), deadline);
    if (!refreshed) co_return refreshed;
  }
  if (quotas_.store().size() == 0 || reach_.Known(ns)) co_return base::Result<void>();
  co_return co_await Learn(std::move(ns), deadline);
}

base::Task<base::Result<void>> Reservations::Learn(std::string ns, base::TimePoint deadline) {
  const auto last = learnt_.find(ns);
  if (last != learnt_.end() && scheduler_.Now() - last->second.at < kLearntAge) {
    co_return base::Result<void>();
  }
  auto labels = co_await ReadLabels(ns, deadline);
  if (!labels) co_return labels.error().Wrap("read namespace " + ns);
  const base::TimePoint now = scheduler_.Now();
  std::erase_if(learnt_, [&](const auto& one) { return now - one.second.at > kLearntKept; });
  if (learnt_.size() >= kMostLearnt) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable,
                          .message = "too many namespaces that are not known yet"};
  }
  learnt_[ns] = {.at = now, .labels = std::move(*labels)};
  co_return base::Result<void>();
}

// Uses a list with a fieldSelector: it needs only the rights of the watch.
base::Task<base::Result<quota::LabelText>> Reservations::ReadLabels(std::string ns,
                                                                    base::TimePoint deadline) {
  client::ApiRequest request{.path = kNamespaces.Path(),
                             .query = {{"fieldSelector", "metadata.name=" + ns}},
                             .timeout = TimeUntil(deadline, scheduler_.Now())};
  const auto answer = co_await client::DoJson(client_, std::move(request));
  if (!answer) co_return answer.error();
  for (const json::Value& item : answer->ArrayAt({"items"})) {
    if (item.StringAt({"metadata", "name"}) != ns) continue;
    co_return quota::LabelText(item.At({"metadata", "labels"}));
  }
  co_return quota::LabelText();
}

quota::QuotaTree::Reach Reservations::Reaching(std::string_view ns) const {
  const quota::QuotaTree& tree = *reach_.quota_tree();
  quota::QuotaTree::Reach reaching = tree.QuotasOf(ns);
  const auto learnt = reach_.Known(ns) ? learnt_.end() : learnt_.find(ns);
  if (learnt == learnt_.end()) return reaching;
  for (auto& one : tree.QuotasFor(learnt->second.labels)) {
    const bool known =
        std::ranges::find(reaching, one.name, &quota::QuotaTree::Reaching::name) != reaching.end();
    if (!known) reaching.push_back(std::move(one));
  }
  return reaching;
}

admission::BookedQuota Reservations::Book(const quota::Quota& quota) const {
  Account& account = quotas_.accounts().Of(quota);
  admission::BookedQuota booked{.quota = &account.AtLeastSeen(account.Decisive(quota)),
                                .not_before = account.writes.pace.ForAdmission(),
                                .turn = account.writes.turn.Next(scheduler_.Now())};
  booked.outlasted = [this, &account](const quota::Uid& uid) {
    return account.own.Outlasted(scheduler_.Now(), uid);
  };
  booked.uncounted = [this, &quota](const std::vector<std::string>& names) {
    return WhyUncounted(usage_.tracker().SourcesOf(quota.hard), names);
  };
  const accounting::ReservationList* const list = account.listed();
  if (list == nullptr) return booked;
  booked.list = list;
  booked.burst = account.own.Usable(scheduler_.Now(), *list);
  booked.answer = [this, &account](const quota::Uid& uid, std::string_view version) {
    const auto* own = account.own.Find(scheduler_.Now(), account.known(), uid, version);
    return own != nullptr ? &own->usage : nullptr;
  };
  return booked;
}

admission::QuotaBook::Presence Reservations::Look(std::string_view ns) const {
  const bool complete = quotas_.Current() && (quotas_.store().size() == 0 || reach_.Known(ns));
  const bool any = reach_.quota_tree() != nullptr ? !Reaching(ns).empty()
                                                  : !quotas_.store().InNamespace(ns).empty();
  return {.any = any, .complete = complete};
}

admission::NamespaceQuotas Reservations::Quotas(std::string_view ns) const {
  const quota::QuotaTree* const tree = reach_.quota_tree();
  admission::NamespaceQuotas here{.quotas = {}, .writer = std::string(ns)};
  here.complete = Look(ns).complete;
  if (tree == nullptr) {
    for (const api::ObjectKey& key : reach_.QuotasOf(ns)) {
      here.quotas.push_back(Book(*quotas_.store().Find(key)));
    }
    return here;
  }
  quota::QuotaTree::Reach reaching = Reaching(ns);
  std::erase_if(reaching, [this](const auto& one) {
    return quotas_.store().Find({"", one.name}) == nullptr;
  });
  here.writer = WriterOf(ns, reaching);
  std::vector<quota::TreePlace> places = quota::PlacesOf(*tree, reaching);
  for (std::size_t i = 0; i < reaching.size(); ++i) {
    here.quotas.push_back(Book(*quotas_.store().Find({"", reaching[i].name})));
    here.quotas.back().tree = std::move(places[i]);
  }
  return here;
}

// The name contains a slash, so it never equals the name of a namespace.
std::string Reservations::WriterOf(std::string_view ns,
                                   const quota::QuotaTree::Reach& reaching) const {
  const std::string_view region = reach_.quota_tree()->RegionOf(ns);
  if (!region.empty()) return std::string("/").append(region);
  return reaching.empty() ? std::string(ns) : "/" + reaching.back().name;
}

bool Reservations::Draw(const admission::ReservePlan& plan) {
  Account* const account = quotas_.accounts().Find(plan.quota);
  return account != nullptr && account->own.Draw(scheduler_.Now(), account->known(), plan);
}

base::Task<base::Result<void>> Reservations::Reserve(admission::ReservePlan plan,
                                                     base::TimePoint deadline) {
  const quota::Quota quota = plan.quota;
  Account* const found = quotas_.accounts().Find(quota);
  if (found == nullptr) co_return admission::Changed(quota);
  const std::shared_ptr<base::Gate> gate = found->gate;
  const bool inside = co_await gate->Enter(deadline);
  if (!inside) {
    co_return base::Error{.code = base::ErrorCode::kTimeout,
                          .message = "quota " + quota.key.ToString() + " is being written"};
  }
  const base::LeavesGate leave{*gate};
  // The quota may have been dropped and shown again meanwhile, with another account and gate.
  const Account* const now = quotas_.accounts().Find(quota);
  if (now == nullptr || now->gate != gate) co_return admission::Changed(quota);
  const auto reserved = co_await ReserveInside(std::move(plan), deadline);
  // A recount may have found the gate closed, whether or not the write succeeded.
  Account* const account = quotas_.accounts().Find(quota);
  if (account != nullptr && std::exchange(account->writes.postponed, false)) look_(quota.key, {});
  co_return reserved;
}

base::Task<base::Result<void>> Reservations::ReserveInside(admission::ReservePlan plan,
                                                           base::TimePoint deadline) {
  const quota::Quota* current = quotas_.store().Find(plan.quota.key);
  // The plan was made for this version of the quota, and these limits: a write that was to add some
  // may have failed. After any change admission decides again.
  const bool same = current != nullptr && current->uid == plan.quota.uid &&
                    current->resource_version == plan.quota.resource_version &&
                    current->status.hard == plan.quota.status.hard;
  if (!same) co_return admission::Changed(plan.quota);
  CHECK(!plan.grants.empty()) << "a plan that reserves nothing";
  const quota::Quota quota = *current;
  Account& remembered = quotas_.accounts().Of(quota);
  if (remembered.DefersToLater(scheduler_.Now())) {
    co_return base::Error{
        .code = base::ErrorCode::kUnavailable,
        .message = "quota " + quota.key.ToString() + " is written by a later version"};
  }
  const quota::ResourceList usable = remembered.own.Usable(scheduler_.Now(), remembered.known());
  if (!plan.burst.empty() && usable != plan.burst) co_return admission::Changed(quota);
  const base::TimePoint now = scheduler_.Now();
  const bool lags = usage_.BehindUntil(quota) > now;
  Draft draft =
      remembered.Reserve(now, plan, quota, QuotaView(usage_, quota), lags, options_.Leads());
  if (draft.reserved->burst) observer_.OnBurst(plan.quota, draft.reserved->burst->left);
  PendingWrite write = remembered.Begin(now, std::move(draft));
  const auto written = co_await writer_.Write(std::move(write), deadline);
  if (!written && written.error().Is(base::ErrorCode::kNotFound)) {
    co_return admission::Changed(quota);
  }
  if (!written) co_return written.error();
  // Without an account the quota was deleted, so it limits nothing.
  const Account* const account = quotas_.accounts().Find(quota);
  const auto ends = account != nullptr ? account->own.BurstEnds() : std::nullopt;
  if (ends) look_(quota.key, *ends - scheduler_.Now());
  co_return base::Result<void>();
}

void Reservations::Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) {
  const quota::Quota* const quota = quotas_.store().Find(key);
  if (quota == nullptr) return;
  if (quotas_.accounts().Of(*quota).own.Release(uid, grant)) look_(key, {});
}

}  // namespace controllers

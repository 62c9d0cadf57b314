#include "tests/pkg/admission/fake_book.h"

#include <algorithm>

namespace admission {

quota::Quota& FakeBook::Put(const std::string& name, quota::ResourceList hard,
                            quota::ResourceList used) {
  quota::Quota& quota = quotas_[name].quota;
  quota.key = {"ns", name};
  quota.uid = "uid of " + name;
  quota.resource_version = std::to_string(++version_);
  quota.hard = hard;
  quota.status = {std::move(hard), std::move(used)};
  return quota;
}

quota::Quota& FakeBook::PutOver(const std::string& name,
                                std::set<std::string, std::less<>> namespaces,
                                quota::ResourceList hard, quota::ResourceList used) {
  quota::Quota& quota = Put(name, std::move(hard), std::move(used));
  quota.key.ns.clear();
  quotas_[name].over = std::move(namespaces);
  return quota;
}

std::string FakeBook::WriterOf(std::string_view ns) {
  const bool shared = !root.empty() && std::ranges::any_of(quotas_, [&](const auto& one) {
    return one.second.over.contains(ns);
  });
  return shared ? root : std::string(ns);
}

void FakeBook::Touch(const std::string& name, const std::function<void(quota::Quota&)>& change) {
  quota::Quota& quota = quotas_.at(name).quota;
  change(quota);
  quota.resource_version = std::to_string(++version_);
}

quota::ResourceList FakeBook::Outstanding(const std::string& name) const {
  const Entry& entry = quotas_.at(name);
  std::map<quota::Uid, quota::ResourceList> stored;
  for (const Own& own : entry.own) stored[own.uid] = own.stored;
  quota::ResourceList outstanding;
  for (const auto& [uid, uses] : stored) {
    (void)outstanding.Add(quota::Excess(entry.list.Granted(uid, uses), uses));
  }
  return outstanding;
}

std::vector<BookedQuota> FakeBook::Quotas(std::string_view ns) const {
  std::vector<BookedQuota> quotas;
  for (const auto& [name, entry] : quotas_) {
    if (entry.Reaches(ns)) quotas.push_back({&entry.quota, &entry.list, entry.burst});
  }
  return quotas;
}

const FakeBook::Own* FakeBook::Find(const quota::Quota& quota, const quota::Uid& uid,
                                    std::string_view version) const {
  const auto entry = quotas_.find(quota.key.name);
  if (entry == quotas_.end()) return nullptr;
  for (const Own& own : entry->second.own) {
    if (own.uid == uid && own.from == version && own.relying > 0) return &own;
  }
  return nullptr;
}

const quota::ResourceList* FakeBook::Reserved(const quota::Quota& quota, const quota::Uid& uid,
                                              std::string_view version) const {
  const Own* own = Find(quota, uid, version);
  return own == nullptr ? nullptr : &own->usage;
}

std::uint64_t FakeBook::Rely(const quota::Quota& quota, const quota::Uid& uid,
                             std::string_view version) {
  Own* own = const_cast<Own*>(Find(quota, uid, version));
  if (own == nullptr) return 0;
  ++own->relying;
  return own->grant;
}

bool FakeBook::Draw(const ReservePlan& plan) {
  const auto entry = quotas_.find(plan.quota.key.name);
  if (entry == quotas_.end()) return false;
  if (!quota::Excess(*plan.Added(), entry->second.burst).empty()) return false;
  entry->second.burst = quota::Excess(entry->second.burst, *plan.Added());
  accounting::Standing standing{entry->second.quota.status.used, entry->second.list};
  Add(entry->second, standing, plan.grants);
  entry->second.list = std::move(standing.list);  // `used` has it already
  return true;
}

base::Task<base::Result<void>> FakeBook::Reserve(ReservePlan plan, base::TimePoint deadline) {
  const quota::Quota& quota = plan.quota;
  const base::Error conflict{.code = base::ErrorCode::kConflict, .message = "changed meanwhile"};
  ++attempts;
  std::optional<base::Error> failure = fault ? fault(quota) : std::nullopt;
  const base::TimePoint answered = scheduler_.Now() + write_takes;
  co_await scheduler_.Sleep(std::min(answered, deadline) - scheduler_.Now());
  if (answered > deadline) {
    failure = base::Error{.code = base::ErrorCode::kTimeout, .message = "no answer"};
  }
  if (failure) co_return *failure;
  const auto entry = quotas_.find(quota.key.name);
  if (entry == quotas_.end()) co_return conflict;
  if (entry->second.quota.resource_version != quota.resource_version) co_return conflict;
  accounting::Standing standing{entry->second.quota.status.used, entry->second.list};
  for (const auto& [name, left] : entry->second.burst) {
    standing.used.Set(name, *standing.used.Get(name).Sub(std::min(left, standing.used.Get(name))));
  }
  entry->second.burst = {};
  Add(entry->second, standing, plan.grants);
  entry->second.list = std::move(standing.list);
  Touch(quota.key.name, [&](quota::Quota& stored) { stored.status.used = standing.used; });
  ++writes;
  if (written) written(entry->second.quota);
  co_return base::Result<void>();
}

void FakeBook::Add(Entry& entry, accounting::Standing& standing, const std::vector<Grant>& grants) {
  for (const Grant& grant : grants) {
    accounting::Reserve(standing,
                        {.by = "book",
                         .n = ++n_,
                         .of = "things",
                         .usage = grant.usage,
                         .objects = {grant.uid},
                         .from = grant.version,
                         .stored = quota::Excess(quota::Smaller(grant.usage, grant.stored), {})});
    entry.own.push_back({.uid = grant.uid,
                         .n = n_,
                         .grant = grant.number,
                         .from = grant.version,
                         .stored = grant.stored,
                         .usage = grant.usage,
                         .relying = 1 + grant.others.size()});
  }
}

// `used` stays: no controller writes it here.
void FakeBook::Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) {
  ++releases;
  const auto entry = quotas_.find(key.name);
  if (entry == quotas_.end()) return;
  for (Own& own : entry->second.own) {
    const bool last = own.grant == grant && own.uid == uid && own.relying > 0 && --own.relying == 0;
    if (last) (void)entry->second.list.Remove("book", own.n, uid);
  }
}

base::Task<base::Result<quota::ClassUsage>> FakeBook::ReadClass(
    const quota::Evaluator& /*evaluator*/, std::string name, base::TimePoint /*deadline*/) {
  ++class_reads;
  co_await scheduler_.Sleep(std::chrono::milliseconds(1));
  if (live_class) co_return live_class(name);
  co_return base::Error{.code = base::ErrorCode::kNotFound, .message = name + " not found"};
}

base::Task<base::Result<void>> FakeBook::Refresh(std::string /*ns*/, base::TimePoint /*deadline*/) {
  if (current) co_return base::Result<void>();
  ++refreshes;
  if (unreadable) co_return *unreadable;
  co_return base::Result<void>();
}

}  // namespace admission

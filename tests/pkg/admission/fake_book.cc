#include "tests/pkg/admission/fake_book.h"

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

void FakeBook::Touch(const std::string& name, const std::function<void(quota::Quota&)>& change) {
  quota::Quota& quota = quotas_.at(name).quota;
  change(quota);
  quota.resource_version = std::to_string(++version_);
}

std::vector<const quota::Quota*> FakeBook::InNamespace(std::string_view ns) const {
  std::vector<const quota::Quota*> quotas;
  for (const auto& [name, entry] : quotas_) {
    if (entry.quota.key.ns == ns) quotas.push_back(&entry.quota);
  }
  return quotas;
}

const quota::Charge* FakeBook::Covering(const quota::Quota& quota, const quota::Uid& uid,
                                        std::string_view version) const {
  return quotas_.at(quota.key.name).charges.Covering(scheduler_.Now(), uid, version);
}

std::uint64_t FakeBook::Cover(const quota::Quota& quota, const quota::Uid& uid,
                              std::string_view version) {
  return quotas_.at(quota.key.name).charges.Cover(scheduler_.Now(), uid, version);
}

quota::ResourceList FakeBook::AdvanceOf(const quota::Quota& quota) const {
  return quotas_.at(quota.key.name).advance.Usable(scheduler_.Now());
}

bool FakeBook::Draw(const ChargePlan& plan) {
  const auto entry = quotas_.find(plan.quota.key.name);
  if (entry == quotas_.end()) return false;
  quota::Advance& advance = entry->second.advance;
  if (!quota::Contains(advance.Usable(scheduler_.Now()), *plan.Added())) return false;
  const base::TimePoint since = advance.UsableSince(scheduler_.Now());
  advance.Draw(scheduler_.Now(), *plan.Added());
  Hold(entry->second, plan.grants, since);
  return true;
}

base::Task<base::Result<void>> FakeBook::Charge(ChargePlan plan, base::TimePoint deadline) {
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
  Touch(quota.key.name, [&](quota::Quota& stored) { stored.status.used = std::move(plan.used); });
  Hold(entry->second, plan.grants, scheduler_.Now());
  entry->second.advance.Drop();
  ++writes;
  if (written) written(entry->second.quota);
  co_return base::Result<void>();
}

void FakeBook::Hold(Entry& entry, const std::vector<Grant>& grants, base::TimePoint at) {
  for (const Grant& grant : grants) {
    const auto seen = shown.find(grant.uid);
    entry.charges.Grant(at, grant.uid, grant.charge, seen != shown.end() ? &seen->second : nullptr,
                        grant.version, grant.number);
    for (const std::string& other : grant.others) {
      entry.charges.Cover(at, grant.uid, other);
    }
  }
}

void FakeBook::Release(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) {
  ++releases;
  const auto entry = quotas_.find(key.name);
  if (entry == quotas_.end()) return;
  entry->second.charges.Release(uid, grant);
}

base::Task<base::Result<quota::ClassUsage>> FakeBook::ReadClass(
    const quota::Evaluator& /*evaluator*/, std::string name, base::TimePoint /*deadline*/) {
  ++class_reads;
  co_await scheduler_.Sleep(std::chrono::milliseconds(1));
  if (live_class) co_return live_class(name);
  co_return base::Error{.code = base::ErrorCode::kNotFound, .message = name + " not found"};
}

base::Task<base::Result<void>> FakeBook::Refresh(std::string /*ns*/, base::TimePoint /*deadline*/) {
  ++refreshes;
  if (unreadable) co_return *unreadable;
  co_return base::Result<void>();
}

}  // namespace admission

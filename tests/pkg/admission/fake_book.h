#pragma once

// TEST ONLY. Quotas, charges and guarded writes as the quota controller gives them to admission, in
// virtual time, with faults.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/base/gate.h"
#include "pkg/base/scheduler.h"
#include "pkg/quota/charges.h"

namespace admission {

class FakeBook final : public QuotaBook {
 public:
  explicit FakeBook(base::Scheduler& scheduler) : scheduler_(scheduler) {}

  quota::Quota& Put(const std::string& name, quota::ResourceList hard, quota::ResourceList used);
  void Drop(const std::string& name) { quotas_.erase(name); }
  [[nodiscard]] const quota::Quota& Get(const std::string& name) const {
    return quotas_.at(name).quota;
  }
  [[nodiscard]] quota::ResourceList Outstanding(const std::string& name) const {
    return quotas_.at(name).charges.Outstanding();
  }
  // Part of `used` is charged in advance.
  void PutAdvance(const std::string& name, quota::ResourceList usage) {
    quotas_.at(name).advance.Put(scheduler_.Now(), scheduler_.Now(), {std::move(usage), 1});
  }
  // Somebody else writes the quota.
  void Touch(const std::string& name, const std::function<void(quota::Quota&)>& change);

  [[nodiscard]] bool Current() const override { return current; }
  [[nodiscard]] std::vector<const quota::Quota*> InNamespace(std::string_view ns) const override;
  [[nodiscard]] const quota::Charge* Covering(const quota::Quota& quota, const quota::Uid& uid,
                                              std::string_view version) const override;
  std::uint64_t Cover(const quota::Quota& quota, const quota::Uid& uid,
                      std::string_view version) override;
  [[nodiscard]] const quota::ClassTable* ClassesOf(const quota::Evaluator&) const override {
    return nullptr;
  }
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator&, std::string_view, const quota::Uid&,
      const quota::ObjectFacts& facts) const override {
    quota::Resolved resolved{{facts.now.usage, facts.now.attributes}};
    resolved.subject.usage = *classes.ResolveKnown(facts.now, resolved.unknown);
    return resolved;
  }
  [[nodiscard]] bool HasLater(const quota::Evaluator&, const quota::Uid& uid,
                              std::string_view resource_version) const override {
    const auto latest = versions.find(uid);
    return latest != versions.end() && resource_version < latest->second;
  }
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                        std::string name,
                                                        base::TimePoint deadline) override;
  [[nodiscard]] quota::ResourceList AdvanceOf(const quota::Quota& quota) const override;
  [[nodiscard]] bool Draw(const ChargePlan& plan) override;
  base::Task<base::Result<void>> Charge(ChargePlan plan, base::TimePoint deadline) override;
  void Release(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override;
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override;

  bool current = true;
  quota::ClassTable classes{quota::MissingClass::kUnknown, "thing class"};  // as watched
  // What the server answers for a class; null: it has none.
  std::function<base::Result<quota::ClassUsage>(const std::string& name)> live_class;
  std::size_t class_reads = 0;
  std::map<quota::Uid, std::string> versions;       // shown by a watch, all as long
  std::map<quota::Uid, quota::ResourceList> shown;  // by a watch: what objects use
  std::optional<base::Error> unreadable;            // Refresh() fails
  base::Duration write_takes = std::chrono::milliseconds(4);
  // Asked before each write; an error is its outcome.
  std::function<std::optional<base::Error>(const quota::Quota& quota)> fault;
  std::size_t writes = 0;  // that succeeded
  std::size_t attempts = 0;
  std::size_t releases = 0;
  std::size_t refreshes = 0;
  // Called after each successful write.
  std::function<void(const quota::Quota& quota)> written;

 private:
  struct Entry;
  void Hold(Entry& entry, const std::vector<Grant>& grants, base::TimePoint at);
  struct Entry {
    quota::Quota quota;
    quota::Charges charges{std::chrono::seconds(10)};
    quota::Advance advance;
  };
  base::Scheduler& scheduler_;
  std::map<std::string, Entry> quotas_;
  int version_ = 1;
};

}  // namespace admission

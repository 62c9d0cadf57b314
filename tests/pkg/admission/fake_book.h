#pragma once

// TEST ONLY. Quotas, reservations and guarded writes as the quota controller gives them to
// admission, in virtual time, with faults.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/accounting/reserve.h"
#include "pkg/admission/object_book.h"
#include "pkg/admission/quota_book.h"
#include "pkg/base/scheduler.h"
#include "pkg/quota/class_table.h"

namespace admission {

class FakeBook final : public QuotaBook, public ObjectBook {
 public:
  explicit FakeBook(base::Scheduler& scheduler) : scheduler_(scheduler) {}

  quota::Quota& Put(const std::string& name, quota::ResourceList hard, quota::ResourceList used);
  // A quota over these namespaces. Those of one root have one writer.
  quota::Quota& PutOver(const std::string& name, std::set<std::string, std::less<>> namespaces,
                        quota::ResourceList hard, quota::ResourceList used);
  void Drop(const std::string& name) { quotas_.erase(name); }
  [[nodiscard]] const quota::Quota& Get(const std::string& name) const {
    return quotas_.at(name).quota;
  }
  // What objects may use beyond what they use as stored.
  [[nodiscard]] quota::ResourceList Outstanding(const std::string& name) const;
  // Part of `used` is for creations to come.
  void PutBurst(const std::string& name, quota::ResourceList usage) {
    quotas_.at(name).burst = std::move(usage);
  }
  // Somebody else writes the quota.
  void Touch(const std::string& name, const std::function<void(quota::Quota&)>& change);

  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override;
  [[nodiscard]] std::vector<BookedQuota> Quotas(std::string_view ns) const override;
  [[nodiscard]] std::string WriterOf(std::string_view ns) override;
  [[nodiscard]] const quota::ResourceList* Reserved(const quota::Quota& quota,
                                                    const quota::Uid& uid,
                                                    std::string_view version) const override;
  std::uint64_t Rely(const quota::Quota& quota, const quota::Uid& uid,
                     std::string_view version) override;
  [[nodiscard]] bool Draw(const ReservePlan& plan) override;
  base::Task<base::Result<void>> Reserve(ReservePlan plan, base::TimePoint deadline) override;
  void Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override;

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

  bool current = true;
  quota::ClassTable classes{quota::MissingClass::kUnknown, "thing class"};  // as watched
  // What the server answers for a class; null: it has none.
  std::function<base::Result<quota::ClassUsage>(const std::string& name)> live_class;
  std::size_t class_reads = 0;
  std::map<quota::Uid, std::string> versions;  // shown by a watch, all as long
  std::optional<base::Error> unreadable;       // Refresh() fails
  base::Duration write_takes = std::chrono::milliseconds(4);
  // Asked before each write; an error is its outcome.
  std::function<std::optional<base::Error>(const quota::Quota& quota)> fault;
  std::size_t writes = 0;  // that succeeded
  std::size_t attempts = 0;
  std::size_t releases = 0;
  std::size_t refreshes = 0;
  std::string root;  // the writer of all that PutOver() reaches; "": each namespace has its own
  // Called after each successful write.
  std::function<void(const quota::Quota& quota)> written;

 private:
  // One grant, and the entry that it relies on.
  struct Own {
    quota::Uid uid;
    std::uint64_t n = 0;
    std::uint64_t grant = 0;
    std::string from;
    quota::ResourceList stored;
    quota::ResourceList usage;
    std::size_t relying = 1;
  };
  struct Entry {
    quota::Quota quota;
    accounting::ReservationList list;
    std::vector<Own> own;
    quota::ResourceList burst;
    std::set<std::string, std::less<>> over = {};  // namespaces of a quota that has none
    [[nodiscard]] bool Reaches(std::string_view ns) const {
      return quota.key.ns == ns || over.contains(ns);
    }
  };
  void Add(Entry& entry, accounting::Standing& standing, const std::vector<Grant>& grants);
  [[nodiscard]] const Own* Find(const quota::Quota& quota, const quota::Uid& uid,
                                std::string_view version) const;

  base::Scheduler& scheduler_;
  std::map<std::string, Entry> quotas_;
  std::uint64_t n_ = 0;
  int version_ = 1;
};

}  // namespace admission

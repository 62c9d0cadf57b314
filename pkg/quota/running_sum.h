#pragma once

// The usage of some objects under some names, kept while objects come and go. Only the ledger's
// sources include this. No I/O, one thread.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/exact_sum.h"
#include "pkg/quota/facts.h"
#include "pkg/quota/scope.h"

namespace quota {

// What is summed besides the objects (Ledger::Sum()).
struct SumQuestion {
  ScopeSelector selector;
  std::vector<std::string> known_scopes;
  std::vector<std::string> names;       // sorted, each name once
  const ClassTable* classes = nullptr;  // null: classes use nothing
  // ClassTable::contents() of `classes`.
  std::weak_ptr<const void> contents = {};
  bool shares = false;  // what tied objects share with their owners is subtracted

  // True if the classes have changed since, or their table is gone.
  [[nodiscard]] bool IsOutdated() const { return classes != nullptr && contents.expired(); }
  // REQUIRES: neither is outdated.
  bool operator==(const SumQuestion& other) const {
    return classes == other.classes && shares == other.shares && names == other.names &&
           selector == other.selector && known_scopes == other.known_scopes;
  }
};

class RunningSum {
 public:
  explicit RunningSum(SumQuestion question);

  [[nodiscard]] const SumQuestion& question() const { return question_; }
  // Adds so many objects with these facts; a negative number removes them.
  void Add(const Facts& facts, std::int64_t objects);
  // So many tied objects with these facts share usage with an owner with those. Ignored unless the
  // question is about it.
  void AddShared(const Facts& facts, const Facts& owner, std::int64_t objects);

  // Returns why the usage of some objects is unknown; nullopt: it is known.
  [[nodiscard]] std::optional<base::Error> Trouble() const;
  // Returns every name of the question, also with zero. REQUIRES: no Trouble(). At least so much is
  // used if it is not exact.
  [[nodiscard]] ResourceList Get() const;
  // False if objects use an unknown amount more under one of the names (Facts::unread).
  [[nodiscard]] bool IsExact() const { return unread_ == 0; }
  bool operator==(const RunningSum& other) const;

 private:
  struct Unknown {
    base::ErrorCode code;
    std::int64_t objects = 0;
    bool operator==(const Unknown&) const = default;
  };
  void AddTo(std::vector<ExactSum>& sums, const ResourceList& usage, std::int64_t objects) const;
  void AddTrouble(const base::Error& why, std::int64_t objects);
  [[nodiscard]] bool AsksForAny(const std::vector<std::string>& names) const;

  SumQuestion question_;
  std::vector<ExactSum> used_;    // by name
  std::vector<ExactSum> shared_;  // by name; empty: not subtracted
  // Objects whose usage is unknown, by the reason, so that the message does not depend on an order.
  std::map<std::string, Unknown> troubles_;
  std::int64_t unread_ = 0;  // objects that use an unknown amount more
};

// Returns the smaller amount for each name in both lists with positive amounts.
ResourceList Common(const ResourceList& a, const ResourceList& b);
// Returns the usage of an object with these facts. `classes` may be null. Errors: as
// ClassTable::Resolve().
base::Result<ResourceList> ResolvedUsage(const Facts& facts, const ClassTable* classes);

}  // namespace quota

#pragma once

// The usage of some objects under some names, kept while objects come and go. Only the ledger's
// sources include this. No I/O, one thread.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
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

  // Returns every name of the question, also with zero: at least so much is used.
  [[nodiscard]] ResourceList Get() const;
  // Returns the names under which more is used, because of classes that are missing or lack an
  // amount: at most one element for each error code.
  [[nodiscard]] std::vector<UnknownUsage> UnknownByClass() const;
  // Returns the names under which objects use an unknown amount more (Facts::unread).
  [[nodiscard]] std::vector<std::string> UnreadNames() const;
  // Returns the number of these objects.
  [[nodiscard]] std::int64_t unread_objects() const { return unread_objects_; }
  bool operator==(const RunningSum& other) const;

 private:
  struct Unknown {
    base::ErrorCode code;
    std::int64_t objects = 0;
    bool operator==(const Unknown&) const = default;
  };
  // What is known under one name.
  struct Amount {
    ExactSum used;
    ExactSum shared;
    // Objects that use more by their class, by the reason, so that the message does not depend on
    // an order.
    std::map<std::string, Unknown> by_class;
    std::int64_t unread = 0;  // objects that use an unknown amount more
    bool operator==(const Amount&) const = default;
  };
  // Returns the usage as far as it is known, and notes why the rest is not.
  [[nodiscard]] ResourceList Resolve(const Facts& facts, std::int64_t objects);
  void AddTo(ExactSum Amount::*sum, const ResourceList& usage, std::int64_t objects);
  static void AddUnknown(Amount& amount, const base::Error& why, std::int64_t objects);
  [[nodiscard]] Amount* Find(std::string_view name);

  SumQuestion question_;
  std::vector<Amount> amounts_;  // of the names of the question
  std::int64_t unread_objects_ = 0;
};

// Returns the smaller amount for each name in both lists with positive amounts.
ResourceList Common(const ResourceList& a, const ResourceList& b);
// Returns the usage of an object with these facts. `classes` may be null. Errors: as
// ClassTable::Resolve().
base::Result<ResourceList> ResolvedUsage(const Facts& facts, const ClassTable* classes);

}  // namespace quota

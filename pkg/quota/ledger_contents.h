#pragma once

// The objects of one namespace, or of one group of namespaces, as counts of facts, and the sums of
// their usage that are in use. Only the ledger's sources include this. No I/O, one thread.
//
// A sum that is asked for again and again is kept: each change adds what it adds. So a recount does
// not depend on the number of distinct facts. Sums are bounded by what asks: a sum is dropped if it
// was not asked for during more changes than it would cost to compute it anew, and a space with few
// distinct facts keeps none.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "pkg/quota/facts_pool.h"
#include "pkg/quota/ledger_ties.h"
#include "pkg/quota/running_sum.h"

namespace quota {

using FactsCounts = std::unordered_map<FactsId, std::size_t>;  // facts id → objects, never 0

// The check of kept sums against sums from facts.
struct SumAudit {
  std::uint32_t number = 0;  // a kept sum is checked when it is next asked for in another audit
  std::size_t wrong = 0;     // kept sums that were found wrong, which is a bug
};

struct SumOfContents {
  ResourceList usage;  // every name: at least so much is used
  // Names under which more is used: by classes, and because an object cannot be read. A name is in
  // one of them.
  std::vector<UnknownUsage> by_class = {};
  std::vector<std::string> unread = {};
  std::int64_t unread_objects = 0;  // that use more under some name of the question
};

class Contents {
 public:
  [[nodiscard]] const FactsCounts& counts() const { return counts_; }
  // Usage that tied objects share with their owners, as of the last lookup.
  [[nodiscard]] const Ties::Pairs& shared() const { return shared_; }
  // Objects without facts.
  [[nodiscard]] std::int64_t unknown() const { return unknown_; }
  [[nodiscard]] bool empty() const;

  // `pool` is that of the ledger; the facts must be in it, also when they are subtracted.
  void Add(const FactsPool& pool, FactsId facts, std::size_t objects);
  void Subtract(const FactsPool& pool, FactsId facts, std::size_t objects);
  void AddShared(const FactsPool& pool, const Ties::Pair& pair, std::size_t objects);
  void SubtractShared(const FactsPool& pool, const Ties::Pair& pair, std::size_t objects);
  void AddUnknown(std::int64_t objects);
  void Clear();

  [[nodiscard]] SumOfContents Sum(const FactsPool& pool, const SumQuestion& question,
                                  SumAudit& audit);
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }

 private:
  struct Kept {
    RunningSum sum;
    std::size_t unread = 0;   // changes since it was asked for
    std::uint32_t audit = 0;  // the last one that checked it
  };
  [[nodiscard]] RunningSum FromFacts(const FactsPool& pool, const SumQuestion& question) const;
  void DropOutdated();
  [[nodiscard]] SumOfContents Read(const RunningSum& sum) const;
  template <typename ChangeSum>
  void Change(const FactsPool& pool, const ChangeSum& change);

  FactsCounts counts_;
  Ties::Pairs shared_;
  std::int64_t unknown_ = 0;
  std::vector<Kept> kept_;
};

}  // namespace quota

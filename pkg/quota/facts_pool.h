#pragma once

// Interned facts: equal facts share one value and one small id while there are references to it.
// Ids of unused facts are reused. One thread.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "pkg/quota/facts.h"

namespace quota {

using FactsId = std::uint32_t;

class FactsPool {
 public:
  // Returns the id of facts equal to `facts`, and adds a reference.
  FactsId Acquire(Facts facts);
  void Release(FactsId id);

  [[nodiscard]] const std::shared_ptr<const Facts>& Get(FactsId id) const {
    return entries_[id].facts;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size() - free_.size(); }

 private:
  struct Entry {
    std::shared_ptr<const Facts> facts;  // null: the id is free
    std::size_t hash = 0;
    std::size_t references = 0;
  };
  std::vector<Entry> entries_;  // by id
  std::vector<FactsId> free_;
  std::unordered_multimap<std::size_t, FactsId> by_hash_;
};

}  // namespace quota

#include "pkg/quota/facts_pool.h"

#include <glog/logging.h>

#include <utility>

namespace quota {

FactsId FactsPool::Acquire(Facts facts) {
  const std::size_t hash = facts.Hash();
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    Entry& entry = entries_[at->second];
    if (*entry.facts != facts) continue;
    ++entry.references;
    return at->second;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<FactsId>(entries_.size()));
    entries_.emplace_back();
  }
  const FactsId id = free_.back();
  free_.pop_back();
  CHECK(entries_[id].facts == nullptr) << "an id of facts that are used is given out again";
  facts.ShrinkToFit();
  entries_[id] = {std::make_shared<const Facts>(std::move(facts)), hash, 1};
  by_hash_.emplace(hash, id);
  CHECK_EQ(by_hash_.size(), size()) << "facts are in use that no hash finds";
  return id;
}

void FactsPool::Release(FactsId id) {
  Entry& entry = entries_[id];
  CHECK_GT(entry.references, 0U) << "facts are released more often than acquired";
  if (--entry.references > 0) return;
  const auto [first, last] = by_hash_.equal_range(entry.hash);
  for (auto at = first; at != last; ++at) {
    if (at->second != id) continue;
    by_hash_.erase(at);
    break;
  }
  entry = {};
  free_.push_back(id);
  CHECK_EQ(by_hash_.size(), size()) << "a hash finds facts that are free";
}

}  // namespace quota

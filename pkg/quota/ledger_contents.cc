#include "pkg/quota/ledger_contents.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace quota {
namespace {

// With fewer distinct facts, a sum from facts costs about as much as a look at a kept one.
constexpr std::size_t kWorthKeeping = 16;
constexpr std::size_t kMostKept = 64;
constexpr std::size_t kLeastUnread = 64;

template <typename Counts>
void Take(Counts& counts, const typename Counts::key_type& key, std::size_t objects) {
  const auto count = counts.find(key);
  CHECK(count != counts.end() && count->second >= objects) << "more objects leave than are counted";
  if ((count->second -= objects) == 0) counts.erase(count);
}

}  // namespace

// Sums with other classes than now could not be changed by the facts of an object.
void Contents::DropOutdated() {
  std::erase_if(kept_, [](const Kept& kept) { return kept.sum.question().IsOutdated(); });
}

template <typename ChangeSum>
void Contents::Change([[maybe_unused]] const FactsPool& pool, const ChangeSum& change) {
  if (kept_.empty()) return;
  DropOutdated();
  const std::size_t distinct = counts_.size() + shared_.size();
  std::erase_if(kept_, [&](const Kept& kept) { return kept.unread > distinct + kLeastUnread; });
  for (Kept& kept : kept_) {
    change(kept.sum);
    ++kept.unread;
#ifdef QCM_CHECK_SUMS
    // A large space is checked at some of its changes.
    const bool checks = kept.unread % (1 + distinct / kLeastUnread) == 0;
    CHECK(!checks || kept.sum == FromFacts(pool, kept.sum.question())) << "a kept sum is wrong";
#endif
  }
}

void Contents::Add(const FactsPool& pool, FactsId facts, std::size_t objects) {
  counts_[facts] += objects;
  const auto more = static_cast<std::int64_t>(objects);
  Change(pool, [&](RunningSum& sum) { sum.Add(*pool.Get(facts), more); });
}

void Contents::Subtract(const FactsPool& pool, FactsId facts, std::size_t objects) {
  Take(counts_, facts, objects);
  const auto fewer = static_cast<std::int64_t>(objects);
  Change(pool, [&](RunningSum& sum) { sum.Add(*pool.Get(facts), -fewer); });
}

void Contents::AddShared(const FactsPool& pool, const Ties::Pair& pair, std::size_t objects) {
  shared_[pair] += objects;
  const auto more = static_cast<std::int64_t>(objects);
  Change(pool, [&](RunningSum& sum) { sum.AddShared(*pair.first, *pair.second, more); });
}

void Contents::SubtractShared(const FactsPool& pool, const Ties::Pair& pair, std::size_t objects) {
  Take(shared_, pair, objects);
  const auto fewer = static_cast<std::int64_t>(objects);
  Change(pool, [&](RunningSum& sum) { sum.AddShared(*pair.first, *pair.second, -fewer); });
}

void Contents::AddUnknown(std::int64_t objects) {
  unknown_ += objects;
  CHECK_GE(unknown_, 0) << "more unknown objects leave than are counted";
}

bool Contents::empty() const { return counts_.empty() && shared_.empty() && unknown_ == 0; }

void Contents::Clear() {
  counts_.clear();
  shared_.clear();
  unknown_ = 0;
  kept_.clear();
}

SumOfContents Contents::Sum(const FactsPool& pool, const SumQuestion& question, SumAudit& audit) {
  DropOutdated();
  const auto same = [&](const Kept& kept) { return kept.sum.question() == question; };
  const auto found = std::ranges::find_if(kept_, same);
  if (found == kept_.end()) {
    RunningSum sum = FromFacts(pool, question);
    SumOfContents read = Read(sum);
    if (counts_.size() + shared_.size() < kWorthKeeping) return read;
    if (kept_.size() >= kMostKept) {
      kept_.erase(std::ranges::max_element(kept_, {}, &Kept::unread));
    }
    kept_.push_back({.sum = std::move(sum), .audit = audit.number});
    return read;
  }
  found->unread = 0;
  if (std::exchange(found->audit, audit.number) != audit.number) {
    RunningSum sum = FromFacts(pool, question);
    if (!(sum == found->sum)) {
      ++audit.wrong;
      found->sum = std::move(sum);
    }
  }
  return Read(found->sum);
}

SumOfContents Contents::Read(const RunningSum& sum) const {
  SumOfContents read{.usage = sum.Get(), .by_class = sum.UnknownByClass()};
  // An object of which nothing can be read may use more under any name.
  read.unread = unknown_ > 0 ? sum.question().names : sum.UnreadNames();
  read.unread_objects = unknown_ + sum.unread_objects();
  for (const UnknownUsage& unknown : read.by_class) {
    std::erase_if(read.unread, [&](const auto& name) {
      return std::ranges::binary_search(unknown.names, name);
    });
  }
  return read;
}

RunningSum Contents::FromFacts(const FactsPool& pool, const SumQuestion& question) const {
  RunningSum sum(question);
  for (const auto& [facts, objects] : counts_) {
    sum.Add(*pool.Get(facts), static_cast<std::int64_t>(objects));
  }
  for (const auto& [pair, objects] : shared_) {
    sum.AddShared(*pair.first, *pair.second, static_cast<std::int64_t>(objects));
  }
  return sum;
}

}  // namespace quota

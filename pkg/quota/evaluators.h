#pragma once

// The evaluators of a quota API. Most are a part of the program. Those of UsageDefinitions come, go
// and are replaced while it runs, so whoever keeps one for longer than a turn shares it. One
// thread.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "pkg/quota/evaluator.h"

namespace quota {

class Evaluators {
  using Shared = std::shared_ptr<const Evaluator>;

 public:
  Evaluators() = default;
  Evaluators(std::vector<Evaluator> all) {  // NOLINT: a table of them is what this is
    for (Evaluator& one : all) Put(std::move(one));
  }

  // Adds the evaluator in place of that of the same resource.
  void Put(Evaluator evaluator) {
    ++changes_;
    auto shared = std::make_shared<const Evaluator>(std::move(evaluator));
    const auto same = At(shared->resource);
    if (same == all_.end()) {
      all_.push_back(std::move(shared));
    } else {
      *same = std::move(shared);
    }
  }
  // Returns false if there is none.
  bool Remove(const api::GroupResource& resource) {
    const auto same = At(resource);
    if (same == all_.end()) return false;
    ++changes_;
    all_.erase(same);
    return true;
  }
  // Returns null if there is none.
  [[nodiscard]] Shared Find(const api::GroupResource& resource) const {
    const auto same =
        std::ranges::find_if(all_, [&](const Shared& one) { return one->resource == resource; });
    return same == all_.end() ? nullptr : *same;
  }
  [[nodiscard]] const std::vector<Shared>& shared() const { return all_; }
  // Grows with each change.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] bool empty() const { return all_.empty(); }

  class Iterator {
   public:
    using value_type = Evaluator;
    using difference_type = std::ptrdiff_t;
    using reference = const Evaluator&;
    using pointer = const Evaluator*;
    using iterator_category = std::forward_iterator_tag;
    Iterator() = default;
    explicit Iterator(std::vector<Shared>::const_iterator at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator& other) const = default;

   private:
    std::vector<Shared>::const_iterator at_;
  };
  // Invalid after Put() and Remove().
  [[nodiscard]] Iterator begin() const { return Iterator(all_.begin()); }
  [[nodiscard]] Iterator end() const { return Iterator(all_.end()); }

 private:
  std::vector<Shared>::iterator At(const api::GroupResource& resource) {
    return std::ranges::find_if(all_, [&](const Shared& one) { return one->resource == resource; });
  }

  std::vector<Shared> all_;
  std::uint64_t changes_ = 0;
};

}  // namespace quota

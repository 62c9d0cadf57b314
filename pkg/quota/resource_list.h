#pragma once

// Resource name → quantity, sorted by name: spec.hard, status.used, the usage of an object
// (apiserver v0.36.3, pkg/quota/v1/resources.go). Values; any thread.

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/quantity/quantity.h"

namespace quota {

using quantity::Quantity;

// An object can have tens of thousands of names. So what takes whole lists is linear, or sorts
// once. Set() is not: it moves all larger names.
class ResourceList {
 public:
  using Item = std::pair<std::string, Quantity>;
  ResourceList() = default;
  ResourceList(std::initializer_list<Item> items);
  // Items in any order. Of several with the same name the last one counts.
  static ResourceList FromItems(std::vector<Item> items);
  [[nodiscard]] const Quantity* Find(std::string_view name) const;
  void Set(std::string_view name, Quantity quantity);
  // Sets all names of `other`.
  void SetAll(ResourceList other);
  // Gives each name of `other` at least its quantity there. REQUIRES: `other` is another list.
  void RaiseTo(const ResourceList& other);
  void Erase(std::string_view name);
  // Erases the items for which `erased` is true, and frees their memory. Returns their number.
  std::size_t EraseIf(const std::function<bool(const Item&)>& erased);
  void ShrinkToFit() { items_.shrink_to_fit(); }
  void Reserve(std::size_t names) { items_.reserve(names); }
  // Adds `times` times `other` to each name; new names are added. REQUIRES: `other` is another
  // list.
  void Add(const ResourceList& other, quantity::Int128 times = 1);
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] const std::vector<Item>& items() const { return items_; }
  [[nodiscard]] std::vector<Item> Take() && { return std::move(items_); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  // Equal names and values, whatever the format. A missing name is not a zero.
  bool operator==(const ResourceList& other) const;
  // The quantity of `name`, zero if it is absent.
  [[nodiscard]] Quantity Get(std::string_view name) const;
  // "cpu=600m,pods=2": sorted, as in error messages and log lines.
  [[nodiscard]] std::string ToString() const;

 private:
  std::vector<Item> items_;  // sorted by name, each name once
};

// The sums by name of items in any order.
ResourceList SumOf(std::vector<ResourceList::Item> items);

// Returns the growth from `b` to `a`: their difference where `a` is more, else zero. Between two
// saturated amounts there is none.
Quantity Above(const Quantity& a, const Quantity& b);

// Returns what is left of `a` without `b`, at least zero. A saturated amount stays saturated.
Quantity Rest(const Quantity& a, const Quantity& b);

// Takes `by` from the quantities of `list`; for each name Rest() is left. Names that are missing in
// `list` stay missing.
void Lower(ResourceList& list, const ResourceList& by);

// For each name Above() of `a` and `b`, only if it is positive.
ResourceList Excess(const ResourceList& a, const ResourceList& b);

// All names of both lists, each with the larger quantity.
ResourceList Larger(ResourceList a, const ResourceList& b);

// The names of `a`, each with the smaller quantity; names missing in `b` are zero there.
ResourceList Smaller(const ResourceList& a, const ResourceList& b);

}  // namespace quota

#include "pkg/quota/resource_list.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace quota {
namespace {

// Up to this size a linear search is faster: different names mostly differ in length, too.
constexpr std::size_t kFew = 16;

// The position of `name`, or where it belongs. `items` may be const or not.
auto Position(auto& items, std::string_view name) {
  return std::lower_bound(items.begin(), items.end(), name,
                          [](const auto& item, std::string_view key) { return item.first < key; });
}

using Item = ResourceList::Item;

bool SameName(const Item& a, const Item& b) { return a.first == b.first; }

// Sorts by name; items with the same name keep their order.
void SortByName(std::vector<Item>& items) {
  if (std::ranges::is_sorted(items, {}, &Item::first)) return;  // as API servers write maps
  std::ranges::stable_sort(items, {}, &Item::first);
}

// Both lists in order of the names. `both` combines the quantities of a common name. The names of
// `a` are moved, because a list can have tens of thousands.
std::vector<Item> Merged(std::vector<Item> a, auto of_b, auto end_of_b, auto both) {
  if (of_b == end_of_b) return a;
  std::vector<Item> merged;
  merged.reserve(a.size() + static_cast<std::size_t>(end_of_b - of_b));
  for (Item& item : a) {
    while (of_b != end_of_b && of_b->first < item.first) merged.push_back(*of_b++);
    const bool common = of_b != end_of_b && SameName(*of_b, item);
    if (common) item.second = both(item.second, (of_b++)->second);
    merged.push_back(std::move(item));
  }
  std::copy(of_b, end_of_b, std::back_inserter(merged));
  return merged;
}

}  // namespace

ResourceList::ResourceList(std::initializer_list<Item> items) {
  for (const auto& [name, quantity] : items) Set(name, quantity);
}

ResourceList ResourceList::FromItems(std::vector<Item> items) {
  SortByName(items);
  // From the back, std::unique() keeps the last of each name.
  const auto kept = std::unique(items.rbegin(), items.rend(), SameName);
  items.erase(items.begin(), kept.base());
  ResourceList list;
  list.items_ = std::move(items);
  return list;
}

const Quantity* ResourceList::Find(std::string_view name) const {
  if (items_.size() <= kFew) {
    for (const auto& [own, quantity] : items_) {
      if (own == name) return &quantity;
    }
    return nullptr;
  }
  const auto at = Position(items_, name);
  return at != items_.end() && at->first == name ? &at->second : nullptr;
}

Quantity ResourceList::Get(std::string_view name) const {
  const Quantity* quantity = Find(name);
  return quantity == nullptr ? Quantity() : *quantity;
}

void ResourceList::Set(std::string_view name, Quantity quantity) {
  // Lists are mostly built from sorted input.
  if (items_.empty() || items_.back().first < name) {
    items_.emplace_back(name, quantity);
    return;
  }
  const auto at = Position(items_, name);
  if (at != items_.end() && at->first == name) {
    at->second = quantity;
  } else {
    items_.emplace(at, name, quantity);
  }
}

void ResourceList::SetAll(ResourceList other) {
  items_ = Merged(std::move(items_), std::make_move_iterator(other.items_.begin()),
                  std::make_move_iterator(other.items_.end()),
                  [](Quantity, Quantity theirs) { return theirs; });
}

void ResourceList::RaiseTo(const ResourceList& other) {
  CHECK(&other != this) << "a list is raised to itself";
  // Of equal quantities the first one's format stays.
  items_ = Merged(std::move(items_), other.begin(), other.end(),
                  [](Quantity ours, Quantity theirs) { return ours < theirs ? theirs : ours; });
}

void ResourceList::Erase(std::string_view name) {
  const auto at = Position(items_, name);
  if (at != items_.end() && at->first == name) items_.erase(at);
}

std::size_t ResourceList::EraseIf(const std::function<bool(const Item&)>& erased) {
  const std::size_t count = std::erase_if(items_, erased);
  if (count > 0) items_.shrink_to_fit();
  return count;
}

void ResourceList::Add(const ResourceList& other, quantity::Int128 times) {
  CHECK(&other != this) << "a list is added to itself";
  if (times != 1) {
    ResourceList multiple = other;
    for (Item& item : multiple.items_) item.second = item.second.Mul(times);
    Add(multiple);
    return;
  }
  items_ = Merged(std::move(items_), other.begin(), other.end(),
                  [](Quantity ours, Quantity theirs) { return ours.Add(theirs); });
}

ResourceList SumOf(std::vector<Item> items) {
  SortByName(items);
  auto sum = items.begin();
  for (auto item = items.begin(); item != items.end(); ++item) {
    if (item == sum) continue;
    if (!SameName(*sum, *item)) {
      if (++sum != item) *sum = std::move(*item);
      continue;
    }
    sum->second = sum->second.Add(item->second);
  }
  if (!items.empty()) items.erase(sum + 1, items.end());
  return ResourceList::FromItems(std::move(items));
}

bool ResourceList::operator==(const ResourceList& other) const { return items_ == other.items_; }

std::string ResourceList::ToString() const {
  std::string text;
  for (const auto& [name, quantity] : items_) {
    if (!text.empty()) text += ',';
    text.append(name).append("=").append(quantity.ToString());
  }
  return text;
}

Quantity Above(const Quantity& a, const Quantity& b) { return a > b ? a.Sub(b) : Quantity(); }

Quantity Rest(const Quantity& a, const Quantity& b) { return std::max(a.Sub(b), Quantity()); }

void Lower(ResourceList& list, const ResourceList& by) {
  for (const auto& [name, amount] : by) {
    const Quantity* const before = list.Find(name);
    if (before != nullptr) list.Set(name, Rest(*before, amount));
  }
}

ResourceList Excess(const ResourceList& a, const ResourceList& b) {
  ResourceList excess;
  excess.Reserve(a.size());
  for (const auto& [name, amount] : a) {
    const Quantity growth = Above(amount, b.Get(name));
    if (!growth.IsZero()) excess.Set(name, growth);
  }
  return excess;
}

ResourceList Larger(ResourceList a, const ResourceList& b) {
  a.RaiseTo(b);
  return a;
}

ResourceList Smaller(const ResourceList& a, const ResourceList& b) {
  ResourceList smaller;
  for (const auto& [name, amount] : a) smaller.Set(name, std::min(amount, b.Get(name)));
  return smaller;
}

}  // namespace quota

#include "pkg/quota/resource_list.h"

#include <algorithm>

namespace quota {
namespace {

// Up to this size a linear search is faster: different names mostly differ in length, too.
constexpr std::size_t kFew = 16;

// The position of `name`, or where it belongs. `items` may be const or not.
auto Position(auto& items, std::string_view name) {
  return std::lower_bound(items.begin(), items.end(), name,
                          [](const auto& item, std::string_view key) { return item.first < key; });
}

}  // namespace

ResourceList::ResourceList(std::initializer_list<std::pair<std::string, Quantity>> items) {
  for (const auto& [name, quantity] : items) Set(name, quantity);
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

void ResourceList::Erase(std::string_view name) {
  const auto at = Position(items_, name);
  if (at != items_.end() && at->first == name) items_.erase(at);
}

base::Result<void> ResourceList::Add(const ResourceList& other, std::int64_t times) {
  // A copy, so that an overflow changes nothing.
  ResourceList sum = *this;
  for (const auto& [name, quantity] : other) {
    const base::Result<Quantity> addend = quantity.Mul(times);
    if (!addend) return addend.error().Wrap(name);
    const base::Result<Quantity> total = sum.Get(name).Add(*addend);
    if (!total) return total.error().Wrap(name);
    sum.Set(name, *total);
  }
  *this = std::move(sum);
  return {};
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

ResourceList Excess(const ResourceList& a, const ResourceList& b) {
  ResourceList excess;
  excess.Reserve(a.size());
  for (const auto& [name, amount] : a) {
    const base::Result<Quantity> difference = amount.Sub(b.Get(name));
    if (difference && difference->Sign() > 0) excess.Set(name, *difference);
  }
  return excess;
}

ResourceList Larger(const ResourceList& a, const ResourceList& b) {
  ResourceList larger = a;
  for (const auto& [name, amount] : b) {
    const Quantity* other = larger.Find(name);
    if (other == nullptr || *other < amount) larger.Set(name, amount);
  }
  return larger;
}

ResourceList Smaller(const ResourceList& a, const ResourceList& b) {
  ResourceList smaller;
  for (const auto& [name, amount] : a) smaller.Set(name, std::min(amount, b.Get(name)));
  return smaller;
}

}  // namespace quota

#include "pkg/inspect/holders.h"

#include <algorithm>
#include <tuple>

#include "pkg/api/object_meta.h"

namespace inspect {
namespace {

constexpr std::string_view kLabelPrefix = "label=";

void AddTo(Held& held, const quota::Quantity& amount, std::int64_t objects) {
  held.amount = held.amount.Add(amount);
  held.objects += objects;
}

double ShareOf(const quota::Quantity& part, const quota::Quantity& all) {
  if (all.Sign() <= 0) return 0;
  return static_cast<double>(part.nanos()) / static_cast<double>(all.nanos());
}

struct Total {
  Held held;
  std::vector<ObjectName> below;
  std::optional<base::WallTime> unused_since;
};

}  // namespace

base::Result<Grouping> ParseGrouping(std::string_view text) {
  if (text == "owner") return Grouping{.by = GroupBy::kOwner};
  if (text == "object") return Grouping{.by = GroupBy::kObject};
  if (text == "namespace") return Grouping{.by = GroupBy::kNamespace};
  if (text.starts_with(kLabelPrefix) && text.size() > kLabelPrefix.size()) {
    return Grouping{.by = GroupBy::kLabel, .label = std::string(text.substr(kLabelPrefix.size()))};
  }
  return base::Error{.code = base::ErrorCode::kInvalidArgument,
                     .message = "--by " + std::string(text) +
                                " is not one of owner, object, namespace, label=KEY"};
}

HolderBook::HolderBook(quota::Quota quota, std::vector<std::string> names, Grouping grouping)
    : quota_(std::move(quota)),
      names_(std::move(names)),
      grouping_(std::move(grouping)),
      terminating_(names_.size()) {
  for (const std::string& name : names_) limited_.Set(name, quota::Quantity());
}

std::string HolderBook::Fields() const {
  std::string fields = "metadata.deletionTimestamp";
  if (grouping_.by == GroupBy::kOwner) fields += " metadata.ownerReferences";
  if (grouping_.by == GroupBy::kLabel) fields += " metadata.labels";
  if (grouping_.finalizers) fields += " metadata.finalizers";
  return fields;
}

void HolderBook::Clear() {
  groups_.clear();
  tied_.clear();
  terminating_.assign(names_.size(), Held());
}

// Usage that the scheduler's claim for a pod shares with the pod belongs to the pod.
base::Result<quota::ResourceList> HolderBook::UsageOf(const quota::Evaluator& evaluator,
                                                      const quota::ClassTable* classes,
                                                      const quota::ObjectFacts& facts,
                                                      std::string_view uid) {
  if (quota::CountsParts(quota_.selector, facts.now)) {
    return quota::UsageOfParts(quota_.selector, facts.now, evaluator.scopes);
  }
  base::Result<quota::ResourceList> usage = facts.now.usage;
  if (!facts.now.classes.empty() && classes != nullptr) {
    usage = classes->Resolve(facts.now, &names_);
    if (!usage) return usage;
  }
  if (!facts.tie) return usage;
  if (!facts.tie->owner) {
    tied_[quota::Uid::FromText(uid)] = *usage;
    return usage;
  }
  const auto pod = tied_.find(*facts.tie->owner);
  if (pod == tied_.end()) return usage;
  quota::ResourceList beyond;
  for (const auto& [name, amount] : *usage) {
    beyond.Set(name, amount.Sub(std::min(amount, pod->second.Get(name))));
  }
  return beyond;
}

std::string HolderBook::KeyOf(const json::Value& object, const ObjectName& name) const {
  switch (grouping_.by) {
    case GroupBy::kNamespace:
      return std::string(api::Namespace(object));
    case GroupBy::kLabel:
      // No label has this value: it is the group of objects without the label.
      return std::string(api::Label(object, grouping_.label).value_or("\n"));
    case GroupBy::kObject:
      return std::string(api::Namespace(object)) + ": " + name.ToString();
    case GroupBy::kOwner:
      break;
  }
  const auto owner = OwnerOf(object);
  return owner ? owner->uid : std::string(api::Namespace(object)) + ": " + name.ToString();
}

HolderBook::Group HolderBook::NewGroup(const json::Value& object, const ObjectName& name) const {
  Group group{.title = KeyOf(object, name), .prefix = "", .owner = {}, .held = {}};
  group.held.resize(names_.size());
  if (grouping_.by == GroupBy::kOwner || grouping_.by == GroupBy::kObject) {
    group.title = name.ToString();
    if (grouping_.namespaces) group.prefix = std::string(api::Namespace(object)) + ": ";
  }
  if (grouping_.by == GroupBy::kOwner) group.owner = OwnerOf(object);
  if (group.title == "\n") group.title = "<none>";
  return group;
}

void HolderBook::Count(const quota::ResourceList& usage, std::vector<Held>& held) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const quota::Quantity* amount = usage.Find(names_[i]);
    if (amount != nullptr && amount->Sign() > 0) AddTo(held[i], *amount, 1);
  }
}

base::Result<void> HolderBook::Add(const quota::Evaluator& evaluator,
                                   const quota::ClassTable* classes, const json::Value& object,
                                   const ObjectName& name, const quota::ReadOptions& options) {
  const UnusedClaims::Unused* unused = nullptr;
  if (grouping_.unused != nullptr) {
    unused = grouping_.unused->Find(api::Namespace(object), name.name);
    if (unused == nullptr) return {};
  }
  const auto facts = evaluator.facts_of(object, options);
  if (!facts) return facts.error().Wrap(name.ToString());
  if (!quota::MatchesObject(quota_.selector, facts->now, evaluator.scopes)) return {};
  if (!facts->now.unread.empty()) {
    return base::Error{.code = base::ErrorCode::kMalformed, .message = facts->flaw}.Wrap(
        name.ToString());
  }
  auto usage = UsageOf(evaluator, classes, *facts, api::Uid(object));
  if (!usage) return usage.error().Wrap(name.ToString());
  quota::ResourceList owned;
  for (const std::string& mine : quota::OwnedNames(evaluator, limited_, classes)) {
    if (const quota::Quantity* amount = usage->Find(mine)) owned.Set(mine, *amount);
  }
  if (api::IsBeingDeleted(object)) {
    Count(owned, terminating_);
    return {};
  }
  const std::string key = KeyOf(object, name);
  auto at = groups_.find(key);
  if (at == groups_.end()) at = groups_.emplace(key, NewGroup(object, name)).first;
  Count(owned, at->second.held);
  if (unused != nullptr) SetEarlier(at->second.unused_since, unused->since);
  return {};
}

bool HolderBook::DependsOnUnseen(const quota::Evaluator& evaluator,
                                 const quota::ClassTable& classes, const json::Value& object,
                                 const quota::ReadOptions& options) const {
  const auto facts = evaluator.facts_of(object, options);
  if (!facts || quota::NamesOfClasses(evaluator, limited_).empty()) return false;
  const bool lacks = std::ranges::any_of(
      facts->now.classes, [&](const quota::ClassUnits& units) { return !classes.Has(units.name); });
  return lacks && quota::MatchesObject(quota_.selector, facts->now, evaluator.scopes);
}

std::set<OwnerKind> HolderBook::MissingOwners() const {
  std::set<OwnerKind> kinds;
  for (const auto& [key, group] : groups_) {
    if (!group.owner) continue;
    if (auto kind = owners_.Missing(*group.owner)) kinds.insert(std::move(*kind));
  }
  return kinds;
}

void HolderBook::AddApart(std::size_t at, const quota::Quantity& counted,
                          std::vector<Holder>& holders) const {
  const Held& terminating = terminating_[at];
  if (terminating.objects > 0) {
    holders.push_back({.sort = Holder::Sort::kTerminating,
                       .title = "<terminating>",
                       .below = {},
                       .amount = terminating.amount,
                       .objects = terminating.objects});
  }
  if (grouping_.unused != nullptr) return;  // other objects count, too
  const quota::Quantity reserved = quota::Above(quota_.status.used.Get(names_[at]), counted);
  if (!reserved.IsZero()) {
    const auto sort = incomplete_ ? Holder::Sort::kUnseen : Holder::Sort::kReserved;
    holders.push_back({.sort = sort,
                       .title = incomplete_ ? "<not listed>" : "<reserved>",
                       .below = {},
                       .amount = reserved});
  }
}

std::vector<Holder> HolderBook::HoldersOf(const std::string& name) const {
  const auto at = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
  if (at == names_.size()) return {};
  std::map<std::string, Total> totals;
  quota::Quantity counted = terminating_[at].amount;
  for (const auto& [key, group] : groups_) {
    const Held& held = group.held[at];
    if (held.objects == 0) continue;
    std::vector<OwnerRef> path;
    const std::string title =
        group.owner ? owners_.Top(*group.owner, &path).Name().ToString() : group.title;
    Total& total = totals[group.prefix + title];
    AddTo(total.held, held.amount, held.objects);
    SetEarlier(total.unused_since, group.unused_since);
    for (const OwnerRef& step : path) total.below.push_back(step.Name());
    counted = counted.Add(held.amount);
  }
  std::vector<Holder> holders;
  holders.reserve(totals.size());
  for (auto& [title, total] : totals) {
    holders.push_back({.title = title,
                       .below = std::move(total.below),
                       .amount = total.held.amount,
                       .objects = total.held.objects,
                       .unused_since = total.unused_since});
  }
  std::ranges::stable_sort(holders, std::greater(), &Holder::amount);
  AddApart(at, counted, holders);
  const quota::Quantity all = std::max(counted, quota_.status.used.Get(name));
  for (Holder& holder : holders) holder.share = ShareOf(holder.amount, all);
  return holders;
}

}  // namespace inspect

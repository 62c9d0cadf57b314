#pragma once

// Finds who uses a quota: the objects that it counts, grouped by owner, object, namespace or label.
// Values; one thread.

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/inspect/owners.h"
#include "pkg/inspect/unused_claims.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/quota.h"
#include "pkg/quota/uid.h"

namespace inspect {

enum class GroupBy { kOwner, kObject, kNamespace, kLabel };

struct Grouping {
  GroupBy by = GroupBy::kOwner;
  std::string label = {};   // the key, of kLabel
  bool namespaces = false;  // titles of owners and objects begin with their namespace
  bool finalizers = false;  // of the objects are read, too
  // Only these claims count. Must outlive the book; nullptr: all objects count.
  const UnusedClaims* unused = nullptr;
};

// "owner", "object", "namespace", "label=KEY". Errors: kInvalidArgument.
base::Result<Grouping> ParseGrouping(std::string_view text);

// The usage of a group under one name.
struct Held {
  quota::Quantity amount;
  std::int64_t objects = 0;
};

struct Holder {
  enum class Sort {
    kGroup,
    kTerminating,  // objects in deletion, which count until they are gone
    kReserved,     // in status.used without an object: just admitted, or just deleted
    kUnseen,       // in status.used without a listed object, if not all objects may be listed
  };
  Sort sort = Sort::kGroup;
  std::string title;              // "deployment.apps/web"; "<terminating>", …
  std::vector<ObjectName> below;  // owners below it
  quota::Quantity amount;
  double share = 0;  // of the total usage of the name
  std::int64_t objects = 0;
  // With Grouping::unused: since when its first claim is unused; nullopt: nobody knows.
  std::optional<base::WallTime> unused_since = {};
};

class HolderBook {
 public:
  // Counts under these names of the quota.
  HolderBook(quota::Quota quota, std::vector<std::string> names, Grouping grouping);

  [[nodiscard]] const quota::Quota& quota() const { return quota_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // Returns the fields that the grouping needs, separated by blanks.
  [[nodiscard]] std::string Fields() const;

  // Counts an object with its evaluator. `classes` may be null if its usage needs none. Errors:
  // kMalformed and kNotFound if the usage of the object is unknown.
  base::Result<void> Add(const quota::Evaluator& evaluator, const quota::ClassTable* classes,
                         const json::Value& object, const ObjectName& name,
                         const quota::ReadOptions& options);
  // True if the quota counts the object under a name that depends on classes, and it refers to some
  // that are not in `classes`. False if the object cannot be read: Add() tells that.
  [[nodiscard]] bool DependsOnUnseen(const quota::Evaluator& evaluator,
                                     const quota::ClassTable& classes, const json::Value& object,
                                     const quota::ReadOptions& options) const;
  // Call if not all objects may be listed: usage without an object may belong to the others.
  void SetIncomplete() { incomplete_ = true; }
  [[nodiscard]] bool IsIncomplete() const { return incomplete_; }
  // Forgets all objects, because the list starts over.
  void Clear();

  // Returns the kinds of owners to read next. Add their objects to owners(), then call SetRead().
  [[nodiscard]] std::set<OwnerKind> MissingOwners() const;
  [[nodiscard]] OwnerIndex& owners() { return owners_; }

  // Returns the groups of one name by amount, then the special ones.
  [[nodiscard]] std::vector<Holder> HoldersOf(const std::string& name) const;

 private:
  // Objects with the same direct owner, or a single object without owner.
  struct Group {
    std::string title;   // if owners are not used
    std::string prefix;  // "team-a: "
    std::optional<OwnerRef> owner;
    std::vector<Held> held;  // for each of names_
    std::optional<base::WallTime> unused_since = {};
  };
  [[nodiscard]] base::Result<quota::ResourceList> UsageOf(const quota::Evaluator& evaluator,
                                                          const quota::ClassTable* classes,
                                                          const quota::ObjectFacts& facts,
                                                          std::string_view uid);
  [[nodiscard]] Group NewGroup(const json::Value& object, const ObjectName& name) const;
  [[nodiscard]] std::string KeyOf(const json::Value& object, const ObjectName& name) const;
  void Count(const quota::ResourceList& usage, std::vector<Held>& held) const;
  void AddApart(std::size_t at, const quota::Quantity& counted, std::vector<Holder>& holders) const;

  quota::Quota quota_;
  std::vector<std::string> names_;
  quota::ResourceList limited_;  // the names as a list
  Grouping grouping_;
  OwnerIndex owners_;
  std::unordered_map<std::string, Group> groups_;
  std::vector<Held> terminating_;
  bool incomplete_ = false;
  // Usage of pods that share it with a claim of the scheduler.
  std::unordered_map<quota::Uid, quota::ResourceList, quota::UidHash> tied_;
};

}  // namespace inspect

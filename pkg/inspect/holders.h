#pragma once

// Who uses a quota: objects as the quota counts them, put together by owner, object, namespace or
// label. Values; one thread.

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/inspect/owners.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/quota.h"

namespace inspect {

enum class GroupBy { kOwner, kObject, kNamespace, kLabel };

struct Grouping {
  GroupBy by = GroupBy::kOwner;
  std::string label = {};   // the key, of kLabel
  bool namespaces = false;  // of owners and objects: titles begin with theirs
};

// "owner", "object", "namespace", "label=KEY". Errors: kInvalidArgument.
base::Result<Grouping> ParseGrouping(std::string_view text);

// What a group holds under one name.
struct Held {
  quota::Quantity amount;
  std::int64_t objects = 0;
};

struct Holder {
  enum class Sort {
    kGroup,
    kTerminating,  // objects that are being deleted, and count until they are gone
    kReserved,     // in status.used, and of no object that is there: just admitted, or just gone
    kUnseen,       // in status.used, where not all objects could be listed
  };
  Sort sort = Sort::kGroup;
  std::string title;              // "deployment.apps/web"; "<terminating>", …
  std::vector<ObjectName> below;  // owners on the way to it
  quota::Quantity amount;
  double share = 0;  // of all that is used under the name
  std::int64_t objects = 0;
};

class HolderBook {
 public:
  // Counts for these names of the quota.
  HolderBook(quota::Quota quota, std::vector<std::string> names, Grouping grouping);

  [[nodiscard]] const quota::Quota& quota() const { return quota_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // The fields that grouping reads, divided by blanks.
  [[nodiscard]] std::string Fields() const;

  // Counts an object that `evaluator` judges; `classes` are those that its facts refer to, if any.
  // Errors: kMalformed and kNotFound, for an object of which it is unknown what it uses.
  base::Result<void> Add(const quota::Evaluator& evaluator, const quota::ClassTable* classes,
                         const json::Value& object, ObjectName name, base::WallTime now);
  // Not all objects may be listed: what nobody holds may be theirs.
  void SetIncomplete() { incomplete_ = true; }
  // Forgets what was added, because it comes again.
  void Clear();

  // The kinds whose metadata would lead further up; add the objects to owners(), tell SetRead().
  [[nodiscard]] std::set<OwnerKind> MissingOwners() const;
  [[nodiscard]] OwnerIndex& owners() { return owners_; }

  // Of one name: groups by amount, then those that are apart.
  [[nodiscard]] std::vector<Holder> HoldersOf(const std::string& name) const;

 private:
  // Objects with the same direct owner, or one without.
  struct Group {
    std::string title;   // where no owner is looked for
    std::string prefix;  // "team-a: "
    std::optional<OwnerRef> owner;
    std::vector<Held> held;  // for each of names_
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
  quota::ResourceList limited_;  // the names, for what takes a list
  Grouping grouping_;
  OwnerIndex owners_;
  std::unordered_map<std::string, Group> groups_;
  std::vector<Held> terminating_;
  bool incomplete_ = false;
  // What pods use that have a claim of the scheduler's for the same.
  std::unordered_map<std::string, quota::ResourceList> tied_;
};

}  // namespace inspect

#pragma once

// The classes that facts refer to, by name: what one unit of each uses. Filled from a watch of the
// class objects, read when usage is summed. Values; no I/O, one thread.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/quota/facts.h"
#include "pkg/quota/resource_list.h"

namespace quota {

// What objects use of a class that does not exist.
enum class MissingClass : std::uint8_t { kUsesNothing, kUnknown };

// The class that a kind is, where kinds are classes: "Deployment.apps", "Service".
std::string KindClass(std::string_view group, std::string_view kind);

class ClassTable {
 public:
  explicit ClassTable(MissingClass missing = MissingClass::kUsesNothing) : missing_(missing) {}

  // The class exists, and one unit uses `one`; an error if that cannot be read. Of all that change
  // the table: true if it changed.
  bool Set(std::string_view name, base::Result<ResourceList> one);
  bool Remove(std::string_view name);
  // A relist, as in Ledger: what is not Set() between the two calls is removed; the answer names
  // it.
  void BeginSweep();
  std::vector<std::string> EndSweep();
  void Clear();

  [[nodiscard]] bool Has(std::string_view name) const { return classes_.contains(name); }
  // True if some class uses something under this resource name.
  [[nodiscard]] bool AnyUses(std::string_view resource_name) const;
  [[nodiscard]] std::size_t size() const { return classes_.size(); }

  // All that an object with these facts uses, its classes included. Errors: kMalformed, naming the
  // class, when what it uses is unknown; kInvalidArgument on overflow.
  [[nodiscard]] base::Result<ResourceList> Resolve(const Facts& facts) const;

 private:
  struct Class {
    ResourceList one;
    std::optional<base::Error> unreadable;
  };
  [[nodiscard]] base::Result<void> AddUnits(const ClassUnits& units, ResourceList& usage) const;

  MissingClass missing_;
  std::map<std::string, Class, std::less<>> classes_;
  std::optional<std::set<std::string, std::less<>>> unseen_;  // while a sweep is under way
};

}  // namespace quota

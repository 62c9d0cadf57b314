#pragma once

// The classes that facts refer to by name, and what one unit of each uses. Filled from a watch of
// the class objects, read when usage is summed. Values; no I/O, one thread.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/quota/facts.h"
#include "pkg/quota/resource_list.h"

namespace quota {

// The usage of objects whose class does not exist.
enum class MissingClass : std::uint8_t { kUsesNothing, kUnknown };

// What one unit of a class uses, as far as the class object tells.
struct ClassUsage {
  ResourceList amounts;
  // Names for which the class object should have an amount but does not, with the reason
  // ("capabilities[cpu]: …"). The usage of the class's objects under these names is unknown.
  std::map<std::string, std::string, std::less<>> unknown;

  ClassUsage() = default;
  ClassUsage(ResourceList all) : amounts(std::move(all)) {}
  bool operator==(const ClassUsage& other) const = default;
};

// The class name of a kind, where kinds are classes: "Deployment.apps", "Service".
std::string KindClass(std::string_view group, std::string_view kind);

// Usage of objects that is unknown, for example by a class.
struct UnknownUsage {
  base::Error why;  // kNotFound: a class does not exist
  // Sorted. Empty: all names that depend on classes.
  std::vector<std::string> names = {};
};

class ClassTable {
 public:
  // `called` names a class in messages: "device class".
  explicit ClassTable(MissingClass missing = MissingClass::kUsesNothing,
                      std::string called = "class")
      : missing_(missing), called_(std::move(called)) {}

  // The class exists, and one unit uses `one`, which is an error if it cannot be read. This and all
  // functions that change the table return true if it changed.
  bool Set(std::string_view name, base::Result<ClassUsage> one);
  bool Remove(std::string_view name);
  // Sets the class to what `other` has of it. REQUIRES: other.Has(name).
  void Take(const ClassTable& other, std::string_view name);
  // A relist, as in Ledger: classes that are not Set() between the two calls are removed, and
  // EndSweep() returns their names.
  void BeginSweep();
  std::vector<std::string> EndSweep();
  void Clear();

  [[nodiscard]] bool Has(std::string_view name) const { return classes_.contains(name); }
  // The amounts of one unit, as far as they are known; null: there is no such class.
  [[nodiscard]] const ResourceList* AmountsOf(std::string_view name) const;
  // True if some class uses something under this resource name.
  [[nodiscard]] bool AnyUses(std::string_view resource_name) const;
  [[nodiscard]] std::size_t size() const { return classes_.size(); }
  // Expires when the table changes or is destroyed. A sum that was made with it is then outdated.
  [[nodiscard]] std::weak_ptr<const void> contents() const { return contents_.now; }

  // The usage of an object with these facts, including its classes. For names outside of `names`
  // (null: all names matter) unknown usage may be missing. Errors, naming the class: kNotFound if
  // it does not exist and that matters; kMalformed if its usage is unknown.
  [[nodiscard]] base::Result<ResourceList> Resolve(
      const Facts& facts, const std::vector<std::string>* names = nullptr) const;
  // The same as far as it is known; `unknown` gets the rest.
  [[nodiscard]] ResourceList ResolveKnown(const Facts& facts,
                                          std::optional<UnknownUsage>& unknown) const;
  // What is unknown of the usage of a unit; nullopt: nothing.
  [[nodiscard]] std::optional<UnknownUsage> UnknownOf(std::string_view name) const;

 private:
  struct Class {
    ClassUsage one;
    std::optional<base::Error> unreadable;
    [[nodiscard]] std::string_view why() const {
      return unreadable ? std::string_view(unreadable->message) : std::string_view();
    }
  };
  [[nodiscard]] std::string Title(std::string_view name) const;

  // Lives until the next change. Not shared with copies of the table.
  struct Contents {
    Contents() = default;
    Contents(const Contents& /*other*/) {}
    Contents& operator=(const Contents& other) {
      if (this != &other) now = std::make_shared<char>();
      return *this;
    }
    std::shared_ptr<const void> now = std::make_shared<char>();
  };

  MissingClass missing_;
  std::string called_;
  std::map<std::string, Class, std::less<>> classes_;
  Contents contents_;
  std::optional<std::set<std::string, std::less<>>> unseen_;  // during a sweep
};

}  // namespace quota

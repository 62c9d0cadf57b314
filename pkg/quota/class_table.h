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

// What one unit of a class uses, as far as the class object says it.
struct ClassUsage {
  ResourceList amounts;
  // Names under which it ought to say an amount and does not, with why ("capabilities[cpu]: …").
  // What objects of the class use under these is unknown.
  std::map<std::string, std::string, std::less<>> unknown;

  ClassUsage() = default;
  ClassUsage(ResourceList all) : amounts(std::move(all)) {}
  bool operator==(const ClassUsage& other) const = default;
};

// The class that a kind is, where kinds are classes: "Deployment.apps", "Service".
std::string KindClass(std::string_view group, std::string_view kind);

// What an object uses by a class, where that is not known.
struct UnknownUsage {
  base::Error why;  // kNotFound: there is no such class
  // Sorted. Empty: under every name that classes concern.
  std::vector<std::string> names = {};
};

class ClassTable {
 public:
  // `called` is what a class is called in a message: "device class".
  explicit ClassTable(MissingClass missing = MissingClass::kUsesNothing,
                      std::string called = "class")
      : missing_(missing), called_(std::move(called)) {}

  // The class exists, and one unit uses `one`; an error if that cannot be read. Of all that change
  // the table: true if it changed.
  bool Set(std::string_view name, base::Result<ClassUsage> one);
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

  // All that an object with these facts uses, its classes included. Under other names than `names`
  // (null: none are other) it may lack what is unknown. Errors, naming the class: kNotFound when
  // there is none, and that matters; kMalformed when what it uses is unknown; kInvalidArgument on
  // overflow.
  [[nodiscard]] base::Result<ResourceList> Resolve(
      const Facts& facts, const std::vector<std::string>* names = nullptr) const;
  // The same, as far as it is known, and in `unknown` what of it is not. Errors: overflow.
  [[nodiscard]] base::Result<ResourceList> ResolveKnown(const Facts& facts,
                                                        std::optional<UnknownUsage>& unknown) const;

 private:
  struct Class {
    ClassUsage one;
    std::optional<base::Error> unreadable;
  };
  [[nodiscard]] std::string Title(std::string_view name) const;
  [[nodiscard]] std::optional<UnknownUsage> UnknownOf(std::string_view name) const;
  [[nodiscard]] base::Result<void> AddUnits(const ClassUnits& units, ResourceList& usage) const;

  MissingClass missing_;
  std::string called_;
  std::map<std::string, Class, std::less<>> classes_;
  std::optional<std::set<std::string, std::less<>>> unseen_;  // while a sweep is under way
};

}  // namespace quota

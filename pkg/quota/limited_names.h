#pragma once

// The names under which quotas limit objects of one kind. They bound what facts keep:
// all names that some quota limits, of all others only a little. Strangers choose many names (of
// extended resources, of classes), and no quota ends what nobody limits.
//
// Whoever changes these names must read the objects again whose facts left the name out.
//
// Values; no I/O, one thread.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "pkg/quota/class_table.h"
#include "pkg/quota/facts.h"
#include "pkg/quota/wanted_names.h"

namespace quota {

// The name of an object has at most so many bytes. A longer reference to one names none.
inline constexpr std::size_t kLongestName = 253;

class LimitedNames {
 public:
  // What facts keep of names that no quota limits, in bytes, and as much of classes. Enough for all
  // names that nearly every object uses, so that a new limit seldom means reading objects again.
  static constexpr std::size_t kSpareBytes = 1024;

  // A name may be added several times, and is limited until it was removed as often. Returns true
  // if it was not limited before.
  bool Add(std::string_view name);
  // Returns true if it is not limited any more. REQUIRES: it is limited, or was never added.
  bool Remove(std::string_view name);
  [[nodiscard]] bool Has(std::string_view name) const { return names_.contains(name); }
  // For ReadOptions. It must not outlive these names.
  [[nodiscard]] IsLimited AsFunction() const {
    return [this](std::string_view name) { return Has(name); };
  }
  // The names, and how often each was added.
  [[nodiscard]] const std::map<std::string, std::size_t, std::less<>>& All() const {
    return names_;
  }

  struct LeftOut {
    bool names = false;
    bool classes = false;  // references to classes, whose usage may be limited later
    [[nodiscard]] bool any() const { return names || classes; }
  };
  // Leaves out of `facts` what is beyond kSpareBytes and that no quota limits. A class is limited
  // if it uses a limited name, or may, by `classes` (null: unknown). Missing classes can make the
  // usage unknown: in place of all such references that are left out, one to a class that cannot
  // exist stays, so the usage stays unknown. References to objects that are too long to name one
  // are cut, and long values of scopes are replaced by digests.
  LeftOut Bound(ObjectFacts& facts, const ClassTable* classes) const;

 private:
  // REQUIRES: the class exists.
  [[nodiscard]] bool MayUse(const ClassTable& classes, std::string_view name) const;
  void BoundClasses(Facts& facts, const ClassTable* classes, LeftOut& left_out) const;
  void BoundOne(Facts& facts, const ClassTable* classes, LeftOut& left_out) const;

  std::map<std::string, std::size_t, std::less<>> names_;
};

// The heap memory that the facts take, in bytes.
std::size_t HeapBytes(const Facts& facts);

}  // namespace quota

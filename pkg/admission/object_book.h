#pragma once

// What admission asks about objects and their classes. Implemented where the watches are.
//
// Single-threaded. Pointers are valid until the next suspension.

#include <string>
#include <string_view>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/quota/decision.h"

namespace admission {

class ObjectBook {
 public:
  virtual ~ObjectBook() = default;
  // The classes that the evaluator reads; null: none, or not known.
  [[nodiscard]] virtual const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const = 0;
  // What an object with these facts uses, its class resolved, and what its owner uses already taken
  // away. Errors: that cannot be said at all.
  [[nodiscard]] virtual base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns, const quota::Uid& uid,
      const quota::ObjectFacts& facts) const = 0;
  // True if the object is known to have been stored in a later version than this one, so that no
  // update which starts from it can be stored.
  [[nodiscard]] virtual bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                                      std::string_view resource_version) const = 0;
  // What one unit of this class uses, read live: a class may be younger than what our watch has
  // shown. Errors: kNotFound if the server says that there is none; else it could not be asked.
  virtual base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                                std::string name,
                                                                base::TimePoint deadline) = 0;
};

}  // namespace admission

#pragma once

// The interface of admission to objects and their classes. The quota controller implements it from
// its watches.
//
// Single-threaded. Pointers are valid until the next suspension.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"
#include "pkg/quota/decision.h"
#include "pkg/quota/rules.h"

namespace admission {

// An object whose subresource `scale` is updated.
struct ScaledObject {
  json::Value stored;
  std::vector<std::string> replicas;  // the field that spec.replicas of the Scale becomes
};

class ObjectBook {
 public:
  virtual ~ObjectBook() = default;
  // The rules by which objects are counted.
  [[nodiscard]] virtual quota::Rules RulesNow() const = 0;
  // The classes that the evaluator reads; null: it reads none, or they are not known.
  [[nodiscard]] virtual const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const = 0;
  // The usage of an object with these facts. The class is resolved, and the usage of the owner that
  // the facts name is subtracted. Errors: the usage cannot be determined.
  [[nodiscard]] virtual base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns,
      const quota::ObjectFacts& facts) const = 0;
  // True if a later version of the object is known to be stored. Then no update that starts from
  // this version can be stored.
  [[nodiscard]] virtual bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                                      std::string_view resource_version) const = 0;
  // The usage of one unit of this class, read from the API server: our watch may lag behind a new
  // class. Errors: kNotFound if the server has no such class; any other if it could not be read.
  virtual base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                                std::string name,
                                                                base::TimePoint deadline) = 0;
  // An update of the subresource `scale` shows a Scale and not the object, so the object is read
  // from the API server. Nullopt: the update changes nothing that the evaluator reads, or the
  // object is gone. Errors: it cannot be known whether the usage grows.
  virtual base::Task<base::Result<std::optional<ScaledObject>>> ReadScaled(
      const quota::Evaluator& evaluator, std::string ns, std::string name,
      base::TimePoint deadline) = 0;
  // True if another object of this name is stored, so that a creation will not be. Asks the API
  // server, but only if the watch has shown such an object. False if it cannot be read.
  virtual base::Task<bool> IsTaken(const quota::Evaluator& evaluator, std::string ns,
                                   std::string name, quota::Uid uid, base::TimePoint deadline) = 0;
};

}  // namespace admission

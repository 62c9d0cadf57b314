#pragma once

// Makes the facts of one resource's objects, and knows when held facts lack something, so that all
// objects must be read again. Facts leave out names that no quota limits, beyond a bound
// (pkg/quota/limited_names.h). If a quota limits such a name later, usage under it is unknown until
// then; no other name is concerned. Facts of other rules count until they are replaced.
//
// No I/O; one thread. The constructor's arguments must outlive it.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/scheduler.h"
#include "pkg/json/value.h"
#include "pkg/quota/evaluator.h"
#include "pkg/quota/limited_names.h"

namespace controllers {

class FactsReader {
 public:
  // `must_read` is woken when objects must be read again.
  FactsReader(const quota::Evaluator& evaluator, const base::Clock& clock, base::Alarm& must_read)
      : evaluator_(evaluator), clock_(clock), must_read_(must_read) {}

  // One more user limits this name from now on, or one less. Facts have all limited names, and few
  // others.
  void Limit(std::string_view name);
  void Unlimit(std::string_view name);
  // Classes changed, or became known or unknown. References to them that were left out may matter.
  void OnClasses();
  // The server counts by these rules from now on. `held`: there are facts of the former ones.
  void Follow(const quota::Rules& rules, bool held);

  // The facts as the ledger keeps them. `classes`: those that are known; may be null. Errors: those
  // of the evaluator.
  base::Result<quota::ObjectFacts> Read(const json::Value& object,
                                        const quota::ClassTable* classes);

  // All objects are read from now on. A reading that does not end counts for nothing.
  void OnReadingBegins() { begun_ = last_; }
  // Every held object was read since. Returns true if names became known.
  bool OnReadingEnds();
  [[nodiscard]] bool MustReadAgain() const { return outdated() || !unread_.empty(); }
  // Held facts were made by other rules.
  [[nodiscard]] bool outdated() const { return other_rules_ > 0; }
  // Since when usage under this limited name is unknown; nullopt: it is known.
  [[nodiscard]] std::optional<base::TimePoint> UnreadSince(std::string_view name) const;

 private:
  struct Unread {
    std::uint64_t number = 0;
    base::TimePoint since{};
  };
  [[nodiscard]] bool ByClass(std::string_view name) const;
  void Add(std::string_view name);

  const quota::Evaluator& evaluator_;
  const base::Clock& clock_;
  base::Alarm& must_read_;
  quota::LimitedNames limited_;
  quota::Rules rules_;
  // What the facts of some object lack. Stays until the process ends: then a new name costs a list
  // that may be unneeded.
  quota::LimitedNames::LeftOut left_out_;
  std::map<std::string, Unread, std::less<>> unread_;  // limited names
  // What must be read is numbered, to tell what was added after a reading has begun.
  std::uint64_t last_ = 0;
  std::uint64_t begun_ = 0;        // the last number when the reading began
  std::uint64_t other_rules_ = 0;  // the number of the last change of rules; 0: all facts have them
};

}  // namespace controllers

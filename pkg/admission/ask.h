#pragma once

// Internal to the quota admitter: what a review asks of the quotas of one quota API, which is the
// usage of its object as that quota API counts it.
//
// Single-threaded. Pointers to quotas are valid until the next suspension.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/admission/object_book.h"
#include "pkg/admission/quota_sources.h"
#include "pkg/admission/review.h"
#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/quota/decision.h"
#include "pkg/quota/quota.h"

namespace admission {

// Anybody can name classes that do not exist, and each review that does so reads one or more. So at
// most this many reviews of one quota API read classes at the same time.
inline constexpr std::size_t kMostClassReads = 64;

class Ask {
 public:
  // Returns null if quotas of this quota API never limit such a request. `source` must be open, and
  // its books are used until the ask is destroyed. `source` and `review` must outlive the ask.
  static std::unique_ptr<Ask> Of(QuotaSource& source, const Review& review);
  Ask(const Ask&) = delete;
  Ask& operator=(const Ask&) = delete;

  [[nodiscard]] QuotaSource& source() const { return source_; }
  [[nodiscard]] const quota::Request& request() const { return request_; }
  // Why the object cannot be counted at all; "": it can.
  [[nodiscard]] const std::string& flaw() const { return flaw_; }
  [[nodiscard]] std::vector<const quota::Quota*> Quotas() const;

  // True if what the other one has read of the same review is what this one would read: their quota
  // APIs count alike (QuotaApi::CountsAs()).
  [[nodiscard]] bool ReadsLike(const Ask& other) const;
  // Reads the usage of the object, or takes what `earlier` has read, which reads alike; it may be
  // null. Call LookAgain() before a decision. Errors: its amounts cannot be read.
  base::Result<void> Read(base::WallTime now, const Ask* earlier);

  // Updates what changes while a request waits: its classes, whether it can still be stored, and
  // whether its usage is known under all names that its quotas limit by now.
  void LookAgain();
  // True if the answer depends on a class that the watch has not shown and that was not read yet.
  [[nodiscard]] bool LacksClass();
  // Reads the classes that are missing from the API server if LacksClass(), up to the first that it
  // lacks, too. Errors: kUnavailable, also if kMostClassReads reviews do so already.
  base::Task<base::Result<void>> ReadClasses(base::TimePoint deadline);
  // As ObjectBook::ReadScaled(), for the object of the review.
  base::Task<base::Result<std::optional<ScaledObject>>> ReadScaled(base::TimePoint deadline);
  // As ObjectBook::IsTaken(), for the object of the review.
  base::Task<bool> IsTaken(base::TimePoint deadline);

 private:
  using Names = std::set<std::string, std::less<>>;
  // What the evaluator reads of the objects of a review.
  struct Reading {
    quota::ObjectFacts after;
    std::optional<quota::ObjectFacts> before;  // of the stored object, if there is one
    // The names that its quotas limited, if only these were read (ObjectFacts::left_out).
    std::optional<Names> under;
  };

  Ask(QuotaSource& source, const Review& review);
  // The names that its quotas limit, or will limit once their status is written.
  [[nodiscard]] Names LimitedNames() const;
  // True if its quotas limit one of the names.
  [[nodiscard]] bool LimitsAny(const std::vector<std::string>& names) const;
  [[nodiscard]] base::Result<Reading> ReadObjects(base::WallTime now) const;
  base::Result<void> Resolve();

  QuotaSource& source_;
  const UsesBooks uses_{source_};
  const Review& review_;
  // Shared, because a UsageDefinition may change while the request waits.
  std::shared_ptr<const quota::Evaluator> evaluator_;
  quota::Request request_;                  // refers to `review_` and `evaluator_`
  std::shared_ptr<const Reading> reading_;  // its classes not resolved
  std::string flaw_;
  bool classes_read_ = false;  // unknown classes were read from the API server
};

// True for an UPDATE whose old object is missing: its usage is not known. As in apiserver v0.36.3,
// pkg/admission/plugin/resourcequota/controller.go.
bool LacksOldObject(const Review& review);

}  // namespace admission

#pragma once

// Internal to the quota admitter: a review that waits for its decision.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/admission/quota_admitter.h"

namespace admission {

struct QuotaAdmitter::Waiter {
  Review review;
  // The evaluator of a kind that is only counted. It lives as long as its request, because a
  // request may name any kind.
  std::optional<quota::Evaluator> counter;
  quota::Request request;  // refers to `review`, and to `counter` if that is set
  quota::Facts facts;      // of the object, its classes not resolved
  std::string flaw;        // in the object as requested (ObjectFacts::flaw)
  // The names that its quotas limited when it was read, if it was read under these alone
  // (ObjectFacts::left_out).
  std::optional<std::set<std::string>> read_under;
  base::TimePoint deadline{};
  std::string writer;                  // NamespaceQuotas::writer
  std::unique_ptr<base::Alarm> alarm;  // woken when there is an answer
  std::optional<Answer> answer;
  bool abandoned = false;     // nobody waits for the answer any more
  bool classes_read = false;  // unknown classes were read from the API server
  std::string trouble;        // why the last write failed, for a waiter that gives up
  // The grants for the object that the request relies on: its own, or earlier ones.
  std::vector<Granted> granted;
};

// True for an UPDATE whose old object is missing: its usage is not known.
bool LacksOldObject(const Review& review);

}  // namespace admission

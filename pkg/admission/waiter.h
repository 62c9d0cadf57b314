#pragma once

// Internal to the quota admitter: a review that waits for its decision.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/admission/ask.h"
#include "pkg/admission/quota_admitter.h"

namespace admission {

// A reservation of one quota for a request, or an earlier one that the request relies on.
struct Granted {
  QuotaBook* book = nullptr;
  api::ObjectKey quota;
  quota::Uid uid;  // of the object
  std::uint64_t number = 0;
};

struct QuotaAdmitter::Waiter {
  // The quotas of all its asks, in the order in which they judge.
  [[nodiscard]] std::vector<const quota::Quota*> Quotas() const;
  // True if one of them may refuse the request.
  [[nodiscard]] bool MayBeRefused() const;

  Review review;
  std::vector<std::unique_ptr<Ask>> asks;  // of each quota API that limits the request, in order
  base::TimePoint deadline{};
  std::string writer;                  // NamespaceQuotas::writer
  std::unique_ptr<base::Alarm> alarm;  // woken when there is an answer
  std::optional<Answer> answer;
  bool abandoned = false;  // nobody waits for the answer any more
  std::string trouble;     // why the last write failed, for a waiter that gives up
  // The grants for the object that the request relies on: its own, or earlier ones.
  std::vector<Granted> granted;
};

}  // namespace admission

#pragma once

// Internal to the quota admitter: a review while it is decided.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/admission/quota_admitter.h"

namespace admission {

struct QuotaAdmitter::Waiter {
  Review review;
  // Of a kind that is only counted. It lives as long as its request: who asks may name any kind.
  std::optional<quota::Evaluator> counter;
  quota::Request request;  // refers to `review`, and to `counter` if that is set
  quota::Facts facts;      // of the object, its classes not resolved
  std::string flaw;        // that the request would bring into the object (ObjectFacts::flaw)
  base::TimePoint deadline{};
  std::unique_ptr<base::Alarm> alarm;  // rung with the answer
  std::optional<Answer> answer;
  bool abandoned = false;     // nobody waits for the answer any more
  bool classes_read = false;  // of the server, those that the watch did not have
  std::string trouble;        // what the last write met, for a waiter that gives up
  // To the request's object, that the request relies on: its own, or earlier ones.
  std::vector<Granted> granted;
};

Answer Unavailable(std::string message);
// A write that failed for good, in the API server's own words.
Answer Failed(const base::Error& error);
Answer AnswerOf(const quota::QuotaApi& api, const quota::Verdict& verdict,
                std::vector<std::string> warnings);

}  // namespace admission

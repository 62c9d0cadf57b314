#include "controllers/quota/events/status_conditions.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace controllers {
namespace {

// The reason becomes the label of a metric, and everybody who may write a status can set it.
constexpr std::size_t kLongestReason = 64;

bool IsWord(std::string_view reason) {
  return !reason.empty() && reason.size() <= kLongestReason &&
         std::ranges::all_of(reason, [](unsigned char c) { return std::isalnum(c) != 0; });
}

json::Value ToJson(const QuotaCondition& condition, const json::Value* stored,
                   std::int64_t generation, const std::string& now) {
  const std::string_view status = condition.holds ? "True" : "False";
  const bool same = stored != nullptr && stored->StringAt({"status"}) == status;
  const std::string_view since = same ? stored->StringAt({"lastTransitionTime"}) : "";
  return json::Object{{"type", condition.type},
                      {"status", status},
                      {"observedGeneration", generation},
                      {"reason", condition.reason},
                      {"message", condition.message},
                      {"lastTransitionTime", since.empty() ? now : std::string(since)}};
}

// Empty if there is none.
const json::Array& ListOf(const json::Value* conditions) {
  static const json::Array none;
  return conditions != nullptr && conditions->IsArray() ? *conditions->AsArray() : none;
}

json::Array WithoutMessages(const json::Value* conditions) {
  json::Array bare;
  for (json::Value condition : ListOf(conditions)) {
    condition.Make({"message"}) = "";
    bare.push_back(std::move(condition));
  }
  return bare;
}

}  // namespace

std::vector<QuotaCondition> ProgressOf(const QuotaCondition& ready) {
  const auto progress = [&](std::string type, bool holds) {
    return QuotaCondition{.type = std::move(type),
                          .holds = holds,
                          .reason = ready.holds ? "Ready" : ready.reason,
                          .message = holds ? ready.message : ""};
  };
  const bool passes = ready.reason == kNotCountedYet;
  return {progress("Reconciling", !ready.holds && passes),
          progress("Stalled", !ready.holds && !passes)};
}

const json::Value* FindCondition(const json::Value* conditions, std::string_view type) {
  for (const json::Value& condition : ListOf(conditions)) {
    if (condition.StringAt({"type"}) == type) return &condition;
  }
  return nullptr;
}

json::Array WithConditions(const json::Value* stored, const std::vector<QuotaCondition>& wanted,
                           std::int64_t generation, const std::string& now) {
  json::Array all;
  std::size_t others = 0;
  // Our conditions keep their position in the list, so that a different order causes no write.
  for (const json::Value& condition : ListOf(stored)) {
    const auto own = std::ranges::find(wanted, condition.StringAt({"type"}), &QuotaCondition::type);
    if (own != wanted.end()) {
      all.push_back(ToJson(*own, &condition, generation, now));
    } else if (others + wanted.size() < kMostConditions) {
      all.push_back(condition);
      ++others;
    }
  }
  for (const QuotaCondition& condition : wanted) {
    const bool missing = FindCondition(stored, condition.type) == nullptr;
    if (missing) all.push_back(ToJson(condition, nullptr, generation, now));
  }
  return all;
}

std::vector<Problem> ProblemsIn(const json::Value* conditions) {
  std::vector<Problem> problems;
  for (const std::string_view type : {"Ready", "Stale", "OverLimit"}) {
    const json::Value* condition = FindCondition(conditions, type);
    const std::string_view wrong = type == "Ready" ? "False" : "True";
    if (condition == nullptr || condition->StringAt({"status"}) != wrong) continue;
    const std::string_view reason = condition->StringAt({"reason"});
    problems.push_back({type, IsWord(reason) ? reason : "Other", condition->StringAt({"message"})});
  }
  return problems;
}

bool SayTheSame(const json::Value* some, const json::Value* others) {
  return WithoutMessages(some) == WithoutMessages(others);
}

}  // namespace controllers

#include "controllers/quota/status_conditions.h"

#include <algorithm>
#include <utility>

namespace controllers {
namespace {

json::Value ToJson(const QuotaCondition& condition, const json::Value* stored,
                   const std::string& now) {
  const std::string_view status = condition.holds ? "True" : "False";
  const bool same = stored != nullptr && stored->StringAt({"status"}) == status;
  const std::string_view since = same ? stored->StringAt({"lastTransitionTime"}) : "";
  return json::Object{{"type", condition.type},
                      {"status", status},
                      {"reason", condition.reason},
                      {"message", condition.message},
                      {"lastTransitionTime", since.empty() ? now : std::string(since)}};
}

// Returns the conditions of other programs, as many as there is room for.
json::Array Others(const json::Value* stored, const std::vector<QuotaCondition>& wanted) {
  json::Array others;
  if (stored == nullptr || !stored->IsArray()) return others;
  for (const json::Value& condition : *stored->AsArray()) {
    const bool own = std::ranges::find(wanted, condition.StringAt({"type"}),
                                       &QuotaCondition::type) != wanted.end();
    if (!own && others.size() + wanted.size() < kMostConditions) others.push_back(condition);
  }
  return others;
}

// Our conditions keep their position in the list, so that a different order causes no write.
json::Array InOrder(const json::Value* stored, const json::Array& all) {
  json::Array ordered;
  const auto add = [&](const json::Value& condition) {
    const auto same = [&](const json::Value& one) {
      return one.StringAt({"type"}) == condition.StringAt({"type"});
    };
    if (std::ranges::any_of(ordered, same)) return;
    const auto found = std::ranges::find_if(all, same);
    if (found != all.end()) ordered.push_back(*found);
  };
  if (stored != nullptr && stored->IsArray()) std::ranges::for_each(*stored->AsArray(), add);
  std::ranges::for_each(all, add);
  return ordered;
}

json::Array WithoutMessages(const json::Value* conditions) {
  json::Array bare;
  if (conditions == nullptr || !conditions->IsArray()) return bare;
  for (json::Value condition : *conditions->AsArray()) {
    condition.Make({"message"}) = "";
    bare.push_back(std::move(condition));
  }
  return bare;
}

}  // namespace

const json::Value* FindCondition(const json::Value* conditions, std::string_view type) {
  if (conditions == nullptr || !conditions->IsArray()) return nullptr;
  for (const json::Value& condition : *conditions->AsArray()) {
    if (condition.StringAt({"type"}) == type) return &condition;
  }
  return nullptr;
}

json::Array WithConditions(const json::Value* stored, const std::vector<QuotaCondition>& wanted,
                           const std::string& now) {
  json::Array all = Others(stored, wanted);
  for (const QuotaCondition& condition : wanted) {
    all.push_back(ToJson(condition, FindCondition(stored, condition.type), now));
  }
  return InOrder(stored, all);
}

bool SayTheSame(const json::Value* some, const json::Value* others) {
  return WithoutMessages(some) == WithoutMessages(others);
}

}  // namespace controllers

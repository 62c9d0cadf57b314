#pragma once

// Evaluators of the ironcore quota API, and what a quota counts of a few objects.

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/ironcore/ironcore_quota.h"
#include "pkg/quota/ledger.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::ironcore {

inline const Evaluator& EvaluatorOf(std::string_view resource) {
  static const QuotaApi api = IroncoreQuotaApi();
  for (const Evaluator& evaluator : api.evaluators) {
    if (evaluator.resource.resource == resource) return evaluator;
  }
  throw std::runtime_error("no evaluator of " + std::string(resource));
}

// The quota as it is stored with these expressions, or without a selector if it is "".
inline ScopeSelector Selector(const std::string& expressions) {
  if (expressions.empty()) return {};
  const auto quota = ParseQuota(Json(R"({"metadata":{"name":"q","uid":"u","resourceVersion":"1"},
               "spec":{"scopeSelector":{"matchExpressions":)" +
                                     expressions + "}}}"),
                                IroncoreQuotaApi().form);
  REQUIRE(quota.has_value());
  return quota->selector;
}

// The objects of one namespace, and classes.
class Namespace {
 public:
  explicit Namespace(const std::string& resource) : evaluator_(EvaluatorOf(resource)) {
    if (!evaluator_.classes) return;
    classes_ = ClassTable(evaluator_.classes->missing, evaluator_.classes->called);
  }

  // The flaw of the object, "" if it has none.
  std::string Put(const std::string& object, std::uint64_t uid = 1) {
    const auto facts = evaluator_.facts_of(Json(object), {});
    REQUIRE(facts.has_value());
    ledger_.Set("team-a", {uid}, *facts);
    return facts->flaw;
  }
  void PutClass(const std::string& object) {
    const json::Value of = Json(object);
    classes_.Set(of.StringAt({"metadata", "name"}), evaluator_.classes->usage_of(of));
  }
  void RemoveClass(const std::string& name) { classes_.Remove(name); }
  // Returns "requests.cpu=2", or why it is unknown. Sums as the controller does, with classes if
  // the name needs them.
  [[nodiscard]] std::string Used(const std::vector<std::string>& names,
                                 const std::string& expressions = "") const {
    const bool by_class =
        evaluator_.classes && std::ranges::any_of(names, evaluator_.classes->concerns);
    const auto sum = ledger_.Sum({.ns = "team-a"}, Selector(expressions), evaluator_.scopes, names,
                                 {.classes = by_class ? &classes_ : nullptr});
    return sum ? sum->ToString() : sum.error().message;
  }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  const Evaluator& evaluator_;
  Ledger ledger_;
  ClassTable classes_;
};

}  // namespace quota::ironcore

// A quota, "====", an object, "====", its older state: scope selectors follow logic, and an
// admitted request leaves no limited resource above its limit.

#include "pkg/quota/decision.h"

#include "pkg/api/time.h"
#include "pkg/quota/scope.h"
#include "tests/fuzz/evaluators.h"
#include "tests/fuzz/target.h"

namespace {

using quota::Evaluator;
using quota::Facts;
using quota::ScopeOperator;
using quota::ScopeSelector;

std::optional<Facts> FactsOf(const Evaluator& evaluator, std::string_view text) {
  static const base::WallTime now = *api::ParseTime("2026-01-02T03:04:05Z");
  const auto object = json::Parse(text);
  if (!object || !object->IsObject()) return std::nullopt;
  auto facts = evaluator.facts_of(*object, {now});
  if (!facts) return std::nullopt;
  return std::move(facts->now);
}

void CheckSelector(const ScopeSelector& selector, const Facts& facts, const Evaluator& evaluator) {
  bool all = true;
  for (const quota::ScopeRequirement& requirement : selector) {
    const bool holds = quota::Matches({requirement}, facts.attributes, evaluator.scopes);
    all = all && holds;
    quota::ScopeRequirement negated = requirement;
    if (requirement.op == ScopeOperator::kExists) negated.op = ScopeOperator::kDoesNotExist;
    if (requirement.op == ScopeOperator::kDoesNotExist) negated.op = ScopeOperator::kExists;
    if (negated.op == requirement.op) continue;
    const bool known = std::find(evaluator.scopes.begin(), evaluator.scopes.end(),
                                 requirement.scope) != evaluator.scopes.end();
    const bool other = quota::Matches({negated}, facts.attributes, evaluator.scopes);
    fuzz::Require(known ? holds != other : !holds && !other, "there or not, if it can be judged");
  }
  fuzz::Require(quota::Matches(selector, facts.attributes, evaluator.scopes) == all,
                "a selector holds where all of it does");
  const quota::ResourceList counted = quota::UsageOfParts(selector, facts, evaluator.scopes);
  if (!quota::MatchesObject(selector, facts, evaluator.scopes)) {
    fuzz::Require(counted.empty(), "what does not match is not counted");
  }
}

void CheckLimits(const quota::Quota& limits, const quota::ResourceList& before,
                 const quota::Standing& standing, const quota::Need& need) {
  for (const auto& [name, amount] : need.amount) {
    fuzz::Require(amount.Sign() > 0, "a need is something");
    const quota::Quantity* const hard = limits.status.hard.Find(name);
    fuzz::Require(hard != nullptr, "only what is limited is charged");
    fuzz::Require(standing.used.Get(name) <= *hard, "nothing above its limit is admitted");
    fuzz::Require(before.Get(name).Add(amount) == standing.used.Get(name), "and all is added");
  }
}

void CheckDecision(const quota::Quota& limits, const quota::Request& request) {
  std::vector<quota::Standing> standings(1);
  standings[0].quota = &limits;
  standings[0].used = limits.status.used;
  const quota::Verdict verdict = quota::Decide(request, standings);
  using Kind = quota::Verdict::Kind;
  fuzz::Require((verdict.kind == Kind::kFits) == !verdict.needs.empty(), "what fits needs room");
  fuzz::Require((verdict.kind == Kind::kRefused) == !verdict.message.empty(), "no is explained");
  if (verdict.kind != Kind::kFits) return;
  fuzz::Require(verdict.needs.size() == 1, "one quota, one need");
  quota::Apply(verdict.needs, standings);
  CheckLimits(limits, limits.status.used, standings[0], verdict.needs[0]);
  (void)quota::NearLimits(verdict.needs, standings);
}

FUZZ_TARGET(decision) {
  const auto parts = fuzz::Parts(input, 3);
  const auto quota_object = json::Parse(parts[0]);
  const auto object = json::Parse(parts[1]);
  if (!quota_object || !object || !object->IsObject()) return;
  const quota::QuotaApi& api = fuzz::ApiOf(*quota_object);
  const auto limits = quota::ParseQuota(*quota_object, api.form);
  const Evaluator& evaluator = fuzz::EvaluatorOf(*object);
  const std::optional<Facts> after = FactsOf(evaluator, parts[1]);
  if (!limits || !after) return;
  CheckSelector(limits->selector, *after, evaluator);

  quota::Request request;
  request.evaluator = &evaluator;
  request.object = &*object;
  request.uid = quota::Uid::FromText(object->StringAt({"metadata", "uid"}));
  request.after = *after;
  request.before = FactsOf(evaluator, parts[2]);
  // A stored status has no negative amounts.
  if (fuzz::HasNoMinus(*quota_object)) CheckDecision(*limits, request);
}

}  // namespace

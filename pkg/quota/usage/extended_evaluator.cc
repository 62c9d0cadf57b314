#include "pkg/quota/usage/extended_evaluator.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "pkg/quota/count_name.h"
#include "pkg/quota/usage/defined_evaluator.h"

namespace quota::usage {
namespace {

using Both = std::pair<std::shared_ptr<const Evaluator>, std::shared_ptr<const Evaluator>>;

template <typename T>
std::vector<T> Merged(const std::vector<T>& a, const std::vector<T>& b) {
  std::set<T> all(a.begin(), a.end());
  all.insert(b.begin(), b.end());
  return {all.begin(), all.end()};
}

// Adds what a definition says of the object. Both count the object itself, so that is left out.
void AddTo(Facts& facts, const Facts& defined, const std::string& count, bool ended) {
  facts.attributes = Merged(facts.attributes, defined.attributes);
  if (ended) return;
  ResourceList usage = defined.usage;
  usage.Erase(count);
  facts.usage.SetAll(std::move(usage));
  facts.unread = Merged(facts.unread, defined.unread);
  if (!defined.classes.empty()) facts.classes = defined.classes;
}

base::Result<ObjectFacts> Together(const Evaluator& built_in, base::Result<ObjectFacts> facts,
                                   const base::Result<ObjectFacts>& defined) {
  if (!facts) return facts;
  if (!defined) return defined.error();
  CHECK(facts->now.parts.empty()) << built_in.resource.ToString();
  const std::string count = CountName(built_in.resource);
  const bool ended = HasEnded(built_in, facts->now);
  AddTo(facts->now, defined->now, count, ended);
  if (!ended) {
    if (facts->flaw.empty()) facts->flaw = defined->flaw;
    facts->ignored = Merged(facts->ignored, defined->ignored);
  }
  if (facts->later) {
    Facts& later = facts->later->facts;
    const bool will_have_ended = HasEnded(built_in, later);
    AddTo(later, defined->now, count, will_have_ended);
    later.unread.clear();
  }
  return facts;
}

// A flaw without names is refused whatever is limited, also beside one with names.
base::Result<ObjectFacts> TogetherToAdmit(const Evaluator& built_in,
                                          base::Result<ObjectFacts> facts,
                                          const base::Result<ObjectFacts>& defined) {
  const auto refused_by = [](const base::Result<ObjectFacts>& one) {
    return one && one->now.unread.empty() && one->ignored.empty() ? one->flaw : "";
  };
  std::string refused = refused_by(facts);
  if (refused.empty()) refused = refused_by(defined);
  auto together = Together(built_in, std::move(facts), defined);
  if (together && !refused.empty()) {
    together->flaw = std::move(refused);
    together->now.unread.clear();
    together->ignored.clear();
  }
  return together;
}

base::Result<ObjectFacts> FactsToAdmit(const Evaluator& evaluator, const json::Value& object,
                                       const json::Value* stored, const ReadOptions& options) {
  return evaluator.guard.facts_of ? evaluator.guard.facts_of(object, stored, options)
                                  : evaluator.facts_of(object, options);
}

// The condition under which one of the two must be asked about an update.
std::string EitherOf(const Guard& a, const Guard& b) {
  if (!a.updates) return b.update_condition;
  if (!b.updates) return a.update_condition;
  if (a.update_condition.empty() || b.update_condition.empty()) return "";
  return "(" + a.update_condition + ") || " + b.update_condition;
}

Guard GuardOf(const Both& both) {
  const Guard& built_in = both.first->guard;
  const Guard& defined = both.second->guard;
  Guard guard = built_in;
  guard.updates = built_in.updates || defined.updates;
  guard.update_condition = EitherOf(built_in, defined);
  // Of the kinds that the program counts itself, only these have a subresource `scale`.
  if (both.first->resource ==
      api::GroupResource{.group = "", .resource = "replicationcontrollers"}) {
    guard.subresources = Merged(built_in.subresources, defined.subresources);
    guard.fields = Merged(built_in.fields, defined.fields);
  }
  guard.facts_of = [both](const json::Value& object, const json::Value* stored,
                          const ReadOptions& options) {
    const auto& [first, second] = both;
    return TogetherToAdmit(*first, FactsToAdmit(*first, object, stored, options),
                           FactsToAdmit(*second, object, stored, options));
  };
  return guard;
}

}  // namespace

bool CanBeDefined(const api::GroupResource& resource) {
  return resource != api::GroupResource{.group = "", .resource = "secrets"};
}

bool HasEnded(const Evaluator& evaluator, const Facts& facts) {
  return !evaluator.until_ended.empty() && facts.usage.Find(evaluator.until_ended) == nullptr;
}

Evaluator Extended(std::shared_ptr<const Evaluator> built_in, Evaluator defined) {
  const Both both{std::move(built_in), std::make_shared<const Evaluator>(std::move(defined))};
  Evaluator extended = *both.first;
  CHECK(extended.resource == both.second->resource) << extended.resource.ToString();
  CHECK(!extended.classes || !both.second->classes) << extended.resource.ToString();
  extended.owns = [both](std::string_view name) {
    return both.first->owns(name) || both.second->owns(name);
  };
  extended.fields = Merged(both.first->fields, both.second->fields);
  extended.scopes = Merged(both.first->scopes, both.second->scopes);
  extended.facts_of = [both](const json::Value& object, const ReadOptions& options) {
    const auto& [first, second] = both;
    return Together(*first, first->facts_of(object, options), second->facts_of(object, options));
  };
  // The paths are those of one version.
  if (extended.version.empty()) extended.version = both.second->version;
  extended.revision = both.second->revision;
  extended.guard = GuardOf(both);
  if (both.second->classes) extended.classes = both.second->classes;
  return extended;
}

Evaluator EvaluatorOf(const UsageDefinition& definition, std::shared_ptr<const Evaluator> built_in,
                      std::string version) {
  Evaluator evaluator = EvaluatorOf(definition);
  evaluator.version = std::move(version);
  if (built_in == nullptr) return evaluator;
  return Extended(std::move(built_in), std::move(evaluator));
}

std::string WhyNotExtended(const Evaluator& built_in, const UsageDefinition& definition) {
  if (!CanBeDefined(built_in.resource)) return "the daemon does not read what Secrets contain";
  const bool has_class = std::ranges::any_of(
      definition.amounts, [](const Amount& amount) { return amount.of_class.has_value(); });
  if (built_in.classes && has_class) {
    return "what " + built_in.resource.ToString() + " use depends on a class already";
  }
  return "";
}

}  // namespace quota::usage

#include "pkg/inspect/defined_usage.h"

#include <algorithm>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/custom_schema.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/count_name.h"
#include "pkg/quota/usage/defined_evaluator.h"
#include "pkg/quota/usage/definition_set.h"
#include "pkg/quota/usage/extended_evaluator.h"
#include "pkg/quota/usage/unknown_members.h"

namespace inspect {
namespace {

using quota::usage::Amount;
using quota::usage::UsageDefinition;

base::Error WrongDefinition(const Manifest& manifest, const std::string& why) {
  return {.code = base::ErrorCode::kInvalidArgument,
          .message = manifest.where + ": " + NameOf(manifest.object).ToString() + ": " + why};
}

std::vector<quota::Attribute> ScopesOf(const UsageDefinition& definition,
                                       std::vector<quota::Attribute> attributes) {
  std::erase_if(attributes, [&](const quota::Attribute& one) {
    return std::ranges::none_of(definition.scopes,
                                [&](const auto& scope) { return scope.name == one.first; });
  });
  return attributes;
}

// The class objects are those of the files: the cluster may have others.
std::string TextOf(const base::Error& error) {
  const bool missing = error.Is(base::ErrorCode::kNotFound);
  return error.message + (missing ? " in the files" : "");
}

}  // namespace

base::Result<void> DefinitionBook::Add(const Manifest& definition) {
  const std::string unknown = quota::usage::UnknownMember(definition.object);
  if (!unknown.empty()) return WrongDefinition(definition, unknown);
  auto parsed = quota::usage::ParseUsageDefinition(definition.object);
  if (!parsed) return WrongDefinition(definition, parsed.error().message);
  const auto same = entries_.find(parsed->resource);
  if (same != entries_.end()) {
    return WrongDefinition(definition, "spec.resource: " + parsed->resource.ToString() +
                                           " has a definition in " + same->second.where + ", too");
  }
  for (const auto& [resource, other] : entries_) {
    for (std::size_t i = 0; i < parsed->amounts.size(); ++i) {
      const std::string& name = parsed->amounts[i].name;
      if (!other.evaluator.owns(name)) continue;
      return WrongDefinition(definition, "spec.usage[" + std::to_string(i) + "].name: " + name +
                                             " is a name of the definition " +
                                             other.definition.name + " in " + other.where +
                                             ", too");
    }
  }
  const auto built_in = quota::BuiltInEvaluator(parsed->resource);
  const std::string why = built_in ? quota::usage::WhyNotExtended(*built_in, *parsed) : "";
  if (!why.empty()) return WrongDefinition(definition, "spec.resource: " + why);
  quota::Evaluator evaluator = quota::usage::EvaluatorOf(*parsed, built_in);
  if (built_in && built_in->classes)
    evaluator.classes.reset();  // the definition says nothing of it
  quota::ClassTable classes;
  if (evaluator.classes) {
    classes = quota::ClassTable(evaluator.classes->missing, evaluator.classes->called);
  }
  const api::GroupResource resource = parsed->resource;
  entries_.emplace(resource, Entry{.definition = std::move(*parsed),
                                   .where = definition.where,
                                   .called = NameOf(definition.object).ToString(),
                                   .evaluator = std::move(evaluator),
                                   .classes = std::move(classes),
                                   .unknown = {}});
  return {};
}

bool DefinitionBook::AddClass(const api::GroupResource& resource, const json::Value& object) {
  bool is_class = false;
  for (auto& [described, entry] : entries_) {
    const auto& source = entry.evaluator.classes;
    if (!source || source->resource != resource) continue;
    is_class = true;
    auto one = source->usage_of(object);
    if (one) entry.unknown[std::string(api::Name(object))] = one->unknown;
    entry.classes.Set(api::Name(object), std::move(one));
  }
  return is_class;
}

std::vector<DefinitionFault> DefinitionBook::FaultsBy(
    const std::vector<json::Value>& custom_kinds) const {
  std::map<api::GroupResource, const json::Value*> kinds;
  for (const json::Value& kind : custom_kinds) {
    kinds[{.group = std::string(kind.StringAt({"spec", "group"})),
           .resource = std::string(kind.StringAt({"spec", "names", "plural"}))}] = &kind;
  }
  const auto find = [&](const api::GroupResource& resource) {
    const auto kind = kinds.find(resource);
    return kind == kinds.end() ? nullptr : kind->second;
  };
  std::vector<DefinitionFault> faults;
  for (const auto& [resource, entry] : entries_) {
    const json::Value* kind = find(resource);
    const auto add = [&, &entry = entry](std::string_view reason, std::string message) {
      faults.push_back({.definition = entry.definition.name,
                        .where = entry.where + ": " + entry.called,
                        .reason = std::string(reason),
                        .message = std::move(message)});
    };
    if (kind != nullptr && kind->StringAt({"spec", "scope"}) == "Cluster") {
      add(quota::usage::kNotSupported, quota::usage::InNoNamespace(resource));
      continue;
    }
    std::string why =
        kind == nullptr ? "" : WhyNotInSchema(*kind, PathsInObjects(entry.definition));
    const auto& classes = entry.evaluator.classes;
    const json::Value* of_class = classes ? find(classes->resource) : nullptr;
    if (why.empty() && of_class != nullptr) {
      why = WhyNotInSchema(*of_class, PathsInClass(entry.definition));
    }
    if (!why.empty()) add(quota::usage::kPathNotInSchema, std::move(why));
  }
  return faults;
}

std::vector<api::GroupResource> DefinitionBook::Described() const {
  std::vector<api::GroupResource> described;
  for (const auto& [resource, entry] : entries_) described.push_back(resource);
  return described;
}

std::set<api::GroupResource> DefinitionBook::Named() const {
  std::set<api::GroupResource> named;
  for (const auto& [resource, entry] : entries_) {
    named.insert(resource);
    if (entry.evaluator.classes) named.insert(entry.evaluator.classes->resource);
  }
  return named;
}

// Returns the usage with that of the classes, and adds what is unknown of these. Each class is
// looked up alone, because each can have reasons of its own.
quota::ResourceList DefinitionBook::Resolve(const Entry& entry, const quota::Facts& facts,
                                            Reasons& unknown) {
  quota::ResourceList usage = facts.usage;
  for (const quota::ClassUnits& units : facts.classes) {
    std::optional<quota::UnknownUsage> of_class;
    usage.Add(
        entry.classes.ResolveKnown({.usage = {}, .attributes = {}, .classes = {units}}, of_class));
    if (!of_class) continue;
    const auto reasons = entry.unknown.find(units.name);
    for (const Amount& amount : entry.definition.amounts) {
      if (!amount.of_class) continue;
      std::string why = TextOf(of_class->why);
      if (reasons != entry.unknown.end()) {
        const auto reason = reasons->second.find(amount.name);
        if (reason == reasons->second.end()) continue;
        why = entry.evaluator.classes->called + " \"" + units.name + "\": " + reason->second;
      }
      unknown.emplace(amount.name, std::move(why));
    }
  }
  return usage;
}

base::Result<std::optional<DefinedUsage>> DefinitionBook::UsageOf(
    const api::GroupResource& resource, const json::Value& object) const {
  const auto found = entries_.find(resource);
  if (found == entries_.end()) return std::optional<DefinedUsage>();
  const Entry& entry = found->second;
  auto facts = entry.evaluator.facts_of(object, {});
  if (!facts) return facts.error();
  auto explanation = quota::usage::Explain(entry.definition, object);
  if (quota::usage::HasEnded(entry.evaluator, facts->now))
    explanation = {.unknown = {}, .idle = "it has ended"};
  const quota::ResourceList usage = Resolve(entry, facts->now, explanation.unknown);
  DefinedUsage used{.api_version = std::string(api::ApiVersion(object)),
                    .kind = std::string(api::Kind(object)),
                    .ns = std::string(api::Namespace(object)),
                    .object = NameOf(object),
                    .uses = {},
                    .count_name = quota::CountName(resource),
                    .idle = std::move(explanation.idle),
                    .scopes = ScopesOf(entry.definition, std::move(facts->now.attributes))};
  for (const Amount& amount : entry.definition.amounts) {
    const auto why = explanation.unknown.find(amount.name);
    const auto ignored = explanation.ignored.find(amount.name);
    used.uses.push_back({amount.name, usage.Get(amount.name),
                         why == explanation.unknown.end() ? "" : why->second,
                         ignored == explanation.ignored.end() ? "" : ignored->second});
  }
  return std::optional(std::move(used));
}

DefinedTotal TotalOf(const std::vector<DefinedUsage>& all) {
  DefinedTotal total;
  for (const DefinedUsage& used : all) {
    total.amounts.Add({{used.count_name, quota::Quantity::FromInt(1)}});
    for (const NamedUse& use : used.uses) {
      total.amounts.Add({{use.name, use.amount}});
      if (!use.why.empty()) total.unknown.insert(use.name);
    }
  }
  return total;
}

}  // namespace inspect

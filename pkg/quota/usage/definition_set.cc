#include "pkg/quota/usage/definition_set.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pkg/api/object_meta.h"
#include "pkg/quota/usage/extended_evaluator.h"

namespace quota::usage {
namespace {

// Later than all times: of a definition in a file, which is still to be created.
constexpr const char* kNotYet = "~";

std::optional<Verdict> NameTaken(const UsageDefinition& definition,
                                 const std::map<std::string, std::string>& owners) {
  const auto taken = [&](const std::string& name) -> std::optional<Verdict> {
    const auto owner = owners.find(name);
    if (owner == owners.end()) return std::nullopt;
    return Verdict{"NameTaken", name + " belongs to the older definition " + owner->second};
  };
  for (const auto& amount : definition.amounts) {
    if (auto verdict = taken(amount.name)) return verdict;
  }
  for (const auto& scope : definition.scopes) {
    if (auto verdict = taken(scope.name)) return verdict;
  }
  return std::nullopt;
}

void TakeNames(const UsageDefinition& definition, std::map<std::string, std::string>& owners) {
  for (const auto& amount : definition.amounts) owners.emplace(amount.name, definition.name);
  for (const auto& scope : definition.scopes) owners.emplace(scope.name, definition.name);
}

std::string WhyNotSupported(const UsageDefinition& definition,
                            const DefinitionSet::BuiltIn& built_in) {
  const auto evaluator = built_in(definition.resource);
  return evaluator == nullptr ? "" : WhyNotExtended(*evaluator, definition);
}

}  // namespace

std::string InNoNamespace(const api::GroupResource& resource) {
  return resource.ToString() + " are in no namespace, so no quota can limit them";
}

DefinitionVersions VersionsIn(const json::Value& status) {
  return {.objects = std::string(status.StringAt({"version"})),
          .of_class = std::string(status.StringAt({"classVersion"}))};
}

bool IsObserved(const StoredDefinition& stored) {
  const json::Value* observed = stored.status.At({"observedGeneration"});
  return observed != nullptr && observed->AsInt64() == stored.generation;
}

Verdict RecordedVerdict(const StoredDefinition& stored) {
  if (!IsObserved(stored)) return {};
  for (const json::Value& condition : stored.status.ArrayAt({"conditions"})) {
    if (condition.StringAt({"type"}) != "Ready") continue;
    return {std::string(condition.StringAt({"reason"})),
            std::string(condition.StringAt({"message"}))};
  }
  return {};
}

void DefinitionSet::Put(const json::Value& object) {
  const std::string name(api::Name(object));
  if (unseen_) {
    if (const auto at = unseen_->find(name); at != unseen_->end()) unseen_->erase(at);
  }
  StoredDefinition stored{
      .uid = std::string(api::Uid(object)),
      .version = std::string(api::ResourceVersion(object)),
      .created = std::string(object.StringAt({"metadata", "creationTimestamp"}))};
  if (stored.created.empty()) stored.created = kNotYet;
  if (const json::Value* generation = object.At({"metadata", "generation"})) {
    stored.generation = generation->AsInt64().value_or(0);
  }
  if (const json::Value* status = object.At({"status"})) stored.status = *status;
  const auto before = definitions_.find(name);
  auto definition = ParseUsageDefinition(object);
  if (!definition) {
    stored.why = definition.error().message;
  } else if (before != definitions_.end() && before->second.definition != nullptr &&
             *before->second.definition == *definition) {
    stored.definition = before->second.definition;
  } else {
    stored.definition = std::make_shared<const UsageDefinition>(std::move(*definition));
  }
  definitions_.insert_or_assign(name, std::move(stored));
}

void DefinitionSet::Remove(std::string_view name) {
  if (const auto at = definitions_.find(name); at != definitions_.end()) definitions_.erase(at);
}

void DefinitionSet::BeginSweep() {
  unseen_.emplace();
  for (const auto& [name, stored] : definitions_) unseen_->insert(name);
}

void DefinitionSet::EndSweep() {
  const auto gone = std::exchange(unseen_, std::nullopt);
  if (!gone) return;
  for (const std::string& name : *gone) Remove(name);
}

std::map<std::string, Verdict> DefinitionSet::Judge(const BuiltIn& built_in,
                                                    const OfPaths& of_paths) const {
  std::map<std::string, Verdict> verdicts;
  std::vector<Stored::const_pointer> oldest_first;
  for (const auto& entry : definitions_) oldest_first.push_back(&entry);
  std::ranges::stable_sort(
      oldest_first, {}, [](const auto* one) -> const std::string& { return one->second.created; });
  std::map<std::string, std::string> owners;  // of names and scopes
  std::size_t in_force = 0;
  for (const auto* entry : oldest_first) {
    const StoredDefinition& stored = entry->second;
    Verdict& verdict = verdicts[entry->first];
    if (!stored.definition) {
      verdict = {"PathInvalid", stored.why};
    } else if (std::string why = WhyNotSupported(*stored.definition, built_in); !why.empty()) {
      verdict = {std::string(kNotSupported), std::move(why)};
    } else if (auto wrong = of_paths(entry->first); !wrong.message.empty()) {
      verdict = std::move(wrong);
    } else if (auto taken = NameTaken(*stored.definition, owners)) {
      verdict = std::move(*taken);
    } else if (in_force == kMostInForce) {
      verdict = {"TooMany", std::to_string(kMostInForce) + " older definitions are in force"};
    } else {
      TakeNames(*stored.definition, owners);
      ++in_force;
    }
  }
  return verdicts;
}

}  // namespace quota::usage

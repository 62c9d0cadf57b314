#include "pkg/quota/usage/definition_set.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pkg/api/object_meta.h"
#include "pkg/quota/usage/extended_evaluator.h"

namespace quota::usage {
namespace {

constexpr const char* kNoRoom = "older definitions take all 4 MiB of memory for definitions";
// After the reason why the present generation is not in force.
constexpr const char* kInForceIs = "; in force is still generation ";
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

std::size_t BytesOf(const StoredDefinition& stored) {
  std::size_t bytes = stored.bytes;
  for (const SharedDefinition& other : {stored.in_force, stored.former}) {
    if (other != nullptr && other != stored.definition) bytes += HeldBytes(*other);
  }
  return bytes;
}

void PutInForce(StoredDefinition& stored, bool known) {
  if (stored.in_force != stored.definition && stored.former == nullptr) {
    stored.former = std::move(stored.in_force);
    stored.former_generation = stored.generation_in_force;
  }
  stored.in_force = stored.definition;
  stored.generation_in_force = stored.generation;
  if (known || stored.former == stored.definition) stored.former = nullptr;
}

void PutFormerInForce(StoredDefinition& stored) {
  stored.in_force = std::exchange(stored.former, nullptr);
  stored.generation_in_force = stored.former_generation;
}

// The former generation that is in force by the status; null if there is none that can be read.
SharedDefinition FormerIn(const StoredDefinition& stored, const std::string& name) {
  const auto spec = json::Parse(stored.status.StringAt({"inForce", "spec"}));
  if (!spec) return nullptr;
  json::Value object = json::Object{{"spec", *spec}};
  object.Make({"metadata", "name"}) = name;
  auto former = ParseUsageDefinition(object);
  if (!former) return nullptr;
  const bool same = stored.definition != nullptr && *stored.definition == *former;
  return same ? stored.definition : std::make_shared<const UsageDefinition>(std::move(*former));
}

std::int64_t GenerationIn(const json::Value& status) {
  const json::Value* generation = status.At({"inForce", "generation"});
  return generation == nullptr ? 0 : generation->AsInt64().value_or(0);
}

}  // namespace

json::Value FormerInForce(const StoredDefinition& stored) {
  if (stored.in_force == nullptr || stored.in_force == stored.definition) return {};
  return json::Object{{"generation", stored.generation_in_force},
                      {"spec", json::Write(SpecOf(*stored.in_force))}};
}

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
    std::string message(condition.StringAt({"message"}));
    message.resize(std::min(message.size(), message.find(kInForceIs)));
    return {std::string(condition.StringAt({"reason"})), std::move(message)};
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
  const auto known = definitions_.find(name);
  const StoredDefinition before = known == definitions_.end() || known->second.uid != stored.uid
                                      ? StoredDefinition{}
                                      : known->second;
  stored.in_force = before.in_force;
  stored.generation_in_force = before.generation_in_force;
  stored.former = before.former;
  stored.former_generation = before.former_generation;
  auto definition = ParseUsageDefinition(object);
  if (definition) stored.bytes = HeldBytes(*definition);
  if (!definition) {
    stored.why = definition.error().message;
  } else {
    for (const SharedDefinition& held : {before.former, before.definition, before.in_force}) {
      if (held != nullptr && *held == *definition) stored.definition = held;
    }
    if (stored.definition == nullptr) {
      stored.definition = std::make_shared<const UsageDefinition>(std::move(*definition));
    }
  }
  if (stored.in_force == nullptr) {
    stored.in_force = FormerIn(stored, name);
    stored.generation_in_force = GenerationIn(stored.status);
  } else if (stored.former == nullptr && stored.in_force == stored.definition) {
    stored.former = FormerIn(stored, name);
    stored.former_generation = GenerationIn(stored.status);
  }
  held_ += stored.bytes;
  definitions_.insert_or_assign(name, std::move(stored));
  // Not at each call: it looks at all.
  if (held_ > 2 * kMostBytes) Shed();
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

std::vector<DefinitionSet::Stored::pointer> DefinitionSet::OldestFirst() {
  std::vector<Stored::pointer> oldest_first;
  for (auto& entry : definitions_) oldest_first.push_back(&entry);
  std::ranges::stable_sort(
      oldest_first, {}, [](const auto* one) -> const std::string& { return one->second.created; });
  return oldest_first;
}

void DefinitionSet::Shed() {
  held_ = 0;
  lacks_ = false;
  std::size_t bytes = 0;
  for (auto* entry : OldestFirst()) {
    StoredDefinition& stored = entry->second;
    bytes += BytesOf(stored);
    if (bytes > kMostBytes) {
      stored.definition = stored.in_force = stored.former = nullptr;
    } else {
      held_ = bytes;
      lacks_ = lacks_ || (stored.bytes > 0 && stored.definition == nullptr);
    }
  }
}

std::map<std::string, Verdict> DefinitionSet::Judge(const BuiltIn& built_in,
                                                    const OfPaths& of_paths) {
  Shed();
  std::map<std::string, Verdict> verdicts;
  std::map<std::string, std::string> owners;  // of names and scopes
  std::size_t in_force = 0;
  const auto has_place = [&](const UsageDefinition& definition) -> Verdict {
    if (auto taken = NameTaken(definition, owners)) return *std::move(taken);
    if (in_force < kMostInForce) return {};
    return {"TooMany", std::to_string(kMostInForce) + " older definitions are in force"};
  };
  bool known = true;  // the paths of the one that is judged
  const auto judge = [&](const std::string& name, const StoredDefinition& stored) -> Verdict {
    if (!stored.why.empty()) return {"PathInvalid", stored.why};
    if (!stored.definition) return {"TooMany", kNoRoom};
    std::string why = WhyNotSupported(*stored.definition, built_in);
    if (!why.empty()) return {std::string(kNotSupported), std::move(why)};
    auto wrong = of_paths(name);
    known = wrong.has_value();
    return known && !wrong->message.empty() ? *std::move(wrong) : has_place(*stored.definition);
  };
  for (auto* entry : OldestFirst()) {
    StoredDefinition& stored = entry->second;
    Verdict& verdict = verdicts[entry->first] = judge(entry->first, stored);
    if (verdict.reason.empty()) {
      PutInForce(stored, known);
    } else if (stored.in_force == stored.definition) {
      PutFormerInForce(stored);
    }
    if (stored.in_force == nullptr) continue;
    if (!verdict.reason.empty() && !has_place(*stored.in_force).reason.empty()) {
      stored.in_force = stored.former = nullptr;
      continue;
    }
    TakeNames(*stored.in_force, owners);
    ++in_force;
    if (!verdict.reason.empty()) {
      verdict.message += kInForceIs + std::to_string(stored.generation_in_force);
    }
  }
  return verdicts;
}

}  // namespace quota::usage

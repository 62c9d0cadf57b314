#pragma once

// The UsageDefinitions that the API server has, and which of them are in force. A name belongs to
// the definition that was created first. No I/O, one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quota/evaluator.h"
#include "pkg/quota/usage/usage_definition.h"

namespace quota::usage {

// All who know a definition hold the same one: with long paths it has some 100 KB.
using SharedDefinition = std::shared_ptr<const UsageDefinition>;

// A stored UsageDefinition.
struct StoredDefinition {
  std::string uid;
  std::string version;  // metadata.resourceVersion
  std::string created;  // as text, which sorts
  std::int64_t generation = 0;
  json::Value status;
  SharedDefinition definition;  // null: it cannot be read, or there is no room for it
  std::string why;              // it cannot be read; "": it can
  std::size_t bytes = 0;        // HeldBytes() of the definition, also if there is no room for it
  // What is counted by, as Judge() has decided, or as the status said at the first Put(): the
  // definition, or that of a former generation while the present one cannot be in force. Null:
  // nothing.
  SharedDefinition in_force = {};
  std::int64_t generation_in_force = 0;
  // What was in force before, here or by the status, while the paths of what replaced it are not
  // known to be right. Null: nothing.
  SharedDefinition former = {};
  std::int64_t former_generation = 0;
};

// A former generation that is in force, for a status: whoever starts meanwhile counts by it, too.
// Its spec is a text, because a merge patch would merge two specs. Null: the present one is, or
// nothing.
json::Value FormerInForce(const StoredDefinition& stored);

// Whether the present generation of a definition may be in force.
struct Verdict {
  std::string reason;  // of its condition Ready; "": it may
  std::string message;
};

// In which versions a definition reads the objects and their class; "": in none.
struct DefinitionVersions {
  std::string objects;
  std::string of_class;
  bool operator==(const DefinitionVersions& other) const = default;
};

// The versions in a status: those that were read last, by this generation or a former one.
DefinitionVersions VersionsIn(const json::Value& status);
// True if the status is about this generation of the definition.
bool IsObserved(const StoredDefinition& stored);
// The condition Ready that the status has about this generation of the definition; empty if it has
// none.
Verdict RecordedVerdict(const StoredDefinition& stored);
// The reason of a definition with a path that the objects cannot have.
inline constexpr std::string_view kPathNotInSchema = "PathNotInSchema";
// The same of one that has been in force, and stays so.
inline constexpr std::string_view kPathLost = "PathLost";
// The reason of one whose kind no quota can limit.
inline constexpr std::string_view kNotSupported = "NotSupported";
// What is said of a kind whose objects are in no namespace.
std::string InNoNamespace(const api::GroupResource& resource);

class DefinitionSet {
 public:
  // So many are in force, the oldest. Each is a watch and at least one webhook.
  static constexpr std::size_t kMostInForce = 256;

  // So many bytes of definitions are held, those of the oldest: one with the longest paths has
  // 100 KB. What may be in force is held as well, and those who count by it have a copy.
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

  // Fields that Put() reads, for a reflector.
  static std::vector<std::string> Fields() {
    return {"metadata.creationTimestamp", "metadata.generation", "spec", "status"};
  }

  void Put(const json::Value& object);
  void Remove(std::string_view name);
  // A list: the definitions that are not Put() between the two calls are removed.
  void BeginSweep();
  void EndSweep();
  void Clear() { definitions_.clear(); }

  // True if there is room for a definition that is not held. It must be Put() again.
  [[nodiscard]] bool Lacks() const { return lacks_; }

  using Stored = std::map<std::string, StoredDefinition, std::less<>>;
  [[nodiscard]] const Stored& stored() const { return definitions_; }
  // Returns the evaluator of a resource that is a part of the program; null: there is none.
  using BuiltIn = std::function<std::shared_ptr<const Evaluator>(const api::GroupResource&)>;
  // Returns what the schema of its kind says of a definition; without a message it may be in force.
  // nullopt: so it may, but the schema is not known yet.
  using OfPaths = std::function<std::optional<Verdict>(const std::string& name)>;
  // Decides which are in force, and returns the verdict on each. A mistyped edit does not end a
  // limit: what was in force by the last call stays until another generation can take its place,
  // and comes back if the paths of that one prove wrong, as long as no older definition has one of
  // its names.
  std::map<std::string, Verdict> Judge(const BuiltIn& built_in, const OfPaths& of_paths);

 private:
  // Those of the same age by name.
  std::vector<Stored::pointer> OldestFirst();
  // Lets go what there is no room for. A definition has room if it has with all that are older,
  // held or not, so what is held does not depend on the order in which they came.
  void Shed();

  Stored definitions_;    // by name
  std::size_t held_ = 0;  // bytes, at most
  bool lacks_ = false;
  std::optional<std::set<std::string, std::less<>>> unseen_;
};

}  // namespace quota::usage

#pragma once

// Compares the paths of UsageDefinitions with the schemas that the API server serves for their
// kinds (pkg/quota/usage/schema_check.h), so that a mistyped path is told, and chooses the version
// that is read.
//
// A new definition with such a path is not in force, as one that cannot be read: its amounts would
// be unknown, and creations would be refused. One that has been in force stays so, whatever the
// schema loses later: who may change a CRD must not end a limit with it, and stored objects may
// still have the field. The status of the definition remembers that for restarts and replicas.
//
// A definition that has been in force keeps its version while that is served: the fields of another
// may have other names. Otherwise it reads the first version that has all of its paths. Replicas
// that do not lead read the versions that the leader has told: with two versions there would be two
// rules for the webhook.
//
// What cannot be read is not known: the last answer stays, and without one the definition counts as
// if there were no schema. The generation that it has replaced is kept for the case that it proves
// wrong (definition_set.h). Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/quota/usage/definition_set.h"
#include "pkg/quota/usage/schema_check.h"

namespace controllers {

// The kinds that a definition reads, in each version that is served. The first is preferred; empty:
// the kind is not served, or the definition has no class.
struct DefinitionKinds {
  std::vector<quota::usage::ServedKind> objects;
  std::vector<quota::usage::ServedKind> of_class;
  quota::usage::DefinitionVersions last = {};  // that it read, if it has been in force
  bool told = false;                           // the leader reads this generation in those versions
};

// True if the status says that this generation has been in force.
[[nodiscard]] bool WasInForce(const quota::usage::StoredDefinition& stored);

class PathChecks {
 public:
  // So long a new definition waits for its first answer.
  static constexpr std::chrono::seconds kPatience{5};
  // A schema is read again at most, and at least, so often. While a path is not in it, somebody may
  // be mending it. An unchanged one costs a 304.
  static constexpr std::chrono::seconds kSoonest{2};
  static constexpr std::chrono::seconds kWhileWrong{30};
  static constexpr std::chrono::seconds kRarely{600};

  // `changed` is called when an answer has changed. Both references must outlive it.
  PathChecks(client::ApiClient& client, base::Scheduler& scheduler, std::function<void()> changed);

  using KindsOf = std::function<DefinitionKinds(const quota::usage::StoredDefinition&)>;
  // Takes the definitions that there are now.
  void Follow(const quota::usage::DefinitionSet::Stored& stored, const KindsOf& kinds_of);
  // Reads what is due, until cancelled.
  base::Task<void> Run();

  // True if it is decided whether the definition may be in force. Until then it may. What only
  // the leader has said is not decided: perhaps it could not read the schema.
  [[nodiscard]] bool IsDecided(std::string_view name) const;
  // Returns why the definition must not be in force; "" if it may.
  [[nodiscard]] std::string WhyNot(std::string_view name) const;
  // Returns the path that the schema lacks although the definition is in force; "" if none.
  [[nodiscard]] std::string Lost(std::string_view name) const;
  // The versions that the definition should read, by what is known.
  [[nodiscard]] quota::usage::DefinitionVersions VersionsFor(std::string_view name) const;
  // True while nothing is known about these versions that should be in a moment.
  [[nodiscard]] bool IsPending(std::string_view name) const;
  [[nodiscard]] bool AnyPending() const;

 private:
  // Whether a kind in one version has the paths of a definition.
  struct Question {
    quota::usage::ServedKind kind;
    bool known = false;
    std::string wrong = {};
  };
  // What a definition reads of one kind.
  struct Reading {
    std::string accepted_in = {};          // the version in which it was in force; "": not known
    std::vector<Question> questions = {};  // one for each version that it may read
    // The first that has the paths, or may have them; without one the first. Null if there is none.
    [[nodiscard]] const Question* chosen() const;
    [[nodiscard]] bool IsAccepted() const;
    [[nodiscard]] bool IsUnknown() const;
  };
  struct Check {
    quota::usage::SharedDefinition definition;
    base::TimePoint since;
    bool accepted = false;      // it has been in force
    bool told = false;          // which only the leader has said
    std::string recorded = {};  // what its status says of its paths, until that is known
    Reading objects = {};
    Reading of_class = {};
    // True if there is an answer about each path.
    [[nodiscard]] bool IsKnown() const;
    [[nodiscard]] std::string Wrong() const;
  };
  struct Document {
    std::string etag;
    base::TimePoint next;
    base::Duration wait{};
    bool complained = false;
  };

  [[nodiscard]] static Check NewCheck(const quota::usage::StoredDefinition& stored,
                                      quota::usage::DefinitionVersions last, base::TimePoint now);
  void Ask(Check& check, Reading& reading, std::vector<quota::usage::ServedKind> kinds);
  [[nodiscard]] const Check* Find(std::string_view name) const;
  base::Task<void> Read(std::string path);
  void OnFailure(const std::string& path, Document& document, const base::Error& error);
  void Answer(const std::string& name, Check& check, quota::usage::SchemaDocument& schemas,
              const std::string& path);
  // When the document is read again, by what is known of its questions.
  void Plan(const std::string& path, Document& document);

  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  std::function<void()> changed_;
  std::unique_ptr<base::Alarm> due_;
  std::map<std::string, Check, std::less<>> checks_;  // by the name of the definition
  std::map<std::string, Document> documents_;         // by path; those of some question
};

}  // namespace controllers

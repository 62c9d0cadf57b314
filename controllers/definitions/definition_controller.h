#pragma once

// Watches UsageDefinitions while the API server serves them, puts their evaluators into the quota
// APIs, and tells in their status what became of them. Each replica counts by them; only the leader
// writes.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "controllers/definitions/definition_status.h"
#include "controllers/definitions/path_checks.h"
#include "controllers/usage/served_resources.h"
#include "controllers/usage/tracked_resource.h"
#include "informers/reflector.h"
#include "pkg/base/log_limit.h"
#include "pkg/quota/usage/definition_set.h"

namespace controllers {

struct DefinitionHooks {
  // From now on the objects of the resource are counted by this evaluator; nullopt: by none.
  std::function<void(const api::GroupResource& resource, const std::optional<quota::Evaluator>& by)>
      define;
  // Of the objects of a resource with a definition, and of those of its class.
  std::function<DefinedUse(const api::GroupResource& resource)> use_of;
  std::function<DefinedUse(const api::GroupResource& resource)> class_use_of;
  quota::usage::DefinitionSet::BuiltIn built_in;
  std::function<bool()> leading;
};

api::GroupVersionResource DefinitionResource();

class DefinitionController final : public informers::CollectionSink {
 public:
  // `served` and all objects that `context` points to must outlive it.
  DefinitionController(TrackingContext context, ServedResources& served, DefinitionHooks hooks);

  // Runs until cancelled.
  base::Task<void> Run();
  // True while the definitions are in force that the API server has, or are known to be unknown: it
  // does not serve them, or the daemon may not read them. False before the first list, and while
  // they cannot be watched for longer than a moment. No request should be decided then that they
  // may concern.
  [[nodiscard]] bool Known() const;
  // True if the API server does not serve definitions, as far as is known. Nothing has to be
  // counted later for that.
  [[nodiscard]] bool SeemAbsent() const;

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  void EndList() override;
  void OnState() override;

 private:
  // What an evaluator was made from.
  struct Defined {
    std::string uid;
    quota::usage::SharedDefinition definition;
    quota::usage::DefinitionVersions versions;
  };
  // What of this definition is in force here; null if nothing is. Another definition of the same
  // name inherits nothing.
  [[nodiscard]] const Defined* FindDefined(const quota::usage::StoredDefinition& stored) const;
  // Runs until the API server stops serving definitions, or until cancelled.
  base::Task<void> Follow();
  // True if the API server does not let them be listed or watched because it does not know them.
  [[nodiscard]] bool AreNotFound() const;
  // True if it should be asked what is served.
  [[nodiscard]] bool IsLookDue(base::TimePoint now) const;
  // Puts all evaluators into the quota APIs that should be there, one in a turn, because each may
  // concern thousands of quotas.
  base::Task<void> Apply();
  // True if the verdicts may have changed.
  [[nodiscard]] bool IsJudgementDue() const;
  void Judge();
  // Returns false if there is nothing to change.
  bool ApplyOne();
  bool Define(const quota::usage::StoredDefinition& stored);
  void Undefine(const std::string& name);
  // Which versions a definition read last, here or by its status.
  [[nodiscard]] quota::usage::DefinitionVersions LastVersions(
      const quota::usage::StoredDefinition& stored) const;
  // True if this replica does not lead, and the leader tells in which versions it reads the present
  // generation.
  [[nodiscard]] bool IsTold(const quota::usage::StoredDefinition& stored) const;
  // Which versions a definition should read.
  [[nodiscard]] quota::usage::DefinitionVersions VersionsOf(
      const quota::usage::StoredDefinition& stored) const;
  [[nodiscard]] DefinitionKinds KindsOf(const quota::usage::StoredDefinition& stored) const;
  // Writes the statuses of the definitions that did not change since Apply(), while it leads.
  base::Task<void> WriteStatus();
  void SayUnwritten(const std::string& name, const base::Error& error);
  [[nodiscard]] DefinitionState StateOf(const std::string& name,
                                        const quota::usage::StoredDefinition& stored) const;
  // When the status may be written; nullopt: it needs no write.
  [[nodiscard]] std::optional<base::TimePoint> DueAt(const std::string& name,
                                                     const quota::usage::StoredDefinition& stored,
                                                     const json::Value& status) const;

  TrackingContext context_;
  ServedResources& served_;
  DefinitionHooks hooks_;
  quota::usage::DefinitionSet set_;
  std::map<std::string, quota::usage::Verdict> verdicts_;
  std::map<std::string, std::string> judged_;  // the resourceVersions that `verdicts_` are about
  std::set<std::string> waiting_;              // whose verdict only says that a check is pending
  std::map<std::string, Defined> defined_;     // by name
  struct Written {
    base::TimePoint at;
    bool failed = false;
    quota::usage::DefinitionVersions versions = {};
  };
  std::map<std::string, Written> written_;  // the last write of each status
  base::LogLimit unwritten_;                // lines about writes that failed
  std::uint64_t revision_ = 0;
  bool dirty_ = true;     // a definition, or what is known of its paths, has changed
  bool pending_ = false;  // the check of some paths was pending at the last judgement
  std::optional<base::TimePoint> looked_;  // the answer of discovery that it was by
  bool listing_ = false;
  bool listed_ = false;
  bool applied_ = false;  // what was listed is in force
  std::unique_ptr<base::Alarm> changed_;
  PathChecks checks_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;  // while definitions are served
  std::optional<base::TimePoint> troubled_since_;    // the reflector; nullopt: it is not
};

}  // namespace controllers

#pragma once

// Tells whether objects fit quotas. Computes what each new object would be charged, with
// admission's own decision, and adds it up beside usage and limits. Values; one thread.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pkg/inspect/forest.h"
#include "pkg/inspect/workload.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/decision.h"

namespace inspect {

// The evaluator of an object.
struct Counter {
  const quota::Evaluator* evaluator = nullptr;
  const quota::ClassTable* classes = nullptr;  // may be null
  bool classes_known = true;                   // false: `classes` may lack some that exist
  std::string unseen = {};                     // why they cannot be seen; "": they are in no file
  quota::Rules rules = {};                     // of the server
};

// The amounts that one object needs of each quota, in the order of the quotas, and the reasons to
// refuse it that do not depend on free amounts.
struct Demand {
  std::vector<quota::ResourceList> of;
  std::vector<quota::ResourceList> freed = {};  // by an update, at once
  std::string uncountable = {};                 // why it cannot be counted; "": it can
  std::vector<std::string> objections{};        // "failed quota: q: must specify limits.cpu for: c"
  std::vector<std::string> warnings{};          // the same from quotas in mode Warn or Audit
  std::vector<std::string> unknown{};           // what it uses of classes that are not known
};

using CounterOf = std::function<const Counter*(const json::Value& object)>;

struct FitLine {
  std::size_t quota = 0;  // index
  std::string name;
  std::optional<quota::Quantity> before;  // nullopt: not counted yet
  quota::Quantity asked;                  // may be below 0
  quota::Quantity after;
  quota::Quantity hard;
  std::optional<quota::Quantity> lacking;  // the amount above the limit
  quota::Quantity held{};                  // part of the limit that is guaranteed to others
  bool tried = false;                      // the quota only warns (mode Warn or Audit)
  [[nodiscard]] bool Refuses() const { return lacking.has_value() && !tried; }
};

// A part of what is asked: equal objects of one manifest.
struct FitPart {
  ObjectName of;
  Role role;
  std::int64_t count = 0;  // 0: not a number of whole objects
  quota::Quantity amount;  // below 0: freed
};

// What one call of FitBook::Add() asked of the quotas.
struct Ask {
  ObjectName of;           // the object of the manifest
  std::string kind = {};   // of the objects; "" for a rollout
  std::string group = {};  // the PodGroup of new pods; "" if they have none
  std::int64_t count = 1;
  std::vector<quota::ResourceList> each;        // by quota, for each of the `count` objects
  std::vector<quota::ResourceList> freed = {};  // by an update, at once
  bool refused = false;                         // whatever is free
  bool passing = false;                         // they are gone when the next ones are created
  bool rollout = false;
};

struct Objection {
  ObjectName of;
  std::string text;
  bool operator==(const Objection&) const = default;
};

class FitBook {
 public:
  // `quotas` are those of one API in one namespace, `reached` the ClusterQuotas that limit it.
  // `kind` is that of the quotas for tables, "" for Kubernetes' own. Of a limit that is not in
  // force yet and the one that is, the smaller one counts.
  explicit FitBook(std::vector<quota::Quota> quotas, Reached reached = {}, std::string kind = {});

  [[nodiscard]] const std::vector<quota::Quota>& quotas() const { return quotas_; }
  // Returns "compute", "clusterquota/team-a", "karmadaquota.policy.karmada.io/all".
  [[nodiscard]] std::string TitleOf(std::size_t quota) const;
  // The same, with the plain name of a ClusterQuota.
  [[nodiscard]] std::string NameOf(std::size_t quota) const;

  // Errors: kMalformed if the usage of the object cannot be computed.
  [[nodiscard]] base::Result<Demand> DemandOf(const Counter& counter, const json::Value& object,
                                              const std::optional<json::Value>& stored,
                                              base::WallTime now) const;
  // Adds the needs of a piece and the objections to it. Call in the order of the manifests: what an
  // update frees is there for the pieces after it. Errors: as above, and overflow.
  base::Result<void> Add(const Counter& counter, const Piece& piece, base::WallTime now);
  // Adds the largest usage during a rollout, and the objections to its new pods. `counter_of`
  // returns null for what no quota counts. Errors: the same.
  base::Result<void> Add(const CounterOf& counter_of, const Rollout& rollout, base::WallTime now);

  // Returns a line for each quota and name with a need, the names of a quota in order. A need is
  // 0 or less if something else frees as much before. It is refused nevertheless if the limit is
  // still exceeded: admission judges each creation.
  [[nodiscard]] std::vector<FitLine> Lines() const;
  // Returns what adds up to `asked` of the line, in the order of the manifests.
  [[nodiscard]] std::vector<FitPart> PartsOf(const FitLine& line) const;
  // Returns all that was asked, in the order of the manifests.
  [[nodiscard]] const std::vector<Ask>& asks() const { return asks_; }
  [[nodiscard]] const std::vector<Objection>& objections() const { return objections_; }
  // Objections of quotas in mode Warn or Audit.
  [[nodiscard]] const std::vector<Objection>& warnings() const { return warnings_; }
  // What objects use of classes that are not known.
  [[nodiscard]] const std::vector<Objection>& unknown() const { return unknown_; }
  // Returns the refusal of a ClusterQuota to all needs together; "" if it would admit them, or if
  // it is another kind of quota.
  [[nodiscard]] std::string RefusalOf(std::size_t quota) const;
  // Returns the quotas as input of a decision; valid as long as this object.
  [[nodiscard]] std::vector<quota::Standing> Standings() const;
  // Returns the needs of each quota.
  [[nodiscard]] std::vector<quota::ResourceList> Asked() const;
  [[nodiscard]] bool Fits() const;

 private:
  // Refuses an object that quotas cannot count, or warns if none of them may refuse.
  void NoteFlaw(const quota::ObjectFacts& facts, Demand& demand) const;
  static void Note(Objection objection, std::vector<Objection>& objections);
  // Adds the objections to a new object, which may be an update.
  void Object(const Piece& piece, const Demand& demand);
  struct Cause {
    ObjectName of;
    Role role;
  };
  struct Delta {
    std::size_t cause = 0;  // index
    std::int64_t count = 0;
    quota::Quantity amount;
  };
  // How the usage of a name changed.
  struct Log {
    std::vector<Delta> deltas;
    std::size_t peak = 0;  // after so many of them it was largest
  };
  struct Sum {
    quota::ResourceList now;    // after all pieces so far
    quota::ResourceList most;   // the largest directly after a creation that needs the name
    quota::ResourceList freed;  // by updates, and by deletions before creations
    quota::ResourceList last;   // what the creation needed after which `most` was reached
    std::map<std::string, Log, std::less<>> logs;
    // `times` below 0: given back.
    void Change(const quota::ResourceList& amounts, std::int64_t times, std::size_t cause);
    void Need(const quota::ResourceList& amounts, std::int64_t times, std::size_t cause);
    // `now` of the name is what it is after all deltas of its log, the last of which is of a
    // creation that needs `needed`.
    void OnRisen(const std::string& name, const quota::Quantity& needed);
  };
  std::size_t CauseOf(const ObjectName& of, Role role);
  // Adds what the end of stored objects frees, by quota, for each of them.
  void AddGone(const Piece& piece, const std::vector<quota::ResourceList>& each);
  // Adds the largest rise of one name during a rollout.
  void AddRise(Sum& sum, const std::string& name, const quota::Quantity& each,
               const quota::Quantity& rise, const Rollout& rollout);
  std::vector<quota::Quota> quotas_;
  std::vector<quota::Quota> roomy_;  // copies with unreachable limits
  std::vector<quota::TreePlace> places_;
  std::vector<Sum> asked_;
  std::vector<Ask> asks_;
  std::vector<Objection> objections_;
  std::vector<Objection> warnings_;
  std::vector<Objection> unknown_;
  std::vector<Cause> causes_;
  std::string kind_;
};

// Returns the limits that admission enforces: status.hard, or spec.hard while there is no status.
const quota::ResourceList& LimitsOf(const quota::Quota& quota);

// Returns the amount that a quota holds back for its other children after `asked` was added to all
// quotas.
quota::Quantity HeldBack(const std::vector<quota::Standing>& standings,
                         const std::vector<quota::ResourceList>& asked, std::size_t quota,
                         std::string_view name);
// Returns the refusal of a ClusterQuota in admission's words; "" if it admits, or if it is another
// kind of quota.
std::string RefusalText(const std::vector<quota::Standing>& standings,
                        const std::vector<quota::ResourceList>& asked, std::size_t quota);

}  // namespace inspect

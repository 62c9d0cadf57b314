#pragma once

// Whether something fits quotas: what each new object would be charged, by the very decision of
// admission, added up, beside what is used and allowed. Values; one thread.

#include <optional>
#include <string>
#include <vector>

#include "pkg/inspect/forest.h"
#include "pkg/inspect/workload.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/decision.h"

namespace inspect {

// What counts an object.
struct Counter {
  const quota::Evaluator* evaluator = nullptr;
  const quota::ClassTable* classes = nullptr;  // may be null
};

// What one object asks of each quota, in their order; and why it would be refused whatever is free.
struct Demand {
  std::vector<quota::ResourceList> of;
  std::vector<std::string> objections;  // "failed quota: q: must specify limits.cpu for: c"
  std::vector<std::string> warnings{};  // the same of quotas that are only tried
};

struct FitLine {
  std::size_t quota = 0;  // index
  std::string name;
  std::optional<quota::Quantity> before;  // nullopt: nobody has counted it yet
  quota::Quantity asked;
  quota::Quantity after;
  quota::Quantity hard;
  std::optional<quota::Quantity> lacking;  // what is asked beyond what is allowed
  quota::Quantity held{};                  // of the limit: guaranteed to others
  bool tried = false;                      // what lacks is only told of
  [[nodiscard]] bool Refuses() const { return lacking.has_value() && !tried; }
};

struct Objection {
  ObjectName of;
  std::string text;
  bool operator==(const Objection&) const = default;
};

class FitBook {
 public:
  // The quotas of one namespace, and the ClusterQuotas that it is under.
  explicit FitBook(std::vector<quota::Quota> quotas, Reached reached = {});

  [[nodiscard]] const std::vector<quota::Quota>& quotas() const { return quotas_; }

  // Errors: kMalformed, for an object of which it cannot be said what it uses.
  [[nodiscard]] base::Result<Demand> DemandOf(const Counter& counter, const json::Value& object,
                                              const std::optional<json::Value>& stored,
                                              base::WallTime now) const;
  // Adds what a piece asks, and what is objected to it. Errors: as above, and amounts that do not
  // fit.
  base::Result<void> Add(const Counter& counter, const Piece& piece, base::WallTime now);

  // One for each quota and name that is asked for anything; of a quota the names in order.
  [[nodiscard]] std::vector<FitLine> Lines() const;
  [[nodiscard]] const std::vector<Objection>& objections() const { return objections_; }
  // What quotas that are only tried would object to.
  [[nodiscard]] const std::vector<Objection>& warnings() const { return warnings_; }
  // What a ClusterQuota would say to all that is asked; "" if it would admit it, and of others.
  [[nodiscard]] std::string RefusalOf(std::size_t quota) const;
  // The quotas as a decision sees them; valid as long as this is.
  [[nodiscard]] std::vector<quota::Standing> Standings() const;
  // What is asked of each quota.
  [[nodiscard]] std::vector<quota::ResourceList> Asked() const;
  [[nodiscard]] bool Fits() const;

 private:
  static void Note(Objection objection, std::vector<Objection>& objections);
  struct Sum {
    quota::ResourceList last;   // in the end
    quota::ResourceList first;  // at the beginning of rollouts
  };
  std::vector<quota::Quota> quotas_;
  std::vector<quota::Quota> roomy_;  // the same with limits that nothing reaches
  std::vector<quota::TreePlace> places_;
  std::vector<Sum> asked_;
  std::vector<Objection> objections_;
  std::vector<Objection> warnings_;
};

// What admission enforces: status.hard, or spec.hard while no controller has seen the quota.
const quota::ResourceList& LimitsOf(const quota::Quota& quota);

// What a quota keeps free for others of what is asked of all of them.
quota::Quantity HeldBack(const std::vector<quota::Standing>& standings,
                         const std::vector<quota::ResourceList>& asked, std::size_t quota,
                         std::string_view name);
// What a ClusterQuota says to that in admission's words; "" if it admits it, and of other quotas.
std::string RefusalText(const std::vector<quota::Standing>& standings,
                        const std::vector<quota::ResourceList>& asked, std::size_t quota);

}  // namespace inspect

#pragma once

// Whether something fits quotas: what each new object would be charged, by the very decision of
// admission, added up, beside what is used and allowed. Values; one thread.

#include <optional>
#include <string>
#include <vector>

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
};

struct FitLine {
  std::size_t quota = 0;  // index
  std::string name;
  std::optional<quota::Quantity> before;  // nullopt: nobody has counted it yet
  quota::Quantity asked;
  quota::Quantity after;
  quota::Quantity hard;
  std::optional<quota::Quantity> lacking;  // what is asked beyond the limit
};

struct Objection {
  ObjectName of;
  std::string text;
  bool operator==(const Objection&) const = default;
};

class FitBook {
 public:
  // The quotas of one namespace.
  explicit FitBook(std::vector<quota::Quota> quotas);

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
  [[nodiscard]] bool Fits() const;

 private:
  void Object(Objection objection);
  struct Asked {
    quota::ResourceList last;   // in the end
    quota::ResourceList first;  // at the beginning of rollouts
  };
  std::vector<quota::Quota> quotas_;
  std::vector<quota::Quota> roomy_;  // the same with limits that nothing reaches
  std::vector<Asked> asked_;
  std::vector<Objection> objections_;
};

// What admission enforces: status.hard, or spec.hard while no controller has seen the quota.
const quota::ResourceList& LimitsOf(const quota::Quota& quota);

}  // namespace inspect

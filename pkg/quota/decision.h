#pragma once

// Decides whether requests fit their quotas, and what to reserve: the rules of apiserver v0.36.3,
// pkg/admission/plugin/resourcequota/controller.go, with a reservation for each object. Pure
// functions; any thread.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/cause.h"
#include "pkg/quota/evaluator.h"
#include "pkg/quota/quota.h"

namespace quota {

// The facts of an object for a decision: its classes are resolved into `usage`.
using Subject = Facts;

// An object for a decision, as far as its classes are known.
struct Resolved {
  Subject subject;
  std::optional<UnknownUsage> unknown = {};
};

// The parts of a request that quotas need. The objects that it points to must outlive it.
struct Request {
  const Evaluator* evaluator = nullptr;
  const ClassTable* classes = nullptr;  // of the evaluator; null if not known
  const json::Value* object = nullptr;  // for Guard::constraints
  Uid uid;                              // of the object
  Subject after;
  std::optional<Subject> before;  // an UPDATE's old object
  std::string_view version;       // its resourceVersion; "" without one
  bool dry_run = false;           // judge only, reserve nothing
  // An UPDATE whose old object is no longer the stored one: the API server will not store it, but
  // send another review with the newest version. Its increase is not known, so nothing is reserved.
  bool outdated = false;
  // The usage of `after` that is not known, unless an UPDATE's old object had it already. A quota
  // that limits such a name refuses the request. kUnavailable: it will be known later.
  std::optional<UnknownUsage> unknown = {};
};

// True if the decision depends on unknown usage: a quota matches the object and limits a name under
// which its usage is unknown.
bool DependsOnUnknown(const Request& request, const std::vector<const Quota*>& quotas);

// The place of a ClusterQuota in its tree, for the request that is judged
// (pkg/quota/cluster/DESIGN.md).
struct TreePlace {
  std::string above;  // the descendant that selects the namespace; "": the quota does
  std::optional<std::size_t> parent;  // its parent: an index into the standings
  ResourceList promised;              // guaranteed to it and not used by it, if it has a parent
  ResourceList promised_below;        // promised to all its children together
};

// Why names are not counted now.
struct Uncounted {
  std::string why;       // for the user; "": they are counted, or will be in a moment
  bool lasting = false;  // until an admin changes something
};

// A quota of the request's namespace as it is known now.
struct Standing {
  const Quota* quota = nullptr;
  ResourceList used;  // status.used plus what earlier requests of a batch added
  // An earlier reservation for the object that this request may use. Null: none.
  const ResourceList* answer = nullptr;
  // Returns what `used` already includes for the object, by any reservation, if its stored usage is
  // `stored`. `used` is not raised again by that amount. Null: nothing.
  std::function<ResourceList(const ResourceList& stored)> reserved = nullptr;
  TreePlace tree = {};
  // What a refusal adds about these names of status.hard. Null: nothing.
  std::function<Uncounted(const std::vector<std::string>& names)> uncounted = nullptr;
};

// What admitting a request adds to one quota.
struct Need {
  std::size_t standing = 0;  // index
  ResourceList amount;       // to add to status.used; positive amounts only, may be empty
  ResourceList absolute;     // the usage after the request, under names of status.hard
  ResourceList stored;       // the usage of the old object that the quota counts
};

// The quota that refuses a request.
struct Refuser {
  std::string name;
  std::string uid;
  std::vector<std::string> exceeded = {};  // limits; empty if it refuses for another reason
};

// A quota that would refuse a request, if it were enforced.
struct WouldRefuse {
  ClusterSpec::Enforcement mode = ClusterSpec::Enforcement::kWarn;  // or kAudit
  std::string message;                                              // as a refusal's
  Refuser quota;
};

struct Verdict {
  enum class Kind {
    kFree,     // no quota has to grow
    kFits,     // `needs` is not empty
    kRefused,  // `code` and `message`
  };
  Kind kind = Kind::kFree;
  int code = 403;       // 503: it cannot be judged yet
  std::string message;  // "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"
  std::vector<Need> needs;
  std::optional<Refuser> refuser = {};  // nullopt: refused, but not by one quota
  std::vector<Cause> causes = {};       // of a refusal: at least one
  // Quotas in mode Warn or Audit that would refuse, in the order of the standings; empty if the
  // request is refused. `needs` includes these quotas, so their `used` may exceed their limits.
  std::vector<WouldRefuse> would_refuse = {};
};

// Judges one request against the standings with the indices `by`, in this order; null means all.
// Does not change the standings.
Verdict Decide(const Request& request, const std::vector<Standing>& standings,
               const std::vector<std::size_t>* by = nullptr);

// Adds the needs of an admitted request to the standings, for the next decision of the batch.
void Apply(const std::vector<Need>& needs, std::vector<Standing>& standings);

// Returns "compute: pods 19 of 20" for each name in `needs` with less than a tenth of its limit
// left, in the order of standings and names. Call after Apply(). Quotas in mode Warn or Audit are
// skipped.
std::vector<std::string> NearLimits(const std::vector<Need>& needs,
                                    const std::vector<Standing>& standings);

}  // namespace quota

#pragma once

// Whether requests fit the quotas they touch, and what to reserve: the rules of apiserver v0.36.3,
// pkg/admission/plugin/resourcequota/controller.go, with reservations by object. Pure functions;
// any thread.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  const ClassTable* classes = nullptr;  // that it reads, if they are known
  const json::Value* object = nullptr;  // for Guard::constraints
  Uid uid;                              // of the object
  Subject after;
  std::optional<Subject> before;  // an UPDATE's old object
  std::string_view version;       // its resourceVersion; "" without one
  bool dry_run = false;           // judged, nothing is reserved
  // An UPDATE whose old object is no longer the stored one: the API server will not store it, but
  // send another review with the newest version. Its increase is not known, so nothing is reserved.
  bool outdated = false;
  // What `after` may use beyond what it says, unless an UPDATE's old object used it already. No
  // quota that limits such a name admits the request.
  std::optional<UnknownUsage> unknown = {};
};

// True if the decision depends on unknown usage: a quota matches the object and limits a name under
// which its usage is unknown.
bool DependsOnUnknown(const Request& request, const std::vector<const Quota*>& quotas);

// Where a ClusterQuota is in its tree, for the request that is judged
// (pkg/quota/cluster/DESIGN.md).
struct TreePlace {
  // False: it does not reach the request's namespace, but that of another request of the batch.
  bool reaches = true;
  std::string above;                  // the quota below it that selects the namespace; "": itself
  std::optional<std::size_t> parent;  // the quota above it: an index among the standings
  ResourceList promised;              // guaranteed to it and not used by it
  ResourceList held_back;             // the same of its children that are not among the standings
};

// A quota of the request's namespace as it is known now.
struct Standing {
  const Quota* quota = nullptr;
  ResourceList used;  // status.used and what earlier requests of a batch add
  // What answers the request: reserved for its object, and it may rely on it. Null: nothing.
  const ResourceList* answer = nullptr;
  // What `used` has for its object, which uses `stored`, reserved by anybody: it does not rise
  // again for that. Null: nothing.
  std::function<ResourceList(const ResourceList& stored)> reserved = nullptr;
  TreePlace tree = {};
};

// What admitting a request adds to one quota.
struct Need {
  std::size_t standing = 0;  // index
  ResourceList amount;       // to add to status.used; positive amounts only, perhaps none
  ResourceList absolute;     // what the object may use then, of the names of status.hard
  ResourceList stored;       // what the quota counts of the old object
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
    kFree,     // needs nothing from anybody
    kFits,     // `needs` is not empty
    kRefused,  // `code` and `message`
  };
  Kind kind = Kind::kFree;
  int code = 403;
  std::string message;  // "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"
  std::vector<Need> needs;
  std::optional<Refuser> refuser = {};  // nullopt: refused, but not by one quota
  // Unless it is refused: quotas that are only tried, in the order of the standings. The needs are
  // theirs, too, so what they count may exceed their limits.
  std::vector<WouldRefuse> would_refuse = {};
};

// Judges one request by the standings with these indices, in this order; null: by all. Does not
// change them.
Verdict Decide(const Request& request, const std::vector<Standing>& standings,
               const std::vector<std::size_t>* by = nullptr);

// Adds an admitted request's needs, so that the next decision includes them. Errors: overflow.
base::Result<void> Apply(const std::vector<Need>& needs, std::vector<Standing>& standings);

// "compute: pods 19 of 20" for every limited name that `needs` leaves less than a tenth of; in the
// order of the standings and names, after Apply(). Not of quotas that are only tried.
std::vector<std::string> NearLimits(const std::vector<Need>& needs,
                                    const std::vector<Standing>& standings);

}  // namespace quota

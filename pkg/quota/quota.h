#pragma once

// A quota as the engine sees it, and the status that it should have. No I/O; any thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/api/selector.h"
#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/evaluators.h"
#include "pkg/quota/resource_list.h"
#include "pkg/quota/scope.h"

namespace quota {

// How quotas of one API differ from Kubernetes' own.
struct QuotaForm {
  // An expression without a scope, or with an unknown operator, never holds. False: such a quota
  // cannot be read.
  bool tolerant = false;
  // NotIn holds for an object that has no class at all.
  bool not_in_without_class = true;
  // Reservations are stored in status.reservations, because a write to /status of a custom resource
  // does not change metadata. False: in the annotation kReservations.
  bool reservations_in_status = false;
  // The quota is cluster-scoped and limits many namespaces together (Quota::cluster).
  bool cluster = false;
  // The quota is a part of another one (QuotaApi::part_of), which owns it (Quota::whole_uid).
  bool part = false;
};

// One kind of quota with its rules. Data: nothing outside its folder names it.
struct QuotaApi {
  // The evaluator that counts objects of this resource: one of `evaluators`, or its object counter.
  // Null: they are not counted.
  [[nodiscard]] std::shared_ptr<const Evaluator> CountedBy(const api::GroupResource& of) const;
  // The name under which all quota APIs count that count alike.
  [[nodiscard]] const std::string& CountsAs() const { return counts_as.empty() ? name : counts_as; }

  // True if UsageDefinitions say further names and scopes: of ResourceQuota, and of what counts as
  // it does.
  [[nodiscard]] bool TakesDefinitions() const { return CountsAs() == "core"; }
  // What users call one of these quotas.
  [[nodiscard]] const std::string& KnownKind() const { return part_of ? part_of->kind : kind; }
  [[nodiscard]] std::string KnownVersion() const {
    return part_of ? part_of->api_version : resource.GroupVersion();
  }

  std::string name;  // "core": the word of --quota-apis, metrics and logs
  api::GroupVersionResource resource;
  std::string kind;  // "ResourceQuota"
  // The name of the quota API that has the same evaluators and the same `object_counter`, so that
  // both count with the same watches; "": its own name.
  std::string counts_as;
  // The quotas that these are parts of, with the same names and namespaces. Users know only the
  // whole: refusals, events and metrics name it. nullopt: they are no parts.
  struct Whole {
    std::string quota_api;
    std::string api_version;
    std::string kind;
  };
  std::optional<Whole> part_of;
  Evaluators evaluators;
  // The evaluator that counts any other kind by its count/<resource>.<group> name; null if this
  // quota API has none.
  std::function<std::optional<Evaluator>(const api::GroupResource& resource)> object_counter;
  // The resource that a count/… name counts; nullopt if `name` is no such name, or names a resource
  // that is never counted (events, bindings, reviews: kubernetes v1.36.3,
  // pkg/quota/v1/install/registry.go).
  std::function<std::optional<api::GroupResource>(std::string_view name)> counted_resource;
  // Fields of the quota object that Parse reads (dotted paths), for the reflector.
  std::vector<std::string> fields;
  QuotaForm form = {};
  // The machine-readable reason of a refusal at admission.
  std::string refusal_reason = "Forbidden";
};

// What ParseQuota() reads of a quota of that form.
std::vector<std::string> QuotaFields(const QuotaForm& form = {});

struct QuotaStatus {
  ResourceList hard;
  ResourceList used;
  bool operator==(const QuotaStatus&) const = default;
};

// The spec of a ClusterQuota besides limits and scopes.
struct ClusterSpec {
  enum class Enforcement : std::uint8_t {
    kDeny,   // refuse what does not fit
    kWarn,   // admit it with a warning
    kAudit,  // admit it with an audit annotation
  };
  std::optional<api::LabelSelector> selector;  // of its namespaces; nullopt: it selects none
  std::string parent;                          // name of its parent; "": none
  ResourceList guaranteed;                     // what its siblings cannot take
  Enforcement enforcement = Enforcement::kDeny;
  std::int64_t generation = 0;
};

// What of a spec cannot be read. Only this makes names unknown for good: what is stored in a status
// is ours to repair (StatusGarbage).
struct UnreadableSpec {
  // Names of `hard` whose usage is unknown, whatever is counted: their limit cannot be read, or a
  // scope cannot, and then these are all names. Requests that need them are refused, as for a name
  // that was never counted. The other names are enforced.
  std::vector<std::string> names;  // sorted
  std::vector<std::string>
      counted;      // of them those that status.used has, or had, a count of; sorted
  std::string why;  // the first such part: "spec.hard[cpu]: must be …"; "": everything can be read
};

// Names whose amounts in the stored status cannot be read or are negative. The next write of the
// status replaces or removes them. Until then the spec's limit is in force in place of such a
// limit, and the name of such a count is not counted yet.
struct StatusGarbage {
  std::vector<std::string> hard;  // sorted
  std::vector<std::string> used;  // sorted
  std::string why;                // the first one; "": there is none
};

struct Quota {
  api::ObjectKey key;
  std::string uid;
  std::string resource_version;
  ResourceList hard;       // spec.hard
  ScopeSelector selector;  // spec.scopes and spec.scopeSelector together
  QuotaStatus status;
  bool has_status_hard = false;  // status.hard and .used present at all: absent is not empty
  bool has_status_used = false;
  bool deleting = false;
  std::string reservations;    // as text; "": there are none
  std::string whole_uid;       // if QuotaForm::part: of the quota that owns it
  double alert_threshold = 0;  // share of a limit, from kAlertThreshold; 0: none is given
  std::optional<ClusterSpec> cluster = {};  // if QuotaForm::cluster
  // If QuotaForm::cluster: the other members of status (pkg/quota/cluster_status.h).
  json::Object further_status = {};
  // `hard` and `status.hard` have these names, without a meaningful amount, and `status.used` has
  // not.
  UnreadableSpec unreadable = {};
  StatusGarbage garbage = {};
};

// True if the quota may refuse a request. A quota in mode Warn or Audit never does, also if
// something fails.
bool MayRefuse(const Quota& quota);

// An annotation of the quota's owner: the share of a limit above which to alert, "0.8" or "80%". A
// value outside of (0, 1] is ignored.
inline constexpr std::string_view kAlertThreshold = "quota-controller-manager.io/alert-threshold";

// The annotation in which admission notes what it reserved: see pkg/accounting/reservation_list.h.
inline constexpr std::string_view kReservations = "quota-controller-manager.io/reservations";

// Reads what can be read: see UnreadableSpec and StatusGarbage. Errors: kMalformed if the object
// has no name, uid or version, so that it cannot be a stored quota.
base::Result<Quota> ParseQuota(const json::Value& object, const QuotaForm& rules = {});

// The known usage of a quota.
struct Observed {
  ResourceList used;                 // names whose every evaluator answered
  std::vector<std::string> unknown;  // names owned by an evaluator that could not answer
  std::vector<std::string> partial;  // counted, but objects may be missing: never lowered
};

// The status that the quota should have: hard from the spec; used as observed, plus `held` (charges
// for objects that our watch has not shown yet). An unknown name keeps its last value, or stays
// absent if it has none. So does a name that no evaluator owns, as in Kubernetes. A partial name is
// not lowered.
QuotaStatus DesiredStatus(const Quota& quota, const Observed& observed, const ResourceList& held);

// True if `desired` must be written: it differs in value from the stored status. An absent status
// counts as an empty one, which differs unless nothing is limited. `further`: see StatusPatch().
bool NeedsWrite(const Quota& quota, const QuotaStatus& desired, const json::Object& further = {});

// Returns the merge patch for /status, a body for application/merge-patch+json. It has metadata.uid
// and metadata.resourceVersion as preconditions, and the members that differ. Removed names are
// null.
// `reservations`: the new text; "" keeps the stored one.
// `further`: other members of status to set; members that it does not have are kept. A ClusterQuota
// also gets the summary of `desired`.
std::string StatusPatch(const Quota& quota, const QuotaStatus& desired,
                        const std::string& reservations = {}, const QuotaForm& form = {},
                        const json::Object& further = {});

// True if the evaluator owns the name; `classes` are those it reads, null if they are not known.
bool OwnsName(const Evaluator& evaluator, const std::string& name, const ClassTable* classes);
// The names of spec.hard that `evaluator` owns, sorted.
std::vector<std::string> OwnedNames(const Evaluator& evaluator, const ResourceList& hard,
                                    const ClassTable* classes = nullptr);
// True if there are any.
bool OwnsAny(const Evaluator& evaluator, const ResourceList& hard,
             const ClassTable* classes = nullptr);

// The names of spec.hard whose usage can depend on the classes that `evaluator` reads.
std::vector<std::string> NamesOfClasses(const Evaluator& evaluator, const ResourceList& hard);

}  // namespace quota

#pragma once

// An AdmissionReview of admission.k8s.io/v1 as values: what an API server asks, and what it is
// answered (k8s.io/api v0.36.3, admission/v1/types.go). No I/O; any thread.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/base/error.h"
#include "pkg/json/projection.h"
#include "pkg/json/value.h"
#include "pkg/quota/decision.h"

namespace admission {

enum class Operation { kCreate, kUpdate, kDelete, kConnect };

// Who is told when an object is refused: its controller, else the first of its owners.
struct Owner {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
};

// The `request` of a review. Of the objects only the wanted fields are decoded.
struct Review {
  std::string uid;  // of the call, echoed in the answer; not the object's
  api::GroupVersionResource resource;
  std::string subresource;  // "" for the object itself
  Operation operation = Operation::kCreate;
  std::string ns;    // "" for cluster-scoped objects
  std::string name;  // request.name, else metadata.name, else generateName, else "Unknown"
  bool dry_run = false;
  json::Value object;      // null for a DELETE
  json::Value old_object;  // null for a CREATE
  std::optional<Owner> owner = {};
};

// What an API server stores is 1.5 MiB at most, so in two objects this much is never wanted.
inline constexpr std::size_t kMaxWantedBytes = std::size_t{8} << 20;

// The fields of an object of this resource that the decision reads (pkg/json/projection.h);
// metadata.{name,namespace,uid,resourceVersion,generateName} are always decoded, and the owner.
using FieldsOf = std::function<std::vector<std::string>(const api::GroupResource& resource)>;

// Errors: kMalformed for what is no JSON, no AdmissionReview, or has no request, uid, resource,
// operation or object (each named); kInvalidArgument for another apiVersion than
// admission.k8s.io/v1; kTooLarge where the wanted fields take more memory than those of any stored
// object (kMaxWantedBytes). An UPDATE without its old object is a review: the admitter knows what
// to say.
base::Result<Review> ParseReview(std::string_view body, const FieldsOf& fields_of);

// The same for one review after another: what is wanted of a resource, if anything is, is prepared
// once. One thread.
class ReviewParser {
 public:
  base::Result<Review> Parse(std::string_view body, const FieldsOf& fields_of);
  // Resources of which something is remembered.
  [[nodiscard]] std::size_t prepared() const { return wanted_.size(); }

 private:
  struct Wanted {
    std::vector<std::string> fields;  // as fields_of named them
    json::Projection of_review;
  };
  const json::Projection& For(const api::GroupResource& resource, std::vector<std::string> fields);
  std::map<api::GroupResource, Wanted> wanted_;
};

// What was reserved of one quota for a request, or what it relies on of that.
struct Granted {
  api::ObjectKey quota;
  quota::Uid uid;  // of the object
  std::uint64_t number = 0;
};

// A quota that is only tried, and would have refused the request.
struct TriedQuota {
  std::string quota_api;
  quota::WouldRefuse would;
};

// What the API server is told.
struct Answer {
  enum class Kind {
    kAllowed,
    kRefused,      // an answered review with allowed=false
    kBusy,         // HTTP 429 and Retry-After: the API server's client calls again by itself
    kUnavailable,  // HTTP 503: the review could not be decided in time
  };
  Kind kind = Kind::kAllowed;
  int code = 403;                              // kRefused: status.code
  std::string reason;                          // kRefused: status.reason, "Forbidden"
  std::string message;                         // why; "" when allowed
  std::vector<std::string> warnings;           // shown by kubectl; cut at 256 characters each
  std::optional<quota::Refuser> refuser = {};  // kRefused: the quota, if it was one
  std::string quota_api = {};                  // of the refuser
  bool refused_by_cluster_quota = false;       // which has no namespace
  std::vector<TriedQuota> would_refuse = {};   // kAllowed
  std::chrono::seconds retry_after{1};         // kBusy
  std::vector<Granted> granted = {};           // kAllowed, for QuotaAdmitter::Withdraw()
};

// The body of an answered review (kAllowed or kRefused). `uid` is the review's. A refusal's
// details carry the resource and name, as the API server's own refusals do; where its code is 403
// so does its message: `pods "p" is forbidden: ` and the answer's. Where a quota refused, audit
// annotations say which, and by which limits; the API server puts the webhook's name before them.
// The same where quotas that are only tried would have refused it; those that warn are shown by
// kubectl, too.
std::string FormatAnswer(const Review& review, const Answer& answer);

// What the user is told: `pods "p" is forbidden: exceeded quota: …`.
std::string RefusalMessage(const Review& review, const Answer& answer);
// The same of one that was admitted: `pods "p" would be forbidden: exceeded cluster quota: …`.
std::string WouldRefuseMessage(const Review& review, const TriedQuota& tried);

}  // namespace admission

#pragma once

// Parses an AdmissionReview of admission.k8s.io/v1 and formats its answer (k8s.io/api v0.36.3,
// admission/v1/types.go). No I/O; any thread.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/api/status.h"
#include "pkg/base/error.h"
#include "pkg/json/projection.h"
#include "pkg/json/value.h"
#include "pkg/quota/decision.h"

namespace admission {

enum class Operation { kCreate, kUpdate, kDelete, kConnect };

// The owner that gets an event about a refused object: its controller, else its first owner.
struct Owner {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
};

// The `request` of a review. Of the objects only the wanted fields are decoded.
struct Review {
  std::string uid;  // of the call, repeated in the answer; not the object's
  api::GroupVersionResource resource;
  std::string subresource;  // "" for the object itself
  Operation operation = Operation::kCreate;
  std::string ns;    // "" for cluster-scoped objects
  std::string name;  // request.name, else metadata.name, else generateName, else "Unknown"
  bool dry_run = false;
  json::Value object;      // null for a DELETE
  json::Value old_object;  // null for a CREATE
  std::optional<Owner> owner = {};
  // The quota APIs that share the webhook that is called: each has a stored rule for the request.
  std::vector<std::string> called_for = {};
};

// An API server stores objects of at most 1.5 MiB, so the wanted fields of two objects are never
// larger.
inline constexpr std::size_t kMaxWantedBytes = std::size_t{8} << 20;

// Returns the fields of this resource that the decision reads (pkg/json/projection.h).
// metadata.{name,namespace,uid,resourceVersion,generateName} and the owner are always decoded.
using FieldsOf = std::function<std::vector<std::string>(const api::GroupResource& resource)>;

// Errors: kMalformed if the body is not JSON, not an AdmissionReview, or has no request, uid,
// resource, operation or object (the message names it); kInvalidArgument for another apiVersion
// than admission.k8s.io/v1; kTooLarge if the wanted fields take more memory than kMaxWantedBytes.
// An UPDATE without its old object is no error here: the admitter refuses it.
base::Result<Review> ParseReview(std::string_view body, const FieldsOf& fields_of);

// Parses many reviews. Prepares the wanted fields of a resource once, if there are any. One thread.
class ReviewParser {
 public:
  base::Result<Review> Parse(std::string_view body, const FieldsOf& fields_of);
  // The number of resources with prepared fields.
  [[nodiscard]] std::size_t prepared() const { return wanted_.size(); }

 private:
  struct Wanted {
    std::vector<std::string> fields;  // as fields_of named them
    json::Projection of_review;
  };
  const json::Projection& For(const api::GroupResource& resource, std::vector<std::string> fields);
  std::map<api::GroupResource, Wanted> wanted_;
};

// A quota in mode Warn or Audit that would have refused the request.
struct TriedQuota {
  std::string quota_api;
  quota::WouldRefuse would;
};

// The decision about a review.
struct Answer {
  enum class Kind {
    kAllowed,
    kRefused,      // an answered review with allowed=false
    kBusy,         // HTTP 429 and Retry-After: the API server's client repeats the call by itself
    kUnavailable,  // HTTP 503: the review could not be decided in time
  };
  Kind kind = Kind::kAllowed;
  int code = 403;                              // kRefused: status.code
  std::string reason;                          // kRefused: status.reason, "Forbidden"
  std::string message;                         // why; "" when allowed
  std::vector<api::StatusCause> causes = {};   // kRefused: why, for programs (README.md)
  std::vector<std::string> warnings;           // shown by kubectl; each is cut at 256 characters
  std::optional<quota::Refuser> refuser = {};  // kRefused: the quota that refused, if any
  std::string quota_api = {};                  // of the refuser
  bool refused_by_cluster_quota = false;       // then the quota has no namespace
  std::vector<TriedQuota> would_refuse = {};   // kAllowed
  std::chrono::seconds retry_after{1};         // kBusy
};

// The body of an answered review (kAllowed or kRefused), with the review's uid. As in the API
// server's own refusals, the details contain the resource and the name; they also contain the
// causes. With code 403 the message begins with `pods "p" is forbidden: `. If a quota refused,
// audit annotations name the quota and its exceeded limits; the API server prefixes them with the
// webhook's name. Quotas in mode Warn or Audit that would have refused are annotated, too; those in
// mode Warn also add a warning.
std::string FormatAnswer(const Review& review, const Answer& answer);

// The text for the user: `pods "p" is forbidden: exceeded quota: …`.
std::string RefusalMessage(const Review& review, const Answer& answer);
// The same for a request that was admitted: `pods "p" would be forbidden: exceeded cluster quota:
// …`.
std::string WouldRefuseMessage(const Review& review, const TriedQuota& tried);

}  // namespace admission

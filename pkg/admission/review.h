#pragma once

// Parses an AdmissionReview of admission.k8s.io/v1 (k8s.io/api v0.36.3, admission/v1/types.go).
// answers.h formats its answer. No I/O; any thread.

#include <cstddef>
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

// Parses many reviews. Prepares the wanted fields of a resource once, if there are any. One thread.
class ReviewParser {
 public:
  // Errors: kMalformed if the body is not JSON, not an AdmissionReview, or has no request, uid,
  // resource, operation or object (the message names it); kInvalidArgument for another apiVersion
  // than admission.k8s.io/v1; kTooLarge if the wanted fields take more memory than kMaxWantedBytes.
  // An UPDATE without its old object is no error here: the admitter refuses it.
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

}  // namespace admission

#pragma once

// Describes one tracked resource: the names that it owns, the fields that it reads from an object,
// and how they become facts. It is data and two pure functions; everything else (matching, scopes,
// summing, watching) is shared code. A new evaluator is one file in the folder of its quota API
// (pkg/quota/core/…), which the build finds; no other file changes.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/facts.h"
#include "pkg/quota/rules.h"
#include "pkg/quota/wanted_names.h"

namespace quota {

// How facts are made of an object.
struct ReadOptions {
  base::WallTime now{};
  // True for the names that some quota limits. Of an object that has very many names an evaluator
  // may leave the others out (WantedNames), and says so in ObjectFacts::left_out. Null: all names
  // are read.
  IsLimited limited = {};
  // Those of the API server. An evaluator that follows them says so (Evaluator::by_rules).
  Rules rules = {};
};

inline constexpr std::string_view kScale = "scale";

// What admission needs besides the facts: which requests can raise an object's usage, and what a
// limited object must specify (Handles and Constraints in apiserver v0.36.3,
// pkg/quota/v1/interfaces.go). A CREATE can always raise usage.
struct Guard {
  bool updates = false;  // an UPDATE of the object can raise its usage
  // CEL over `object` and `oldObject`: false for every update that neither raises usage nor moves
  // the object into another scope. "": the webhook is called for all updates.
  std::string update_condition;
  // Whose UPDATE can raise usage, such as "resize". That of kScale is decided as the update of the
  // object that it causes.
  std::vector<std::string> subresources;
  // Computes the facts of an object in a request, if some of its fields cannot be trusted: some
  // servers let a client write a status with the object. `stored` is the stored object; null for a
  // CREATE. Null: like Evaluator::facts_of.
  std::function<base::Result<ObjectFacts>(const json::Value& object, const json::Value* stored,
                                          const ReadOptions& options)>
      facts_of = {};
  // Fields that `constraints` reads besides those of the evaluator.
  std::vector<std::string> fields;
  // Returns what is missing if `names` are limited, "must specify cpu for: a,b", or "". Null:
  // nothing is ever required.
  std::function<std::string(const json::Value& object, const std::vector<std::string>& names)>
      constraints;
  // True for a name that other objects count under as well. While it has no count, which may be
  // because of them, only objects that use it are refused. Null: no name; without a count all
  // objects are refused, as upstream.
  std::function<bool(std::string_view name)> shares = {};
};

// The classes that facts refer to (Facts::classes): cluster-scoped objects, or the kinds that the
// server serves. They are watched only while a quota has a name that depends on them. When a class
// changes, the quotas whose objects refer to it are recounted, and no object is read again.
struct ClassSource {
  // If not null, the classes are the namespaced kinds that the server serves, by KindClass(), and
  // this returns the usage of one unit of the kind that `resource` lists. Then only this and
  // `concerns` are used. A name that depends on kinds is a count/… name
  // (QuotaApi::counted_resource), and unknown unless its resource is served.
  std::function<ResourceList(const api::GroupResource& resource)> usage_of_kind = {};
  api::GroupResource resource;
  std::string version = {};         // like Evaluator::version
  std::vector<std::string> fields;  // below the class object, like Evaluator::fields
  // The usage of one unit. Errors: kMalformed; the usage by this class is then unknown.
  std::function<base::Result<ClassUsage>(const json::Value& object)> usage_of;
  MissingClass missing = MissingClass::kUsesNothing;
  // True if usage under this name can depend on classes. It is unknown while the classes are not
  // known; if the server does not serve them, there are none.
  std::function<bool(std::string_view name)> concerns;
  // True if these classes make the evaluator own such a name, in addition to Evaluator::owns. Null:
  // they never do.
  std::function<bool(std::string_view name, const ClassTable& classes)> owns = {};
  std::string called = "class";  // in messages: "machine class"
};

struct Evaluator {
  api::GroupResource resource;
  // The version whose fields are read, whatever the server prefers. "": any version.
  std::string version = {};
  // True if usage under this name comes (also) from objects of `resource`.
  std::function<bool(std::string_view name)> owns;
  // Dotted paths (pkg/json/projection.h) of the fields that `facts_of` reads. metadata.uid,
  // .namespace, .name and .resourceVersion are always included. Empty: objects are listed and
  // watched as metadata only.
  std::vector<std::string> fields;
  // The scopes whose attributes `facts_of` sets.
  std::vector<std::string> scopes;
  // Errors: kMalformed, naming the field, if the object's amounts cannot be read or do not fit. The
  // object's share is then unknown, not zero.
  std::function<base::Result<ObjectFacts>(const json::Value& object, const ReadOptions& options)>
      facts_of;
  // Differs from that of every former evaluator of the resource. 0: it is a part of the program.
  std::uint64_t revision = 0;
  // The facts depend on ReadOptions::rules.
  bool by_rules = false;
  Guard guard = {};
  std::optional<ClassSource> classes = {};
  // A name that an object uses until it has ended, although it is still stored: "pods". "": the
  // objects of the kind do not end.
  std::string until_ended = {};
  // The resource of the owners to which `facts_of` ties its objects (Tie), if it does.
  std::optional<api::GroupResource> owners = {};
};

}  // namespace quota

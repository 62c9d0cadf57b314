#pragma once

// For one tracked resource: which names it owns, which fields of the object it reads, and how they
// become facts. Data and two pure functions; everything else (matching, scopes, summing, watching)
// is shared code over that data. A new evaluator is one file in the folder of its quota API
// (pkg/quota/core/…), listed by the build; no other file changes.

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

namespace quota {

// Which requests can raise what an object uses, and what a limited object must state: what
// admission needs beside the facts (Handles and Constraints in apiserver v0.36.3,
// pkg/quota/v1/interfaces.go). A CREATE of the object itself always can.
struct Guard {
  bool updates = false;  // an UPDATE of the object itself can, too
  // CEL over `object` and `oldObject`: false for every update that can neither raise usage nor move
  // the object into another scope. "": none is excluded.
  std::string update_condition;
  std::vector<std::string> subresources;  // whose UPDATE can, such as "resize"
  // The facts of an object that a request brings, where it must not be believed in all: on some
  // servers a status, too, can be written with the object itself, by whoever may write that.
  // `stored` is what there is already; null for a CREATE. Null: as Evaluator::facts_of.
  std::function<base::Result<ObjectFacts>(const json::Value& object, const json::Value* stored,
                                          base::WallTime now)>
      facts_of = {};
  // Fields that `constraints` reads beside those of the evaluator.
  std::vector<std::string> fields;
  // "" or what is missing, "must specify cpu for: a,b", when `names` are limited. Null: nothing is
  // ever required.
  std::function<std::string(const json::Value& object, const std::vector<std::string>& names)>
      constraints;
};

// By whose names facts refer to usage (Facts::classes): cluster-scoped objects, or the kinds that
// the server serves. They are followed only while a quota has a name that they concern, and a
// changed class moves the quotas whose objects refer to it; no object is looked at again.
struct ClassSource {
  // Not null: the classes are the namespaced kinds that the server serves, by KindClass(), and this
  // is what one unit of the kind that `resource` lists uses. Then only this and `concerns` are
  // read; a name that concerns kinds is a count/… name (QuotaApi::counted_resource), and unknown
  // unless its resource is served.
  std::function<ResourceList(const api::GroupResource& resource)> usage_of_kind = {};
  api::GroupResource resource;
  std::vector<std::string> fields;  // below the class object, as Evaluator::fields
  // What one unit uses. Errors: kMalformed; usage by this class is then unknown.
  std::function<base::Result<ClassUsage>(const json::Value& object)> usage_of;
  MissingClass missing = MissingClass::kUsesNothing;
  // True if usage under this name can depend on classes. Without them it is unknown, unless the
  // server does not serve them: then there are none.
  std::function<bool(std::string_view name)> concerns;
  // True if these classes make such a name the evaluator's, beyond what Evaluator::owns says. Null:
  // they never do.
  std::function<bool(std::string_view name, const ClassTable& classes)> owns = {};
  std::string called = "class";  // in messages: "machine class"
};

struct Evaluator {
  api::GroupResource resource;
  // The version whose fields are read, whatever the server prefers. "": any of them.
  std::string version = {};
  // True if usage under this name comes (also) from objects of `resource`.
  std::function<bool(std::string_view name)> owns;
  // Dotted paths (pkg/json/projection.h) below the object that `facts_of` reads; metadata.uid,
  // .namespace, .name and .resourceVersion are always decoded beside them. Empty: the objects are
  // listed and watched as metadata only.
  std::vector<std::string> fields;
  // The scopes whose attributes `facts_of` sets.
  std::vector<std::string> scopes;
  // Errors: kMalformed, naming the field, for an object whose amounts cannot be read or do not fit.
  // The object's share is then unknown, not zero.
  std::function<base::Result<ObjectFacts>(const json::Value& object, base::WallTime now)> facts_of;
  Guard guard = {};
  std::optional<ClassSource> classes = {};
  // The resource of the objects that `facts_of` ties its own to (Tie), if it does.
  std::optional<api::GroupResource> owners = {};
};

}  // namespace quota

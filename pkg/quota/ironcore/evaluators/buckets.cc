// Buckets: counted, and measured by the capabilities of their class, if they have one. Volumes also
// have tps and iops, but are not counted under these names: quotas that were written for buckets
// would suddenly refuse volumes.

#include <string_view>

#include "pkg/quota/ironcore/capabilities.h"

namespace quota::ironcore::buckets {
namespace {

constexpr const char* kScope = "BucketClass";
constexpr const char* kCount = "count/buckets.storage.ironcore.dev";

constexpr const char* kCanNeedMore =
    "object.?spec.?bucketClassRef != oldObject.?spec.?bucketClassRef";

bool Owns(std::string_view name) {
  return name == kCount || name == "requests.tps" || name == "requests.iops";
}

base::Result<ObjectFacts> FactsOf(const json::Value& bucket, const ReadOptions& /*options*/) {
  ObjectFacts facts;
  facts.now.usage.Set(kCount, Quantity::FromInt(1));
  const std::string class_name(ClassNameOf(bucket, "bucketClassRef"));
  if (class_name.empty()) return facts;
  facts.now.attributes.emplace_back(kScope, class_name);
  facts.now.classes.push_back({class_name, 1});
  return facts;
}

}  // namespace

Evaluator MakeEvaluator() {
  return {
      .resource = {.group = "storage.ironcore.dev", .resource = "buckets"},
      .version = "v1alpha1",
      .owns = Owns,
      .fields = {"spec.bucketClassRef.name"},
      .scopes = {kScope},
      .facts_of = FactsOf,
      .guard = {.updates = true,
                .update_condition = kCanNeedMore,
                .subresources = {},
                .fields = {},
                .constraints = nullptr},
      .classes = ClassesWith(
          {.group = "storage.ironcore.dev", .resource = "bucketclasses"}, "bucket class",
          {{"tps", "requests.tps"}, {"iops", "requests.iops", quantity::Format::kDecimalSI}}),
  };
}

}  // namespace quota::ironcore::buckets

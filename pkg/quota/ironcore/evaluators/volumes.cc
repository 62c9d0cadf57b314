// Volumes: counted, and measured by their requested size in any state, because no state is final
// and a volume in error still takes its space. A volume needs no class; one without a class matches
// no scope over classes except DoesNotExist.

#include <string>
#include <string_view>

#include "pkg/quota/ironcore/amount.h"
#include "pkg/quota/ironcore/capabilities.h"

namespace quota::ironcore::volumes {
namespace {

constexpr const char* kScope = "VolumeClass";
constexpr const char* kCount = "count/volumes.storage.ironcore.dev";
constexpr const char* kStorage = "requests.storage";

constexpr const char* kCanNeedMore =
    "object.?spec.?resources.?storage != oldObject.?spec.?resources.?storage || "
    "object.?spec.?volumeClassRef != oldObject.?spec.?volumeClassRef";

bool Owns(std::string_view name) { return name == kCount || name == kStorage; }

base::Result<ObjectFacts> FactsOf(const json::Value& volume, const ReadOptions& /*options*/) {
  ObjectFacts facts;
  facts.now.usage.Set(kCount, Quantity::FromInt(1));
  const std::string_view class_name = ClassNameOf(volume, "volumeClassRef");
  if (!class_name.empty()) facts.now.attributes.emplace_back(kScope, class_name);
  const json::Value* size = volume.At({"spec", "resources", "storage"});
  if (size == nullptr) return facts;
  const base::Result<Quantity> amount =
      AmountFrom(*size, "spec.resources[storage]", quantity::Format::kBinarySI);
  if (amount) {
    facts.now.usage.Set(kStorage, *amount);
  } else {
    facts.flaw = amount.error().message;
  }
  return facts;
}

}  // namespace

Evaluator MakeEvaluator() {
  return {
      .resource = {.group = "storage.ironcore.dev", .resource = "volumes"},
      .version = "v1alpha1",
      .owns = Owns,
      .fields = {"spec.volumeClassRef.name", "spec.resources.storage"},
      .scopes = {kScope},
      .facts_of = FactsOf,
      .guard = {.updates = true,
                .update_condition = kCanNeedMore,
                .subresources = {},
                .fields = {},
                .constraints = nullptr},
  };
}

}  // namespace quota::ironcore::volumes

#include "pkg/quota/ironcore/capabilities.h"

#include <algorithm>
#include <utility>

namespace quota::ironcore {
namespace {

ClassUsage UsageOfOne(const json::Value& of, const std::vector<Capability>& capabilities) {
  ClassUsage one;
  for (const auto& [capability, name, notation] : capabilities) {
    const std::string field = "capabilities[" + capability + "]";
    const json::Value* value = of.At({"capabilities", capability});
    if (value == nullptr || value->IsNull()) {
      one.unknown[name] = field + ": is missing";
      continue;
    }
    const base::Result<Quantity> amount = AmountFrom(*value, field, notation);
    if (amount) {
      one.amounts.Set(name, *amount);
    } else {
      one.unknown[name] = amount.error().message;
    }
  }
  return one;
}

}  // namespace

ClassSource ClassesWith(api::GroupResource resource, std::string called,
                        std::vector<Capability> capabilities) {
  ClassSource source{.resource = std::move(resource),
                     .missing = MissingClass::kUnknown,
                     .called = std::move(called)};
  for (const Capability& one : capabilities) {
    source.fields.push_back("capabilities." + one.capability);
  }
  source.concerns = [capabilities](std::string_view name) {
    return std::ranges::find(capabilities, name, &Capability::name) != capabilities.end();
  };
  source.usage_of = [capabilities = std::move(capabilities)](const json::Value& object) {
    return base::Result<ClassUsage>(UsageOfOne(object, capabilities));
  };
  return source;
}

std::string_view ClassNameOf(const json::Value& object, std::string_view reference) {
  return object.StringAt({"spec", reference, "name"});
}

}  // namespace quota::ironcore

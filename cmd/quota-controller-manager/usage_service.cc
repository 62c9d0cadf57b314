#include "cmd/quota-controller-manager/usage_service.h"

#include <algorithm>
#include <utility>

#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/defined/defined_quota.h"

namespace manager {

UsageService::UsageService(const controllers::TrackingContext& context,
                           controllers::ServedResources& served, Settings settings)
    : settings_(std::move(settings)),
      definitions_(context, served, Hooks()),
      parts_(context, {.resource_quotas = [this] { return StoreOf("core"); },
                       .defined_quotas = [this] { return StoreOf("defined"); },
                       .leading = settings_.leading,
                       .absent = [&served] { return served.LacksVersion(quota::DefinedQuotas()); },
                       .in_parts = !settings_.whole_resource_quotas}) {}

controllers::DefinitionHooks UsageService::Hooks() {
  return {
      .define =
          [this](const api::GroupResource& resource, const std::optional<quota::Evaluator>& by) {
            for (Engine* engine : engines_) engine->Define(resource, by);
          },
      .use_of = [this](const api::GroupResource& resource) { return UseOf(resource); },
      .class_use_of = [this](const api::GroupResource& resource) { return ClassUseOf(resource); },
      .built_in = quota::BuiltInEvaluator,
      .leading = settings_.leading};
}

void UsageService::Prepare(const quota::QuotaApi& api, EngineOptions& options) {
  if (!api.TakesDefinitions()) return;
  options.definitions_known = [this] { return Known() || definitions_.SeemAbsent(); };
  if (!KeepsParts() || api.form.cluster) return;
  options.controller.on_quota = [this](const api::ObjectKey& key) { parts_.OnQuota(key); };
}

const controllers::QuotaStore* UsageService::StoreOf(std::string_view quota_api) const {
  const auto named = [&](const Engine* engine) { return engine->name() == quota_api; };
  const auto found = std::ranges::find_if(engines_, named);
  return found == engines_.end() ? nullptr : (*found)->store();
}

// All quota APIs share the watch of a resource, and of classes.
controllers::DefinedUse UsageService::UseOf(const api::GroupResource& resource) const {
  controllers::DefinedUse use;
  for (const Engine* engine : engines_) {
    const controllers::Tracker* const tracker = engine->tracker();
    if (tracker == nullptr || !tracker->Wants(resource)) continue;
    use.watched = true;
    const controllers::TrackedResource* const tracked = tracker->Find(resource);
    if (tracked == nullptr) continue;
    use.synced = tracked->synced();
    use.forbidden = tracked->state().forbidden;
    use.trouble = tracked->state().trouble;
    use.objects = tracked->ledger().size();
  }
  return use;
}

controllers::DefinedUse UsageService::ClassUseOf(const api::GroupResource& resource) const {
  controllers::DefinedUse use;
  for (const Engine* engine : engines_) {
    const controllers::Tracker* const tracker = engine->tracker();
    if (tracker == nullptr) continue;
    const controllers::KnownClasses known = tracker->ClassesOf(resource);
    if (!known.wanted) continue;
    use.watched = true;
    use.synced = known.table != nullptr;
    use.forbidden = known.forbidden;
    use.trouble = known.trouble;
  }
  return use;
}

std::vector<StageTask> UsageService::Tasks() {
  std::vector<StageTask> tasks{{"definitions", [this] { return definitions_.Run(); }}};
  if (KeepsParts()) {
    tasks.push_back({"defined quotas", [this] { return parts_.Run(); }});
  }
  return tasks;
}

}  // namespace manager

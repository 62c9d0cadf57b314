#pragma once

// What UsageDefinitions add to the quota APIs that take them: the controller of the definitions,
// which puts evaluators into the engines, and the controller of the DefinedQuotas. Only wiring.
//
// Single-threaded. Constructor arguments must outlive it; the tasks must have ended before it is
// destroyed.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cmd/quota-controller-manager/engine.h"
#include "cmd/quota-controller-manager/stages.h"
#include "controllers/definitions/defined_quotas.h"
#include "controllers/definitions/definition_controller.h"

namespace manager {

class UsageService {
 public:
  struct Settings {
    std::function<bool()> leading;
    // This daemon decides ResourceQuotas as a whole, so none has a part in a DefinedQuota.
    bool whole_resource_quotas = false;
    // This daemon decides DefinedQuotas. Otherwise it makes none.
    bool decides_parts = false;
  };
  UsageService(const controllers::TrackingContext& context, controllers::ServedResources& served,
               Settings settings);

  // The controllers of this quota API need these options.
  void Prepare(const quota::QuotaApi& api, EngineOptions& options);
  // The engine of a quota API that takes definitions. It must live until the tasks have ended. Call
  // it before they begin.
  void Add(Engine& engine) { engines_.push_back(&engine); }
  // True once the definitions are in force, or known to be unknown.
  [[nodiscard]] bool Known() const { return definitions_.Known(); }
  [[nodiscard]] std::vector<StageTask> Tasks();

 private:
  // A daemon that only counts leaves DefinedQuotas alone: another one may decide by them.
  [[nodiscard]] bool KeepsParts() const {
    return settings_.decides_parts || settings_.whole_resource_quotas;
  }
  [[nodiscard]] controllers::DefinitionHooks Hooks();
  // Of the engine of this quota API; null: it does not run.
  [[nodiscard]] const controllers::QuotaStore* StoreOf(std::string_view quota_api) const;
  [[nodiscard]] controllers::DefinedUse UseOf(const api::GroupResource& resource) const;
  // Of the classes of the objects of this resource.
  [[nodiscard]] controllers::DefinedUse ClassUseOf(const api::GroupResource& resource) const;

  const Settings settings_;
  std::vector<Engine*> engines_;
  controllers::DefinitionController definitions_;
  controllers::DefinedQuotaController parts_;
};

}  // namespace manager

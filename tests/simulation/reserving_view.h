#pragma once

// What a ReservingController has been shown of one quota's objects. Until the next suspension.

#include "pkg/api/resource_version.h"
#include "tests/simulation/reserving_controller.h"

namespace simulation {

class ReservingController::QuotaView final : public accounting::View {
 public:
  QuotaView(const ReservingController& controller, const quota::Quota& quota)
      : controller_(controller), quota_(quota) {
    for (controllers::UsageSource& source : controller.tracker_.SourcesOf(quota.hard)) {
      const std::string resource = source.evaluator->resource.ToString();
      controllers::UsageSource& held = sources_[resource];
      if (held.tracked == nullptr) held = std::move(source);
    }
  }
  bool Follows(std::string_view resource) const override {
    const auto* source = Find(resource);
    return source != nullptr && source->tracked != nullptr && source->tracked->synced();
  }
  bool Ignores(std::string_view resource) const override { return Find(resource) == nullptr; }
  bool HasShown(std::string_view resource, const quota::Uid& uid) const override {
    if (!controller_.options_.patient) return true;
    const auto shown = controller_.shown_.find(resource);
    return shown != controller_.shown_.end() &&
           (shown->second.versions.contains(uid) || shown->second.gone.contains(uid));
  }
  // In this version, or a later one; or that it is gone.
  bool HasShownVersion(std::string_view resource, const quota::Uid& uid,
                       std::string_view version) const {
    const auto shown = controller_.shown_.find(resource);
    if (shown == controller_.shown_.end()) return false;
    if (shown->second.gone.contains(uid)) return true;
    const auto at = shown->second.versions.find(uid);
    return at != shown->second.versions.end() &&
           !api::IsOlderVersion(at->second, version).value_or(true);
  }
  bool IsPast(std::string_view resource, const quota::Uid& uid,
              std::string_view version) const override {
    const auto shown = controller_.shown_.find(resource);
    if (shown == controller_.shown_.end()) return Reaches(resource, version);
    if (shown->second.gone.contains(uid)) return true;
    const auto at = shown->second.versions.find(uid);
    if (at == shown->second.versions.end()) return Reaches(resource, version);
    if (api::IsOlderVersion(version, at->second).value_or(false)) return true;
    return Tracked(resource)->ledger().Find(quota_.key.ns, uid) == nullptr &&
           Reaches(resource, version);  // gone by a list
  }
  quota::ResourceList Observed(std::string_view resource, const quota::Uid& uid) const override {
    const auto* source = Find(resource);
    if (source == nullptr || source->tracked == nullptr) return {};
    const auto facts = source->tracked->ledger().Find(quota_.key.ns, uid);
    const bool matches =
        facts && quota::MatchesObject(quota_.selector, *facts, source->evaluator->scopes);
    if (!matches) return {};
    return controller_.KnownUsageOf(*source->evaluator, *source->tracked, quota_.key.ns, uid,
                                    *facts);
  }
  std::string Newest(std::string_view resource) const override {
    const auto shown = controller_.shown_.find(resource);
    if (shown == controller_.shown_.end()) return "";
    const auto newest = shown->second.newest.find(quota_.key.ns);
    return newest == shown->second.newest.end() ? "" : newest->second;
  }
  bool Reaches(std::string_view resource, std::string_view version) const override {
    const auto reached = [&](std::string_view known) {
      return !known.empty() && api::IsOlderVersion(known, version) == std::optional(false);
    };
    const controllers::TrackedResource* tracked = Tracked(resource);
    return reached(Newest(resource)) ||
           (tracked != nullptr && reached(tracked->state().resource_version));
  }

 private:
  const controllers::UsageSource* Find(std::string_view resource) const {
    const auto source = sources_.find(resource);
    return source == sources_.end() ? nullptr : &source->second;
  }
  const controllers::TrackedResource* Tracked(std::string_view resource) const {
    const auto* source = Find(resource);
    return source == nullptr ? nullptr : source->tracked;
  }

  const ReservingController& controller_;
  const quota::Quota& quota_;
  std::map<std::string, controllers::UsageSource, std::less<>> sources_;
};

}  // namespace simulation

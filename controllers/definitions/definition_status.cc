#include "controllers/definitions/definition_status.h"

#include <utility>
#include <vector>

#include "controllers/quota/events/uncounted.h"

namespace controllers {
namespace {

// A kind that a definition reads.
struct Kind {
  api::GroupResource resource;
  ResourceScope scope = ResourceScope::kNamespaced;
  [[nodiscard]] bool IsClass() const { return scope == ResourceScope::kCluster; }
  [[nodiscard]] std::string ToString() const {
    return resource.ToString() + (IsClass() ? " (the kind of the class)" : "");
  }
};

QuotaCondition NotReady(std::string_view reason, std::string message) {
  return {.type = "Ready", .reason = std::string(reason), .message = std::move(message)};
}

// Why the objects of the kind are not known as they are; nullopt: they are.
std::optional<QuotaCondition> WhyNotKnown(const Kind& kind, const DefinedUse& use,
                                          const ServedResources& served) {
  const api::GroupResource& resource = kind.resource;
  const std::string called = kind.ToString();
  if (served.HasOtherScope(resource, kind.scope)) {
    return NotReady(quota::usage::kNotSupported,
                    kind.IsClass() ? called + " are in namespaces: a class must be cluster-scoped"
                                   : quota::usage::InNoNamespace(resource));
  }
  if (served.IsAbsent(resource, kind.scope)) {
    return NotReady("NotServed", "the API server does not serve " + called);
  }
  if (use.forbidden) {
    return NotReady("Forbidden", "the daemon may not list " + called + ": " + HowToAllow(resource));
  }
  if (!use.watched) return std::nullopt;
  if (!use.synced && served.IsUnknown(resource, kind.scope)) {
    return NotReady(kNotCountedYet, "the API server cannot say now whether it serves " + called);
  }
  const std::string why = use.trouble ? ": " + use.trouble->message : "";
  if (!use.synced) return NotReady(kNotCountedYet, called + " are not listed yet" + why);
  if (!use.trouble) return std::nullopt;
  return NotReady(kNotCountedYet, called + " cannot be read now, and the last count stays" + why);
}

}  // namespace

QuotaCondition ReadyOf(const quota::usage::StoredDefinition& stored, const DefinitionState& state,
                       const ServedResources& served) {
  if (!state.verdict.reason.empty()) {
    return NotReady(state.verdict.reason, state.verdict.message);
  }
  const quota::usage::UsageDefinition& definition = *stored.definition;
  if (auto why = WhyNotKnown({.resource = definition.resource}, state.objects, served)) {
    return *std::move(why);
  }
  if (const auto* of_class = quota::usage::ClassOf(definition)) {
    const Kind kind{.resource = of_class->resource, .scope = ResourceScope::kCluster};
    if (auto why = WhyNotKnown(kind, state.of_class, served)) return *std::move(why);
  }
  if (!state.lost.empty()) {
    return NotReady(
        quota::usage::kPathLost,
        "it stays in force, and new objects cannot have one of its paths: " + state.lost);
  }
  const bool watched = state.objects.watched;
  return {.type = "Ready",
          .holds = true,
          .reason = watched ? "Counting" : "NotLimited",
          .message = watched ? "the objects are counted under its names"
                             : "no quota limits one of its names"};
}

json::Value StatusOf(const quota::usage::StoredDefinition& stored, const DefinitionState& state,
                     const ServedResources& served, const std::string& now) {
  const QuotaCondition ready = ReadyOf(stored, state, served);
  std::vector<QuotaCondition> conditions = ProgressOf(ready);
  conditions.insert(conditions.begin(), ready);
  json::Value status = json::Object{{"observedGeneration", stored.generation}};
  status.Make({"conditions"}) =
      WithConditions(stored.status.At({"conditions"}), conditions, stored.generation, now);
  // Null removes what is not known any more.
  const auto said = [](const std::string& version) {
    return version.empty() ? json::Value() : json::Value(version);
  };
  const DefinedUse& use = state.objects;
  status.Make({"counted"}) =
      use.synced ? json::Value(static_cast<std::uint64_t>(use.objects)) : json::Value();
  status.Make({"inForce"}) = quota::usage::FormerInForce(stored);
  status.Make({"version"}) = said(state.versions.objects);
  status.Make({"classVersion"}) = said(state.versions.of_class);
  return status;
}

}  // namespace controllers

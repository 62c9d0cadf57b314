#include "cmd/kubectl-quota/needs.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "cmd/kubectl-quota/policies.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/helm.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/mirrored_slices.h"
#include "pkg/inspect/workload_kinds.h"

namespace kubectl_quota {
namespace {

constexpr const char* kDevices = "resource.k8s.io";

// Adds the kinds of the manifests, and those of which they have bindings, as classes.
void AddKinds(const std::vector<inspect::Manifest>& manifests, const Counters& counters,
              Source& source) {
  for (const inspect::Manifest& manifest : manifests) {
    const json::Value* bound = manifest.object.At({"spec", "resource"});
    const bool binding = inspect::Is(manifest.object, inspect::kBinding) && bound != nullptr;
    const json::Value& of = binding ? *bound : manifest.object;
    const std::string_view version = of.StringAt({"apiVersion"});
    const std::string_view kind = of.StringAt({"kind"});
    const auto resource = counters.ResourceOf(version, kind);
    if (!resource) continue;
    source.classes->Set(quota::KindClass(resource->group, kind),
                        quota::ClassUsage(source.evaluator.classes->usage_of_kind(*resource)));
  }
}

}  // namespace

std::set<std::string> LimitedNames(const std::vector<quota::Quota>& quotas) {
  std::set<std::string> names;
  for (const quota::Quota& quota : quotas) {
    for (const auto& [name, limit] : inspect::LimitsOf(quota)) names.insert(name);
  }
  return names;
}

std::optional<inspect::ClaimTemplates> TemplatesIn(const std::vector<inspect::Manifest>& manifests,
                                                   const quota::QuotaApi& api,
                                                   const std::vector<quota::Quota>& quotas) {
  if (!MayCount(api, {kDevices, "resourceclaims"}, LimitedNames(quotas))) return std::nullopt;
  inspect::ClaimTemplates templates;
  for (const inspect::Manifest& manifest : manifests) {
    const json::Value& object = manifest.object;
    const bool is_template = api::Kind(object) == "ResourceClaimTemplate" &&
                             inspect::GroupOf(api::ApiVersion(object)) == kDevices;
    if (is_template) templates.insert_or_assign(std::string(api::Name(object)), object);
  }
  return templates;
}

std::vector<Source> SourcesWith(const std::vector<json::Value>& usage_classes,
                                const std::vector<inspect::Manifest>& manifests,
                                const ApiBook& of) {
  std::vector<Source> sources;
  for (const quota::Evaluator& evaluator : of.api.evaluators) {
    if (!evaluator.classes) continue;
    const quota::ClassSource& classes = *evaluator.classes;
    Source source{.evaluator = evaluator,
                  .classes = std::make_unique<quota::ClassTable>(classes.missing, classes.called)};
    source.classes_known = false;
    if (classes.usage_of_kind) AddKinds(manifests, of.counters, source);
    sources.push_back(std::move(source));
  }
  AddClasses(usage_classes, sources);
  return sources;
}

void AddClasses(const std::vector<json::Value>& usage_classes, std::vector<Source>& sources) {
  for (Source& source : sources) {
    if (source.classes == nullptr || !source.evaluator.classes->usage_of) continue;
    const quota::ClassSource& of = *source.evaluator.classes;
    for (const json::Value& one : usage_classes) {
      const std::string group = inspect::GroupOf(api::ApiVersion(one));
      const api::GroupResource resource{group, GuessedResource(api::Kind(one))};
      if (resource == of.resource) source.classes->Set(api::Name(one), of.usage_of(one));
    }
  }
}

void NoteRepeated(const std::vector<inspect::Manifest>& manifests,
                  std::vector<std::string>& notes) {
  for (const inspect::Manifest& manifest : manifests) {
    if (manifest.earlier == 0) continue;
    notes.push_back(inspect::NameOf(manifest.object).ToString() + ": stands " +
                    std::to_string(manifest.earlier + 1) +
                    " times in the files, and the last one counts");
  }
}

void AddLabelled(const std::vector<inspect::Manifest>& manifests,
                 inspect::Surroundings& surroundings) {
  for (const inspect::Manifest& manifest : manifests) {
    inspect::AddLabelled(manifest.object, surroundings);
  }
}

inspect::Expansion MirrorsIn(const std::vector<inspect::Manifest>& manifests) {
  const std::vector<json::Value> services = OfKind(manifests, inspect::kService);
  const std::vector<json::Value> endpoints = OfKind(manifests, inspect::kEndpoints);
  inspect::Expansion mirrors = inspect::LackingMirrors(services, endpoints, {});
  for (const json::Value& each : endpoints) {
    const bool known = std::ranges::any_of(services, [&](const json::Value& service) {
      return api::Name(service) == api::Name(each);
    });
    if (known || inspect::MirrorsOf(each) == 0) continue;
    mirrors.notes.push_back(inspect::NameOf(each).ToString() +
                            ": its EndpointSlices are not counted, because its Service is in no "
                            "file");
    mirrors.uncounted.push_back(mirrors.notes.back());
  }
  return mirrors;
}

void NoteRelease(const std::vector<inspect::Manifest>& manifests, const inspect::FitBook& book,
                 std::vector<std::string>& notes) {
  const std::set<std::string> names = LimitedNames(book.quotas());
  const bool limited = names.contains("secrets") || names.contains("count/secrets");
  const bool helm = std::ranges::any_of(manifests, [](const inspect::Manifest& manifest) {
    return inspect::IsOfHelm(manifest.object);
  });
  if (!limited || !helm) return;
  notes.emplace_back(
      "Helm stores each version of a release in a Secret, by default up to 10: not counted");
}

}  // namespace kubectl_quota

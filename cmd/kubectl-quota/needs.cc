#include "cmd/kubectl-quota/needs.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/helm.h"

namespace kubectl_quota {
namespace {

constexpr const char* kDevices = "resource.k8s.io";

bool ReadsDeviceClasses(const quota::Evaluator& evaluator) {
  return evaluator.classes &&
         evaluator.classes->resource == api::GroupResource{kDevices, "deviceclasses"};
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

std::vector<Source> SourcesWith(const std::vector<json::Value>& device_classes,
                                const quota::QuotaApi& api) {
  std::vector<Source> sources;
  for (const quota::Evaluator& evaluator : api.evaluators) {
    if (!ReadsDeviceClasses(evaluator)) continue;
    const quota::ClassSource& classes = *evaluator.classes;
    sources.push_back(
        {.evaluator = evaluator,
         .classes = std::make_unique<quota::ClassTable>(classes.missing, classes.called)});
  }
  AddDeviceClasses(device_classes, sources);
  return sources;
}

void AddDeviceClasses(const std::vector<json::Value>& device_classes,
                      std::vector<Source>& sources) {
  for (Source& source : sources) {
    if (source.classes == nullptr || !ReadsDeviceClasses(source.evaluator)) continue;
    for (const json::Value& device_class : device_classes) {
      source.classes->Set(api::Name(device_class),
                          source.evaluator.classes->usage_of(device_class));
    }
  }
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

void AddUncounted(const inspect::FitBook& book, inspect::Checked& checked) {
  for (const inspect::FitLine& line : book.Lines()) {
    if (line.before || line.tried || line.asked.Sign() <= 0) continue;
    checked.unknown.push_back("what is used of " + line.name + " of quota " +
                              inspect::TitleOf(book.quotas()[line.quota]) + " is not counted yet");
  }
}

base::Result<void> AddPieces(inspect::Expansion expansion, Counters& counters, base::WallTime now,
                             inspect::FitBook& book, inspect::Checked& checked) {
  std::ranges::move(expansion.notes, std::back_inserter(checked.notes));
  if (!book.quotas().empty()) {
    std::ranges::move(expansion.uncounted, std::back_inserter(checked.unknown));
  }
  for (const inspect::Piece& piece : expansion.pieces) {
    const std::string guess =
        counters.GuessOf(api::ApiVersion(piece.object), api::Kind(piece.object));
    if (!guess.empty()) {
      checked.notes.push_back(piece.of.ToString() + ": counted as " + guess +
                              ", but the plural is guessed: a CustomResourceDefinition tells it");
      checked.unknown.push_back(checked.notes.back());
    }
    const inspect::Counter* counter =
        counters.Of(api::ApiVersion(piece.object), api::Kind(piece.object));
    if (counter == nullptr) continue;
    if (auto added = book.Add(*counter, piece, now); !added) return added;
  }
  const inspect::CounterOf counter_of = [&](const json::Value& object) {
    return counters.Of(api::ApiVersion(object), api::Kind(object));
  };
  for (const inspect::Rollout& rollout : expansion.rollouts) {
    if (auto added = book.Add(counter_of, rollout, now); !added) return added;
  }
  return {};
}

}  // namespace kubectl_quota

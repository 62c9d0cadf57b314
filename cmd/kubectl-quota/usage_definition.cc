#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cmd/kubectl-quota/check_inputs.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/documents.h"
#include "cmd/kubectl-quota/manifest_files.h"
#include "cmd/kubectl-quota/needs.h"
#include "cmd/kubectl-quota/objects.h"
#include "cmd/kubectl-quota/policies.h"
#include "cmd/kubectl-quota/usage_names.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/inspect/counted.h"
#include "pkg/inspect/defined_usage.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/count_name.h"

namespace kubectl_quota {
namespace {

using inspect::DefinedUsage;
using inspect::Manifest;

constexpr inspect::WorkloadKind kCustomKind{"CustomResourceDefinition", "apiextensions.k8s.io"};

// The files, sorted out.
struct UsageInputs {
  inspect::DefinitionBook definitions;
  std::vector<json::Value> custom_kinds;  // CustomResourceDefinitions
  std::vector<Manifest> objects;          // all others; of several of one object the last one
};

struct UsageAnswer {
  std::vector<DefinedUsage> objects;
  std::vector<inspect::DefinitionFault> faults;
  std::vector<std::string> notes;
};

// "bucket.storage.example.com".
std::string KindText(const json::Value& object) {
  const inspect::ObjectName name = inspect::NameOf(object);
  return name.kind + (name.group.empty() ? "" : "." + name.group);
}

// The kinds, each once; only a few if there are many.
std::string KindsText(const std::vector<Manifest>& objects) {
  constexpr std::size_t kMost = 10;
  std::set<std::string> kinds;
  for (const Manifest& manifest : objects) kinds.insert(KindText(manifest.object));
  std::vector<std::string> few;
  for (const std::string& kind : kinds) {
    if (few.size() < kMost) few.push_back(kind);
  }
  if (kinds.size() > kMost) few.push_back("… " + std::to_string(kinds.size() - kMost));
  return base::Join(few, ", ");
}

// What is in the files besides definitions.
std::string SeenText(const UsageInputs& inputs) {
  if (inputs.objects.empty()) return "there are no other objects in them";
  return "the objects in them are of: " + KindsText(inputs.objects);
}

base::Result<UsageInputs> ReadInputs(const UsageDefinitionOptions& options) {
  auto manifests = ReadFiles(options.files, options.recursive);
  if (!manifests) return manifests.error();
  UsageInputs inputs;
  bool any = false;
  for (Manifest& manifest : *manifests) {
    if (inspect::Is(manifest.object, kUsageDefinition)) {
      any = true;
      if (auto added = inputs.definitions.Add(manifest); !added) return added.error();
    } else if (inspect::Is(manifest.object, kCustomKind)) {
      inputs.custom_kinds.push_back(std::move(manifest.object));
    } else {
      inputs.objects.push_back(std::move(manifest));
    }
  }
  if (any) return inputs;
  return WrongInput("no UsageDefinition of " + std::string(quota::usage::kGroup) +
                    " in the files; " + SeenText(inputs));
}

// Finds the resources of kinds: by the CustomResourceDefinitions of the files, by the resources
// that the definitions name, or by the usual plural.
class Resources {
 public:
  // `inputs` must outlive it.
  explicit Resources(const UsageInputs& inputs)
      : inputs_(inputs), counters_(nothing_, api_, quota::Rules()) {
    std::set<std::string> names;
    for (const api::GroupResource& resource : inputs.definitions.Named()) {
      names.insert(quota::CountName(resource));
    }
    counters_.SetNames(inputs.custom_kinds, names);
  }
  [[nodiscard]] api::GroupResource Of(const json::Value& object) const {
    return counters_.ResourceOf(api::ApiVersion(object), api::Kind(object))
        .value_or(api::GroupResource());
  }
  // True if a CustomResourceDefinition of the files could tell another resource.
  [[nodiscard]] bool IsGuessed(const json::Value& object) const {
    return inspect::IsCustomGroup(inspect::GroupOf(api::ApiVersion(object))) &&
           !Defines(inputs_.custom_kinds, object);
  }
  // True if the resource only looks like the plural of the object's kind.
  [[nodiscard]] bool IsLikeness(const json::Value& object) const {
    return IsGuessed(object) && Of(object).resource != GuessedResource(api::Kind(object));
  }

 private:
  const UsageInputs& inputs_;
  client::Discovered nothing_;
  quota::QuotaApi api_ = quota::CoreQuotaApi();
  Counters counters_;
};

// What a user may do if the objects are there, and are not taken for what they are.
std::string Hint(const UsageInputs& inputs, const Resources& resources) {
  const bool guessed = std::ranges::any_of(inputs.objects, [&](const Manifest& manifest) {
    return resources.IsGuessed(manifest.object);
  });
  return guessed ? "; a CustomResourceDefinition in the files tells the resource of a kind" : "";
}

base::Error NoObject(const UsageInputs& inputs, const Resources& resources) {
  std::vector<std::string> described;
  for (const api::GroupResource& resource : inputs.definitions.Described()) {
    described.push_back(resource.ToString());
  }
  return WrongInput("no object of " + base::Join(described, " or ") + " in the files; " +
                    SeenText(inputs) + Hint(inputs, resources));
}

std::string IgnoredText(const std::vector<Manifest>& ignored) {
  return inspect::Counted(std::ssize(ignored), "object") + (ignored.size() == 1 ? " is" : " are") +
         " ignored, because no UsageDefinition describes the kind: " + KindsText(ignored);
}

void NoteLikeness(const Resources& resources, const json::Value& object,
                  std::vector<std::string>& notes) {
  if (!resources.IsLikeness(object)) return;
  std::string note = KindText(object) + " is taken for the kind of " +
                     resources.Of(object).ToString() +
                     ": a CustomResourceDefinition in the files tells it";
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

// Puts the objects into the namespace of -n, as kubectl does. Cluster-scoped ones, such as classes,
// are left alone.
base::Result<void> Place(const Options& options, const Resources& resources, UsageInputs& inputs) {
  const std::vector<api::GroupResource> described = inputs.definitions.Described();
  for (Manifest& manifest : inputs.objects) {
    if (std::ranges::find(described, resources.Of(manifest.object)) == described.end()) continue;
    if (auto fine = CheckNamespace(manifest, options); !fine) return fine;
    const bool fill = api::Namespace(manifest.object).empty() && !options.place.ns.empty();
    if (fill) manifest.object.Make({"metadata", "namespace"}) = options.place.ns;
  }
  DropRepeated(inputs.objects);
  return {};
}

base::Result<UsageAnswer> AnswerTo(const Options& options, UsageInputs inputs) {
  UsageAnswer answer;
  answer.faults = inputs.definitions.FaultsBy(inputs.custom_kinds);
  const Resources resources(inputs);
  if (auto placed = Place(options, resources, inputs); !placed) return placed.error();
  NoteRepeated(inputs.objects, answer.notes);
  std::set<api::GroupResource> classes;
  for (const Manifest& manifest : inputs.objects) {
    const api::GroupResource resource = resources.Of(manifest.object);
    if (inputs.definitions.AddClass(resource, manifest.object)) classes.insert(resource);
  }
  std::vector<Manifest> ignored;
  for (const Manifest& manifest : inputs.objects) {
    const api::GroupResource resource = resources.Of(manifest.object);
    auto used = inputs.definitions.UsageOf(resource, manifest.object);
    if (!used) return used.error().Wrap(manifest.where);
    if (*used || classes.contains(resource)) {
      NoteLikeness(resources, manifest.object, answer.notes);
    } else {
      ignored.push_back(manifest);
    }
    if (*used) answer.objects.push_back(std::move(**used));
  }
  if (answer.objects.empty() && answer.faults.empty()) return NoObject(inputs, resources);
  if (!ignored.empty()) answer.notes.push_back(IgnoredText(ignored));
  return answer;
}

void WriteTables(const Options& options, Terminal& terminal, const UsageAnswer& answer,
                 const inspect::DefinedTotal& total) {
  if (answer.objects.empty()) return;
  const inspect::TableStyle style{.titles = options.headers, .colours = terminal.traits().colours};
  const bool wide = options.output == "wide";
  terminal.Write(inspect::PrintTable(inspect::DefinedTable(answer.objects, wide), style));
  terminal.Write("\n");
  terminal.Write(inspect::PrintTable(inspect::DefinedTotalTable(total), style));
}

int ShowUsage(const Options& options, Terminal& terminal, const UsageAnswer& answer) {
  const inspect::DefinedTotal total = inspect::TotalOf(answer.objects);
  if (IsDocument(options.output)) {
    terminal.Write(
        PrintDocument(inspect::DefinedValue(answer.objects, total, answer.faults), options.output));
  } else {
    WriteTables(options, terminal, answer, total);
  }
  for (const inspect::DefinitionFault& fault : answer.faults) {
    terminal.Fail(
        inspect::Line("error: " + fault.where + ": " + fault.reason + ": " + fault.message));
  }
  for (const std::string& note : answer.notes) terminal.Fail(inspect::Line("note: " + note));
  return total.unknown.empty() && answer.faults.empty() ? kYes : kNo;
}

}  // namespace

Outcome TestUsage(const Options& options, Terminal& terminal) {
  auto inputs = ReadInputs(options.usage_definition);
  if (!inputs) return inputs.error();
  auto answer = AnswerTo(options, std::move(*inputs));
  if (!answer) return answer.error();
  return ShowUsage(options, terminal, *answer);
}

}  // namespace kubectl_quota

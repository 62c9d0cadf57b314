#include "pkg/inspect/import.h"

#include <algorithm>
#include <array>

#include "pkg/api/object_meta.h"
#include "pkg/config/yaml.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/inspect/import_kinds.h"

namespace inspect {
namespace {

struct ImportKind {
  std::string_view group;
  std::string_view version;
  std::string_view resource;
  std::string_view kind;
  void (*read)(const json::Value& object, ImportDraft& draft);
};
constexpr std::array kImportKinds{
    ImportKind{"capsule.clastix.io", "v1beta2", "tenants", "Tenant", &ImportTenant},
    ImportKind{"quota.openshift.io", "v1", "clusterresourcequotas", "ClusterResourceQuota",
               &ImportClusterResourceQuota},
    ImportKind{"hnc.x-k8s.io", "v1alpha2", "hierarchicalresourcequotas",
               "HierarchicalResourceQuota", &ImportHierarchicalQuota},
    ImportKind{"management.cattle.io", "v3", "projects", "Project", &ImportProject}};

std::string KnownKinds() {
  std::string text;
  for (const ImportKind& kind : kImportKinds) {
    text.append(text.empty() ? "" : ", ").append(kind.kind).append(".").append(kind.group);
  }
  return text;
}

void ReadOther(const json::Value& object, ImportDraft& draft) {
  const std::string group = GroupOf(api::ApiVersion(object));
  const std::string_view kind = api::Kind(object);
  if (group.empty() && kind == "ResourceQuota") {
    return draft.Keep("spec", "a ResourceQuota of its namespace, beside ClusterQuotas");
  }
  if (group == "quota-controller-manager.io" && kind == "ClusterQuota") {
    return draft.Keep("spec", "a ClusterQuota already; it is not written again");
  }
  draft.Lose("-", "import knows only " + KnownKinds());
}

void ReadManifest(const Manifest& manifest, ImportDraft& draft) {
  const json::Value& object = manifest.object;
  draft.Begin(manifest);
  if (api::Name(object).empty()) return draft.Lose("metadata.name", "is not set");
  const std::string group = GroupOf(api::ApiVersion(object));
  const auto* known = std::ranges::find_if(kImportKinds, [&](const ImportKind& kind) {
    return kind.group == group && kind.kind == api::Kind(object);
  });
  if (known == kImportKinds.end()) return ReadOther(object, draft);
  known->read(object, draft);
  if (!draft.HasRow()) draft.Keep("-", "it has no quota");
}

}  // namespace

bool Imported::Complete() const { return std::ranges::none_of(rows, &ImportRow::lost); }

std::vector<api::GroupVersionResource> ImportedResources() {
  std::vector<api::GroupVersionResource> resources;
  resources.reserve(kImportKinds.size());
  for (const ImportKind& kind : kImportKinds) {
    resources.push_back(
        {std::string(kind.group), std::string(kind.version), std::string(kind.resource)});
  }
  return resources;
}

Imported Import(const std::vector<Manifest>& manifests, std::string_view enforcement) {
  ImportDraft draft(enforcement);
  for (const Manifest& manifest : manifests) ReadManifest(manifest, draft);
  return draft.Take();
}

std::string ImportText(const Imported& imported) {
  std::string text;
  for (const ImportedQuota& quota : imported.quotas) {
    text += "---\n" + Line("# " + quota.from) + HarmlessYaml(config::WriteYaml(quota.object));
  }
  return text;
}

Table ImportTable(const Imported& imported) {
  Table table{.titles = {"FROM", "FIELD", "BECOMES", "HOW"}, .rows = {}};
  for (const ImportRow& row : imported.rows) {
    const Tone tone = row.lost ? Tone::kFull : Tone::kPlain;
    table.rows.push_back({row.from, row.field, Cell(row.to, tone), row.how});
  }
  return table;
}

}  // namespace inspect

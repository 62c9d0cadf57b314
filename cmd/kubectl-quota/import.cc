#include "pkg/inspect/import.h"

#include <algorithm>
#include <utility>

#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/manifest_files.h"
#include "pkg/base/text.h"
#include "pkg/inspect/counted.h"

namespace kubectl_quota {
namespace {

using inspect::Manifest;

base::Error NothingServed() {
  std::vector<std::string> names;
  for (const auto& resource : inspect::ImportedResources()) {
    names.push_back(resource.WithoutVersion().ToString());
  }
  return {.code = base::ErrorCode::kNotFound,
          .message = "the server serves none of " + base::Join(names, ", ") +
                     "; -f reads them from files"};
}

// Returns those of the resources that the server serves, in its preferred version. Errors: also if
// it does not tell of an API group.
base::Task<base::Result<std::vector<client::ApiResource>>> ServedImports(Cluster& cluster) {
  const client::Discovered* kinds = co_await cluster.Kinds();
  if (const base::Error* unreachable = cluster.Unreachable()) co_return *unreachable;
  std::vector<client::ApiResource> served;
  for (const api::GroupVersionResource& known : inspect::ImportedResources()) {
    for (const client::GroupVersion& failed : kinds->failed) {
      if (failed.group != known.group) continue;
      co_return base::Error{.code = base::ErrorCode::kUnavailable,
                            .message = "discovery does not answer for " + failed.ToString()};
    }
    for (const client::ApiResource& resource : kinds->resources) {
      const bool same = resource.gvr.group == known.group && resource.preferred &&
                        resource.gvr.resource == known.resource;
      if (same) served.push_back(resource);
    }
  }
  if (served.empty()) co_return NothingServed();
  co_return served;
}

base::Task<base::Result<std::vector<Manifest>>> ReadStored(Session& session) {
  auto served = co_await ServedImports(session.cluster);
  if (!served) co_return served.error();
  std::vector<Manifest> manifests;
  for (const client::ApiResource& resource : *served) {
    const std::size_t before = manifests.size();
    auto what =
        Listing(resource.gvr, "", "metadata.name metadata.namespace metadata.annotations spec");
    what.label_selector = session.options.place.selector;
    const auto add = [&](const json::Value& object) {
      Manifest manifest{.object = object};
      manifest.object.Make({"apiVersion"}) = resource.gvr.GroupVersion();
      manifest.object.Make({"kind"}) = resource.kind;
      manifests.push_back(std::move(manifest));
    };
    auto listed =
        co_await session.cluster.List(std::move(what), add, [&] { manifests.resize(before); });
    if (!listed) co_return listed.error();
  }
  co_return manifests;
}

int ShowImported(Terminal& terminal, const Options& options,
                 const std::vector<Manifest>& manifests) {
  const inspect::Imported imported = inspect::Import(manifests, options.imports.enforcement);
  terminal.Write(inspect::ImportText(imported));
  // The quotas go into a file, or to kubectl apply, and the table to the reader.
  if (!imported.rows.empty()) {
    terminal.Fail(inspect::PrintTable(inspect::ImportTable(imported), {.titles = options.headers}));
  }
  const auto lost = std::ranges::count_if(imported.rows, &inspect::ImportRow::lost);
  std::string text = inspect::Counted(std::ssize(imported.quotas), "ClusterQuota") + " of " +
                     inspect::Counted(std::ssize(manifests), "object") + "; ";
  if (lost == 0) {
    text += "everything has a counterpart";
  } else {
    text += inspect::Counted(lost, "part") + (lost == 1 ? " has" : " have") + " no counterpart";
  }
  terminal.Fail(text + ".\n");
  return imported.Complete() ? kYes : kNo;
}

}  // namespace

base::Task<Outcome> ImportStored(Session& session) {
  auto manifests = co_await ReadStored(session);
  if (!manifests) co_return manifests.error();
  co_return ShowImported(session.terminal(), session.options, *manifests);
}

Outcome ImportFiles(const Options& options, Terminal& terminal) {
  auto manifests = ReadFiles(options.imports.files, options.imports.recursive);
  if (!manifests) return manifests.error();
  return ShowImported(terminal, options, *manifests);
}

}  // namespace kubectl_quota

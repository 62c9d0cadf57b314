#pragma once

// Reading what a quota counts: which kinds its names are about, their objects, the classes that
// these refer to, and their owners up to the top. Single-threaded.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/holders.h"

namespace kubectl_quota {

// A kind of object that counts under some of a quota's names.
struct Source {
  quota::Evaluator evaluator;
  std::optional<api::GroupVersionResource> resource;  // nullopt: the server does not serve it
  std::string kind;                                   // "Pod"; the resource where that is unknown
  std::unique_ptr<quota::ClassTable> classes;         // that its objects refer to; may be null
};

// The kinds that these names are about. Classes that cannot be read are a warning.
base::Task<std::vector<Source>> SourcesOf(Cluster& cluster, const quota::QuotaApi& api,
                                          std::vector<std::string> names);

// The resource that a kind or a resource is served as; nullptr if it is not.
const client::ApiResource* FindKind(const client::Discovered& kinds, std::string_view api_version,
                                    std::string_view kind);
const client::ApiResource* FindResource(const client::Discovered& kinds,
                                        const api::GroupResource& resource,
                                        std::string_view version = {});

// Lists the source's objects in the namespace, with these fields beside those that are counted by.
// False: they may not be listed, which is a warning that says what is shown without it. Other
// failures are errors.
base::Task<base::Result<bool>> ReadObjects(Cluster& cluster, const Source& source, std::string ns,
                                           std::string more_fields,
                                           std::function<void(const json::Value&)> object,
                                           std::function<void()> restart);

// Reads the metadata of owners, kind by kind, until `missing` names none any more.
base::Task<void> ReadOwners(Cluster& cluster, std::string ns, inspect::OwnerIndex& owners,
                            std::function<std::set<inspect::OwnerKind>()> missing);

// Who wants to see each object that is counted, too.
using Onlooker = std::function<void(const quota::Evaluator&, const json::Value& object)>;

// Fills the book with all that its quota counts in the quota's namespace, and finds the owners.
base::Task<base::Result<void>> FillBook(Cluster& cluster, const quota::QuotaApi& api,
                                        inspect::HolderBook& book, Onlooker onlooker = nullptr);

}  // namespace kubectl_quota

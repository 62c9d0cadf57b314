#pragma once

// Reads what a quota counts: the kinds of its names, their objects, the classes of these, and all
// owners. Single-threaded.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/holders.h"

namespace kubectl_quota {

// A kind of object that counts under some of a quota's names.
struct Source {
  quota::Evaluator evaluator;
  std::optional<api::GroupVersionResource> resource;  // nullopt: the server does not serve it
  std::string kind;                                   // "Pod"; the resource if the kind is unknown
  std::unique_ptr<quota::ClassTable> classes;         // of its objects; may be null
  bool classes_known = true;                          // false: `classes` may lack some that exist
  std::string unseen = {};                            // why the cluster does not show them
};

// Returns the kinds that count under these names. Classes that cannot be read matter only to
// objects that refer to them, so nothing is said of them here: `unseen`.
base::Task<std::vector<Source>> SourcesOf(Cluster& cluster, const quota::QuotaApi& api,
                                          std::vector<std::string> names);

// True if objects of the resource may count under one of these names.
bool MayCount(const quota::QuotaApi& api, const api::GroupResource& resource,
              const std::set<std::string>& names);

// Returns the served resource of a kind or resource name; nullptr if there is none.
const client::ApiResource* FindKind(const client::Discovered& kinds, std::string_view api_version,
                                    std::string_view kind);
const client::ApiResource* FindResource(const client::Discovered& kinds,
                                        const api::GroupResource& resource,
                                        std::string_view version = {});

// Lists the source's objects in the namespace, with `fields` in addition to the counted ones.
// Returns false, with a warning, if the user may not list them. Other failures are errors.
base::Task<base::Result<bool>> ReadObjects(Cluster& cluster, const Source& source, std::string ns,
                                           std::string more_fields,
                                           std::function<void(const json::Value&)> object,
                                           std::function<void()> restart);

// Reads the metadata of owners in these namespaces ("": in all), kind by kind, until `missing`
// names none any more.
base::Task<void> ReadOwners(Cluster& cluster, std::vector<std::string> places,
                            inspect::OwnerIndex& owners,
                            std::function<std::set<inspect::OwnerKind>()> missing);

// Returns what to list for the objects of these namespaces: each of them, or {""}, all of the
// cluster, if they are many.
std::vector<std::string> PlacesOf(const std::set<std::string>& namespaces);

// Called with each counted object and its name.
using Onlooker = std::function<void(const quota::Evaluator&, const json::Value& object,
                                    const inspect::ObjectName& name)>;

// Fills the book with all objects that its quota counts in its namespace, and reads their owners.
base::Task<base::Result<void>> FillBook(Cluster& cluster, const quota::QuotaApi& api,
                                        inspect::HolderBook& book, Onlooker onlooker = nullptr);
// The same for a quota that counts in all of these namespaces.
base::Task<base::Result<void>> FillBookWithin(Cluster& cluster, const quota::QuotaApi& api,
                                              inspect::HolderBook& book,
                                              std::set<std::string> namespaces);

// Returns what objects use now under these names of the quota: in its namespace, or of a
// ClusterQuota in these. nullopt, with a warning, if not all of them may be listed.
base::Task<base::Result<std::optional<quota::ResourceList>>> CountUsed(
    Cluster& cluster, const quota::QuotaApi& api, quota::Quota quota,
    std::vector<std::string> names, std::set<std::string> namespaces = {});

}  // namespace kubectl_quota

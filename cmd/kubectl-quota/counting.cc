#include "cmd/kubectl-quota/counting.h"

#include <algorithm>
#include <chrono>

#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"

namespace kubectl_quota {
namespace {

// Bounds the levels of owners, because owners may form a cycle.
constexpr int kMostLevels = 8;

// If a quota limits more namespaces than these, all objects of the cluster are listed at once.
constexpr std::size_t kMostPlaces = 16;

bool OwnsAny(const quota::Evaluator& evaluator, const auto& names) {
  return std::ranges::any_of(names, [&](const auto& name) { return evaluator.owns(name); });
}

bool ClassesMatter(const quota::Evaluator& evaluator, const auto& names) {
  return evaluator.classes && std::ranges::any_of(names, [&](const std::string& name) {
           return evaluator.classes->concerns(name);
         });
}

// Returns the evaluators that may own the names, including those of kinds that are only counted.
std::vector<quota::Evaluator> EvaluatorsOf(const quota::QuotaApi& api,
                                           const std::vector<std::string>& names) {
  std::vector<quota::Evaluator> wanted;
  std::vector<std::string> rest;
  for (const quota::Evaluator& evaluator : api.evaluators) {
    if (OwnsAny(evaluator, names) || ClassesMatter(evaluator, names)) wanted.push_back(evaluator);
  }
  for (const std::string& name : names) {
    const auto owns = [&](const auto& evaluator) { return evaluator.owns(name); };
    if (!api.object_counter || std::ranges::any_of(wanted, owns)) continue;
    const auto resource = api.counted_resource(name);
    auto counter = resource ? api.object_counter(*resource) : std::nullopt;
    if (counter) wanted.push_back(std::move(*counter));
  }
  return wanted;
}

// Makes a table of the served kinds, for evaluators whose classes are kinds.
std::unique_ptr<quota::ClassTable> ClassesOfKinds(const quota::ClassSource& source,
                                                  const client::Discovered& kinds) {
  auto table = std::make_unique<quota::ClassTable>(source.missing, source.called);
  for (const client::ApiResource& resource : kinds.resources) {
    if (!resource.namespaced) continue;
    table->Set(quota::KindClass(resource.gvr.group, resource.kind),
               quota::ClassUsage(source.usage_of_kind(resource.gvr.WithoutVersion())));
  }
  return table;
}

struct ReadTable {
  std::unique_ptr<quota::ClassTable> table;
  std::string unseen = {};  // Source::unseen
};

// What discovery could not tell now may still exist.
std::string UnseenKinds(const client::Discovered& kinds) {
  std::vector<std::string> failed;
  for (const client::GroupVersion& version : kinds.failed) failed.push_back(version.ToString());
  if (failed.empty()) return "";
  return "usage that depends on the kinds of " + base::Join(failed, ", ") +
         " is left out: they cannot be seen at the moment";
}

base::Task<ReadTable> ReadClasses(Cluster& cluster, quota::ClassSource source) {
  const client::Discovered* kinds = co_await cluster.Kinds();
  if (source.usage_of_kind) {
    co_return ReadTable{ClassesOfKinds(source, *kinds), UnseenKinds(*kinds)};
  }
  auto table = std::make_unique<quota::ClassTable>(source.missing, source.called);
  const client::ApiResource* resource = FindResource(*kinds, source.resource, source.version);
  if (resource == nullptr) co_return ReadTable{std::move(table)};
  const auto set = [&](const json::Value& object) {
    table->Set(api::Name(object), source.usage_of(object));
  };
  informers::ReflectorOptions what = Listing(resource->gvr, "", "");
  what.fields = source.fields;
  auto listed = co_await cluster.List(std::move(what), set, [&] { table->Clear(); });
  ReadTable read{std::move(table)};
  if (!listed) {
    read.unseen = "usage that depends on " + source.resource.ToString() +
                  " is left out: " + ErrorText(listed.error());
  }
  co_return read;
}

std::optional<api::GroupVersionResource> ServedAs(const client::Discovered& kinds,
                                                  const quota::Evaluator& evaluator) {
  const client::ApiResource* found = FindResource(kinds, evaluator.resource, evaluator.version);
  if (found != nullptr) return found->gvr;
  // If discovery failed, no resource is known. The core group always exists.
  if (!kinds.resources.empty() || !evaluator.resource.group.empty()) return std::nullopt;
  return api::GroupVersionResource{"", "v1", evaluator.resource.resource};
}

base::Task<void> ReadOwnersOfKind(Cluster& cluster, std::string ns, inspect::OwnerIndex& owners,
                                  inspect::OwnerKind kind) {
  const client::Discovered* kinds = co_await cluster.Kinds();
  const client::ApiResource* resource = FindKind(*kinds, kind.api_version, kind.kind);
  owners.SetRead(kind);
  // A cluster-scoped owner, such as the node of a static pod, is the topmost one.
  if (resource == nullptr || !resource->namespaced) co_return;
  const auto add = [&](const json::Value& object) { owners.Add(object); };
  auto listed = co_await cluster.List(
      Listing(resource->gvr, std::move(ns), "metadata.ownerReferences"), add, [] {});
  if (listed) co_return;
  cluster.terminal().Warn("the owners of objects of kind " + kind.kind +
                          " are unknown: " + ErrorText(listed.error()));
}

}  // namespace

const client::ApiResource* FindKind(const client::Discovered& kinds, std::string_view api_version,
                                    std::string_view kind) {
  const auto found = std::ranges::find_if(kinds.resources, [&](const auto& resource) {
    return resource.kind == kind && resource.gvr.GroupVersion() == api_version;
  });
  return found == kinds.resources.end() ? nullptr : &*found;
}

const client::ApiResource* FindResource(const client::Discovered& kinds,
                                        const api::GroupResource& resource,
                                        std::string_view version) {
  const auto found = std::ranges::find_if(kinds.resources, [&](const auto& served) {
    return served.gvr.WithoutVersion() == resource &&
           (version.empty() ? served.preferred : served.gvr.version == version);
  });
  return found == kinds.resources.end() ? nullptr : &*found;
}

bool MayCount(const quota::QuotaApi& api, const api::GroupResource& resource,
              const std::set<std::string>& names) {
  return std::ranges::any_of(api.evaluators, [&](const quota::Evaluator& evaluator) {
    return evaluator.resource == resource &&
           (OwnsAny(evaluator, names) || ClassesMatter(evaluator, names));
  });
}

base::Task<std::vector<Source>> SourcesOf(Cluster& cluster, const quota::QuotaApi& api,
                                          std::vector<std::string> names) {
  const client::Discovered* kinds = co_await cluster.Kinds();
  std::vector<Source> sources;
  for (quota::Evaluator& evaluator : EvaluatorsOf(api, names)) {
    Source source;
    source.resource = ServedAs(*kinds, evaluator);
    const auto* served = FindResource(*kinds, evaluator.resource, evaluator.version);
    source.kind = served != nullptr ? served->kind : evaluator.resource.resource;
    const bool classes = ClassesMatter(evaluator, names);
    source.evaluator = std::move(evaluator);
    if (classes) {
      auto read = co_await ReadClasses(cluster, *source.evaluator.classes);
      source.classes = std::move(read.table);
      source.unseen = std::move(read.unseen);
      source.classes_known = source.unseen.empty();
    }
    sources.push_back(std::move(source));
  }
  co_return sources;
}

base::Task<base::Result<bool>> ReadObjects(Cluster& cluster, const Source& source, std::string ns,
                                           std::string more_fields,
                                           std::function<void(const json::Value&)> object,
                                           std::function<void()> restart) {
  if (!source.resource) co_return true;
  informers::ReflectorOptions what = Listing(*source.resource, std::move(ns), more_fields);
  what.fields.insert(what.fields.end(), source.evaluator.fields.begin(),
                     source.evaluator.fields.end());
  const std::string name = what.resource.WithoutVersion().ToString();
  auto listed = co_await cluster.List(std::move(what), std::move(object), std::move(restart));
  if (listed) co_return true;
  if (!listed.error().Is(base::ErrorCode::kForbidden)) co_return listed.error();
  cluster.terminal().Doubt("shown without " + name + ": " + ErrorText(listed.error()));
  co_return false;
}

base::Task<void> ReadOwners(Cluster& cluster, std::vector<std::string> places,
                            inspect::OwnerIndex& owners,
                            std::function<std::set<inspect::OwnerKind>()> missing) {
  for (int level = 0; level < kMostLevels; ++level) {
    const std::set<inspect::OwnerKind> kinds = missing();
    if (kinds.empty()) co_return;
    for (const inspect::OwnerKind& kind : kinds) {
      for (const std::string& ns : places) co_await ReadOwnersOfKind(cluster, ns, owners, kind);
    }
  }
}

std::vector<std::string> PlacesOf(const std::set<std::string>& namespaces) {
  if (namespaces.size() > kMostPlaces) return {""};
  return {namespaces.begin(), namespaces.end()};
}

namespace {

// The namespaces to list ("": all at once), and a filter for the listed objects.
struct Filling {
  std::vector<std::string> places;
  Onlooker onlooker = nullptr;
  std::optional<std::set<std::string>> within = {};  // only objects of these namespaces
};

base::Task<base::Result<void>> AddSource(Cluster& cluster, const Source& source,
                                         const Filling& filling, std::string ns,
                                         inspect::HolderBook& book) {
  const inspect::ObjectName of{base::ToLower(source.kind), source.evaluator.resource.group, ""};
  quota::ReadOptions options{.now = std::chrono::system_clock::now()};
  if (source.evaluator.by_rules) options.rules = co_await cluster.Rules();
  std::size_t unknown = 0;
  std::string why;
  bool unseen = false;              // some object depends on classes that cannot be seen
  inspect::HolderBook read = book;  // until the list is complete: it may start over
  const auto add = [&](const json::Value& object) {
    if (filling.within && !filling.within->contains(std::string(api::Namespace(object)))) return;
    inspect::ObjectName name = of;
    name.name = api::Name(object);
    if (filling.onlooker) filling.onlooker(source.evaluator, object, name);
    if (!source.classes_known && !unseen) {
      unseen = read.DependsOnUnseen(source.evaluator, *source.classes, object, options);
    }
    const auto added = read.Add(source.evaluator, source.classes.get(), object, name, options);
    if (!added && unknown++ == 0) why = added.error().message;
  };
  auto listed = co_await ReadObjects(cluster, source, std::move(ns), book.Fields(), add,
                                     [&] { read = book; });
  if (!listed) co_return listed.error();
  if (unseen) cluster.terminal().Doubt(source.unseen);
  if (unknown > 0) {
    cluster.terminal().Doubt("shown without " + std::to_string(unknown) +
                             " objects whose usage is unknown: " + why);
  }
  if (!*listed) read.SetIncomplete();
  book = std::move(read);
  co_return base::Result<void>();
}

base::Task<base::Result<void>> FillFrom(Cluster& cluster, const quota::QuotaApi& api,
                                        inspect::HolderBook& book, Filling filling) {
  const std::vector<Source> sources = co_await SourcesOf(cluster, api, book.names());
  for (const Source& source : sources) {
    for (const std::string& ns : filling.places) {
      auto added = co_await AddSource(cluster, source, filling, ns, book);
      if (!added) co_return added;
    }
  }
  co_await ReadOwners(cluster, filling.places, book.owners(), [&] { return book.MissingOwners(); });
  co_return base::Result<void>();
}

}  // namespace

base::Task<base::Result<void>> FillBook(Cluster& cluster, const quota::QuotaApi& api,
                                        inspect::HolderBook& book, Onlooker onlooker) {
  Filling filling{.places = {book.quota().key.ns}, .onlooker = std::move(onlooker)};
  return FillFrom(cluster, api, book, std::move(filling));
}

base::Task<base::Result<void>> FillBookWithin(Cluster& cluster, const quota::QuotaApi& api,
                                              inspect::HolderBook& book,
                                              std::set<std::string> namespaces) {
  Filling filling{.places = PlacesOf(namespaces)};
  if (filling.places.size() < namespaces.size()) filling.within = std::move(namespaces);
  return FillFrom(cluster, api, book, std::move(filling));
}

base::Task<base::Result<std::optional<quota::ResourceList>>> CountUsed(
    Cluster& cluster, const quota::QuotaApi& api, quota::Quota quota,
    std::vector<std::string> names, std::set<std::string> namespaces) {
  const bool within = quota.cluster.has_value();
  quota.status.used = {};  // what was counted once must not be taken for objects
  inspect::HolderBook book(std::move(quota), names, {.by = inspect::GroupBy::kNamespace});
  auto filled = within ? co_await FillBookWithin(cluster, api, book, std::move(namespaces))
                       : co_await FillBook(cluster, api, book);
  if (!filled) co_return filled.error();
  if (book.IsIncomplete()) co_return std::optional<quota::ResourceList>();
  quota::ResourceList used;
  for (const std::string& name : names) {
    quota::Quantity sum;
    for (const inspect::Holder& holder : book.HoldersOf(name)) sum = sum.Add(holder.amount);
    used.Set(name, sum);
  }
  co_return std::optional(std::move(used));
}

}  // namespace kubectl_quota

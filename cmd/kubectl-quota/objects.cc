#include "cmd/kubectl-quota/objects.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pkg/base/text.h"
#include "pkg/inspect/owners.h"

namespace kubectl_quota {
namespace {

// The most common short names. Those of discovery are not read.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kShortNames{{
    {"po", "pods"},
    {"deploy", "deployments"},
    {"rs", "replicasets"},
    {"sts", "statefulsets"},
    {"ds", "daemonsets"},
    {"cj", "cronjobs"},
    {"rc", "replicationcontrollers"},
    {"svc", "services"},
    {"pvc", "persistentvolumeclaims"},
    {"cm", "configmaps"},
    {"quota", "resourcequotas"},
}};

bool IsCalled(const client::ApiResource& resource, std::string_view word) {
  const std::string suffix = resource.gvr.group.empty() ? "" : "." + resource.gvr.group;
  const std::string kind = base::ToLower(resource.kind);
  return word == resource.gvr.resource || word == kind || word == resource.gvr.resource + suffix ||
         word == kind + suffix;
}

std::string FullName(std::string_view word) {
  const auto* found =
      std::ranges::find(kShortNames, word, [](const auto& row) { return row.first; });
  return std::string(found == kShortNames.end() ? word : found->second);
}

// True if the plural may be that of the kind: "podchaos" of "PodChaos", "policies" of "Policy".
bool MayBePlural(std::string_view plural, std::string_view kind) {
  const std::string lower = base::ToLower(kind);
  return plural.starts_with(lower.substr(0, lower.size() - 1)) && plural.size() <= lower.size() + 3;
}

}  // namespace

// As apimachinery v0.36.3, pkg/api/meta/restmapper.go, UnsafeGuessKindToResource.
std::string GuessedResource(std::string_view kind) {
  std::string resource = base::ToLower(kind);
  if (resource.ends_with("endpoints")) return resource;
  if (resource.ends_with('s')) return resource + "es";
  if (resource.ends_with('y')) return resource.substr(0, resource.size() - 1) + "ies";
  return resource + "s";
}

base::Task<base::Result<NamedKind>> FindNamed(Cluster& cluster, std::string argument) {
  const client::Discovered* kinds = co_await cluster.Kinds();
  const std::size_t slash = argument.find('/');
  const bool bare = slash == std::string::npos;
  const std::string word = bare ? "pods" : FullName(base::ToLower(argument.substr(0, slash)));
  const std::string name = bare ? argument : argument.substr(slash + 1);
  const auto found = std::ranges::find_if(kinds->resources, [&](const auto& resource) {
    return resource.preferred && IsCalled(resource, word);
  });
  if (found != kinds->resources.end() && !name.empty()) co_return NamedKind{&*found, name};
  co_return base::Error{.code = base::ErrorCode::kInvalidArgument,
                        .message = "the server doesn't have a resource type \"" + word + "\""};
}

base::Task<base::Result<json::Value>> GetObject(Cluster& cluster, NamedKind named, std::string ns) {
  const std::string where = named.resource->namespaced ? ns : "";
  auto object = co_await cluster.Get(named.resource->gvr.Path(where, named.name));
  co_return object;
}

void Counters::SetNames(const std::vector<json::Value>& definitions,
                        const std::set<std::string>& limited) {
  for (const json::Value& definition : definitions) {
    plurals_[{std::string(definition.StringAt({"spec", "group"})),
              std::string(definition.StringAt({"spec", "names", "kind"}))}] =
        definition.StringAt({"spec", "names", "plural"});
  }
  for (const std::string& name : limited) {
    auto resource = api_.counted_resource(name);
    if (resource) limited_.push_back(std::move(*resource));
  }
}

std::optional<std::string> Counters::NamedPlural(const std::string& group,
                                                 std::string_view kind) const {
  const auto defined = plurals_.find({group, std::string(kind)});
  if (defined != plurals_.end() && !defined->second.empty()) return defined->second;
  if (!inspect::IsCustomGroup(group)) return GuessedResource(kind);
  for (const api::GroupResource& limited : limited_) {
    if (limited.group == group && MayBePlural(limited.resource, kind)) return limited.resource;
  }
  return std::nullopt;
}

std::string Counters::GuessOf(std::string_view api_version, std::string_view kind) const {
  const std::string group = inspect::GroupOf(api_version);
  if (FindKind(kinds_, api_version, kind) != nullptr || NamedPlural(group, kind)) return "";
  const bool matters = std::ranges::any_of(
      limited_, [&](const api::GroupResource& limited) { return limited.group == group; });
  return matters ? GuessedResource(kind) + "." + group : "";
}

void Counters::SetClasses(std::vector<Source> sources) {
  sources_ = std::move(sources);
  entries_.clear();
}

std::optional<api::GroupResource> Counters::ResourceOf(std::string_view api_version,
                                                       std::string_view kind) const {
  const client::ApiResource* served = FindKind(kinds_, api_version, kind);
  if (served != nullptr && !served->namespaced) return std::nullopt;
  if (served != nullptr) return served->gvr.WithoutVersion();
  const std::string group = inspect::GroupOf(api_version);
  return api::GroupResource{group, NamedPlural(group, kind).value_or(GuessedResource(kind))};
}

const inspect::Counter* Counters::Of(std::string_view api_version, std::string_view kind) {
  const std::string key = std::string(api_version) + " " + std::string(kind);
  auto at = entries_.find(key);
  if (at == entries_.end()) {
    auto entry = std::make_unique<Entry>();
    const auto resource = ResourceOf(api_version, kind);
    for (const quota::Evaluator& evaluator : api_.evaluators) {
      if (resource && evaluator.resource == *resource) entry->evaluator = evaluator;
    }
    if (resource && !entry->evaluator && api_.object_counter) {
      entry->evaluator = api_.object_counter(*resource);
    }
    if (entry->evaluator) entry->counter.evaluator = &*entry->evaluator;
    for (const Source& source : sources_) {
      const bool same = resource && source.evaluator.resource == *resource;
      if (!same) continue;
      entry->counter.classes = source.classes.get();
      entry->counter.classes_known = source.classes_known;
    }
    at = entries_.emplace(key, std::move(entry)).first;
  }
  const inspect::Counter& counter = at->second->counter;
  return counter.evaluator == nullptr ? nullptr : &counter;
}

}  // namespace kubectl_quota

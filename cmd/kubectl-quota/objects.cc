#include "cmd/kubectl-quota/objects.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cmd/kubectl-quota/did_you_mean.h"
#include "pkg/base/text.h"
#include "pkg/inspect/owners.h"

namespace kubectl_quota {
namespace {

// True if the plural may be that of the kind: "podchaos" of "PodChaos", "policies" of "Policy".
bool MayBePlural(std::string_view plural, std::string_view kind) {
  const std::string lower = base::ToLower(kind);
  return plural.starts_with(lower.substr(0, lower.size() - 1)) && plural.size() <= lower.size() + 3;
}

// A type on a command line: "deploy", "deploy.apps", "deploy.v1.apps".
struct Type {
  std::string name;
  std::optional<std::string> suffix = {};  // behind the first dot
};

Type ParseType(const std::string& word) {
  const std::string lower = base::ToLower(word);
  const std::size_t dot = lower.find('.');
  if (dot == std::string::npos) return {lower};
  return {lower.substr(0, dot), lower.substr(dot + 1)};
}

bool IsOf(const client::ApiResource& resource, const std::optional<std::string>& suffix) {
  if (!suffix) return resource.preferred;
  return (*suffix == resource.gvr.group && resource.preferred) ||
         *suffix == resource.gvr.version + "." + resource.gvr.group;
}

bool IsName(const client::ApiResource& resource, const std::string& name) {
  const bool singular = !name.empty() && name == resource.singular;
  return singular || name == resource.gvr.resource || name == base::ToLower(resource.kind);
}

bool IsShortName(const client::ApiResource& resource, const std::string& name) {
  return std::ranges::find(resource.short_names, name) != resource.short_names.end();
}

// A name of any group comes before a short name (client-go v0.36.3, restmapper/shortcut.go).
const client::ApiResource* FindType(const client::Discovered& kinds, const std::string& word) {
  const Type type = ParseType(word);
  for (const auto& is_called : {IsName, IsShortName}) {
    const auto found = std::ranges::find_if(kinds.resources, [&](const auto& resource) {
      return IsOf(resource, type.suffix) && is_called(resource, type.name);
    });
    if (found != kinds.resources.end()) return &*found;
  }
  return nullptr;
}

// Returns kubectl's error for a type that the server does not have, with the one that may be meant.
base::Error NoSuchType(const client::Discovered& kinds, const std::string& word) {
  std::vector<std::string> known;
  for (const client::ApiResource& resource : kinds.resources) {
    known.insert(known.end(), resource.short_names.begin(), resource.short_names.end());
    known.push_back(resource.gvr.resource);
    known.push_back(base::ToLower(resource.kind));
  }
  return {.code = base::ErrorCode::kInvalidArgument,
          .message =
              "the server doesn't have a resource type \"" + word + "\"" + DidYouMean(word, known)};
}

const api::GroupVersionResource kBarePods{"", "v1", "pods"};

base::Error NoName(const std::string& type) {
  return {.code = base::ErrorCode::kInvalidArgument,
          .message = "a name is missing behind " + type + "; a pod of that name is pod/" + type};
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
  if (const base::Error* unreachable = cluster.Unreachable()) co_return *unreachable;
  const std::size_t slash = argument.find('/');
  const bool bare = slash == std::string::npos;
  const std::string word = bare ? "pods" : argument.substr(0, slash);
  const std::string name = bare ? argument : argument.substr(slash + 1);
  const client::ApiResource* type = FindType(*kinds, word);
  if (type == nullptr) co_return NoSuchType(*kinds, word);
  if (name.empty()) co_return NoName(word);
  co_return NamedKind{type, name};
}

base::Task<base::Result<std::vector<std::string>>> WithTypes(Cluster& cluster,
                                                             std::vector<std::string> arguments,
                                                             std::string ns) {
  const bool slash = std::ranges::any_of(arguments, [](const std::string& argument) {
    return argument.find('/') != std::string::npos;
  });
  if (slash || arguments.empty()) co_return arguments;
  const client::Discovered* kinds = co_await cluster.Kinds();
  const std::string type = arguments.front();
  if (FindType(*kinds, type) == nullptr) {
    const base::Error error = NoSuchType(*kinds, type);
    if (arguments.size() == 1 || !error.message.ends_with('?')) co_return arguments;
    // It may be a pod with such a name.
    const auto pod = co_await cluster.Get(kBarePods.Path(ns, type));
    if (!pod && pod.error().Is(base::ErrorCode::kNotFound)) co_return error;
    co_return arguments;
  }
  if (arguments.size() == 1) co_return NoName(type);
  arguments.erase(arguments.begin());
  for (std::string& name : arguments) name.insert(0, type + "/");
  co_return arguments;
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
  for (const quota::Evaluator& evaluator : api_.evaluators) {
    if (evaluator.revision != 0) limited_.push_back(evaluator.resource);
  }
}

std::optional<std::string> Counters::NamedPlural(const std::string& group,
                                                 std::string_view kind) const {
  const auto defined = plurals_.find({group, std::string(kind)});
  if (defined != plurals_.end() && !defined->second.empty()) return defined->second;
  if (!inspect::IsCustomGroup(group)) return GuessedResource(kind);
  // "vms" is the plural of "VM" even if "vmis" is limited, too.
  const api::GroupResource usual{group, GuessedResource(kind)};
  if (std::ranges::find(limited_, usual) != limited_.end()) return usual.resource;
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
    if (resource) entry->evaluator = api_.CountedBy(*resource);
    entry->counter.evaluator = entry->evaluator.get();
    entry->counter.rules = rules_;
    for (const Source& source : sources_) {
      const bool same = resource && source.evaluator.resource == *resource;
      if (!same) continue;
      entry->counter.classes = source.classes.get();
      entry->counter.classes_known = source.classes_known;
      entry->counter.unseen = source.unseen;
    }
    at = entries_.emplace(key, std::move(entry)).first;
  }
  const inspect::Counter& counter = at->second->counter;
  return counter.evaluator == nullptr ? nullptr : &counter;
}

}  // namespace kubectl_quota

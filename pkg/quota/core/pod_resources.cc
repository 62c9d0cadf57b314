#include "pkg/quota/core/pod_resources.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "pkg/quota/quantity_field.h"

namespace quota::core {
namespace {

using ReportedByName = std::map<std::string_view, Reported>;

std::string Element(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// Reads the amounts of one pod. Notes those that cannot be read.
class Reader {
 public:
  Reader(UnreadAmounts& unread, WantedNames& wanted) : unread_(unread), wanted_(wanted) {}

  // `where` makes the path of `holder`. It is called only for what cannot be read: nearly every pod
  // has nothing of that kind.
  template <typename Where>
  base::Result<ResourceList> Read(const json::Value& holder, const char* list,
                                  std::set<std::string>& unread, const Where& where) {
    ReadableAmounts read =
        ReadAmounts(holder.At({list}), list, Negative::kReadable,
                    [this](std::string_view name) { return wanted_.Wants(name); });
    if (read.why.empty()) return std::move(read.list);
    std::string why = where();
    why.append(".").append(read.why);
    if (read.unreadable.empty()) return Malformed(std::move(why));
    unread.insert(read.unreadable.begin(), read.unreadable.end());
    if (unread_.why.empty()) unread_.why = std::move(why);
    return std::move(read.list);
  }

  // nullopt: the list is missing or empty, which is the same for an API server.
  template <typename Where>
  base::Result<std::optional<ResourceList>> ReadIfAny(const json::Value& holder, const char* list,
                                                      std::set<std::string>& unread,
                                                      const Where& where) {
    const json::Value* found = holder.At({list});
    const json::Object* items = found == nullptr ? nullptr : found->AsObject();
    const bool none = found == nullptr || found->IsNull() || (items != nullptr && items->empty());
    if (none) return std::optional<ResourceList>();
    auto read = Read(holder, list, unread, where);
    if (!read) return read.error();
    return std::optional(std::move(*read));
  }

  template <typename Where>
  base::Result<Amounts> ReadBoth(const json::Value& holder, const Where& where) {
    auto requests = Read(holder, "requests", unread_.requests, where);
    if (!requests) return requests.error();
    auto limits = Read(holder, "limits", unread_.limits, where);
    if (!limits) return limits.error();
    return Amounts{std::move(*requests), std::move(*limits)};
  }

 private:
  static base::Error Malformed(std::string why) {
    return {.code = base::ErrorCode::kMalformed, .message = std::move(why)};
  }

  UnreadAmounts& unread_;
  WantedNames& wanted_;
};

// Reads one element of status.containerStatuses, or the status itself. `here` makes its path.
template <typename Where>
base::Result<Reported> ParseStatus(const json::Value& status, Rules rules, Reader& reader,
                                   UnreadAmounts& unread, const Where& here) {
  Reported reported;
  const json::Value* resources = status.At({"resources"});
  reported.actual = resources != nullptr && !resources->IsNull();
  if (reported.actual) {
    const auto below = [&] { return here() + ".resources"; };
    auto requests = reader.ReadIfAny(*resources, "requests", unread.requests, below);
    if (!requests) return requests.error();
    auto limits = reader.ReadIfAny(*resources, "limits", unread.limits, below);
    if (!limits) return limits.error();
    reported.requests = std::move(*requests);
    reported.limits = std::move(*limits);
  } else if (rules.resize == Rules::Resize::kByContainer) {
    return reported;
  }
  auto allocated = reader.ReadIfAny(status, "allocatedResources", unread.requests, here);
  if (!allocated) return allocated.error();
  reported.allocated = std::move(*allocated);
  return reported;
}

base::Result<ReportedByName> ParseStatuses(const json::Value& pod, Rules rules, Reader& reader,
                                           UnreadAmounts& unread) {
  ReportedByName reported;
  for (const char* field : {"containerStatuses", "initContainerStatuses"}) {
    const json::Array& statuses = pod.ArrayAt({"status", field});
    for (std::size_t i = 0; i < statuses.size(); ++i) {
      const auto here = [&] { return "status." + Element(field, i); };
      auto one = ParseStatus(statuses[i], rules, reader, unread, here);
      if (!one) return one.error();
      const std::string_view name = statuses[i].StringAt({"name"});
      // Of two of the same name upstream reads the first one since 1.37, and the last one before.
      if (rules.resize == Rules::Resize::kByPod) {
        reported.try_emplace(name, std::move(*one));
      } else {
        reported.insert_or_assign(name, std::move(*one));
      }
    }
  }
  return reported;
}

// The node has refused the resize for good: the resources in the spec will not be given.
bool IsResizeInfeasible(const json::Value& pod) {
  for (const json::Value& condition : pod.ArrayAt({"status", "conditions"})) {
    if (condition.StringAt({"type"}) == "PodResizePending") {
      return condition.StringAt({"reason"}) == "Infeasible";
    }
  }
  return false;
}

base::Result<std::vector<Container>> ParseContainers(const json::Array& list, const char* field,
                                                     Reader& reader) {
  std::vector<Container> containers;
  containers.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    Container container;
    container.restartable = list[i].StringAt({"restartPolicy"}) == "Always";
    if (const json::Value* resources = list[i].At({"resources"})) {
      const auto here = [&] { return Element(field, i) + ".resources"; };
      auto amounts = reader.ReadBoth(*resources, here);
      if (!amounts) return amounts.error();
      container.spec = std::move(*amounts);
    }
    containers.push_back(std::move(container));
  }
  return containers;
}

// REQUIRES: `containers` were parsed from `list`.
void AddReported(const json::Array& list, const ReportedByName& reported,
                 std::vector<Container>& containers) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const auto at = reported.find(list[i].StringAt({"name"}));
    if (at != reported.end()) containers[i].reported = at->second;
  }
}

base::Result<void> ParseReported(const json::Value& pod, Reader& reader, PodResources& resources) {
  const auto reported = ParseStatuses(pod, resources.rules, reader, resources.unread);
  if (!reported) return reported.error();
  resources.infeasible = IsResizeInfeasible(pod);
  if (reported->empty()) return {};
  AddReported(pod.ArrayAt({"spec", "containers"}), *reported, resources.containers);
  AddReported(pod.ArrayAt({"spec", "initContainers"}), *reported, resources.init_containers);
  return {};
}

// A pod-level amount that can be read counts instead of what the containers say.
void ReadInstead(const ResourceList& pod_level, std::set<std::string>& unread) {
  std::erase_if(unread, [&](const std::string& name) {
    return IsPodLevelResource(name) && pod_level.Find(name) != nullptr;
  });
}

bool HasPositiveCompute(const Amounts& amounts) {
  for (const ResourceList* list : {&amounts.requests, &amounts.limits}) {
    for (const char* name : {"cpu", "memory"}) {
      if (list->Get(name).Sign() > 0) return true;
    }
  }
  return false;
}

bool NamesPodLevel(const Amounts& amounts) {
  const auto any = [](const ResourceList& list) {
    return std::ranges::any_of(list,
                               [](const auto& item) { return IsPodLevelResource(item.first); });
  };
  return any(amounts.requests) || any(amounts.limits);
}

base::Result<void> ParsePodLevel(const json::Value& pod, Reader& reader, PodResources& resources) {
  const json::Value* pod_level = pod.At({"spec", "resources"});
  if (pod_level == nullptr || pod_level->IsNull()) return {};
  UnreadAmounts& unread = resources.unread;
  auto amounts = reader.ReadBoth(*pod_level, [] { return "spec.resources"; });
  if (!amounts) return amounts.error();
  ReadInstead(amounts->requests, unread.requests);
  ReadInstead(amounts->limits, unread.limits);
  resources.pod_level = std::move(*amounts);
  const json::Value* status = pod.At({"status"});
  const json::Value* actual = pod.At({"status", "resources"});
  if (actual == nullptr || actual->IsNull()) return {};
  auto reported =
      ParseStatus(*status, resources.rules, reader, unread, [] { return std::string("status"); });
  if (!reported) return reported.error();
  resources.reported = std::move(*reported);
  return {};
}

base::Result<PodResources> Parse(const json::Value& pod, WantedNames& wanted, Rules rules) {
  PodResources resources;
  resources.rules = rules;
  UnreadAmounts& unread = resources.unread;
  Reader reader(unread, wanted);
  auto containers = ParseContainers(pod.ArrayAt({"spec", "containers"}), "spec.containers", reader);
  if (!containers) return containers.error();
  resources.containers = std::move(*containers);
  auto init =
      ParseContainers(pod.ArrayAt({"spec", "initContainers"}), "spec.initContainers", reader);
  if (!init) return init.error();
  resources.init_containers = std::move(*init);
  if (auto done = ParseReported(pod, reader, resources); !done) return done.error();
  if (auto done = ParsePodLevel(pod, reader, resources); !done) return done.error();
  const json::Value* spec = pod.At({"spec"});
  if (spec == nullptr) return resources;
  // Overhead is added to the requests, and to limits.
  std::set<std::string> of_overhead;
  auto overhead = reader.Read(*spec, "overhead", of_overhead, [] { return "spec"; });
  if (!overhead) return overhead.error();
  resources.overhead = std::move(*overhead);
  for (std::set<std::string>* into : {&unread.requests, &unread.limits}) {
    into->insert(of_overhead.begin(), of_overhead.end());
  }
  return resources;
}

}  // namespace

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || IsHugePages(name);
}

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

std::vector<std::string> PodResourceFields() {
  return {"spec.overhead",
          "spec.resources",
          "spec.containers.name",
          "spec.containers.resources",
          "spec.initContainers.name",
          "spec.initContainers.resources",
          "spec.initContainers.restartPolicy",
          "status.resources",
          "status.allocatedResources",
          "status.conditions.type",
          "status.conditions.reason",
          "status.containerStatuses.name",
          "status.containerStatuses.resources",
          "status.containerStatuses.allocatedResources",
          "status.initContainerStatuses.name",
          "status.initContainerStatuses.resources",
          "status.initContainerStatuses.allocatedResources"};
}

base::Result<PodResources> ParsePodResources(const json::Value& pod, const IsLimited& limited,
                                             Rules rules) {
  WantedNames wanted(limited);
  base::Result<PodResources> resources = Parse(pod, wanted, rules);
  if (wanted.MustReadAgain()) resources = Parse(pod, wanted, rules);
  if (resources) resources->left_out = wanted.left_out();
  return resources;
}

bool IsBestEffort(const PodResources& pod) {
  for (const auto* unread : {&pod.unread.requests, &pod.unread.limits}) {
    if (unread->contains("cpu") || unread->contains("memory")) return false;
  }
  const bool decides =
      pod.pod_level && (pod.rules.empty_pod_level_decides || NamesPodLevel(*pod.pod_level));
  if (decides) return !HasPositiveCompute(*pod.pod_level);
  const auto asks = [](const Container& container) { return HasPositiveCompute(container.spec); };
  return std::ranges::none_of(pod.containers, asks) &&
         std::ranges::none_of(pod.init_containers, asks);
}

}  // namespace quota::core

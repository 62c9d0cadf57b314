#include "pkg/quota/core/pod_resources.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "pkg/quota/quantity_field.h"

namespace quota::core {
namespace {

// The status of a container that reports its actual resources.
struct Actuated {
  Amounts amounts;
  ResourceList allocated;
};
using ActuatedByName = std::map<std::string_view, Actuated>;

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

base::Result<void> ParseStatuses(const json::Array& statuses, const char* field, Reader& reader,
                                 UnreadAmounts& unread, ActuatedByName& actuated) {
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const json::Value* resources = statuses[i].At({"resources"});
    if (resources == nullptr || resources->IsNull()) continue;
    const auto here = [&] { return "status." + Element(field, i); };
    auto amounts = reader.ReadBoth(*resources, [&] { return here() + ".resources"; });
    if (!amounts) return amounts.error();
    auto allocated = reader.Read(statuses[i], "allocatedResources", unread.requests, here);
    if (!allocated) return allocated.error();
    actuated.insert_or_assign(statuses[i].StringAt({"name"}),
                              Actuated{std::move(*amounts), std::move(*allocated)});
  }
  return {};
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

// Computed for each container, as in Kubernetes up to 1.36. Since 1.37 the larger of the pod's sums
// counts, which differs if one container grows while another shrinks.
Amounts Effective(const Amounts& spec, const Actuated& actuated, bool infeasible) {
  // Of equal amounts the first one decides the format, so the order matters.
  Amounts effective = infeasible ? Amounts() : spec;
  effective.requests.RaiseTo(actuated.amounts.requests);
  effective.requests.RaiseTo(actuated.allocated);
  effective.limits.RaiseTo(actuated.amounts.limits);
  return effective;
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
void ApplyStatus(const json::Array& list, const ActuatedByName& actuated, bool infeasible,
                 bool only_restartable, std::vector<Container>& containers) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (only_restartable && !containers[i].restartable) continue;
    const auto at = actuated.find(list[i].StringAt({"name"}));
    if (at == actuated.end()) continue;
    containers[i].resized = Effective(containers[i].spec, at->second, infeasible);
  }
}

base::Result<void> ParseEffective(const json::Value& pod, Reader& reader, PodResources& resources) {
  ActuatedByName actuated;
  for (const char* field : {"containerStatuses", "initContainerStatuses"}) {
    auto done =
        ParseStatuses(pod.ArrayAt({"status", field}), field, reader, resources.unread, actuated);
    if (!done) return done.error();
  }
  if (actuated.empty()) return {};
  const bool infeasible = IsResizeInfeasible(pod);
  ApplyStatus(pod.ArrayAt({"spec", "containers"}), actuated, infeasible, false,
              resources.containers);
  // An ordinary init container has ended before a resize is possible.
  ApplyStatus(pod.ArrayAt({"spec", "initContainers"}), actuated, infeasible, true,
              resources.init_containers);
  return {};
}

// An amount of one container, under one name.
struct Share {
  enum class Of : std::uint8_t { kContainer, kSidecar, kInitContainer };
  std::string_view name;
  Of of = Of::kContainer;
  const Quantity* amount = nullptr;
};

std::vector<Share> SharesOf(const PodResources& pod, ResourceList Amounts::*list) {
  std::vector<Share> shares;
  const auto add = [&](const Container& container, Share::Of of) {
    for (const auto& [name, amount] : container.effective().*list)
      shares.push_back({name, of, &amount});
  };
  for (const Container& one : pod.containers) add(one, Share::Of::kContainer);
  for (const Container& one : pod.init_containers) {
    add(one, one.restartable ? Share::Of::kSidecar : Share::Of::kInitContainer);
  }
  return shares;
}

// The sum over what runs at the same time: all containers and sidecars, or, if that is more, an
// init container with the sidecars that started before it. `shares` have one name, in the order of
// the containers.
Quantity AtOnce(std::span<const Share> shares) {
  std::optional<Quantity> running;
  std::optional<Quantity> peak;
  std::optional<Quantity> sidecars;
  for (const Share& share : shares) {
    const bool sidecar = share.of == Share::Of::kSidecar;
    if (share.of != Share::Of::kContainer) {
      // The first summand decides the format.
      const Quantity at_start = !sidecars ? *share.amount
                                : sidecar ? sidecars->Add(*share.amount)
                                          : share.amount->Add(*sidecars);
      if (!peak || *peak < at_start) peak = at_start;
      if (!sidecar) continue;  // it ends before the others start
      sidecars = at_start;
    }
    running = running.value_or(Quantity()).Add(*share.amount);
  }
  return !running || (peak && *running < *peak) ? *peak : *running;
}

// Sorted once by name, because both the containers and the names can be thousands.
ResourceList Aggregate(const PodResources& pod, ResourceList Amounts::*list) {
  std::vector<Share> shares = SharesOf(pod, list);
  const bool sorted = std::ranges::is_sorted(shares, {}, &Share::name);
  if (!sorted) std::ranges::stable_sort(shares, {}, &Share::name);
  std::vector<ResourceList::Item> total;
  total.reserve(shares.size());
  for (auto first = shares.begin(); first != shares.end();) {
    const auto end = std::find_if(first, shares.end(),
                                  [&](const Share& one) { return one.name != first->name; });
    total.emplace_back(first->name, AtOnce({first, end}));
    first = end;
  }
  return ResourceList::FromItems(std::move(total));
}

void ReplaceByPodLevel(const ResourceList& pod_level, ResourceList& total) {
  std::vector<ResourceList::Item> replaced;
  std::ranges::copy_if(pod_level, std::back_inserter(replaced),
                       [](const auto& item) { return IsPodLevelResource(item.first); });
  total.SetAll(ResourceList::FromItems(std::move(replaced)));
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

base::Result<PodResources> Parse(const json::Value& pod, WantedNames& wanted) {
  PodResources resources;
  UnreadAmounts& unread = resources.unread;
  Reader reader(unread, wanted);
  auto containers = ParseContainers(pod.ArrayAt({"spec", "containers"}), "spec.containers", reader);
  if (!containers) return containers.error();
  resources.containers = std::move(*containers);
  auto init =
      ParseContainers(pod.ArrayAt({"spec", "initContainers"}), "spec.initContainers", reader);
  if (!init) return init.error();
  resources.init_containers = std::move(*init);
  if (auto done = ParseEffective(pod, reader, resources); !done) return done.error();
  const json::Value* pod_level = pod.At({"spec", "resources"});
  if (pod_level != nullptr && !pod_level->IsNull()) {
    auto amounts = reader.ReadBoth(*pod_level, [] { return "spec.resources"; });
    if (!amounts) return amounts.error();
    ReadInstead(amounts->requests, unread.requests);
    ReadInstead(amounts->limits, unread.limits);
    resources.pod_level = std::move(*amounts);
  }
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
          "status.conditions.type",
          "status.conditions.reason",
          "status.containerStatuses.name",
          "status.containerStatuses.resources",
          "status.containerStatuses.allocatedResources",
          "status.initContainerStatuses.name",
          "status.initContainerStatuses.resources",
          "status.initContainerStatuses.allocatedResources"};
}

base::Result<PodResources> ParsePodResources(const json::Value& pod, const IsLimited& limited) {
  WantedNames wanted(limited);
  base::Result<PodResources> resources = Parse(pod, wanted);
  if (wanted.MustReadAgain()) resources = Parse(pod, wanted);
  if (resources) resources->left_out = wanted.left_out();
  return resources;
}

Amounts TotalOf(const PodResources& pod) {
  Amounts total{Aggregate(pod, &Amounts::requests), Aggregate(pod, &Amounts::limits)};
  if (pod.pod_level) {
    ReplaceByPodLevel(pod.pod_level->requests, total.requests);
    ReplaceByPodLevel(pod.pod_level->limits, total.limits);
  }
  total.requests.Add(pod.overhead);
  // Overhead is added to a limit only if there is one.
  ResourceList limited_overhead;
  for (const auto& [name, quantity] : pod.overhead) {
    if (!total.limits.Get(name).IsZero()) limited_overhead.Set(name, quantity);
  }
  total.limits.Add(limited_overhead);
  return total;
}

bool IsBestEffort(const PodResources& pod) {
  for (const auto* unread : {&pod.unread.requests, &pod.unread.limits}) {
    if (unread->contains("cpu") || unread->contains("memory")) return false;
  }
  if (pod.pod_level) return !HasPositiveCompute(*pod.pod_level);
  const auto asks = [](const Container& container) { return HasPositiveCompute(container.spec); };
  return std::ranges::none_of(pod.containers, asks) &&
         std::ranges::none_of(pod.init_containers, asks);
}

}  // namespace quota::core

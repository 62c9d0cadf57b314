// What a pod counts for: the sum over its containers, during a resize by the server's rules.

#include <algorithm>
#include <iterator>
#include <list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/quota/core/pod_resources.h"

namespace quota::core {
namespace {

// An amount of one container, under one name.
struct Share {
  enum class Of : std::uint8_t { kContainer, kSidecar, kInitContainer };
  std::string_view name;
  Of of = Of::kContainer;
  const Quantity* amount = nullptr;
};

// Here and below `choose` is (const Container&, Share::Of) → const ResourceList*, and tells what
// counts of a container; null: nothing. Templates, because each event of a pod sums.
template <typename Choose>
std::vector<Share> SharesOf(const PodResources& pod, const Choose& choose) {
  std::vector<Share> shares;
  const auto add = [&](const Container& container, Share::Of of) {
    const ResourceList* list = choose(container, of);
    if (list == nullptr) return;
    for (const auto& [name, amount] : *list) shares.push_back({name, of, &amount});
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
template <typename Choose>
ResourceList SumOf(const PodResources& pod, const Choose& choose) {
  std::vector<Share> shares = SharesOf(pod, choose);
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

// Requests or limits.
struct Kind {
  ResourceList Amounts::*wanted;
  std::optional<ResourceList> Reported::*actual;
  bool allocated;  // nodes allocate requests only
};
constexpr Kind kRequests{&Amounts::requests, &Reported::requests, true};
constexpr Kind kLimits{&Amounts::limits, &Reported::limits, false};

const ResourceList* AllocatedTo(const std::optional<Reported>& reported, const Kind& kind) {
  const bool known = kind.allocated && reported && reported->allocated;
  return known ? &*reported->allocated : nullptr;
}

const ResourceList* ActualOf(const std::optional<Reported>& reported, const Kind& kind) {
  const bool known = reported && (*reported).*kind.actual;
  return known ? &*((*reported).*kind.actual) : nullptr;
}

// The largest of the wanted, the actual and the allocated amounts, of a container or of the pod as
// a whole.
ResourceList MostOfThree(const ResourceList& wanted, const std::optional<Reported>& reported,
                         const Kind& kind, bool infeasible) {
  ResourceList most = infeasible ? ResourceList() : wanted;
  // Of equal amounts the first one decides the format, so the order matters.
  for (const ResourceList* list : {ActualOf(reported, kind), AllocatedTo(reported, kind)}) {
    if (list != nullptr) most.RaiseTo(*list);
  }
  return most;
}

// Rules::Resize::kByContainer.
ResourceList MostByContainer(const PodResources& pod, const Kind& kind) {
  std::list<ResourceList> raised;
  return SumOf(pod, [&](const Container& container, Share::Of of) -> const ResourceList* {
    const ResourceList& wanted = container.spec.*kind.wanted;
    // An ordinary init container has ended before its pod can be resized.
    const bool fixed = of == Share::Of::kInitContainer;
    if (fixed || !container.reported || !container.reported->actual) return &wanted;
    return &raised.emplace_back(MostOfThree(wanted, container.reported, kind, pod.infeasible));
  });
}

template <typename Choose>
bool AnyDiffers(const PodResources& pod, const Kind& kind, const Choose& choose) {
  const auto differs = [&](const Container& container) {
    const ResourceList& wanted = container.spec.*kind.wanted;
    const ResourceList* chosen = choose(container, Share::Of::kContainer);
    return chosen == nullptr || (chosen != &wanted && !(*chosen == wanted));
  };
  return std::ranges::any_of(pod.containers, differs) ||
         std::ranges::any_of(pod.init_containers, differs);
}

// Rules::Resize::kByPod.
ResourceList MostByPod(const PodResources& pod, const Kind& kind) {
  // What is not reported is as wanted, unless the node has refused that.
  const auto wanted = [&](const Container& container) {
    return pod.infeasible ? nullptr : &(container.spec.*kind.wanted);
  };
  const auto allocated = [&](const Container& container, Share::Of) {
    const ResourceList* list = AllocatedTo(container.reported, kind);
    return list != nullptr ? list : wanted(container);
  };
  const auto actual = [&](const Container& container, Share::Of of) {
    const ResourceList* list = ActualOf(container.reported, kind);
    return list != nullptr ? list : allocated(container, of);
  };
  ResourceList most;
  if (!pod.infeasible) {
    most = SumOf(pod, [&](const Container& container, Share::Of) { return wanted(container); });
  }
  const auto raise = [&](const auto& choose) {
    // Most pods are not being resized.
    if (pod.infeasible || AnyDiffers(pod, kind, choose)) most.RaiseTo(SumOf(pod, choose));
  };
  raise(actual);
  raise(allocated);
  return most;
}

ResourceList MostOf(const PodResources& pod, const Kind& kind) {
  switch (pod.rules.resize) {
    case Rules::Resize::kByContainer:
      return MostByContainer(pod, kind);
    case Rules::Resize::kByPod:
      return MostByPod(pod, kind);
  }
  return {};
}

// What counts under the names that the pod as a whole specifies, also while its node has not yet
// taken back what a smaller spec gives up. Nearly as the scheduler counts it
// (effectivePodLevelResources in component-helpers v0.37.2, resource/helpers.go), which also takes
// names that only the node reports.
ResourceList PodLevelOf(const PodResources& pod, const Kind& kind) {
  const ResourceList& wanted = (*pod.pod_level).*kind.wanted;
  if (!pod.reported) return wanted;
  const ResourceList most = MostOfThree(wanted, pod.reported, kind, pod.infeasible);
  std::vector<ResourceList::Item> counted(wanted.begin(), wanted.end());
  for (auto& [name, amount] : counted) {
    if (const Quantity* found = most.Find(name)) amount = *found;
  }
  return ResourceList::FromItems(std::move(counted));
}

void ReplaceByPodLevel(const ResourceList& pod_level, ResourceList& total) {
  std::vector<ResourceList::Item> replaced;
  std::ranges::copy_if(pod_level, std::back_inserter(replaced),
                       [](const auto& item) { return IsPodLevelResource(item.first); });
  total.SetAll(ResourceList::FromItems(std::move(replaced)));
}

}  // namespace

Amounts TotalOf(const PodResources& pod) {
  Amounts total{MostOf(pod, kRequests), MostOf(pod, kLimits)};
  if (pod.pod_level) {
    ReplaceByPodLevel(PodLevelOf(pod, kRequests), total.requests);
    ReplaceByPodLevel(PodLevelOf(pod, kLimits), total.limits);
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

}  // namespace quota::core

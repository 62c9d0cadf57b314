// Changes of a tree of ClusterQuotas, one on each line. A name is a single word:
//
//   q NAME PARENT LABEL HARD GUARANTEED   a quota over the namespaces with the label ("*": all,
//                                         "-": none), below another ("-": none)
//   n NAME USED LABEL…                    a namespace with this usage
//   dq NAME, dn NAME                      deletes the quota, the namespace
//
// The tree must equal its definition in pkg/quota/cluster/DESIGN.md, which is computed from the
// last state: which quotas are roots and why, which quotas reach a namespace, and their weights.

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "pkg/quota/cluster/tree_place.h"
#include "pkg/quota/guarantee.h"
#include "tests/fuzz/target.h"

namespace {

using quota::LabelText;
using quota::Lineage;
using quota::Quantity;
using quota::Quota;
using quota::QuotaTree;
using quota::ResourceList;
using Names = std::set<std::string>;

constexpr const char* kResource = "pods";
constexpr std::size_t kMostLines = 200;

struct Namespace {
  std::int64_t used = 0;
  json::Value labels;
};

class World {
 public:
  void Change(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    std::string name;
    words >> verb >> name;
    if (name.empty()) return;
    if (verb == "q") PutQuota(name, words);
    if (verb == "n") PutNamespace(name, words);
    if (verb == "dq" && quotas_.erase(name) > 0) tree_.RemoveQuota(name);
    if (verb == "dn" && namespaces_.erase(name) > 0) tree_.RemoveNamespace(name);
  }

  void Check() {
    Count();
    for (const auto& [name, quota] : quotas_) {
      CheckPlace(name);
      tree_.SetPromised(name, quota::Promised(quota, quota.status.used));
    }
    for (const auto& [name, ns] : namespaces_) CheckReach(name, ns);
    for (const auto& [name, quota] : quotas_) CheckWay(name);
    QuotaTree anew;
    for (const auto& [name, ns] : namespaces_) anew.PutNamespace(name, LabelText(&ns.labels));
    for (const auto& [name, quota] : quotas_) anew.PutQuota(quota);
    for (const auto& [name, ns] : namespaces_) {
      fuzz::Require(anew.QuotasOf(name) == tree_.QuotasOf(name), "as if built anew");
      fuzz::Require(tree_.QuotasFor(LabelText(&ns.labels)) == tree_.QuotasOf(name),
                    "for labels as for it");
      fuzz::Require(anew.RegionOf(name) == tree_.RegionOf(name), "regions as if built anew");
    }
  }

 private:
  static Quantity Amount(std::istringstream& words) {
    int amount = 0;
    words >> amount;
    words.clear();
    return Quantity::FromInt(std::clamp(amount, 0, 1'000));
  }

  void PutQuota(const std::string& name, std::istringstream& words) {
    std::string parent;
    std::string label;
    words >> parent >> label;
    Quota quota{.key = {"", name}};
    quota.hard.Set(kResource, Amount(words));
    quota::ClusterSpec& spec = quota.cluster.emplace();
    spec.guaranteed.Set(kResource, Amount(words));
    if (parent != "-") spec.parent = parent;
    if (label == "*") spec.selector.emplace();
    if (label != "*" && label != "-") {
      auto selector = api::LabelSelector::Parse(label);
      if (!selector) return;
      spec.selector = std::move(*selector);
    }
    quota.status.hard = quota.hard;
    tree_.PutQuota(quota);
    quotas_[name] = std::move(quota);
  }

  void PutNamespace(const std::string& name, std::istringstream& words) {
    Namespace& ns = namespaces_[name];
    int used = 0;
    words >> used;
    words.clear();
    ns.used = std::clamp(used, 0, 1'000);
    json::Object labels;
    for (std::string label; words >> label;) labels.Set(label, "");
    ns.labels = std::move(labels);
    tree_.PutNamespace(name, LabelText(&ns.labels));
  }

  // By the definition: where following the parents ends.
  [[nodiscard]] Lineage::Fault FaultOf(const std::string& name) const {
    const std::string& parent = quotas_.at(name).cluster->parent;
    if (parent.empty()) return Lineage::Fault::kNone;
    if (!quotas_.contains(parent)) return Lineage::Fault::kParentNotFound;
    std::string at = parent;
    for (std::size_t steps = 0; steps <= quotas_.size(); ++steps) {
      if (at == name) return Lineage::Fault::kParentCycle;
      const auto quota = quotas_.find(at);
      if (quota == quotas_.end()) return Lineage::Fault::kNone;
      at = quota->second.cluster->parent;
    }
    return Lineage::Fault::kNone;
  }
  [[nodiscard]] bool IsRoot(const std::string& name) const {
    return quotas_.at(name).cluster->parent.empty() || FaultOf(name) != Lineage::Fault::kNone;
  }
  [[nodiscard]] Names UpFrom(const std::string& name) const {
    Names names{name};
    for (std::string at = name; !IsRoot(at);) names.insert(at = quotas_.at(at).cluster->parent);
    return names;
  }
  [[nodiscard]] Names Reaching(const Namespace& ns) const {
    Names names;
    for (const auto& [name, quota] : quotas_) {
      const auto& selector = quota.cluster->selector;
      if (selector && selector->Matches(&ns.labels)) names.merge(UpFrom(name));
    }
    return names;
  }

  void Count() {
    for (auto& [name, quota] : quotas_) quota.status.used.Set(kResource, Quantity());
    for (const auto& [name, ns] : namespaces_) {
      for (const std::string& quota : Reaching(ns)) {
        ResourceList& used = quotas_.at(quota).status.used;
        used.Set(kResource, used.Get(kResource).Add(Quantity::FromInt(ns.used)));
      }
    }
  }

  void CheckPlace(const std::string& name) const {
    const Lineage::Member* place = tree_.Place(name);
    fuzz::Require(place != nullptr, "a quota has a place");
    fuzz::Require(place->fault == FaultOf(name), "its fault is that of its parents");
    fuzz::Require((place->up == nullptr) == IsRoot(name), "who is in a cycle is a root");
    fuzz::Require(place->depth + 1 == UpFrom(name).size(), "as deep as there are quotas above");
    for (const Lineage::Member* child : place->below) {
      fuzz::Require(child->up == place, "a child has it for a parent");
    }
    const auto flaw = tree_.FlawOf(name);
    if (flaw) fuzz::Require(!flaw->reason.empty() && !flaw->message.empty(), "a flaw is told");
    if (place->fault != Lineage::Fault::kNone) fuzz::Require(flaw.has_value(), "so is a fault");
  }

  void CheckReach(const std::string& name, const Namespace& ns) {
    Names reached;
    std::size_t depth = SIZE_MAX;
    for (const auto& reaching : tree_.QuotasOf(name)) {
      fuzz::Require(reached.insert(reaching.name).second, "a quota reaches it once");
      const std::size_t at = tree_.Place(reaching.name)->depth;
      fuzz::Require(at <= depth, "the deepest first");
      depth = at;
      if (reaching.above.empty()) continue;
      fuzz::Require(UpFrom(reaching.above).contains(reaching.name), "it is above that one");
    }
    fuzz::Require(reached == Reaching(ns), "who selects it, and all above");
  }

  [[nodiscard]] ResourceList PromisedTo(std::string_view name) const {
    const auto quota = quotas_.find(std::string(name));
    if (quota == quotas_.end()) return {};
    return quota::Promised(quota->second, quota->second.status.used);
  }

  // What a quota weighs beyond its usage, and what it has left.
  void CheckWay(const std::string& name) const {
    const auto way = tree_.WayUp(name);
    const auto places = quota::PlacesOf(tree_, way);
    std::vector<quota::Standing> standings;
    for (std::size_t i = 0; i < way.size(); ++i) {
      const Quota& quota = quotas_.at(way[i].name);
      standings.push_back({.quota = &quota, .used = quota.status.used, .tree = places[i]});
    }
    for (std::size_t i = 0; i < way.size(); ++i) {
      const Quantity promised = places[i].promised_below.Get(kResource);
      Quantity defined;
      for (const auto& [child, quota] : quotas_) {
        if (IsRoot(child) || quota.cluster->parent != way[i].name) continue;
        defined = defined.Add(PromisedTo(child).Get(kResource));
      }
      fuzz::Require(promised == defined, "its children are promised what is guaranteed and free");
    }
    const Quota& own = quotas_.at(name);
    const Quantity available = quota::Available(standings, 0).Get(kResource);
    const Quantity used = own.status.used.Get(kResource);
    const Quantity most = std::max(own.hard.Get(kResource), used);
    fuzz::Require(available.Add(used) <= most, "no more is available than its limit leaves");
    const Quantity missing = quota::Missing(standings, 0).Get(kResource);
    fuzz::Require(missing <= PromisedTo(name).Get(kResource), "no more is missing than promised");
    if (!missing.IsZero()) fuzz::Require(!IsRoot(name), "nothing is missing without a parent");
  }

  std::map<std::string, Quota> quotas_;
  std::map<std::string, Namespace> namespaces_;
  QuotaTree tree_;
};

FUZZ_TARGET(quota_tree) {
  World world;
  std::istringstream lines{std::string(input)};
  std::string line;
  for (std::size_t i = 0; i < kMostLines && std::getline(lines, line); ++i) world.Change(line);
  world.Check();
}

}  // namespace

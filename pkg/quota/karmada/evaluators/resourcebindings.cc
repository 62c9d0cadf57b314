// ResourceBindings: what is propagated from a namespace, and what it requests in the member
// clusters. A binding counts from its creation, before it is scheduled, by the larger of wanted and
// placed replicas. So a scale-up is charged when it is requested, a copy in each cluster when it is
// placed, and a failover not at all.
//
// If scheduling is suspended and the binding is placed nowhere, its replicas are not wanted yet. An
// invalid amount counts as nothing and is reported as the binding's flaw, so that one bad binding
// does not hide the others.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/quota/count_name.h"
#include "pkg/quota/evaluator.h"
#include "pkg/quota/quantity_field.h"

namespace quota::karmada::resourcebindings {
namespace {

constexpr std::string_view kRequests = "requests.";
constexpr std::string_view kScope = "PriorityClass";
// Different priority classes of one workload. More would let one binding take any memory.
constexpr std::size_t kMostClasses = 16;
constexpr std::int64_t kMostReplicas = std::numeric_limits<std::int32_t>::max();

// Every field by which an update can raise usage, or move it to another scope.
constexpr const char* kCanNeedMore =
    "object.spec.?replicas != oldObject.spec.?replicas || "
    "object.spec.?replicaRequirements.?resourceRequest != "
    "oldObject.spec.?replicaRequirements.?resourceRequest || "
    "object.spec.?replicaRequirements.?priorityClassName != "
    "oldObject.spec.?replicaRequirements.?priorityClassName || "
    "object.spec.?components != oldObject.spec.?components || "
    "object.spec.?clusters != oldObject.spec.?clusters || "
    "object.spec.?suspension.?scheduling != oldObject.spec.?suspension.?scheduling || "
    "object.spec.resource.apiVersion != oldObject.spec.resource.apiVersion || "
    "object.spec.resource.kind != oldObject.spec.resource.kind";

bool IsCompute(std::string_view name) { return name == "cpu" || name == "memory"; }

// A vendor's resource such as "example.com/fpga" or "rdma/hca", except names of this form that have
// a meaning in quotas. A domain needs no dot (IsExtendedResourceName in karmada v1.16.0,
// pkg/util/lifted/corev1helpers.go).
bool IsFullyQualified(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == name.size()) return false;
  const std::string_view domain = name.substr(0, slash);
  return domain != "count" && !domain.starts_with(kRequests) && !domain.starts_with("limits.") &&
         !domain.ends_with(".storageclass.storage.k8s.io") &&
         !domain.ends_with(".deviceclass.resource.k8s.io");
}

bool IsRequested(std::string_view name) { return IsCompute(name) || IsFullyQualified(name); }

bool Owns(std::string_view name) {
  if (name == "pods" || name == "services" || name == "secrets" || IsRequested(name)) return true;
  if (name.starts_with(kRequests)) return IsRequested(name.substr(kRequests.size()));
  return ParseCountName(name).has_value();
}

// Replicas of one template, and what each of them requests.
struct Demand {
  std::int64_t count = 0;
  const json::Value* requirements = nullptr;  // may be null
  std::optional<std::size_t> component = {};  // whose they are; nullopt: the binding's own
};

std::string Element(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// Reads one binding; remembers the first invalid amount. Paths of fields are made by functions,
// which are called only for what is invalid: a binding can have thousands of components.
class Binding {
 public:
  Binding(const json::Value& object, WantedNames& wanted) : object_(object), wanted_(wanted) {}

  ObjectFacts Read() {
    ObjectFacts facts;
    ByClass by_class;
    for (const Demand& demand : Demands()) {
      const std::string_view priority_class =
          demand.requirements != nullptr ? demand.requirements->StringAt({"priorityClassName"})
                                         : "";
      AddUsageOf(demand, by_class[priority_class]);
    }
    SetWorkload(by_class, facts.now);
    SetObject(facts.now);
    facts.flaw = std::move(flaw_);
    return facts;
  }

 private:
  using Items = std::vector<ResourceList::Item>;
  using ByClass = std::map<std::string_view, Items>;
  // Where a component is placed: the index of the cluster, and the replicas there.
  struct Placed {
    std::size_t cluster = 0;
    const json::Value* replicas = nullptr;  // may be null
  };
  using PlacedByName = std::map<std::string_view, std::vector<Placed>>;

  [[nodiscard]] bool IsHeldBack() const {
    const json::Value* suspended = object_.At({"spec", "suspension", "scheduling"});
    return suspended != nullptr && suspended->AsBool().value_or(false) &&
           object_.ArrayAt({"spec", "clusters"}).empty();
  }

  std::vector<Demand> Demands() {
    if (IsHeldBack()) return {};
    const json::Array& components = object_.ArrayAt({"spec", "components"});
    if (components.empty()) return {Single()};
    const PlacedByName placed = PlacedComponents();
    std::vector<Demand> demands;
    for (std::size_t i = 0; i < components.size(); ++i) {
      demands.push_back({.count = CountOf(components[i], i, placed),
                         .requirements = components[i].At({"replicaRequirements"}),
                         .component = i});
    }
    return demands;
  }

  Demand Single() {
    const std::int64_t wanted =
        Replicas(object_.At({"spec", "replicas"}), [] { return std::string("spec.replicas"); });
    std::int64_t placed = 0;
    const json::Array& clusters = object_.ArrayAt({"spec", "clusters"});
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      placed += Replicas(clusters[i].At({"replicas"}),
                         [i] { return Element("spec.clusters", i) + ".replicas"; });
    }
    return {.count = std::max(wanted, placed),
            .requirements = object_.At({"spec", "replicaRequirements"})};
  }

  [[nodiscard]] PlacedByName PlacedComponents() const {
    PlacedByName placed;
    const json::Array& clusters = object_.ArrayAt({"spec", "clusters"});
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      const json::Array& components = clusters[i].ArrayAt({"components"});
      for (const json::Value& component : components) {
        placed[component.StringAt({"name"})].push_back({i, component.At({"replicas"})});
      }
    }
    return placed;
  }

  // One set in each cluster, with the replicas of the component or of the cluster, whichever is
  // more.
  std::int64_t CountOf(const json::Value& component, std::size_t index,
                       const PlacedByName& placed) {
    const std::int64_t wanted = Replicas(component.At({"replicas"}), [index] {
      return Element("spec.components", index) + ".replicas";
    });
    const std::size_t clusters = object_.ArrayAt({"spec", "clusters"}).size();
    if (clusters == 0) return wanted;
    std::int64_t count = static_cast<std::int64_t>(clusters) * wanted;
    const auto found = placed.find(component.StringAt({"name"}));
    if (found == placed.end()) return count;
    // Only the largest one in a cluster counts; those of one cluster follow each other.
    const std::vector<Placed>& places = found->second;
    for (std::size_t i = 0; i < places.size();) {
      const std::size_t cluster = places[i].cluster;
      const auto in_cluster = [cluster] {
        return Element("spec.clusters", cluster) + ".components";
      };
      std::int64_t here = wanted;
      for (; i < places.size() && places[i].cluster == cluster; ++i) {
        here = std::max(here, Replicas(places[i].replicas, in_cluster));
      }
      count += here - wanted;
    }
    return count;
  }

  template <typename Where>
  std::int64_t Replicas(const json::Value* value, const Where& where) {
    if (value == nullptr || value->IsNull()) return 0;
    const auto replicas = value->AsInt64();
    if (replicas && *replicas <= kMostReplicas) return std::max<std::int64_t>(*replicas, 0);
    Note(where(), "must be a whole number of at most " + std::to_string(kMostReplicas));
    return 0;
  }

  void AddUsageOf(const Demand& demand, Items& usage) {
    if (demand.count == 0) return;
    usage.emplace_back("pods", Quantity::FromInt(demand.count));
    const json::Value* requests =
        demand.requirements != nullptr ? demand.requirements->At({"resourceRequest"}) : nullptr;
    if (requests == nullptr || !requests->IsObject()) return;
    for (const auto& [name, value] : *requests->AsObject()) {
      if (!IsRequested(name) || !wanted_.Wants(name)) continue;
      const Quantity amount = Amount(value, demand.count, [&demand, &name = name] {
        std::string path =
            demand.component ? Element("spec.components", *demand.component) : "spec";
        path.append(".replicaRequirements.resourceRequest[").append(name).append("]");
        return path;
      });
      if (amount.IsZero()) continue;
      usage.emplace_back(name, amount);
      usage.emplace_back(std::string(kRequests) + name, amount);
    }
  }

  // Nothing for an invalid amount.
  template <typename Where>
  Quantity Amount(const json::Value& value, std::int64_t count, const Where& where) {
    const base::Result<Quantity> one = QuantityFrom(value, "");
    if (!one) {
      Note("", QuantityFrom(value, where()).error().message);
      return {};
    }
    if (one->Sign() < 0) {
      Note(where(), "must not be negative");
      return {};
    }
    return one->Mul(count);
  }

  // Components with several priority classes become parts, for quotas with scopes.
  void SetWorkload(ByClass& by_class, Facts& facts) {
    Items all;
    for (auto& [priority_class, items] : by_class) {
      std::ranges::copy(items, std::back_inserter(all));
      std::vector<Attribute> attributes;
      if (!priority_class.empty()) attributes.emplace_back(kScope, priority_class);
      if (facts.parts.size() == kMostClasses) {
        Note("spec.components", "must not have more than " + std::to_string(kMostClasses) +
                                    " different priority classes");
        continue;
      }
      if (by_class.size() > 1) {
        facts.parts.push_back({SumOf(std::move(items)), std::move(attributes)});
      } else {
        facts.attributes = std::move(attributes);
      }
    }
    facts.usage = SumOf(std::move(all));
  }

  // Counts the propagated object once, however many clusters it goes to.
  void SetObject(Facts& facts) {
    const std::string_view version = object_.StringAt({"spec", "resource", "apiVersion"});
    const std::string_view kind = object_.StringAt({"spec", "resource", "kind"});
    if (facts.usage.empty()) facts.parts = {Part{}};  // no workload: no scope matches
    if (version == "v1" && kind == "Service") facts.usage.Set("services", Quantity::FromInt(1));
    if (version == "v1" && kind == "Secret") facts.usage.Set("secrets", Quantity::FromInt(1));
    if (kind.empty()) return;
    const std::size_t slash = version.find('/');
    const std::string_view group =
        slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
    facts.classes.push_back({KindClass(group, kind), 1});
  }

  void Note(std::string_view field, const std::string& what) {
    if (!flaw_.empty()) return;
    if (!field.empty()) flaw_.append(field).append(": ");
    flaw_ += what;
  }

  const json::Value& object_;
  WantedNames& wanted_;
  std::string flaw_;
};

base::Result<ObjectFacts> FactsOf(const json::Value& object, const ReadOptions& options) {
  WantedNames wanted(options.limited);
  ObjectFacts facts = Binding(object, wanted).Read();
  if (wanted.MustReadAgain()) facts = Binding(object, wanted).Read();
  facts.left_out = wanted.left_out();
  return facts;
}

// Only discovery knows the plural of a propagated object's kind.
ClassSource Kinds() {
  ClassSource kinds;
  kinds.usage_of_kind = [](const api::GroupResource& resource) {
    return ResourceList{{CountName(resource), Quantity::FromInt(1)}};
  };
  kinds.concerns = [](std::string_view name) { return ParseCountName(name).has_value(); };
  return kinds;
}

}  // namespace

Evaluator MakeEvaluator() {
  return {
      .resource = {.group = "work.karmada.io", .resource = "resourcebindings"},
      .version = "v1alpha2",
      .owns = Owns,
      .fields = {"spec.resource.apiVersion", "spec.resource.kind", "spec.replicas",
                 "spec.replicaRequirements.resourceRequest",
                 "spec.replicaRequirements.priorityClassName", "spec.components.name",
                 "spec.components.replicas", "spec.components.replicaRequirements.resourceRequest",
                 "spec.components.replicaRequirements.priorityClassName", "spec.clusters.replicas",
                 "spec.clusters.components.name", "spec.clusters.components.replicas",
                 "spec.suspension.scheduling"},
      .scopes = {std::string(kScope)},
      .facts_of = FactsOf,
      .guard = {.updates = true,
                .update_condition = kCanNeedMore,
                .subresources = {},
                .fields = {},
                .constraints = nullptr},
      .classes = Kinds(),
  };
}

}  // namespace quota::karmada::resourcebindings

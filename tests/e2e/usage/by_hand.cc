#include "tests/e2e/usage/by_hand.h"

#include <cstdint>
#include <initializer_list>
#include <stdexcept>

namespace e2e::by_hand {
namespace {

// The memory of a card, in MiB: who asks for GPUs without memory gets all of it.
constexpr Milli kCard = Milli{81920} * 1000;

Milli Power(int base, int exponent) {
  Milli power = 1;
  for (int i = 0; i < exponent; ++i) power *= base;
  return power;
}

// The unit, as a fraction in thousandths: "Ki" is 1024000/1000.
Milli UnitOf(std::string_view text, std::string_view unit) {
  if (unit.empty()) return 1000;
  if (unit == "m") return 1;
  const std::size_t step = std::string_view("kMGTPE").find(unit == "Ki" ? 'k' : unit[0]);
  if (unit.size() == 2 && unit[1] == 'i' && step != std::string_view::npos) {
    return 1000 * Power(1024, static_cast<int>(step) + 1);
  }
  if (unit.size() == 1 && step != std::string_view::npos) {
    return 1000 * Power(1000, static_cast<int>(step) + 1);
  }
  const bool exponent = unit.size() > 1 && (unit[0] == 'e' || unit[0] == 'E');
  if (!exponent) throw std::runtime_error("no amount: " + std::string(text));
  return 1000 * Power(10, std::stoi(std::string(unit.substr(1))));
}

Milli Int(const json::Value* number, std::int64_t otherwise) {
  return number == nullptr || number->IsNull() ? otherwise : number->AsInt64().value();
}

Milli AmountIn(const json::Value& object, std::initializer_list<std::string_view> path) {
  const json::Value* amount = object.At(path);
  return amount == nullptr ? 0 : AmountOf(*amount);
}

// `containers` is containers or initContainers.
Milli GpusOf(const json::Value& holder, std::string_view containers) {
  Milli gpus = 0;
  for (const json::Value& container : holder.ArrayAt({"template", "spec", containers})) {
    gpus += AmountIn(container, {"resources", "limits", "nvidia.com/gpu"});
  }
  return gpus;
}

}  // namespace

Milli ReadAmount(std::string_view text) {
  std::size_t at = 0;
  Milli digits = 0;
  int decimals = -1;
  for (; at < text.size(); ++at) {
    if (text[at] == '.') {
      decimals = 0;
    } else if (text[at] >= '0' && text[at] <= '9') {
      digits = digits * 10 + (text[at] - '0');
      if (decimals >= 0) ++decimals;
    } else {
      break;
    }
  }
  const Milli scaled = digits * UnitOf(text, text.substr(at));
  const Milli divisor = decimals > 0 ? Power(10, decimals) : 1;
  if (at == 0 || scaled % divisor != 0) {
    throw std::runtime_error("no amount: " + std::string(text));
  }
  return scaled / divisor;
}

Milli AmountOf(const json::Value& amount) {
  if (const std::string* text = amount.AsString()) return ReadAmount(*text);
  return ReadAmount(amount.AsNumber()->text);
}

std::string ToText(const Sums& sums) {
  std::string text;
  for (const auto& [name, sum] : sums) {
    if (!text.empty()) text += ", ";
    text += name + "=" + std::to_string(static_cast<std::int64_t>(sum / 1000));
    if (sum % 1000 != 0) text += "+" + std::to_string(static_cast<int>(sum % 1000)) + "m";
  }
  return text;
}

// Every instance has a volume of its own for the data, the log, each tablespace and, if the cluster
// says so, temporary files.
Sums PostgresCluster(const json::Value& cluster) {
  const Milli instances = Int(cluster.At({"spec", "instances"}), 1);
  Milli tablespaces = 0;
  for (const json::Value& one : cluster.ArrayAt({"spec", "tablespaces"})) {
    tablespaces += AmountIn(one, {"storage", "size"});
  }
  const Milli template_of_log =
      AmountIn(cluster, {"spec", "walStorage", "pvcTemplate", "resources", "requests", "storage"});
  const Milli temporary = AmountIn(cluster, {"spec", "ephemeralVolumeSource", "volumeClaimTemplate",
                                             "spec", "resources", "requests", "storage"});
  return {
      {"example.com/postgres-instances", instances * 1000},
      {"example.com/postgres-storage", instances * AmountIn(cluster, {"spec", "storage", "size"})},
      {"example.com/postgres-wal-storage",
       instances * AmountIn(cluster, {"spec", "walStorage", "size"})},
      {"example.com/postgres-wal-template-storage", instances * template_of_log},
      {"example.com/postgres-temporary-storage", instances * temporary},
      {"example.com/postgres-tablespace-storage", instances * tablespaces}};
}

// A replica of a group is so many hosts, a pod each. KubeRay starts minReplicas at least.
Sums RayCluster(const json::Value& cluster) {
  Sums sums;
  const auto add = [&](const std::string& name, Milli amount) {
    sums["example.com/ray-" + name] += amount;
  };
  for (const char* name :
       {"workers", "min-workers", "worker-gpus", "min-worker-gpus", "worker-init-gpus",
        "min-worker-init-gpus", "head-gpus", "head-init-gpus", "autoscaler-gpus"}) {
    add(name, 0);
  }
  const json::Value* suspended = cluster.At({"spec", "suspend"});
  if (suspended != nullptr && suspended->AsBool().value()) return sums;
  for (const json::Value& group : cluster.ArrayAt({"spec", "workerGroupSpecs"})) {
    const Milli hosts = Int(group.At({"numOfHosts"}), 1);
    const Milli wanted = Int(group.At({"replicas"}), 0);
    const Milli at_least = Int(group.At({"minReplicas"}), 0);
    add("workers", wanted * hosts * 1000);
    add("min-workers", at_least * hosts * 1000);
    add("worker-gpus", wanted * GpusOf(group, "containers"));
    add("min-worker-gpus", at_least * GpusOf(group, "containers"));
    add("worker-init-gpus", wanted * GpusOf(group, "initContainers"));
    add("min-worker-init-gpus", at_least * GpusOf(group, "initContainers"));
  }
  const json::Value& head = *cluster.At({"spec", "headGroupSpec"});
  add("head-gpus", GpusOf(head, "containers"));
  add("head-init-gpus", GpusOf(head, "initContainers"));
  add("autoscaler-gpus",
      AmountIn(cluster, {"spec", "autoscalerOptions", "resources", "limits", "nvidia.com/gpu"}));
  return sums;
}

// Each node has the volumes that are listed, or the only one. Ephemeral ones have no size.
Sums KafkaNodePool(const json::Value& pool) {
  const Milli nodes = Int(pool.At({"spec", "replicas"}), 0);
  Milli listed = 0;
  for (const json::Value& volume : pool.ArrayAt({"spec", "storage", "volumes"})) {
    listed += AmountIn(volume, {"size"});
  }
  return {{"example.com/kafka-nodes", nodes * 1000},
          {"example.com/kafka-jbod-storage", nodes * listed},
          {"example.com/kafka-storage", nodes * AmountIn(pool, {"spec", "storage", "size"})}};
}

Sums ObjectBucketClaim(const json::Value& claim) {
  return {{"example.com/bucket-bytes", AmountIn(claim, {"spec", "additionalConfig", "maxSize"})}};
}

// The memory is of each of the GPUs that a container has.
Sums GpuPod(const json::Value& pod) {
  const auto memory_of = [&](std::string_view containers) {
    Milli memory = 0;
    for (const json::Value& container : pod.ArrayAt({"spec", containers})) {
      const json::Value* share = container.At({"resources", "limits", "nvidia.com/gpumem"});
      const Milli gpus = AmountIn(container, {"resources", "limits", "nvidia.com/gpu"}) / 1000;
      memory += gpus * (share == nullptr ? kCard : AmountOf(*share));
    }
    return memory;
  };
  return {{"example.com/gpu-memory-mib", memory_of("containers")},
          {"example.com/gpu-init-memory-mib", memory_of("initContainers")}};
}

// Wanted and placed replicas are apart; components are one set of theirs.
Sums ResourceBinding(const json::Value& binding) {
  const json::Value& spec = *binding.At({"spec"});
  const Milli wanted = Int(spec.At({"replicas"}), 0);
  Milli placed = 0;
  for (const json::Value& cluster : spec.ArrayAt({"clusters"})) {
    placed += Int(cluster.At({"replicas"}), 0);
  }
  Sums sums;
  const auto add = [&](const std::string& how, Milli replicas, const json::Value& holder) {
    const std::string prefix = "example.com/karmada-" + how + "-";
    sums[prefix + "pods"] += replicas * 1000;
    for (const std::string name : {"cpu", "memory"}) {
      sums[prefix + name] +=
          replicas * AmountIn(holder, {"replicaRequirements", "resourceRequest", name});
    }
  };
  add("wanted", wanted, spec);
  add("placed", placed, spec);
  add("component", 0, spec);
  for (const json::Value& component : spec.ArrayAt({"components"})) {
    add("component", Int(component.At({"replicas"}), 0), component);
  }
  return sums;
}

Sums VirtualMachine(const json::Value& machine, const Sums& types) {
  const std::string_view type = machine.StringAt({"spec", "instancetype", "name"});
  const json::Value* domain = machine.At({"spec", "template", "spec", "domain"});
  return {
      {"example.com/vm-memory", AmountIn(*domain, {"memory", "guest"})},
      {"example.com/vm-requested-memory", AmountIn(*domain, {"resources", "requests", "memory"})},
      {"example.com/vm-memory-limit", AmountIn(*domain, {"resources", "limits", "memory"})},
      {"example.com/vm-page-memory", AmountIn(*domain, {"memory", "hugepages", "pageSize"})},
      {"example.com/vm-instancetype-memory", type.empty() ? 0 : types.find(type)->second}};
}

}  // namespace e2e::by_hand

#include "tests/bench/soak_world.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cloud.h"
#include "tests/e2e/harness/federation.h"
#include "tests/e2e/harness/files.h"
#include "tests/source_dir.h"

namespace bench {
namespace {

using quantity::Quantity;

constexpr const char* kBindings = "/apis/work.karmada.io/v1alpha2";
constexpr const char* kKarmadaQuotas = "/apis/policy.karmada.io/v1alpha1";
constexpr const char* kMachines = "/apis/compute.ironcore.dev/v1alpha1";
constexpr const char* kIroncoreQuotas = "/apis/core.ironcore.dev/v1alpha1";
constexpr const char* kClass = "soaked";
constexpr std::size_t kMostOfACrop = 30;
constexpr std::chrono::seconds kTimeout{5};
// A burst: so many creations in each of so many ticks, then as many deletions, then a pause.
constexpr int kCrowdOfATick = 20;
constexpr int kCrowdTicks = 10;
constexpr int kTicksOfATurn = 40;

json::Value Definition(const std::string& path) {
  auto definition = config::ParseYaml(e2e::ReadFile(tests::SourcePath(path)));
  if (!definition) throw std::runtime_error(path + ": " + definition.error().message);
  return std::move(*definition);
}

std::string In(const std::string& prefix, const std::string& ns, const std::string& resource) {
  return prefix + "/namespaces/" + ns + "/" + resource;
}

Crop CoreCrop(const std::string& ns, const std::string& resource,
              std::function<json::Value(const std::string&)> make, e2e::Quantities each) {
  return {.collection = e2e::PathOf(resource, ns),
          .everywhere = e2e::PathOf(resource),
          .make = std::move(make),
          .each = std::move(each),
          .alive = {}};
}

Crop PodCrop(const std::string& ns) {
  const auto pod = [](const std::string& name) { return e2e::Pod(name, {{"cpu", "100m"}}); };
  return CoreCrop(ns, "pods", pod, {{"pods", "1"}, {"requests.cpu", "100m"}});
}

Quantity Parsed(const std::string& text) {
  const auto parsed = Quantity::Parse(text);
  if (!parsed) throw std::runtime_error(text + ": " + parsed.error().message);
  return *parsed;
}

// Objects of one list by namespace.
using Names = std::map<std::string, std::vector<std::string>, std::less<>>;

Names NamesByNamespace(const json::Value& list) {
  Names names;
  const json::Value* items = list.At({"items"});
  if (items == nullptr || items->AsArray() == nullptr) return names;
  for (const json::Value& item : *items->AsArray()) {
    names[std::string(item.StringAt({"metadata", "namespace"}))].emplace_back(
        item.StringAt({"metadata", "name"}));
  }
  return names;
}

std::map<std::string, json::Value> QuotasByNamespace(const json::Value& list) {
  std::map<std::string, json::Value> quotas;
  const json::Value* items = list.At({"items"});
  if (items == nullptr || items->AsArray() == nullptr) return quotas;
  for (const json::Value& item : *items->AsArray()) {
    quotas[std::string(item.StringAt({"metadata", "namespace"}))] = item;
  }
  return quotas;
}

std::map<std::string, Quantity> TruthOf(const Room& room) {
  std::map<std::string, Quantity> truth;
  for (const auto& [name, limit] : e2e::ToQuantities(room.quota.At({"spec", "hard"}))) {
    truth[name] = Quantity();
  }
  for (const Crop& crop : room.crops) {
    const auto count = static_cast<std::int64_t>(crop.alive.size());
    for (const auto& [name, amount] : crop.each) {
      truth[name] = truth[name].Add(Parsed(amount).Mul(count));
    }
  }
  return truth;
}

// "" if the quota's used is exactly this.
std::string Untruth(const json::Value& quota, const std::map<std::string, Quantity>& truth) {
  const auto used = e2e::ToQuantities(quota.At({"status", "used"}));
  for (const auto& [name, amount] : truth) {
    const auto found = used.find(name);
    if (found == used.end()) return "no " + name + " in " + e2e::ToText(used);
    if (Parsed(found->second) != amount) {
      return name + " is " + found->second + ", the truth is " + amount.ToString();
    }
  }
  return used.size() == truth.size() ? "" : "more than is limited: " + e2e::ToText(used);
}

// A failed request may have worked: an existing object is as good.
void Ensure(e2e::Api& api, const std::string& path, const json::Value& object) {
  const auto answer = api.Do(e2e::PostOf(path, object));
  if (answer || answer.error().http_status == 409) return;
  throw std::runtime_error(path + ": " + answer.error().message);
}

}  // namespace

SoakWorld::SoakWorld(const SoakRooms& rooms) {
  for (int i = 0; i < rooms.core; ++i) AddCore("core-" + std::to_string(i));
  for (int i = 0; i < rooms.karmada; ++i) AddKarmada("karmada-" + std::to_string(i));
  for (int i = 0; i < rooms.ironcore; ++i) AddIroncore("ironcore-" + std::to_string(i));
  for (int i = 0; i < rooms.crowds; ++i) AddCrowd("crowd-" + std::to_string(i));
  if (rooms.karmada > 0) {
    definitions_.push_back(Definition("/manifests/karmada/karmadaquota-crd.yaml"));
    definitions_.push_back(Definition("/tests/e2e/karmada/resourcebindings-crd.yaml"));
  }
  if (rooms.ironcore > 0) {
    for (const char* plural : e2e::kCloudKinds) {
      definitions_.push_back(e2e::CloudDefinition(plural));
    }
  }
}

void SoakWorld::AddCore(const std::string& ns) {
  Room room{.ns = ns,
            .quotas = e2e::PathOf("resourcequotas", ns),
            .quotas_everywhere = e2e::PathOf("resourcequotas"),
            .quota = e2e::Quota("q", {{"pods", "20"},
                                      {"requests.cpu", "1500m"},
                                      {"configmaps", "12"},
                                      {"secrets", "100"},
                                      {"services", "10"}}),
            .crops = {}};
  room.crops.push_back(PodCrop(ns));
  room.crops.push_back(CoreCrop(ns, "configmaps", e2e::ConfigMap, {{"configmaps", "1"}}));
  room.crops.push_back(CoreCrop(ns, "secrets", e2e::Secret, {{"secrets", "1"}}));
  room.crops.push_back(CoreCrop(ns, "services", e2e::ClusterIpService, {{"services", "1"}}));
  rooms_.push_back(std::move(room));
}

void SoakWorld::AddKarmada(const std::string& ns) {
  const json::Value quota =
      json::Object{{"apiVersion", "policy.karmada.io/v1alpha1"},
                   {"kind", "KarmadaQuota"},
                   {"metadata", json::Object{{"name", "q"}}},
                   {"spec", json::Object{{"hard", json::Object{{"cpu", "4"}, {"pods", "50"}}}}}};
  Room room{.ns = ns,
            .quotas = In(kKarmadaQuotas, ns, "karmadaquotas"),
            .quotas_everywhere = std::string(kKarmadaQuotas) + "/karmadaquotas",
            .quota = quota,
            .crops = {}};
  const auto binding = [](const std::string& name) {
    json::Value made = e2e::Binding(name, 2, {{"cpu", "100m"}});
    made.Make({"metadata", "finalizers"}) = json::Array();
    return made;
  };
  room.crops.push_back({.collection = In(kBindings, ns, "resourcebindings"),
                        .everywhere = std::string(kBindings) + "/resourcebindings",
                        .make = binding,
                        .each = {{"cpu", "200m"}, {"pods", "2"}},
                        .alive = {}});
  rooms_.push_back(std::move(room));
}

void SoakWorld::AddIroncore(const std::string& ns) {
  const std::string count = "count/machines.compute.ironcore.dev";
  Room room{.ns = ns,
            .quotas = In(kIroncoreQuotas, ns, "resourcequotas"),
            .quotas_everywhere = std::string(kIroncoreQuotas) + "/resourcequotas",
            .quota = e2e::CloudQuota("q", {{count, "15"}, {"requests.cpu", "100"}}),
            .crops = {}};
  room.crops.push_back({.collection = In(kMachines, ns, "machines"),
                        .everywhere = std::string(kMachines) + "/machines",
                        .make = [](const std::string& name) { return e2e::Machine(name, kClass); },
                        .each = {{count, "1"}, {"requests.cpu", "2"}},
                        .alive = {}});
  rooms_.push_back(std::move(room));
}

// With limits that are far away, so that advance charges are a small part of what is free.
void SoakWorld::AddCrowd(const std::string& ns) {
  rooms_.push_back({.ns = ns,
                    .quotas = e2e::PathOf("resourcequotas", ns),
                    .quotas_everywhere = e2e::PathOf("resourcequotas"),
                    .quota = e2e::Quota("q", {{"pods", "4000"}, {"requests.cpu", "400"}}),
                    .crops = {PodCrop(ns)}});
  crowded_.push_back(rooms_.size() - 1);
}

void SoakWorld::Create(e2e::Api& api) const {
  for (const json::Value& definition : definitions_) {
    Ensure(api, e2e::PathOf("customresourcedefinitions"), definition);
  }
  bool classes = false;
  for (const Room& room : rooms_) {
    Ensure(api, e2e::PathOf("namespaces"), e2e::Namespace(room.ns));
    Ensure(api, room.quotas, room.quota);
    classes = classes || room.ns.starts_with("ironcore");
  }
  if (!classes) return;
  Ensure(api, std::string(kMachines) + "/machineclasses",
         e2e::MachineClass(kClass, {{"cpu", "2"}, {"memory", "4Gi"}}));
}

client::ApiRequest SoakWorld::NextRequest() {
  Room& room = rooms_[random_() % rooms_.size()];
  Crop& crop = room.crops[random_() % room.crops.size()];
  const auto dice = random_() % 10;
  const bool many = crop.alive.size() >= kMostOfACrop;
  if (crop.alive.empty() || (dice < 5 && !many)) return Post(crop);
  std::swap(crop.alive[random_() % crop.alive.size()], crop.alive.back());
  if (dice >= 6) return Delete(crop);
  client::ApiRequest patch =
      e2e::PatchOf(crop.collection + "/" + crop.alive.back(),
                   R"({"metadata":{"labels":{"turn":")" + std::to_string(next_++) + "\"}}}");
  patch.timeout = kTimeout;
  return patch;
}

client::ApiRequest SoakWorld::Post(Crop& crop) {
  crop.alive.push_back("s" + std::to_string(next_++));
  client::ApiRequest post = e2e::PostOf(crop.collection, crop.make(crop.alive.back()));
  post.timeout = kTimeout;
  return post;
}

client::ApiRequest SoakWorld::Delete(Crop& crop) {
  const std::string path = crop.collection + "/" + crop.alive.back();
  crop.alive.pop_back();
  return {
      .verb = "DELETE", .path = path, .query = {{"gracePeriodSeconds", "0"}}, .timeout = kTimeout};
}

std::vector<client::ApiRequest> SoakWorld::NextTick(std::size_t count) {
  std::vector<client::ApiRequest> requests;
  while (requests.size() < count) requests.push_back(NextRequest());
  for (const std::size_t i : crowded_) AddCrowdOfTick(rooms_[i].crops[0], requests);
  ++tick_;
  return requests;
}

void SoakWorld::AddCrowdOfTick(Crop& crop, std::vector<client::ApiRequest>& requests) {
  const int tick = tick_ % kTicksOfATurn;
  for (int i = 0; i < kCrowdOfATick; ++i) {
    if (tick < kCrowdTicks) {
      requests.push_back(Post(crop));
    } else if (tick < 2 * kCrowdTicks && !crop.alive.empty()) {
      requests.push_back(Delete(crop));
    }
  }
}

Standing SoakWorld::Look(e2e::Api& api) {
  std::map<std::string, Names> names;
  std::map<std::string, std::map<std::string, json::Value>> quotas;
  for (Room& room : rooms_) {
    for (Crop& crop : room.crops) {
      const auto [list, added] = names.try_emplace(crop.everywhere);
      if (added) list->second = NamesByNamespace(api.Get(crop.everywhere));
      const auto found = list->second.find(room.ns);
      crop.alive = found == list->second.end() ? std::vector<std::string>() : found->second;
    }
    const auto [list, added] = quotas.try_emplace(room.quotas_everywhere);
    if (added) list->second = QuotasByNamespace(api.Get(room.quotas_everywhere));
  }
  Standing standing;
  for (const Room& room : rooms_) {
    const json::Value& quota = quotas[room.quotas_everywhere][room.ns];
    const std::string untruth = Untruth(quota, TruthOf(room));
    if (!Overcommitted(quota).empty()) ++standing.over;
    if (untruth.empty()) continue;
    if (++standing.untrue == 1) standing.first = room.ns + ": " + untruth;
  }
  return standing;
}

void SoakWorld::Forget() {
  for (Room& room : rooms_) {
    for (Crop& crop : room.crops) crop.alive.clear();
  }
}

std::size_t SoakWorld::objects() const {
  std::size_t count = 0;
  for (const Room& room : rooms_) {
    for (const Crop& crop : room.crops) count += crop.alive.size();
  }
  return count;
}

std::string Overcommitted(const json::Value& quota) {
  const auto hard = e2e::ToQuantities(quota.At({"spec", "hard"}));
  for (const auto& [name, used] : e2e::ToQuantities(quota.At({"status", "used"}))) {
    const auto limit = hard.find(name);
    if (limit == hard.end() || Parsed(used) <= Parsed(limit->second)) continue;
    return std::string(name).append(" ").append(used).append(" of ").append(limit->second);
  }
  return "";
}

}  // namespace bench

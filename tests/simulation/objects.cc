#include "tests/simulation/objects.h"

#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace simulation {
namespace {

std::string Pair(const std::string& name, const std::string& value) {
  std::string text = "\"";
  text.append(name).append("\":\"").append(value).append("\"");
  return text;
}

// The second one fits into 128 bits of 10^-9, but twice that does not.
std::string TextOf(std::int64_t amount) {
  if (amount == kUnreadable) return kGarbage;
  if (amount < kMost) return std::to_string(amount);
  return amount == kMost ? "1e30" : "1e29";
}

// `texts` are written in place of the numbers.
std::string ToJson(const Amounts& amounts, const Texts& texts = {}) {
  std::string text = "{";
  for (const auto& [name, amount] : amounts) {
    if (text.size() > 1) text += ",";
    const auto stored = texts.find(name);
    text += Pair(name, stored != texts.end() ? stored->second : TextOf(amount));
  }
  return text.append("}");
}

// What the spec says of the limits.
std::string LimitsOf(const StoredQuota& quota) {
  Amounts named = quota.hard;
  Texts texts;
  for (const std::string& name : quota.unread) {
    named[name] = Get(quota.said, name);
    if (!quota.said.contains(name)) texts[name] = kGarbage;
  }
  return ToJson(named, texts);
}

std::string Metadata(const std::string& ns, const std::string& name, const std::string& uid,
                     std::uint64_t version, const std::string& more = "") {
  std::string text = "{\"metadata\":{";
  if (!ns.empty()) text.append(Pair("namespace", ns)).append(",");
  text.append(Pair("name", name)).append(",");
  text.append(Pair("uid", uid)).append(",");
  text.append(Pair("resourceVersion", std::to_string(version)));
  return text.append(more).append("}");
}

// The members of the metadata that only quotas have.
std::string FurtherMetadata(const StoredQuota& quota) {
  if (quota.tree) return ",\"generation\":" + std::to_string(quota.generation);
  if (quota.reservations.empty()) return "";
  std::string text = ",\"annotations\":{";
  text.append(json::Quote(quota::kReservations)).append(":");
  return text.append(json::Quote(quota.reservations)).append("}");
}

std::string ToJson(const Labels& labels) {
  std::string text = "{";
  for (const auto& [name, value] : labels) {
    if (text.size() > 1) text += ",";
    text += Pair(name, value);
  }
  return text.append("}");
}

// The members of the spec that only ClusterQuotas have.
std::string ToJson(const InTree& tree) {
  static constexpr const char* kModes[] = {"Deny", "Warn", "Audit"};
  std::string text = ",";
  text += Pair("enforcement", kModes[static_cast<std::size_t>(tree.mode)]);
  if (tree.selector) {
    text.append(",\"namespaceSelector\":{\"matchLabels\":");
    text.append(ToJson(*tree.selector)).append("}");
  }
  if (!tree.parent.empty()) text.append(",").append(Pair("parent", tree.parent));
  if (tree.guaranteed.empty()) return text;
  return text.append(",\"guaranteed\":").append(ToJson(tree.guaranteed));
}

// The members of the status that only ClusterQuotas have.
std::string FurtherStatus(const StoredQuota& quota) {
  std::string text;
  for (const auto& [name, value] : quota.further) {
    text.append(json::Quote(name)).append(":").append(json::Write(value)).append(",");
  }
  if (quota.reservations.empty()) return text;
  return text.append("\"reservations\":").append(json::Quote(quota.reservations)).append(",");
}

std::string MetadataOf(const Thing& thing) {
  return Metadata(thing.ns, thing.name, thing.uid, thing.version,
                  thing.going ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "");
}

std::string MachineToJson(const Thing& machine) {
  std::string text = MetadataOf(machine);
  text.append(R"(,"spec":{"machineClassRef":{)").append(Pair("name", machine.of)).append("}}");
  if (machine.terminated) text += R"(,"status":{"state":"Terminated"})";
  return text.append("}");
}

}  // namespace

const char* NameOf(Api api) {
  static constexpr const char* kNames[] = {"core", "ironcore", "cluster", "joint"};
  return kNames[static_cast<std::size_t>(api)];
}

std::optional<Api> ApiNamed(const std::string& name) {
  for (const Api api : {Api::kCore, Api::kIroncore, Api::kCluster, Api::kJoint}) {
    if (name == NameOf(api)) return api;
  }
  return std::nullopt;
}

std::optional<std::int64_t> AmountIn(const std::string& text) {
  if (text == kGarbage) return std::nullopt;
  constexpr std::size_t kDigits = 15;  // of the numbers below kMost
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const bool small = digits && !text.empty() && text.size() <= kDigits;
  if (small) return std::stoll(text);
  const auto quantity = quantity::Quantity::Parse(text);
  return quantity ? UnitsOf(*quantity) : kMost;
}

std::int64_t UnitsOf(const quantity::Quantity& quantity) {
  const auto units = quantity.nanos() / quantity::kNanosPerOne;
  return units < kMost ? static_cast<std::int64_t>(units) : kMost;
}

bool IsSaidByClasses(const std::string& name) { return name == kCpu || name == kMemory; }

bool HasLaterFormat(const StoredQuota& quota) {
  const bool of_this = quota.reservations.find(quota.uid) != std::string::npos;
  return of_this && quota.reservations.find(R"("format":99)") != std::string::npos;
}

Amounts UsageOf(const Thing& thing, const Classes& classes) {
  if (thing.resource == Resource::kSecrets) return {{kSecretCount, 1}};
  if (thing.resource == Resource::kClaims) {
    if (thing.size == kUnreadable) return {{kClaimCount, 1}};
    return {{kStorage, std::min(thing.size, kMost)}, {kClaimCount, 1}};
  }
  Amounts usage{{kMachineCount, 1}};
  const auto found = classes.find(thing.of);
  if (found != classes.end() && !thing.terminated) {
    usage.insert(found->second.says.begin(), found->second.says.end());
  }
  return usage;
}

bool IsUnknown(const Thing& thing, const std::string& name, const Classes& classes) {
  if (thing.resource == Resource::kClaims) return name == kStorage && thing.size == kUnreadable;
  const bool by_class = thing.resource == Resource::kMachines && !thing.terminated;
  if (!by_class || !IsSaidByClasses(name)) return false;
  const auto found = classes.find(thing.of);
  return found == classes.end() || !found->second.says.contains(name);
}

bool Matches(const StoredQuota& quota, const Thing& thing) {
  const bool there = quota.tree ? quota.reach.contains(thing.ns) : quota.ns == thing.ns;
  if (!there) return false;
  if (thing.resource == Resource::kMachines) return !quota.gold || thing.of == "gold";
  return !quota.gold || (thing.resource == Resource::kClaims && thing.gold);
}

Amounts CountedBy(const StoredQuota& quota, const Thing& thing, const Classes& classes) {
  return Matches(quota, thing) ? UsageOf(thing, classes) : Amounts();
}

std::int64_t Get(const Amounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

std::string ToText(const Amounts& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts) {
    if (!text.empty()) text += ",";
    text.append(name).append("=").append(std::to_string(amount));
  }
  return text;
}

std::string ToJson(const StoredClass& of) {
  std::string text = R"({"metadata":{)";
  text.append(Pair("name", of.name)).append(",").append(Pair("uid", of.uid)).append(",");
  text.append(Pair("resourceVersion", std::to_string(of.version))).append("},\"capabilities\":");
  Amounts capabilities;
  for (const auto& [name, amount] : of.says) capabilities[name == kCpu ? "cpu" : "memory"] = amount;
  return text.append(ToJson(capabilities)).append("}");
}

std::string ToJson(const StoredNamespace& ns) {
  std::string text = Metadata("", ns.name, ns.uid, ns.version,
                              ns.going ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "");
  text.pop_back();
  return text.append(",\"labels\":").append(ToJson(ns.labels)).append("}}");
}

std::string ToJson(const StoredWebhook& webhook) {
  std::string text = R"({"metadata":{)";
  text.append(Pair("name", webhook.name)).append(",").append(Pair("uid", webhook.name)).append(",");
  text.append(Pair("resourceVersion", std::to_string(webhook.version)));
  text.append(R"(},"webhooks":[{"timeoutSeconds":)").append(std::to_string(webhook.seconds));
  return text.append("}]}");
}

std::string MetadataToJson(const Thing& thing) { return MetadataOf(thing) + "}"; }

std::string ToJson(const Thing& thing) {
  if (thing.resource == Resource::kMachines) return MachineToJson(thing);
  std::string text = MetadataOf(thing);
  if (thing.resource == Resource::kSecrets) return text.append("}");
  text += ",\"spec\":{\"resources\":{\"requests\":{";
  text.append(Pair("storage", TextOf(thing.size))).append("}}");
  if (thing.gold) text += ",\"volumeAttributesClassName\":\"gold\"";
  return text.append("}}");
}

std::string ToJson(const StoredQuota& quota) {
  std::string text =
      Metadata(quota.ns, quota.name, quota.uid, quota.version, FurtherMetadata(quota));
  text.append(",\"spec\":{\"hard\":").append(LimitsOf(quota));
  if (quota.scope == 1) text += R"(,"scopes":"BestEffort")";
  if (quota.scope == 2) {
    text += R"(,"scopeSelector":7)";
  } else if (quota.gold) {
    text += R"(,"scopeSelector":{"matchExpressions":[{"scopeName":")";
    const bool of_machines = quota.hard.contains(kMachineCount) || quota.hard.contains(kCpu) ||
                             quota.hard.contains(kMemory);
    text += of_machines ? "MachineClass" : "VolumeAttributesClass";
    text += R"(","operator":"In","values":["gold"]}]})";
  }
  if (quota.tree) text += ToJson(*quota.tree);
  text += "},\"status\":{";
  if (quota.tree) text += FurtherStatus(quota);
  if (quota.status_hard)
    text.append("\"hard\":").append(ToJson(*quota.status_hard, quota.hard_texts));
  if (quota.status_hard && quota.status_used) text += ",";
  if (quota.status_used)
    text.append("\"used\":").append(ToJson(*quota.status_used, quota.used_texts));
  if (text.ends_with(",")) text.pop_back();
  return text.append("}}");
}

}  // namespace simulation

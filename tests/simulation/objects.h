#pragma once

// What the model's API server stores, as values, and what the truth about quotas is: the sum over
// stored objects, done here in the plainest way, apart from the product's.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/json/value.h"

namespace simulation {

// What the server of a schedule has.
enum class Api : std::uint8_t {
  kCore,      // claims, secrets, and quotas for them
  kIroncore,  // machines, their classes, and quotas for them
  kCluster,   // claims and secrets in namespaces with labels, and ClusterQuotas
};
// "core", "ironcore", "cluster".
const char* NameOf(Api api);
std::optional<Api> ApiNamed(const std::string& name);

enum class Resource : std::uint8_t {
  kQuotas,
  kClaims,
  kSecrets,
  kLeases,
  kMachines,
  kClasses,
  kWebhooks,
  kNamespaces
};

using Amounts = std::map<std::string, std::int64_t>;

inline constexpr const char* kStorage = "requests.storage";
inline constexpr const char* kClaimCount = "persistentvolumeclaims";
inline constexpr const char* kSecretCount = "secrets";
inline constexpr const char* kCpu = "requests.cpu";
inline constexpr const char* kMemory = "requests.memory";
inline constexpr const char* kMachineCount = "count/machines.compute.ironcore.dev";

// The name is one whose amounts the classes of machines say.
bool IsSaidByClasses(const std::string& name);

// A claim, a secret, or a machine. A claim of the class "gold" is in the scope of quotas for gold,
// and so are machines of the class "gold".
struct Thing {
  Resource resource = Resource::kClaims;
  std::string ns;
  std::string name;
  std::string uid;
  std::uint64_t version = 0;
  std::int64_t size = 0;
  bool gold = false;
  std::string of = {};      // of a machine: the name of its class
  bool terminated = false;  // and it uses nothing any more, but is one still
  bool going = false;       // told to go, and kept by a finalizer: it uses what it used
};

// A class of machines. What it does not say is unknown.
struct StoredClass {
  std::string name;
  std::string uid;
  std::uint64_t version = 0;
  Amounts says;  // by name: what a machine of it uses
};
using Classes = std::map<std::string, StoredClass>;

using Labels = std::map<std::string, std::string>;

struct StoredNamespace {
  std::string name;
  std::string uid;
  std::uint64_t version = 0;
  Labels labels;
};
using Namespaces = std::map<std::string, StoredNamespace>;

// What a ClusterQuota has beside its limits.
struct InTree {
  enum class Mode : std::uint8_t { kDeny, kWarn, kAudit };
  std::optional<Labels> selector;  // namespaces with all of these labels; nullopt: none of its own
  std::string parent;              // "": none
  Amounts guaranteed;              // what its siblings cannot take
  Mode mode = Mode::kDeny;
  bool operator==(const InTree&) const = default;
};

struct StoredQuota {
  std::string ns;  // "" of a ClusterQuota
  std::string name;
  std::string uid;
  std::uint64_t version = 0;
  Amounts hard;
  bool gold = false;  // counts claims, or machines, of that class only
  std::optional<Amounts> status_hard;
  std::optional<Amounts> status_used;
  std::string reservations = {};               // the annotation
  std::map<std::string, std::string> used_by;  // the manager that wrote a name of it last
  std::optional<InTree> tree = {};             // of a ClusterQuota
  std::set<std::string> reach = {};  // of a ClusterQuota: the namespaces that it counts (tree.h)
  std::uint64_t generation = 1;
  json::Object further = {};  // what else its status says

  [[nodiscard]] bool enforced() const { return !tree || tree->mode == InTree::Mode::kDeny; }
};

// Without what its class does not say.
Amounts UsageOf(const Thing& thing, const Classes& classes);
// The thing uses what nobody can tell.
bool IsUnknown(const Thing& thing, const std::string& name, const Classes& classes);
bool Matches(const StoredQuota& quota, const Thing& thing);
// What of the thing's usage this quota counts.
Amounts CountedBy(const StoredQuota& quota, const Thing& thing, const Classes& classes);
std::int64_t Get(const Amounts& amounts, const std::string& name);
std::string ToText(const Amounts& amounts);

// A webhook configuration of somebody else.
struct StoredWebhook {
  std::string name;
  std::uint64_t version = 0;
  int seconds = 0;  // its longest timeout
};

// As the server writes them.
std::string ToJson(const StoredWebhook& webhook);
std::string ToJson(const Thing& thing);
std::string ToJson(const StoredClass& of);
std::string ToJson(const StoredNamespace& ns);
std::string ToJson(const StoredQuota& quota);

}  // namespace simulation

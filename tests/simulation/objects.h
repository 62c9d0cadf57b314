#pragma once

// The objects of the model's API server as values, and the true usage of quotas: the sum over
// stored objects, computed in the simplest way, without code of the product.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quantity/quantity.h"

namespace simulation {

// The kinds that the server of a schedule serves.
enum class Api : std::uint8_t {
  kCore,      // claims, secrets, and quotas for them
  kIroncore,  // machines, their classes, and quotas for them
  kCluster,   // claims and secrets in namespaces with labels, and ClusterQuotas
  kJoint,     // the same, and quotas of core in the namespaces
};
// Whether replicas reserve in advance after very few creations, and for how long they then grant
// without a write (accounting::kBurstLasts, kLongBurstLasts).
enum class Bursts : std::uint8_t { kNone, kShort, kLong };
// "core", "ironcore", "cluster", "joint".
const char* NameOf(Api api);
// The server has namespaces with labels, and ClusterQuotas.
inline bool HasTree(Api api) { return api == Api::kCluster || api == Api::kJoint; }
std::optional<Api> ApiNamed(const std::string& name);

enum class Resource : std::uint8_t {
  kQuotas,
  kClaims,
  kSecrets,
  kLeases,
  kMachines,
  kClasses,
  kWebhooks,
  kNamespaces,
  kClusterQuotas
};

using Amounts = std::map<std::string, std::int64_t>;
// The texts of amounts that the model cannot compute with, by name.
using Texts = std::map<std::string, std::string>;

// All amounts from here on are one amount to the model, because the product need not compute with
// them exactly: it may take each for the greatest that it knows.
inline constexpr std::int64_t kMost = 1'000'000'000'000'000;
// An amount that is none.
inline constexpr std::int64_t kUnreadable = -1;
// The numbers of forged entries begin here. No replica makes so many.
inline constexpr int kFirstForged = 900;
// The text of an amount that is none.
inline constexpr const char* kGarbage = "garbage";
// The number that the text says, at most kMost. nullopt if it is no amount.
std::optional<std::int64_t> AmountIn(const std::string& text);
// Whole units, at most kMost.
std::int64_t UnitsOf(const quantity::Quantity& quantity);

inline constexpr const char* kStorage = "requests.storage";
inline constexpr const char* kClaimCount = "persistentvolumeclaims";
inline constexpr const char* kSecretCount = "secrets";
inline constexpr const char* kCpu = "requests.cpu";
inline constexpr const char* kMemory = "requests.memory";
inline constexpr const char* kMachineCount = "count/machines.compute.ironcore.dev";

// The classes of machines state the amounts of this name.
bool IsSaidByClasses(const std::string& name);

// A claim, a secret, or a machine. A claim of the class "gold" is in the scope of quotas for gold,
// and so are machines of the class "gold".
struct Thing {
  Resource resource = Resource::kClaims;
  std::string ns;
  std::string name;
  std::string uid;
  std::uint64_t version = 0;
  std::int64_t size = 0;  // kMost and one more: too large for any computer; kUnreadable
  bool gold = false;
  std::string of = {};      // of a machine: the name of its class
  bool terminated = false;  // uses no resources any more, but still counts as an object
  bool going = false;       // deleted, but kept by a finalizer: its usage still counts
};

// A class of machines. A name that it does not state is unknown.
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
  bool going = false;  // it is being deleted: nothing can be created there
};
using Namespaces = std::map<std::string, StoredNamespace>;

// The fields of a ClusterQuota beside its limits.
struct InTree {
  enum class Mode : std::uint8_t { kDeny, kWarn, kAudit };
  std::optional<Labels> selector;  // namespaces with all of these labels; nullopt: none
  std::string parent;              // "": none
  Amounts guaranteed;              // reserved for it among its siblings
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
  Texts hard_texts = {};              // as stored in status.hard, if not a number below kMost
  Texts used_texts = {};              // the same of status.used
  std::set<std::string> unread = {};  // names in the spec whose limit is no amount; not in `hard`
  int scope = 0;                      // SpecLimits::scope
  Amounts said = {};                  // the limits of `unread` if only scopes cannot be read
  std::string reservations = {};      // the annotation
  std::map<std::string, std::string> used_by;  // by name in used: the manager that wrote it last
  std::optional<InTree> tree = {};             // of a ClusterQuota
  std::set<std::string> reach = {};  // of a ClusterQuota: the namespaces that it counts (tree.h)
  std::uint64_t generation = 1;
  json::Object further = {};  // the other fields of its status

  [[nodiscard]] Resource resource() const {
    return tree ? Resource::kClusterQuotas : Resource::kQuotas;
  }
  [[nodiscard]] bool enforced() const { return !tree || tree->mode == InTree::Mode::kDeny; }
};

// Its own list of reservations has a format that only a later version of the daemon may write.
bool HasLaterFormat(const StoredQuota& quota);
// Omits the names that its class does not state, and the size that is no amount.
Amounts UsageOf(const Thing& thing, const Classes& classes);
// The thing uses an unknown amount of this name.
bool IsUnknown(const Thing& thing, const std::string& name, const Classes& classes);
bool Matches(const StoredQuota& quota, const Thing& thing);
// The part of the thing's usage that this quota counts.
Amounts CountedBy(const StoredQuota& quota, const Thing& thing, const Classes& classes);
std::int64_t Get(const Amounts& amounts, const std::string& name);
// The sum, at most kMost.
inline std::int64_t Sum(std::int64_t a, std::int64_t b) { return std::min(kMost, a + b); }
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
std::string MetadataToJson(const Thing& thing);  // PartialObjectMetadata
std::string ToJson(const StoredClass& of);
std::string ToJson(const StoredNamespace& ns);
std::string ToJson(const StoredQuota& quota);

}  // namespace simulation

#pragma once

// What the model's API server stores, as values, and what the truth about quotas is: the sum over
// stored objects, done here in the plainest way, apart from the product's.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace simulation {

enum class Resource : std::uint8_t { kQuotas, kClaims, kSecrets, kLeases };

using Amounts = std::map<std::string, std::int64_t>;

inline constexpr const char* kStorage = "requests.storage";
inline constexpr const char* kClaimCount = "persistentvolumeclaims";
inline constexpr const char* kSecretCount = "secrets";

// A claim or a secret. A claim of the class "gold" is in the scope of quotas for gold.
struct Thing {
  Resource resource = Resource::kClaims;
  std::string ns;
  std::string name;
  std::string uid;
  std::uint64_t version = 0;
  std::int64_t size = 0;
  bool gold = false;
};

struct StoredQuota {
  std::string ns;
  std::string name;
  std::string uid;
  std::uint64_t version = 0;
  Amounts hard;
  bool gold = false;  // counts claims of that class only
  std::optional<Amounts> status_hard;
  std::optional<Amounts> status_used;
  std::map<std::string, std::string> used_by;  // the manager that wrote a name of it last
};

Amounts UsageOf(const Thing& thing);
bool Matches(const StoredQuota& quota, const Thing& thing);
// What of the thing's usage this quota counts.
Amounts CountedBy(const StoredQuota& quota, const Thing& thing);
std::int64_t Get(const Amounts& amounts, const std::string& name);
std::string ToText(const Amounts& amounts);

// As the server writes them.
std::string ToJson(const Thing& thing);
std::string ToJson(const StoredQuota& quota);

}  // namespace simulation

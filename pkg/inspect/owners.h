#pragma once

// Who made an object: its ownerReferences followed to the top, through whatever kinds there are.
// The objects on the way are added by whoever reads them; what could not be read ends the chain
// there. Values; one thread.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pkg/json/value.h"

namespace inspect {

struct ObjectName {
  std::string kind;   // lower case: "deployment"
  std::string group;  // "" is the core group
  std::string name;
  auto operator<=>(const ObjectName&) const = default;
  // "pod/web-1", "deployment.apps/web": as kubectl's -o name.
  [[nodiscard]] std::string ToString() const;
};

// The group of "apps/v1"; "" of "v1".
std::string GroupOf(std::string_view api_version);

// What an ownerReference says.
struct OwnerRef {
  std::string api_version;
  std::string kind;  // as written: "ReplicaSet"
  std::string name;
  std::string uid;
  [[nodiscard]] ObjectName Name() const;
};

// The owner that manages the object, else the first; nullopt if nobody owns it.
std::optional<OwnerRef> OwnerOf(const json::Value& object);

struct OwnerKind {
  std::string api_version;
  std::string kind;
  auto operator<=>(const OwnerKind&) const = default;
};

class OwnerIndex {
 public:
  // An object that may own others, by its metadata.
  void Add(const json::Value& object);
  // All objects of the kind were added, or cannot be read: it is not asked for any more.
  void SetRead(const OwnerKind& kind) { read_.insert(kind); }
  // The kind that has to be read to follow the chain of `ref` further; nullopt if it ends.
  [[nodiscard]] std::optional<OwnerKind> Missing(const OwnerRef& ref) const;
  // The end of the chain as far as it is known; `path`, if any, gets every step before it.
  [[nodiscard]] OwnerRef Top(const OwnerRef& ref, std::vector<OwnerRef>* path = nullptr) const;
  // True if the chain of `ref`, itself included, goes through the object with this uid.
  [[nodiscard]] bool Reaches(const OwnerRef& ref, std::string_view uid) const;

 private:
  std::unordered_map<std::string, std::optional<OwnerRef>> owners_;  // by uid
  std::set<OwnerKind> read_;
};

}  // namespace inspect

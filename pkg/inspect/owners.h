#pragma once

// Follows the ownerReferences of an object to the topmost owner, through any kinds. The caller adds
// the owners that it has read. A chain ends at an owner that could not be read. Values; one thread.

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
// True for a group that kube-apiserver does not serve itself. Others may end in .k8s.io, too:
// sparkoperator.k8s.io.
bool IsCustomGroup(std::string_view group);

// The content of an ownerReference.
struct OwnerRef {
  std::string api_version;
  std::string kind;  // as written: "ReplicaSet"
  std::string name;
  std::string uid;
  [[nodiscard]] ObjectName Name() const;
};

// Returns the controlling owner, else the first one; nullopt if there is none.
std::optional<OwnerRef> OwnerOf(const json::Value& object);

struct OwnerKind {
  std::string api_version;
  std::string kind;
  auto operator<=>(const OwnerKind&) const = default;
};

class OwnerIndex {
 public:
  // Adds an object that may own others, by its metadata.
  void Add(const json::Value& object);
  // Call after all objects of the kind were added, or if they cannot be read: Missing() does not
  // return it any more.
  void SetRead(const OwnerKind& kind) { read_.insert(kind); }
  // Returns the kind to read next in the chain of `ref`; nullopt if the chain ends.
  [[nodiscard]] std::optional<OwnerKind> Missing(const OwnerRef& ref) const;
  // Returns the last known owner of the chain. `path`, if not null, gets every owner before it.
  [[nodiscard]] OwnerRef Top(const OwnerRef& ref, std::vector<OwnerRef>* path = nullptr) const;
  // True if the chain of `ref`, itself included, goes through the object with this uid.
  [[nodiscard]] bool Reaches(const OwnerRef& ref, std::string_view uid) const;

 private:
  std::unordered_map<std::string, std::optional<OwnerRef>> owners_;  // by uid
  std::set<OwnerKind> read_;
};

}  // namespace inspect

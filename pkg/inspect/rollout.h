#pragma once

// Pods that take the place of others, a few at a time, and the largest usage on the way. Pure; any
// thread.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/inspect/owners.h"
#include "pkg/json/value.h"
#include "pkg/quantity/quantity.h"

namespace inspect {

// What an object is to that of the manifest: "pod", "its replicas". Empty: it is that one itself.
struct Role {
  std::string part;
  std::string by = {};  // what makes it, or decides how many; "" if nothing more is to be told
  bool operator==(const Role&) const = default;
};

// Equal objects to create, or one to update.
struct Piece {
  json::Value object;  // complete, as stored after admission
  std::int64_t count = 1;
  std::optional<json::Value> stored = {};  // of an update
  ObjectName of = {};                      // the object of the manifest that it comes from
  std::vector<std::string> refusals =
      {};                // reasons to refuse a new object before quotas are checked
  bool passing = false;  // it is gone when the pieces after it are created
  bool gone = false;     // a stored object that is deleted before they are
  Role role = {};
};

// A pod that goes, and the claims that go with it, as they are stored; `count` equal ones.
struct OldPod {
  std::vector<json::Value> objects;
  std::int64_t count = 1;
};

struct Rollout {
  ObjectName of;
  std::vector<Piece> each;  // what one new pod needs: itself, and claims
  std::int64_t fresh = 0;   // the number of new pods
  std::vector<OldPod> old;
  // The number of new pods that are created before the first old one goes. Below 0: so many old
  // ones go before the first new one is created.
  std::int64_t spare = 0;
  std::int64_t surge = 0;  // how many pods more than wanted there may be
};

// Returns the largest rise of usage directly after the creation of a new pod, which is when
// admission compares usage with limits; below 0 if enough goes before. `each` is the amount of a
// new pod, and `old` are the amounts of the old ones and their numbers. Which of these go first is
// not known, so those that free least do. REQUIRES: `fresh` is at least 1.
quantity::Quantity LargestRise(const quantity::Quantity& each, std::int64_t fresh,
                               std::int64_t spare,
                               std::vector<std::pair<quantity::Quantity, std::int64_t>> old);

}  // namespace inspect

#pragma once

// Which quota is above which: the parents that quotas name, resolved into trees. A quota without a
// parent is a root; so is one whose parent is missing, and each one in a cycle of parents. No I/O;
// not thread-safe.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quota {

class Lineage {
 public:
  enum class Fault : std::uint8_t { kNone, kParentNotFound, kParentCycle };

  struct Member {
    std::string name;
    std::string parent = {};                // that it names; "": none
    const Member* up = nullptr;             // the quota above; null: it is a root
    std::vector<const Member*> below = {};  // directly, by name
    std::size_t depth = 0;                  // how many quotas are above it
    Fault fault = Fault::kNone;
  };

  // Costs O(quotas), unless the quota is there with this parent. Members stay where they are until
  // they are removed.
  const Member& Put(std::string_view name, std::string_view parent);
  void Remove(std::string_view name);
  [[nodiscard]] const Member* Find(std::string_view name) const;

 private:
  void Link();
  void MarkCycles();

  std::map<std::string, Member, std::less<>> members_;
};

// "a, b, a": the names of a cycle of parents, from this member on.
std::string CycleOf(const Lineage& lineage, const Lineage::Member& member);

}  // namespace quota

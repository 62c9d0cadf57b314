#pragma once

// Resolves the parent names of quotas into trees. A quota is a root if it has no parent, if its
// parent does not exist, or if it is in a cycle of parents. No I/O; not thread-safe.

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
    std::string parent = {};                // as in its spec; "": none
    const Member* up = nullptr;             // its parent; null for a root
    std::vector<const Member*> below = {};  // its children, by name
    std::size_t depth = 0;                  // number of ancestors
    Fault fault = Fault::kNone;
  };

  // Costs O(quotas) unless the quota already has this parent. The result is valid until the member
  // is removed.
  const Member& Put(std::string_view name, std::string_view parent);
  void Remove(std::string_view name);
  [[nodiscard]] const Member* Find(std::string_view name) const;

 private:
  void Link();
  void MarkCycles();

  std::map<std::string, Member, std::less<>> members_;
};

// Returns "a, b, a": the names in a cycle of parents, beginning with this member.
std::string CycleOf(const Lineage& lineage, const Lineage::Member& member);

}  // namespace quota

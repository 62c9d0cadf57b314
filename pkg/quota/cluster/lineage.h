#pragma once

// Resolves the parent names of quotas into trees. A quota is a root if it has no parent, if its
// parent does not exist, or if it is in a cycle of parents. No I/O; not thread-safe.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace quota {

class Lineage {
 public:
  enum class Fault : std::uint8_t { kNone, kParentNotFound, kParentCycle };

  struct Member;
  struct ByName {
    bool operator()(const Member* a, const Member* b) const;
  };
  using Members = std::set<const Member*, ByName>;

  struct Member {
    std::string name;
    std::string parent = {};     // as in its spec; "": none
    const Member* up = nullptr;  // its parent; null for a root
    Members below = {};          // its children
    std::size_t depth = 0;       // number of ancestors
    Fault fault = Fault::kNone;
  };

  // Names of members that got another parent, other children, another depth or another fault.
  using Moved = std::set<std::string, std::less<>>;

  // Adds what changed to `moved`. Costs the depth, the number of members of a cycle that is made or
  // broken, and the number of members that change their place or depth. The result is valid until
  // the member is removed.
  const Member& Put(std::string_view name, std::string_view parent, Moved& moved);
  // Costs the same.
  void Remove(std::string_view name, Moved& moved);
  [[nodiscard]] const Member* Find(std::string_view name) const;

 private:
  [[nodiscard]] Member* Named(std::string_view name);
  // Cuts the member off from its parent, and puts it below the one that its spec names.
  void Cut(Member& member, Moved& moved);
  void Link(Member& member, Moved& moved);
  // Links a member of a cycle, or makes it a root. The cycle must be broken, or closed.
  void Attach(Member& member, Member* up, Fault fault, Moved& moved);
  void SetDepth(Member& member, std::size_t depth, Moved& moved);

  std::map<std::string, Member, std::less<>> members_;
  // The members by the parent that their spec names, whether or not it exists.
  std::map<std::string, std::set<Member*, ByName>, std::less<>> naming_;
};

// Returns "a, b, a": the names in a cycle of parents, beginning with this member.
std::string CycleOf(const Lineage& lineage, const Lineage::Member& member);

}  // namespace quota

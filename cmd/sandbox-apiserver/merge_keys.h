#pragma once

// How lists of built-in kinds are merged. No I/O; any thread.

#include <string_view>

namespace sandbox {

enum class ListKind { kAtomic, kSet, kMap };

struct ListRule {
  ListKind kind = ListKind::kAtomic;
  std::string_view key = {};  // of kMap: the member that identifies an element
};

// Returns how to merge the list `field`. `parent` is the name of the list or member that has the
// object with the list, and `object_kind` is the kind of the whole object.
ListRule RuleOfList(std::string_view object_kind, std::string_view parent, std::string_view field);

}  // namespace sandbox

#pragma once

// How lists of built-in kinds are merged. No I/O; any thread.

#include <string_view>

namespace sandbox {

enum class ListKind { kAtomic, kSet, kMap };

struct ListRule {
  ListKind kind = ListKind::kAtomic;
  std::string_view key = {};  // of kMap: the member that identifies an element
};

// The list `field` of an object that stands in `parent` (the name of the list or member around it),
// somewhere in an object of `object_kind`.
ListRule RuleOfList(std::string_view object_kind, std::string_view parent, std::string_view field);

}  // namespace sandbox

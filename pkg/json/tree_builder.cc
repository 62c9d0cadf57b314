#include "pkg/json/tree_builder.h"

#include <iterator>

namespace json {

void TreeBuilder::End() {
  Open done = std::move(open_.back());
  open_.pop_back();
  const auto first = parts_.begin() + static_cast<std::ptrdiff_t>(done.first);
  Value container;
  if (done.array) {
    Array array;
    array.reserve(static_cast<std::size_t>(parts_.end() - first));
    for (auto part = first; part != parts_.end(); ++part) array.push_back(std::move(part->second));
    container = std::move(array);
  } else {
    container = Object::FromMembers(
        std::vector<Member>(std::move_iterator(first), std::move_iterator(parts_.end())));
  }
  parts_.erase(first, parts_.end());
  key_ = std::move(done.key);
  Add(std::move(container));
}

}  // namespace json

#include "pkg/json/tree_builder.h"

#include <glog/logging.h>

#include <iterator>

namespace json {

void TreeBuilder::End() {
  CHECK(!open_.empty()) << "a container ends that did not begin";
  Open done = std::move(open_.back());
  open_.pop_back();
  CHECK_LE(done.first, parts_.size()) << "a container lost parts to the one inside of it";
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

void TreeBuilder::Replace(std::size_t depth, std::string_view text) {
  CHECK_LT(depth, open_.size()) << "a container is replaced that is not open";
  parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(open_[depth].first), parts_.end());
  key_ = std::move(open_[depth].key);
  bytes_left_ = open_[depth].bytes_left;
  open_.resize(depth);
  Add(text);
}

Value TreeBuilder::Take() {
  CHECK(open_.empty() && parts_.size() == 1) << "the document is taken before its end";
  return std::move(parts_.front().second);
}

}  // namespace json

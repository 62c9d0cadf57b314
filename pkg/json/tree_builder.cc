#include "pkg/json/tree_builder.h"

#include <iterator>
#include <unordered_map>

namespace json {
namespace {

// Below this number, comparing all pairs is faster than hashing.
constexpr std::size_t kFewMembers = 24;

bool HasDuplicate(const std::vector<Member>& members) {
  for (std::size_t i = 1; i < members.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (members[i].first == members[j].first) return true;
    }
  }
  return false;
}

}  // namespace

void TreeBuilder::End() {
  Open done = std::move(open_.back());
  open_.pop_back();
  const auto first = parts_.begin() + static_cast<std::ptrdiff_t>(done.first);
  if (done.array) {
    Array array;
    array.reserve(static_cast<std::size_t>(parts_.end() - first));
    for (auto part = first; part != parts_.end(); ++part) array.push_back(std::move(part->second));
    parts_.erase(first, parts_.end());
    key_ = std::move(done.key);
    return Add(std::move(array));
  }
  Object object;
  object.members_.assign(std::move_iterator(first), std::move_iterator(parts_.end()));
  KeepLastOfEachName(object.members_);
  parts_.erase(first, parts_.end());
  key_ = std::move(done.key);
  Add(std::move(object));
}

void TreeBuilder::KeepLastOfEachName(std::vector<Member>& members) {
  if (members.size() <= kFewMembers && !HasDuplicate(members)) return;
  std::unordered_map<std::string, std::size_t> place;
  std::vector<Member> unique;
  unique.reserve(members.size());
  for (Member& member : members) {
    const auto [at, fresh] = place.try_emplace(member.first, unique.size());
    if (fresh) {
      unique.push_back(std::move(member));
    } else {
      unique[at->second].second = std::move(member.second);
    }
  }
  members = std::move(unique);
}

}  // namespace json

#include "pkg/json/tree_builder.h"

#include <unordered_map>

namespace json {
namespace {

// Below this size comparing each with each is faster than hashing.
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

void TreeBuilder::Add(Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  Open& parent = open_.back();
  if (Array* array = parent.container.AsArray()) {
    array->push_back(std::move(value));
  } else {
    parent.container.AsObject()->members_.emplace_back(std::move(parent.key), std::move(value));
  }
}

void TreeBuilder::End() {
  Value done = std::move(open_.back().container);
  open_.pop_back();
  if (Object* object = done.AsObject()) KeepLastOfEachName(object->members_);
  Add(std::move(done));
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

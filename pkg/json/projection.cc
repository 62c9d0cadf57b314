#include "pkg/json/projection.h"

#include <algorithm>

#include "pkg/json/bounded_lists.h"
#include "pkg/json/reader.h"
#include "pkg/json/tree_builder.h"

namespace json {
namespace {

using Node = Projection::Node;

Node& Child(Node& node, std::string_view name) {
  for (auto& [existing, child] : node.members) {
    if (existing == name) return *child;
  }
  return *node.members.emplace_back(std::string(name), std::make_unique<Node>()).second;
}

// Cuts the first name off the path.
std::string_view TakeName(std::string_view& path) {
  const bool bracketed = path.starts_with('[');
  const std::size_t end = std::min(path.find_first_of(bracketed ? "]" : ".["), path.size());
  const std::string_view name = path.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end);
  path.remove_prefix(std::min(bracketed ? end + 1 : end, path.size()));
  if (path.starts_with('.')) path.remove_prefix(1);
  return name;
}

void Insert(Node& node, std::string_view path, bool bounded) {
  node.bounded &= bounded;
  if (path.empty()) {
    node.whole = true;
    return;
  }
  const std::string_view name = TakeName(path);
  Insert(Child(node, name), path, bounded);
}

void Merge(Node& into, const Node& from) {
  into.whole |= from.whole;
  into.bounded &= from.bounded;
  for (const auto& [name, child] : from.members) Merge(Child(into, name), *child);
}

// Copies what `*` wants of every member to the named members too, so that Find() needs no union.
void SpreadStars(Node& node) {
  const Node* star = nullptr;
  for (const auto& [name, child] : node.members) {
    if (name == "*") star = child.get();
  }
  for (auto& [name, child] : node.members) {
    if (star != nullptr && child.get() != star) Merge(*child, *star);
  }
  for (auto& [name, child] : node.members) SpreadStars(*child);
}

// Builds the tree of the wanted fields. While `skipping_` is above zero, the parse is inside an
// unwanted container, and events only count nesting.
class Wanted {
 public:
  Wanted(const Node& root, const ParseLimits& limits)
      : tree_(limits.bytes), lists_(limits.list_elements), next_(&root) {}
  [[nodiscard]] Value Take() { return tree_.Take(); }

  bool Null() { return !Takes() || tree_.Null(); }
  bool Bool(bool value) { return !Takes() || tree_.Bool(value); }
  bool Number(std::string_view text) { return !Takes() || tree_.Number(text); }
  bool String(std::string_view text) { return !Takes() || tree_.String(text); }

  bool Key(std::string_view name) {
    if (skipping_ > 0) return true;
    const Node& node = *open_.back().node;
    next_ = node.KeepsAll() ? &node : node.Find(name);
    return next_ == nullptr || tree_.Key(name);
  }

  bool StartObject() { return !Enter(false) || tree_.StartObject(); }
  bool StartArray() { return !Enter(true) || tree_.StartArray(); }
  bool EndObject() { return Leave(); }
  bool EndArray() { return Leave(); }

 private:
  struct Open {
    const Node* node;
    bool array;
  };

  // True if the next value is kept: an array element if the array is, and there are not too many,
  // an object member by its name.
  bool Takes() {
    if (skipping_ > 0 || next_ == nullptr) return false;
    if (open_.empty() || !open_.back().array || !lists_.Add()) return true;
    skipping_ = open_.size() - lists_.outermost();
    open_.resize(lists_.outermost());
    tree_.Replace(lists_.outermost(), kTooManyElements);
    lists_.End();
    return false;
  }

  bool Enter(bool array) {
    if (!Takes()) {
      ++skipping_;
      return false;
    }
    if (array && next_->bounded) lists_.Begin(open_.size());
    open_.push_back({next_, array});
    return true;
  }

  bool Leave() {
    if (skipping_ > 0) {
      --skipping_;
    } else {
      tree_.End();
      open_.pop_back();
      if (lists_.outermost() == open_.size()) lists_.End();
    }
    // In an array, the next element is wanted as this one was. In an object, the next key decides.
    if (skipping_ == 0 && !open_.empty() && open_.back().array) next_ = open_.back().node;
    return true;
  }

  TreeBuilder tree_;
  std::vector<Open> open_;
  BoundedLists lists_;
  const Node* next_;  // wanted part of the next value; nullptr: nothing
  std::size_t skipping_ = 0;
};

}  // namespace

Projection::Projection(const std::vector<std::string>& paths) : paths_(paths) {
  auto root = std::make_shared<Node>();
  for (const std::string& path : paths_) {
    const bool bounded = path.ends_with('#');
    Insert(*root, std::string_view(path).substr(0, path.size() - (bounded ? 1 : 0)), bounded);
  }
  SpreadStars(*root);
  root_ = std::move(root);
}

Projection Projection::Under(std::string_view prefix,
                             const std::vector<std::string>& beside) const {
  std::vector<std::string> paths = beside;
  for (const std::string& path : paths_) {
    paths.push_back(path.empty() ? std::string(prefix) : std::string(prefix) + "." + path);
  }
  return Projection(paths);
}

const Node* Projection::Node::Find(std::string_view name) const {
  const Node* star = nullptr;
  for (const auto& [member, child] : members) {
    if (member == name) return child.get();
    if (member == "*") star = child.get();
  }
  return star;
}

base::Result<Value> ParseProjected(std::string_view text, const Projection& projection,
                                   ParseLimits limits) {
  limits.cuts_deeper = true;
  Wanted wanted(projection.root(), limits);
  const base::Result<void> read = ReadDocument(text, limits, wanted);
  if (!read) return read.error();
  return wanted.Take();
}

}  // namespace json

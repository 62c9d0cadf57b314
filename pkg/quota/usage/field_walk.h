#pragma once

// Reads the fields of one object at paths. Texts are made only of what is wrong. One thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/base/error.h"
#include "pkg/json/projection.h"
#include "pkg/json/value.h"
#include "pkg/quota/usage/field_path.h"

namespace quota::usage {

// At most so many elements of lists are looked at in one object for one name, and for all names of
// a definition: each of many names has an equal part of these (MostElements()). A name that needs
// more is unknown. A list with more elements than the first number, together with those of the
// lists in it, is not read at all (json/projection.h), and the names that need it are unknown. So
// one object takes less than 20 ms.
inline constexpr std::size_t kMostElements = 10'000;
inline constexpr std::size_t kMostElementsInAll = 100'000;
static_assert(kMostElements <= json::ParseLimits{}.list_elements);

inline base::Error NoAmount(std::string what) {
  return {.code = base::ErrorCode::kMalformed, .message = std::move(what)};
}

// What a member is of something that is no object: an error, or one that is absent.
enum class InNoObject : std::uint8_t { kIsAnError, kIsAbsent };

// Visits the fields of one object that one name needs. Errors: kMalformed, "spec.disks[3].size:
// <what is wrong>".
class FieldWalk {
 public:
  explicit FieldWalk(std::size_t most_elements, InNoObject member = InNoObject::kIsAnError)
      : most_(most_elements), left_(most_elements), member_(member) {}

  // Calls leaf(const json::Value*) for each value at `steps` below `node`; with null for one that
  // is absent or null. An absent list has no elements. Stops at the first error of `leaf`, whose
  // message begins with ": ".
  template <typename Leaf>
  base::Result<void> Visit(const json::Value* node, FieldPath::Steps steps, const Leaf& leaf) {
    std::size_t taken = 0;
    for (; taken < steps.size() && !steps[taken].each; ++taken) {
      if (node == nullptr) continue;
      if (IsCut(*node)) return Below(steps.first(taken), TooMany());
      if (const json::Object* object = node->AsObject()) {
        node = object->Find(steps[taken].name);
      } else if (node->IsArray()) {
        return Below(steps.first(taken),
                     NoAmount(": is a list, and the path lacks [*] for its elements"));
      } else if (node->IsNull() || member_ == InNoObject::kIsAbsent) {
        node = nullptr;
      } else {
        return Below(steps.first(taken), NoAmount(": must be an object"));
      }
    }
    if (node != nullptr && node->IsNull()) node = nullptr;
    if (node != nullptr && IsCut(*node)) return Below(steps.first(taken), TooMany());
    auto visited =
        taken == steps.size() ? leaf(node) : VisitElements(node, steps.subspan(taken + 1), leaf);
    return visited ? visited : Below(steps.first(taken), visited.error());
  }

  // The error of a field below `steps`.
  static base::Error Below(FieldPath::Steps steps, const base::Error& error) {
    return steps.empty() ? error : Joined(FieldPath::TextOf(steps), error);
  }

 private:
  // A long list that was not read.
  static bool IsCut(const json::Value& node) {
    const std::string* text = node.AsString();
    return text != nullptr && *text == json::kTooManyElements;
  }
  [[nodiscard]] base::Error TooMany() const {
    return NoAmount(": has too many elements: at most " + std::to_string(most_) +
                    " are summed for one name");
  }
  static base::Error Joined(std::string text, const base::Error& error) {
    const bool joined = error.message.starts_with(':') || error.message.starts_with('[');
    return NoAmount(text.append(joined ? "" : ".").append(error.message));
  }

  template <typename Leaf>
  base::Result<void> VisitElements(const json::Value* node, FieldPath::Steps rest,
                                   const Leaf& leaf) {
    if (node == nullptr) return {};
    const json::Array* list = node->AsArray();
    if (list == nullptr) return NoAmount(": must be a list");
    too_many_ = too_many_ || list->size() > left_;
    if (too_many_) return TooMany();
    left_ -= list->size();
    for (std::size_t i = 0; i < list->size(); ++i) {
      auto visited = Visit(&(*list)[i], rest, leaf);
      // The outermost list is named, as if it had not been read.
      if (too_many_) return TooMany();
      if (!visited) return Joined("[" + std::to_string(i) + "]", visited.error());
    }
    return {};
  }

  const std::size_t most_;
  std::size_t left_;
  bool too_many_ = false;
  InNoObject member_;
};

}  // namespace quota::usage

#pragma once

// Builds a Value from the events of a SAX parse; the two parsers of this folder share it. The
// caller promises events in the order of a valid document. What is false does not fit into the
// builder's bytes any more, and the parse is to be ended. One thread, one document.

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"

namespace json {

class TreeBuilder {
 public:
  explicit TreeBuilder(std::size_t max_bytes = std::numeric_limits<std::size_t>::max())
      : bytes_left_(max_bytes) {}
  // Any value but a container that the builder makes; `text` bytes of it are not in the Value.
  bool Scalar(Value value, std::size_t text = 0) {
    return Add(std::move(value)), Spend(kPart + text);
  }
  bool Null() { return Scalar(nullptr); }
  bool Bool(bool value) { return Scalar(value); }
  bool Number(std::string_view text) {
    return Scalar(json::Number{std::string(text)}, text.size());
  }
  bool String(std::string_view text) { return Scalar(text, text.size()); }
  bool Key(std::string_view name) { return key_ = name, Spend(name.size()); }
  bool StartObject() { return Start(false); }
  bool StartArray() { return Start(true); }
  // Ends the innermost container. Of members with the same name the last one's value stays, at the
  // place of the first.
  void End();
  // The document, after its last event.
  [[nodiscard]] Value Take() { return std::move(parts_.front().second); }

 private:
  struct Open {
    bool array = false;
    std::size_t first = 0;  // of its parts
    std::string key;        // its own, in the object around it
  };
  bool Start(bool array) {
    open_.push_back({array, parts_.size(), std::move(key_)});
    return Spend(kPart);
  }
  bool Spend(std::size_t bytes) {
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    return true;
  }
  void Add(Value value) { parts_.emplace_back(std::move(key_), std::move(value)); }
  static void KeepLastOfEachName(std::vector<Member>& members);

  static constexpr std::size_t kPart = sizeof(Member);
  std::size_t bytes_left_;
  std::vector<Open> open_;
  // Of all containers that are open, the innermost last: a container is made, as large as it is,
  // when its last part is known.
  std::vector<Member> parts_;
  std::string key_;  // of the member whose value comes next, in an object
};

}  // namespace json

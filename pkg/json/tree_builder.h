#pragma once

// Builds a Value from the events of a SAX parse; both parsers of this folder use it. The caller
// must send the events of a valid document in order. A false result means that the builder's bytes
// are used up: end the parse. One thread, one document.

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/json/value.h"

namespace json {

class TreeBuilder {
 public:
  explicit TreeBuilder(std::size_t max_bytes = std::numeric_limits<std::size_t>::max())
      : bytes_left_(max_bytes) {
    parts_.reserve(kUsualParts);
  }
  // Adds any value except a container. `text` is how many bytes of text it takes outside of the
  // Value.
  template <typename T>
  bool Scalar(T&& value, std::size_t text = 0) {
    return Add(std::forward<T>(value)), Spend(kPart + text);
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
  // Puts a text in place of the container that is inside of so many others, and is open.
  void Replace(std::size_t depth, std::string_view text);
  // Ends the innermost container. Of members with the same name, the last value wins, at the
  // position of the first.
  void End();
  // Returns the document, after its last event.
  [[nodiscard]] Value Take();

 private:
  struct Open {
    bool array = false;
    std::size_t first = 0;       // of its parts
    std::string key;             // its own, in the object around it
    std::size_t bytes_left = 0;  // when it began
  };
  bool Start(bool array) {
    open_.push_back({array, parts_.size(), std::move(key_), bytes_left_});
    return Spend(kPart);
  }
  bool Spend(std::size_t bytes) {
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    return true;
  }
  // Makes the value where it stays.
  template <typename T>
  void Add(T&& value) {
    parts_.emplace_back(std::move(key_), std::forward<T>(value));
  }

  static constexpr std::size_t kPart = sizeof(Member);
  // Most documents never have more parts in open containers.
  static constexpr std::size_t kUsualParts = 32;
  std::size_t bytes_left_;
  std::vector<Open> open_;
  // The parts of all open containers, the innermost last. A container is built when its last part
  // is known, so that it is allocated once at its size.
  std::vector<Member> parts_;
  std::string key_;  // of the next member in an object
};

}  // namespace json

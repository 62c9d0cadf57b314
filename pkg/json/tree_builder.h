#pragma once

// Builds a Value from the events of a SAX parse; the two parsers of this folder share it. The
// caller promises events in the order of a valid document. One thread, one document.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"

namespace json {

class TreeBuilder {
 public:
  void Scalar(Value value) { Add(std::move(value)); }
  void Key(std::string_view name) { key_ = name; }
  void StartObject() { open_.push_back({false, parts_.size(), std::move(key_)}); }
  void StartArray() { open_.push_back({true, parts_.size(), std::move(key_)}); }
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
  void Add(Value value) { parts_.emplace_back(std::move(key_), std::move(value)); }
  static void KeepLastOfEachName(std::vector<Member>& members);

  std::vector<Open> open_;
  // Of all containers that are open, the innermost last: a container is made, as large as it is,
  // when its last part is known.
  std::vector<Member> parts_;
  std::string key_;  // of the member whose value comes next, in an object
};

}  // namespace json

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
  void Key(std::string_view name) { open_.back().key = name; }
  void StartObject() { open_.push_back({Object(), {}}); }
  void StartArray() { open_.push_back({Array(), {}}); }
  // Ends the innermost container. Of members with the same name the last one's value stays, at the
  // place of the first.
  void End();
  // The document, after its last event.
  [[nodiscard]] Value Take() { return std::move(root_); }

 private:
  struct Open {
    Value container;
    std::string key;  // of the member whose value comes next, in an object
  };
  void Add(Value value);
  static void KeepLastOfEachName(std::vector<Member>& members);

  std::vector<Open> open_;
  Value root_;
};

}  // namespace json

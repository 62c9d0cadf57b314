#pragma once

// Decodes the few wanted fields of a large document during the parse (SAX). Other fields are never
// allocated. A Projection is a tree of member names; `*` stands for every member of a map. Arrays
// are transparent: a name below an array applies to each of its elements.
//
//   Projection pods({"metadata.uid", "spec.containers.resources", "spec.overhead"});
//
// keeps `metadata.uid`, `spec.overhead`, and of every container only `resources` (a path keeps
// everything below it). An array element, or an object on the way to a wanted field, stays in the
// result even without any wanted field: so the number of containers is not lost.
//
// A name with dots is in brackets, without a dot before: `metadata.annotations[example.com/a]` is
// one annotation. Name the members that are needed: strangers can fill a map with thousands.
//
// A path that ends in `#` wants no object, and bounds the lists that it leads through: one with
// more elements than ParseLimits::list_elements, together with those of the lists in it, becomes
// the text kTooManyElements, and an object at the end of the path becomes an empty one. So a list
// that a stranger fills costs no more than to skip it. What another path wants without `#` is kept.
//
// Immutable after construction; any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace json {

// In place of a list that has more elements than a path bounds.
inline constexpr std::string_view kTooManyElements = "(too many elements)";

class Projection {
 public:
  // Paths are names joined by dots, or in brackets; "" keeps everything.
  explicit Projection(const std::vector<std::string>& paths);
  // The same tree below a prefix, for an object inside an envelope, as in a watch event.
  [[nodiscard]] Projection Under(std::string_view prefix,
                                 const std::vector<std::string>& beside) const;

  struct Node {
    std::vector<std::pair<std::string, std::unique_ptr<Node>>> members;
    bool whole = false;   // some path ends here
    bool bounded = true;  // each path to it and through it ends in `#`
    [[nodiscard]] bool KeepsAll() const { return whole && !bounded; }
    [[nodiscard]] const Node* Find(std::string_view name) const;
  };
  [[nodiscard]] const Node& root() const { return *root_; }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::vector<std::string> paths_;
  std::shared_ptr<const Node> root_;
};

// Decodes the wanted fields of one document. Errors as in Parse(); the whole document is checked
// for syntax. `limits.bytes` bounds the wanted fields. What is nested deeper than `limits.depth` is
// null: a document may be an object of a stranger in a list of others.
base::Result<Value> ParseProjected(std::string_view text, const Projection& projection,
                                   ParseLimits limits = {});

// The same, several times faster if only a small part of a large document is wanted. For senders
// that write correct JSON: unwanted parts are skipped by matching brackets and quotes, and mistakes
// in them go unnoticed. For a correct document the result is that of ParseProjected(), except that
// white space in wanted values counts against `limits.bytes`, too.
base::Result<Value> Skim(std::string_view text, const Projection& projection,
                         ParseLimits limits = {});

}  // namespace json

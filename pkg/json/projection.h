#pragma once

// Decodes the few wanted fields of a large document while it is parsed (SAX): what is not wanted is
// never allocated. A Projection is a tree of member names; `*` stands for every member of a map.
// Arrays are transparent: a name below an array is applied to each of its elements.
//
//   Projection pods({"metadata.uid", "spec.containers.resources", "spec.overhead"});
//
// keeps `metadata.uid`, of every container only `resources` (whole: a path keeps all below it), and
// `spec.overhead`. An array element, or the object on the way to a wanted field, stays in the
// result even when it has none of the wanted fields: how many containers there are is not lost.
//
// Immutable after construction; any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace json {

class Projection {
 public:
  // Paths of names joined by dots; "" keeps everything.
  explicit Projection(const std::vector<std::string>& paths);
  // The same tree below a prefix: for an object inside an envelope, as in a watch event.
  [[nodiscard]] Projection Under(std::string_view prefix,
                                 const std::vector<std::string>& beside) const;

  struct Node {
    std::vector<std::pair<std::string, std::unique_ptr<Node>>> members;
    bool whole = false;  // keep all below
    [[nodiscard]] const Node* Find(std::string_view name) const;
  };
  [[nodiscard]] const Node& root() const { return *root_; }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::vector<std::string> paths_;
  std::shared_ptr<const Node> root_;
};

// The wanted fields of one document. Errors as Parse(): the whole document is checked for syntax;
// `limits.bytes` are of what is wanted.
base::Result<Value> ParseProjected(std::string_view text, const Projection& projection,
                                   ParseLimits limits = {});

// The same, several times faster where little of a large document is wanted, for senders that write
// correct JSON: what is not wanted is skipped by its brackets and quotes, so that a mistake inside
// goes unnoticed. Of a correct document it gives what ParseProjected() gives, but that blanks in
// what is wanted count against `limits.bytes`, too.
base::Result<Value> Skim(std::string_view text, const Projection& projection,
                         ParseLimits limits = {});

}  // namespace json

#include "pkg/json/reader.h"
#include "pkg/json/tree_builder.h"
#include "pkg/json/value.h"

namespace json {
namespace {

struct WholeDocument {
  TreeBuilder tree;

  bool Null() { return tree.Null(); }
  bool Bool(bool value) { return tree.Bool(value); }
  bool Number(std::string_view text) { return tree.Number(text); }
  bool String(std::string_view text) { return tree.String(text); }
  bool Key(std::string_view name) { return tree.Key(name); }
  bool StartObject() { return tree.StartObject(); }
  bool EndObject() { return tree.End(), true; }
  bool StartArray() { return tree.StartArray(); }
  bool EndArray() { return tree.End(), true; }
};

}  // namespace

base::Result<Value> Parse(std::string_view text, ParseLimits limits) {
  WholeDocument document{TreeBuilder(limits.bytes)};
  const base::Result<void> read = ReadDocument(text, limits, document);
  if (!read) return read.error();
  return document.tree.Take();
}

}  // namespace json

#include "pkg/json/reader.h"
#include "pkg/json/tree_builder.h"
#include "pkg/json/value.h"

namespace json {
namespace {

struct WholeDocument {
  TreeBuilder tree;

  bool Null() { return tree.Scalar(nullptr), true; }
  bool Bool(bool value) { return tree.Scalar(value), true; }
  bool Number(std::string_view text) { return tree.Scalar(json::Number{std::string(text)}), true; }
  bool String(std::string_view text) { return tree.Scalar(text), true; }
  bool Key(std::string_view name) { return tree.Key(name), true; }
  bool StartObject() { return tree.StartObject(), true; }
  bool EndObject() { return tree.End(), true; }
  bool StartArray() { return tree.StartArray(), true; }
  bool EndArray() { return tree.End(), true; }
};

}  // namespace

base::Result<Value> Parse(std::string_view text, ParseLimits limits) {
  WholeDocument document;
  const base::Result<void> read = ReadDocument(text, limits, document);
  if (!read) return read.error();
  return document.tree.Take();
}

}  // namespace json

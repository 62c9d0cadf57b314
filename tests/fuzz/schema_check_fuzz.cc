// The OpenAPI document of Buckets in storage.example.com/v1, "====", a path in them: whether they
// can have the field.

#include "pkg/quota/usage/schema_check.h"
#include "tests/fuzz/target.h"

namespace {

using quota::usage::FieldPath;
using quota::usage::SchemaDocument;

// "": they can, or that is not known; nullopt: the document is none of these kinds.
std::optional<std::string> WhyNot(std::string_view text, const FieldPath& path) {
  auto document = SchemaDocument::Read(std::string(text));
  if (!document) return std::nullopt;
  const auto why = document->WhyNot({"storage.example.com", "v1", "Bucket"}, {{"f", path}});
  if (!why) return std::nullopt;
  return *why;
}

FUZZ_TARGET(schema_check) {
  const auto parts = fuzz::Parts(input, 2);
  const auto path = FieldPath::Parse(parts[1]);
  if (!path) return;
  const auto why = WhyNot(parts[0], *path);
  fuzz::Require(!why || why->empty() || why->starts_with("f: "), "an answer names the field");
  fuzz::Require(!why || why->size() < 65'536, "an answer is short");
  const auto value = json::Parse(parts[0]);
  if (!value) return;
  const std::string again = json::Write(*value);
  const auto same = json::Parse(again);
  if (!same || *same != *value) return;  // two members of one name
  fuzz::Require(WhyNot(again, *path) == why, "the same however it is spaced");
}

}  // namespace

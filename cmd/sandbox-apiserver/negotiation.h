#pragma once

// The representation of answers (apiserver v0.36.3, pkg/endpoints/handlers/negotiation):
// the object itself, its metadata, or a table. Answers are always JSON: a client that accepts other
// forms, too, gets JSON, a client that does not accept it gets 406.
//
// Pure; any thread.

#include <optional>
#include <string>
#include <string_view>

namespace sandbox {

enum class Form { kObject, kTable, kMetadata };

// The kind of answer: a list has the form PartialObjectMetadataList, other answers
// PartialObjectMetadata.
enum class Shape { kSingle, kList };

// The most preferred clause of `accept` that can be served; nullopt: 406. "" accepts JSON.
std::optional<Form> Negotiate(std::string_view accept, Shape shape);

// "application/json; charset=utf-8" → "application/json", in lower case.
std::string MediaType(std::string_view content_type);

}  // namespace sandbox

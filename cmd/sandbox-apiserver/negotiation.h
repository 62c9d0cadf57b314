#pragma once

// The representation of answers and bodies (apiserver v0.36.3, pkg/endpoints/handlers/negotiation):
// JSON or YAML, and the object itself, its metadata, or a table. Answers are never protobuf or
// CBOR: a client that also accepts JSON gets JSON, any other gets 406.
//
// Pure; any thread.

#include <optional>
#include <string>
#include <string_view>

namespace sandbox {

enum class Encoding { kJson, kYaml };
enum class Form { kObject, kTable, kMetadata };

struct Representation {
  Encoding encoding = Encoding::kJson;
  Form form = Form::kObject;
  std::string meta_version = "v1";  // of meta.k8s.io, for kTable and kMetadata
};

// The kind of answer: a list has the form PartialObjectMetadataList, other answers
// PartialObjectMetadata; a watch is never YAML.
enum class Shape { kSingle, kList, kWatch };

// The most preferred clause of `accept` that can be served; nullopt: 406. "" accepts JSON.
std::optional<Representation> Negotiate(std::string_view accept, Shape shape);

// True if some clause asks for aggregated discovery (apidiscovery.k8s.io v2), before plain JSON.
bool AcceptsAggregatedDiscovery(std::string_view accept);

// Returns the encoding of a request body; nullopt: 415. "" means JSON.
enum class BodyFormat { kJson, kYaml, kProtobuf };
std::optional<BodyFormat> BodyFormatOf(std::string_view content_type);

// "application/json; charset=utf-8" → "application/json", in lower case.
std::string MediaType(std::string_view content_type);

}  // namespace sandbox

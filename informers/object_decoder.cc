#include "informers/object_decoder.h"

#include <algorithm>

#include "pkg/protobuf/envelope.h"
#include "pkg/protobuf/kinds.h"

namespace informers {
namespace {

// True if only metadata is wanted: then the server need not send the rest.
bool MetadataOnly(const ReflectorOptions& options) {
  return std::all_of(options.fields.begin(), options.fields.end(),
                     [](const std::string& path) { return path.starts_with("metadata."); });
}

json::Projection FieldsOf(const ReflectorOptions& options) {
  std::vector<std::string> paths = options.fields;
  for (const char* path :
       {"metadata.uid", "metadata.name", "metadata.namespace", "metadata.resourceVersion"}) {
    paths.emplace_back(path);
  }
  return json::Projection(paths);
}

std::optional<protobuf::Decoder> ProtobufDecoder(const ReflectorOptions& options,
                                                 const json::Projection& fields) {
  if (!options.protobuf) return std::nullopt;
  const protobuf::Message* const message = MetadataOnly(options)
                                               ? &protobuf::PartialObjectMetadata()
                                               : protobuf::MessageOf(options.resource);
  if (message == nullptr) return std::nullopt;
  return protobuf::Decoder::For(*message, fields);
}

// The preferred format comes first. A server without PartialObjectMetadata answers with plain JSON.
std::string Accept(const ReflectorOptions& options, bool as_protobuf, std::string_view reduced) {
  std::string as;
  if (MetadataOnly(options)) as.append(";as=").append(reduced).append(";g=meta.k8s.io;v=v1");
  std::string accept;
  if (as_protobuf) accept.append(protobuf::kMediaType).append(as).append(",");
  if (!as.empty()) accept.append(client::kJson).append(as).append(",");
  return accept.append(client::kJson);
}

}  // namespace

ObjectDecoder::ObjectDecoder(const ReflectorOptions& options)
    : fields_(FieldsOf(options)),
      protobuf_(ProtobufDecoder(options, fields_)),
      accept_list_(Accept(options, protobuf_.has_value(), "PartialObjectMetadataList")),
      accept_watch_(Accept(options, protobuf_.has_value(), "PartialObjectMetadata")) {}

base::Result<json::Value> ObjectDecoder::Decode(WireForm form, std::string_view bytes,
                                                json::Skimmer& skimmer) const {
  if (form == WireForm::kJson) return skimmer.Take(bytes);
  if (protobuf_) return protobuf_->Decode(bytes);
  return base::Error{.code = base::ErrorCode::kMalformed,
                     .message = "the answer is protobuf, which was not asked for"};
}

}  // namespace informers

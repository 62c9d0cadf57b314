#pragma once

// How the objects of one collection are asked for and decoded. Built-in kinds whose wanted fields
// pkg/protobuf describes, and the metadata of every kind, are asked for as protobuf first; a server
// that has no such form of them answers with JSON, so each answer is taken as what it is.
//
// Immutable after construction; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "informers/reflector.h"
#include "pkg/protobuf/decoder.h"

namespace informers {

enum class WireForm { kJson, kProtobuf };

class ObjectDecoder {
 public:
  explicit ObjectDecoder(const ReflectorOptions& options);

  // The Accept header of a list, and of a watch.
  [[nodiscard]] const std::string& accept_list() const { return accept_list_; }
  [[nodiscard]] const std::string& accept_watch() const { return accept_watch_; }
  // What is decoded: the wanted fields and those that the reflector needs.
  [[nodiscard]] const json::Projection& fields() const { return fields_; }

  // One object. Errors: kMalformed; also for protobuf that was not asked for.
  [[nodiscard]] base::Result<json::Value> Decode(WireForm form, std::string_view bytes) const;

 private:
  json::Projection fields_;
  std::optional<protobuf::Decoder> protobuf_;
  std::string accept_list_;
  std::string accept_watch_;
};

}  // namespace informers

#pragma once

// Decodes the wanted fields of a protobuf message to the JSON value that the JSON form of the
// object would give. So readers of objects need not know the wire format.
//
// JSON leaves out an empty string or a zero that means "not set"; so does this decoder. Empty lists
// and maps do not appear. Immutable after construction; any thread.

#include <memory>
#include <optional>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/json/projection.h"
#include "pkg/json/value.h"
#include "pkg/protobuf/message.h"

namespace protobuf {

class Decoder {
 public:
  // nullopt if `message` does not describe all wanted `fields`: then request JSON.
  static std::optional<Decoder> For(const Message& message, const json::Projection& fields);

  // Errors: kMalformed, naming the message, if the bytes are not one.
  [[nodiscard]] base::Result<json::Value> Decode(std::string_view bytes) const;

  struct Level;

 private:
  Decoder(std::shared_ptr<const Level> level, json::Projection fields)
      : level_(std::move(level)), fields_(std::move(fields)) {}

  std::shared_ptr<const Level> level_;
  json::Projection fields_;  // owns the nodes that the levels point to
};

// Decodes everything that the message describes: for small messages that are needed whole.
base::Result<json::Value> DecodeWhole(const Message& message, std::string_view bytes);

}  // namespace protobuf

#pragma once

// Decodes the wanted fields of a protobuf message to the JSON value that the same object would have
// given as JSON: whoever reads objects need not know in which form they came.
//
// What JSON leaves out, an empty string or a zero that stands for "not set", is left out here too;
// lists and maps without an element do not appear. Immutable after construction; any thread.

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
  // nullopt if `message` does not describe all that `fields` want: then JSON must be asked for.
  static std::optional<Decoder> For(const Message& message, const json::Projection& fields);

  // Errors: kMalformed, naming the message, for bytes that are none of it.
  [[nodiscard]] base::Result<json::Value> Decode(std::string_view bytes) const;

  struct Level;

 private:
  Decoder(std::shared_ptr<const Level> level, json::Projection fields)
      : level_(std::move(level)), fields_(std::move(fields)) {}

  std::shared_ptr<const Level> level_;
  json::Projection fields_;  // owns what the levels point to
};

// All that the message describes of `bytes`: for small messages that are wanted whole.
base::Result<json::Value> DecodeWhole(const Message& message, std::string_view bytes);

}  // namespace protobuf

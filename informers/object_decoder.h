#pragma once

// Chooses the wire format of one collection and decodes its objects. Protobuf is requested first
// for the metadata of every kind, and for built-in kinds whose wanted fields pkg/protobuf
// describes. A server without protobuf for a kind answers in JSON, so the format of each answer is
// detected.
//
// Immutable after construction; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "informers/reflector.h"
#include "pkg/json/skimmer.h"
#include "pkg/protobuf/decoder.h"

namespace informers {

enum class WireForm { kJson, kProtobuf };

class ObjectDecoder {
 public:
  explicit ObjectDecoder(const ReflectorOptions& options);

  // The Accept headers of a list and of a watch.
  [[nodiscard]] const std::string& accept_list() const { return accept_list_; }
  [[nodiscard]] const std::string& accept_watch() const { return accept_watch_; }
  // The decoded fields: the wanted ones and those that the reflector needs.
  [[nodiscard]] const json::Projection& fields() const { return fields_; }

  // For the JSON of an answer; the decoder must outlive it.
  [[nodiscard]] json::Skimmer NewSkimmer() const { return json::Skimmer(fields_); }
  // Decodes one object; JSON with `skimmer`, which may have read it already. Errors: kMalformed,
  // also for protobuf that was not requested.
  [[nodiscard]] base::Result<json::Value> Decode(WireForm form, std::string_view bytes,
                                                 json::Skimmer& skimmer) const;

 private:
  json::Projection fields_;
  std::optional<protobuf::Decoder> protobuf_;
  std::string accept_list_;
  std::string accept_watch_;
};

}  // namespace informers

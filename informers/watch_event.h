#pragma once

// One frame of a watch as a value (apimachinery v0.36.3, pkg/apis/meta/v1/watch.go). No I/O; any
// thread.

#include <string>
#include <string_view>

#include "informers/object_decoder.h"
#include "pkg/base/error.h"
#include "pkg/json/projection.h"
#include "pkg/json/value.h"

namespace informers {

struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark };
  Type type = Type::kBookmark;
  json::Value object;
  std::string version;  // of the object; "" if it has none
};

// Decodes the frames of one watch. Errors name `path`.
class WatchEventDecoder {
 public:
  WatchEventDecoder(ObjectDecoder objects, std::string path);
  // For the JSON of a watch; the decoder must outlive it.
  [[nodiscard]] json::Skimmer NewSkimmer() const { return json::Skimmer(json_fields_); }
  // Decodes a frame; JSON with `skimmer`, which may have read it already. Errors: kMalformed if the
  // frame is not an event. For an ERROR event, the Error of its Status; `server_said` is then set,
  // to tell the two apart.
  base::Result<WatchEvent> Decode(WireForm form, std::string_view frame, json::Skimmer& skimmer,
                                  bool& server_said) const;
  [[nodiscard]] const ObjectDecoder& objects() const { return objects_; }

 private:
  base::Result<WatchEvent> DecodeJson(std::string_view frame, json::Skimmer& skimmer,
                                      bool& server_said) const;
  base::Result<WatchEvent> DecodeProtobuf(std::string_view frame, json::Skimmer& skimmer,
                                          bool& server_said) const;
  base::Result<WatchEvent> Event(std::string_view type, json::Value object) const;
  [[nodiscard]] base::Error StatusError(const json::Value& status) const;

  ObjectDecoder objects_;
  json::Projection json_fields_;  // of a frame
  std::string path_;
};

// Returns "namespace/name" for messages, or "an object without a name".
std::string KeyOf(const json::Value& object);

// True if the object has a uid and a name, as every stored object has.
bool IsWhole(const json::Value& object);

}  // namespace informers

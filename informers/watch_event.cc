#include "informers/watch_event.h"

#include <optional>

#include "pkg/api/object_meta.h"
#include "pkg/api/resource.h"
#include "pkg/client/api_client.h"
#include "pkg/protobuf/envelope.h"
#include "pkg/protobuf/kinds.h"

namespace informers {
namespace {

using Type = WatchEvent::Type;

std::optional<Type> TypeOf(std::string_view name) {
  if (name == "ADDED") return Type::kAdded;
  if (name == "MODIFIED") return Type::kModified;
  if (name == "DELETED") return Type::kDeleted;
  if (name == "BOOKMARK") return Type::kBookmark;
  return std::nullopt;
}

}  // namespace

WatchEventDecoder::WatchEventDecoder(ObjectDecoder objects, std::string path)
    : objects_(std::move(objects)),
      json_fields_(objects_.fields().Under("object", {"type"})),
      path_(std::move(path)) {}

base::Result<WatchEvent> WatchEventDecoder::Decode(WireForm form, std::string_view frame,
                                                   json::Skimmer& skimmer,
                                                   bool& server_said) const {
  base::Result<WatchEvent> event = form == WireForm::kJson
                                       ? DecodeJson(frame, skimmer, server_said)
                                       : DecodeProtobuf(frame, skimmer, server_said);
  if (!event && !server_said) return event.error().Wrap("watch " + path_);
  return event;
}

base::Result<WatchEvent> WatchEventDecoder::DecodeJson(std::string_view frame,
                                                       json::Skimmer& skimmer,
                                                       bool& server_said) const {
  base::Result<json::Value> envelope = skimmer.Take(frame);
  if (!envelope) return envelope.error();
  const std::string type(envelope->StringAt({"type"}));
  if (type == "ERROR") {
    // The Status is small and needed whole, so it is parsed without the projection.
    const base::Result<json::Value> whole = json::Parse(frame);
    if (!whole) return whole.error();
    server_said = true;
    const json::Value* const status = whole->At({"object"});
    return StatusError(status != nullptr ? *status : json::Value());
  }
  json::Object* const members = envelope->AsObject();
  json::Value* const object = members != nullptr ? members->Find("object") : nullptr;
  return Event(type, object != nullptr ? std::move(*object) : json::Value());
}

base::Result<WatchEvent> WatchEventDecoder::DecodeProtobuf(std::string_view frame,
                                                           json::Skimmer& skimmer,
                                                           bool& server_said) const {
  const base::Result<protobuf::WatchFrame> opened = protobuf::OpenWatchFrame(frame);
  if (!opened) return opened.error();
  if (opened->type == "ERROR") {
    const base::Result<json::Value> status =
        protobuf::DecodeWhole(protobuf::Status(), opened->object.object);
    if (!status) return status.error();
    server_said = true;
    return StatusError(*status);
  }
  base::Result<json::Value> object =
      objects_.Decode(WireForm::kProtobuf, opened->object.object, skimmer);
  if (!object) return object.error();
  return Event(opened->type, std::move(*object));
}

base::Result<WatchEvent> WatchEventDecoder::Event(std::string_view type_name,
                                                  json::Value object) const {
  const std::optional<Type> type = TypeOf(type_name);
  if (!type || !object.IsObject()) {
    return base::Error{.code = base::ErrorCode::kMalformed,
                       .message = "not an event: type \"" + std::string(type_name) + "\"" +
                                  (type ? ", its object is missing" : "")};
  }
  WatchEvent event{.type = *type, .object = std::move(object)};
  event.version = api::ResourceVersion(event.object);
  return event;
}

base::Error WatchEventDecoder::StatusError(const json::Value& status) const {
  const json::Value* const code = status.At({"code"});
  // A Status without a code counts as an internal error of the server.
  const std::int64_t http_status = code != nullptr ? code->AsInt64().value_or(500) : 500;
  json::Value named = status;  // ErrorFromAnswer() reads only an object whose kind is Status
  if (named.IsObject()) named.Make({"kind"}) = "Status";
  return client::ErrorFromAnswer("WATCH", path_, static_cast<int>(http_status), "",
                                 named.IsObject() ? json::Write(named) : "");
}

std::string KeyOf(const json::Value& object) {
  const api::ObjectKey key = api::KeyOf(object);
  return key.name.empty() ? "an object without a name" : key.ToString();
}

bool IsWhole(const json::Value& object) {
  return !api::Uid(object).empty() && !api::Name(object).empty();
}

}  // namespace informers

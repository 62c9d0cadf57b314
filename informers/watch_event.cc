#include "informers/watch_event.h"

#include <optional>

#include "pkg/api/resource.h"
#include "pkg/client/api_client.h"

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

// The Status of an ERROR event is small and wanted whole, so it is read without the projection.
base::Error ServerError(std::string_view frame, const std::string& path) {
  const base::Result<json::Value> event = json::Parse(frame);
  if (!event) return event.error();
  const json::Value* const status = event->At({"object"});
  const json::Value* const code = event->At({"object", "code"});
  const std::int64_t http_status = code != nullptr ? code->AsInt64().value_or(500) : 500;
  return client::ErrorFromAnswer("WATCH", path, static_cast<int>(http_status), "",
                                 status != nullptr ? json::Write(*status) : "");
}

}  // namespace

WatchEventDecoder::WatchEventDecoder(const json::Projection& object_fields, std::string path)
    : fields_(object_fields.Under("object", {"type"})), path_(std::move(path)) {}

base::Result<WatchEvent> WatchEventDecoder::Decode(std::string_view frame,
                                                   bool& server_said) const {
  base::Result<json::Value> envelope = json::ParseProjected(frame, fields_);
  if (!envelope) return envelope.error().Wrap("watch " + path_);
  const std::string_view type_name = envelope->StringAt({"type"});
  if (type_name == "ERROR") {
    server_said = true;
    return ServerError(frame, path_);
  }
  const std::optional<Type> type = TypeOf(type_name);
  json::Object* const members = envelope->AsObject();
  json::Value* const object = members != nullptr ? members->Find("object") : nullptr;
  if (!type || object == nullptr || !object->IsObject()) {
    return base::Error{.code = base::ErrorCode::kMalformed,
                       .message = "watch " + path_ + ": no event: type \"" +
                                  std::string(type_name) + "\"" +
                                  (type ? ", its object is missing" : "")};
  }
  WatchEvent event{.type = *type, .object = std::move(*object)};
  event.version = event.object.StringAt({"metadata", "resourceVersion"});
  return event;
}

std::string KeyOf(const json::Value& object) {
  const api::ObjectKey key{std::string(object.StringAt({"metadata", "namespace"})),
                           std::string(object.StringAt({"metadata", "name"}))};
  return key.name.empty() ? "an object without a name" : key.ToString();
}

bool IsWhole(const json::Value& object) {
  return !object.StringAt({"metadata", "uid"}).empty() &&
         !object.StringAt({"metadata", "name"}).empty();
}

}  // namespace informers

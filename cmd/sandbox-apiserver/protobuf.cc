#include "cmd/sandbox-apiserver/protobuf.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cmd/sandbox-apiserver/protobuf_schema.h"
#include "pkg/api/time.h"
#include "pkg/base/base64.h"

namespace sandbox {
namespace {

constexpr std::string_view kMagic{"k8s\0", 4};

base::Error Broken() {
  return {.code = base::ErrorCode::kMalformed, .message = "the protobuf body is broken"};
}

base::Error Unknown(std::string what) {
  return {.code = base::ErrorCode::kInvalidArgument,
          .message = "protobuf: " + std::move(what) + " is not known here, send JSON"};
}

// One field as it is on the wire.
struct WireField {
  std::uint64_t number = 0;
  bool is_bytes = false;
  std::uint64_t integer = 0;
  std::string_view bytes;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool AtEnd() const { return rest_.empty(); }

  // Returns nullopt for malformed bytes.
  std::optional<WireField> Next() {
    const std::optional<std::uint64_t> tag = Varint();
    if (!tag) return std::nullopt;
    WireField field;
    field.number = *tag >> 3;
    const std::optional<std::uint64_t> value = Varint();
    if (!value) return std::nullopt;
    field.integer = *value;
    if ((*tag & 7) == 0) return field;
    if ((*tag & 7) != 2 || *value > rest_.size()) return std::nullopt;
    field.is_bytes = true;
    field.bytes = rest_.substr(0, *value);
    rest_.remove_prefix(*value);
    return field;
  }

 private:
  std::optional<std::uint64_t> Varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

// Returns the requested fields of a small message, by number.
struct Pair {
  std::uint64_t integers[4] = {0, 0, 0, 0};
  std::string_view texts[4];
};

std::optional<Pair> ReadPair(std::string_view bytes) {
  Pair pair;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    const std::optional<WireField> field = reader.Next();
    if (!field) return std::nullopt;
    if (field->number >= 4) continue;
    pair.integers[field->number] = field->integer;
    pair.texts[field->number] = field->bytes;
  }
  return pair;
}

// Go writes an unset scalar as zero. If zero and unset differ, the field is a pointer in Go, and
// written only if it is set.
bool ZeroMatters(std::string_view name) {
  constexpr std::array<std::string_view, 12> kNames{"replicas",
                                                    "automountServiceAccountToken",
                                                    "enableServiceLinks",
                                                    "immutable",
                                                    "gracePeriodSeconds",
                                                    "backoffLimit",
                                                    "parallelism",
                                                    "completions",
                                                    "value",
                                                    "leaseTransitions",
                                                    "terminationGracePeriodSeconds",
                                                    "ttlSecondsAfterFinished"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Go writes these structs even if they are empty.
bool EmptyMatters(std::string_view name) {
  return name != "metadata" && name != "spec" && name != "status" && name != "resources" &&
         name != "strategy" && name != "template" && name != "scopeSelector";
}

base::Result<json::Value> DecodeMessage(std::string_view bytes, std::string_view message);

json::Value DecodeTime(const Pair& pair) {
  if (pair.integers[1] == 0 && pair.integers[2] == 0) return {};
  const auto since = std::chrono::seconds(static_cast<std::int64_t>(pair.integers[1])) +
                     std::chrono::nanoseconds(static_cast<std::int64_t>(pair.integers[2]));
  const base::WallTime time{std::chrono::duration_cast<base::WallTime::duration>(since)};
  return api::FormatTime(time);
}

// null: nothing to write.
base::Result<json::Value> DecodeBytes(const WireField& wire, const std::string& type,
                                      std::string_view name) {
  if (type == "string") {
    const bool keep = !wire.bytes.empty() || name.empty();
    return keep ? json::Value(wire.bytes) : json::Value();
  }
  if (type == "bytes") return json::Value(base::EncodeBase64(wire.bytes));
  if (FindProtobufMessage(type) != nullptr) {
    base::Result<json::Value> value = DecodeMessage(wire.bytes, type);
    const bool empty = value && value->AsObject()->empty();
    return empty && !name.empty() && !EmptyMatters(name) ? json::Value() : value;
  }
  const std::optional<Pair> pair = ReadPair(wire.bytes);
  if (!pair) return Broken();
  if (type == "Quantity") return json::Value(pair->texts[1]);
  if (type == "IntOrString") {
    if (pair->integers[1] == 1) return json::Value(pair->texts[3]);
    const bool zero = pair->integers[2] == 0;
    return zero ? json::Value() : json::Value(static_cast<std::int64_t>(pair->integers[2]));
  }
  if (type == "Time") return DecodeTime(*pair);
  return Broken();
}

// One value, of a single field or an element; `name` is "" for elements, which are always kept.
base::Result<json::Value> DecodeValue(const WireField& wire, const std::string& type,
                                      std::string_view name) {
  if (type != "int" && type != "bool") {
    if (!wire.is_bytes) return Broken();
    return DecodeBytes(wire, type, name);
  }
  if (wire.is_bytes) return Broken();
  if (wire.integer == 0 && !ZeroMatters(name)) return json::Value();
  if (type == "bool") return json::Value(wire.integer != 0);
  return json::Value(static_cast<std::int64_t>(wire.integer));
}

// One entry {1 key, 2 value} of a map.
base::Result<void> DecodeEntry(const WireField& wire, const ProtobufField& field,
                               json::Object& into) {
  std::string key;
  WireField content;
  content.is_bytes = true;
  for (WireReader reader(wire.bytes); !reader.AtEnd();) {
    const std::optional<WireField> part = reader.Next();
    if (!part) return Broken();
    if (part->number == 1) key = part->bytes;
    if (part->number == 2) content = *part;
  }
  base::Result<json::Value> value = DecodeValue(content, field.type, "");
  if (!value) return value.error();
  json::Value& map = into[field.name];
  if (!map.IsObject()) map = json::Object();
  map.AsObject()->Set(key, *std::move(value));
  return {};
}

base::Result<void> DecodeField(const WireField& wire, const ProtobufField& field,
                               json::Object& into) {
  if (field.name.empty()) return {};
  if (field.shape == ProtobufField::Shape::kMap) return DecodeEntry(wire, field, into);
  const bool list = field.shape == ProtobufField::Shape::kList;
  base::Result<json::Value> value =
      DecodeValue(wire, field.type, list ? std::string_view() : std::string_view(field.name));
  if (!value) return value.error();
  if (list) {
    json::Value& elements = into[field.name];
    if (!elements.IsArray()) elements = json::Array();
    elements.AsArray()->push_back(*std::move(value));
  } else if (!value->IsNull()) {
    into.Set(field.name, *std::move(value));
  }
  return {};
}

base::Result<json::Value> DecodeMessage(std::string_view bytes, std::string_view message) {
  const ProtobufMessage* fields = FindProtobufMessage(message);
  if (fields == nullptr) return Unknown("the kind " + std::string(message));
  json::Object object;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    const std::optional<WireField> wire = reader.Next();
    if (!wire) return Broken();
    const auto field = std::find_if(
        fields->begin(), fields->end(),
        [&wire](const ProtobufField& candidate) { return candidate.number == wire->number; });
    if (field == fields->end()) {
      return Unknown("field " + std::to_string(wire->number) + " of " + std::string(message));
    }
    if (base::Result<void> decoded = DecodeField(*wire, *field, object); !decoded) {
      return decoded.error();
    }
  }
  return json::Value(std::move(object));
}

}  // namespace

base::Result<json::Value> DecodeProtobuf(std::string_view body) {
  if (!body.starts_with(kMagic)) return Broken();
  const std::optional<Pair> envelope = ReadPair(body.substr(kMagic.size()));
  if (!envelope) return Broken();
  const std::optional<Pair> type = ReadPair(envelope->texts[1]);
  if (!type) return Broken();
  base::Result<json::Value> object = DecodeMessage(envelope->texts[2], type->texts[2]);
  if (!object) return object.error();
  object->Make({"kind"}) = json::Value(type->texts[2]);
  object->Make({"apiVersion"}) = json::Value(type->texts[1]);
  return object;
}

}  // namespace sandbox

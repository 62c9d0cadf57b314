#include "pkg/protobuf/decoder.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "pkg/api/time.h"

namespace protobuf {

using Node = json::Projection::Node;

// The wanted part of one message. A field without a step is skipped.
struct Decoder::Level {
  struct Step {
    const Field* field = nullptr;
    const Node* wanted = nullptr;  // for a map: the wanted keys; null: all
    std::unique_ptr<Level> below;  // for a message
  };
  std::string_view message;
  std::vector<Step> steps;

  [[nodiscard]] const Step* Find(std::uint32_t number) const {
    const auto found = std::find_if(steps.begin(), steps.end(),
                                    [number](const Step& s) { return s.field->number == number; });
    return found == steps.end() ? nullptr : &*found;
  }
};

namespace {

using Level = Decoder::Level;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

bool IsMap(const Field& field) {
  return field.type == FieldType::kStringMap || field.type == FieldType::kQuantityMap;
}

const Field* FieldNamed(const Message& message, std::string_view name) {
  const auto found = std::find_if(message.fields.begin(), message.fields.end(),
                                  [name](const Field& field) { return field.name == name; });
  return found == message.fields.end() ? nullptr : &*found;
}

// Everything that the message describes.
std::unique_ptr<Level> WholeLevel(const Message& message) {
  auto level = std::make_unique<Level>(Level{message.name, {}});
  for (const Field& field : message.fields) {
    level->steps.push_back({&field, nullptr, nullptr});
    if (field.type == FieldType::kMessage) level->steps.back().below = WholeLevel(*field.message);
  }
  return level;
}

bool DescribesAll(const Message& message) {
  return message.complete &&
         std::all_of(message.fields.begin(), message.fields.end(), [](const Field& field) {
           return field.type != FieldType::kMessage || DescribesAll(*field.message);
         });
}

// Null if a wanted field is not described.
std::unique_ptr<Level> LevelFor(const Message& message, const Node& wanted) {
  if (wanted.whole) return DescribesAll(message) ? WholeLevel(message) : nullptr;
  auto level = std::make_unique<Level>(Level{message.name, {}});
  for (const auto& [name, node] : wanted.members) {
    const Field* const field = FieldNamed(message, name);
    if (field == nullptr) return nullptr;
    if (field->number == kOfOtherVersions) continue;
    level->steps.push_back({field, IsMap(*field) && !node->whole ? node.get() : nullptr, nullptr});
    if (field->type != FieldType::kMessage) continue;
    level->steps.back().below = LevelFor(*field->message, *node);
    if (level->steps.back().below == nullptr) return nullptr;
  }
  return level;
}

std::string_view View(protozero::data_view bytes) { return {bytes.data(), bytes.size()}; }
protozero::data_view View(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

// The text of a Quantity message, its only field.
std::string_view QuantityText(protozero::data_view bytes) {
  pbf_reader reader(bytes);
  std::string_view text;
  while (reader.next()) {
    if (reader.tag_and_type() == tag_and_type(1, pbf_wire_type::length_delimited)) {
      text = View(reader.get_view());
    } else {
      reader.skip();
    }
  }
  return text;
}

// nullopt if the time is not set: it has no bytes, or only zeros.
std::optional<std::string> TimeText(protozero::data_view bytes) {
  pbf_reader reader(bytes);
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;
  while (reader.next()) {
    if (reader.tag_and_type() == tag_and_type(1, pbf_wire_type::varint)) {
      seconds = reader.get_int64();
    } else if (reader.tag_and_type() == tag_and_type(2, pbf_wire_type::varint)) {
      nanoseconds = reader.get_int32();
    } else {
      reader.skip();
    }
  }
  if (seconds == 0 && nanoseconds == 0) return std::nullopt;
  // The most seconds that fit into a WallTime of nanoseconds.
  constexpr std::int64_t kMax = 9'223'372'036;
  seconds = std::clamp(seconds, -kMax, kMax);
  return api::FormatTime(base::WallTime(std::chrono::seconds(seconds)));
}

json::Value DecodeLevel(const Level& level, pbf_reader reader);

// The entries of one map, each sent as a field of its own.
struct Entries {
  const Field* field = nullptr;
  std::vector<json::Member> entries;
};

// Adds one entry of a map, {1: key, 2: value}. A missing key or value is empty.
void AddEntry(const Level::Step& step, protozero::data_view bytes,
              std::vector<json::Member>& entries) {
  pbf_reader reader(bytes);
  std::string_view key;
  std::string_view value;
  while (reader.next()) {
    if (reader.tag_and_type() == tag_and_type(1, pbf_wire_type::length_delimited)) {
      key = View(reader.get_view());
    } else if (reader.tag_and_type() == tag_and_type(2, pbf_wire_type::length_delimited)) {
      value = View(reader.get_view());
    } else {
      reader.skip();
    }
  }
  if (step.wanted != nullptr && step.wanted->Find(key) == nullptr) return;
  const bool quantity = step.field->type == FieldType::kQuantityMap;
  entries.emplace_back(key, quantity ? QuantityText(View(value)) : value);
}

// Null if JSON would leave the field out.
json::Value Scalar(const Field& field, pbf_reader& reader) {
  const bool keep = field.presence || field.repeated;
  switch (field.type) {
    case FieldType::kString: {
      const std::string_view text = View(reader.get_view());
      return text.empty() && !keep ? json::Value() : json::Value(text);
    }
    case FieldType::kInteger: {
      const std::int64_t number = reader.get_int64();
      return number == 0 && !keep ? json::Value() : json::Value(number);
    }
    case FieldType::kBool: {
      const bool flag = reader.get_bool();
      return !flag && !keep ? json::Value() : json::Value(flag);
    }
    case FieldType::kQuantity:
      return QuantityText(reader.get_view());
    case FieldType::kTime: {
      std::optional<std::string> text = TimeText(reader.get_view());
      return text ? json::Value(std::move(*text)) : json::Value();
    }
    default:
      reader.skip();
      return {};
  }
}

// A list is sent as one field for each element.
json::Array& ListAt(json::Object& object, std::string_view name) {
  json::Value& member = object[name];
  if (member.IsNull()) member = json::Array();
  return *member.AsArray();
}

std::vector<json::Member>& EntriesOf(const Field& field, std::vector<Entries>& maps) {
  const auto found = std::ranges::find(maps, &field, &Entries::field);
  return found != maps.end() ? found->entries : maps.emplace_back(&field).entries;
}

void TakeField(const Level::Step& step, pbf_reader& reader, json::Object& object) {
  const Field& field = *step.field;
  json::Value value = field.type == FieldType::kMessage
                          ? DecodeLevel(*step.below, reader.get_message())
                          : Scalar(field, reader);
  if (field.repeated) {
    ListAt(object, field.name).push_back(std::move(value));
  } else if (!value.IsNull()) {
    object.Set(field.name, std::move(value));
  }
}

pbf_wire_type WireTypeOf(const Field& field) {
  const bool number = field.type == FieldType::kInteger || field.type == FieldType::kBool;
  return number ? pbf_wire_type::varint : pbf_wire_type::length_delimited;
}

// `object` only gets the fields of the message, which are few: maps have any number of entries.
json::Value DecodeLevel(const Level& level, pbf_reader reader) {
  json::Object object;
  std::vector<Entries> maps;
  while (reader.next()) {
    const Level::Step* const step = level.Find(reader.tag());
    if (step == nullptr) {
      reader.skip();
    } else if (reader.wire_type() != WireTypeOf(*step->field)) {
      throw protozero::unknown_pbf_wire_type_exception();
    } else if (IsMap(*step->field)) {
      AddEntry(*step, reader.get_view(), EntriesOf(*step->field, maps));
    } else {
      TakeField(*step, reader, object);
    }
  }
  for (Entries& map : maps) {
    object.Set(map.field->name, json::Object::FromMembers(std::move(map.entries)));
  }
  return object;
}

base::Result<json::Value> DecodeBytes(const Level& level, std::string_view bytes) {
  try {
    return DecodeLevel(level, pbf_reader(View(bytes)));
  } catch (const protozero::exception& e) {
    std::string message("malformed protobuf of a ");
    message.append(level.message).append(": ").append(e.what());
    return base::Error{.code = base::ErrorCode::kMalformed, .message = std::move(message)};
  }
}

}  // namespace

std::optional<Decoder> Decoder::For(const Message& message, const json::Projection& fields) {
  std::unique_ptr<Level> level = LevelFor(message, fields.root());
  if (level == nullptr) return std::nullopt;
  return Decoder(std::move(level), fields);
}

base::Result<json::Value> Decoder::Decode(std::string_view bytes) const {
  return DecodeBytes(*level_, bytes);
}

base::Result<json::Value> DecodeWhole(const Message& message, std::string_view bytes) {
  return DecodeBytes(*WholeLevel(message), bytes);
}

}  // namespace protobuf

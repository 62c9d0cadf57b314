// Protobuf bytes of an API server. As a stream: frames and items are the same wherever it is cut.
// After the first byte, which selects a kind, as an object: wanted fields do not depend on other
// wanted fields, and encoded again it decodes to the same. A JSON object is encoded, and counts the
// same.

#include "pkg/protobuf/splitter.h"

#include <algorithm>

#include "informers/watch_event.h"
#include "pkg/api/time.h"
#include "pkg/protobuf/decoder.h"
#include "pkg/protobuf/envelope.h"
#include "pkg/protobuf/kinds.h"
#include "tests/fuzz/evaluators.h"
#include "tests/fuzz/kept.h"
#include "tests/fuzz/target.h"
#include "tests/pkg/protobuf/wire.h"

namespace {

using json::Projection;
using json::Value;
using protobuf::Decoder;
using protobuf::Field;
using protobuf::FieldType;
using protobuf::Message;

constexpr std::size_t kMaxBytes = 1024;

// A part of a kind's fields.
struct Lesser {
  Projection fields;
  Decoder decoder;
};

struct Kind {
  Kind(const api::GroupVersionResource& resource, const std::vector<std::string>& wanted,
       const quota::Evaluator* counter = nullptr);
  const Message& message;
  Decoder decoder;
  std::vector<Lesser> lesser;
  const quota::Evaluator* evaluator;
};

const Message& Described(const api::GroupVersionResource& resource) {
  const Message* const message = protobuf::MessageOf(resource);
  fuzz::Require(message != nullptr, "a kind that is described");
  return *message;
}

Decoder DecoderFor(const Message& message, const Projection& fields) {
  auto decoder = Decoder::For(message, fields);
  fuzz::Require(decoder.has_value(), "all that evaluators read is described");
  return std::move(*decoder);
}

Kind::Kind(const api::GroupVersionResource& resource, const std::vector<std::string>& wanted,
           const quota::Evaluator* counter)
    : message(Described(resource)),
      decoder(DecoderFor(message, Projection(fuzz::WithIdentity(wanted)))),
      evaluator(counter) {
  fuzz::Chance chance(resource.resource);
  for (int i = 0; i < 16; ++i) {
    std::vector<std::string> fewer;
    for (const std::string& field : fuzz::WithIdentity(wanted)) {
      if (chance.OneIn(2)) fewer.push_back(field);
    }
    lesser.push_back({Projection(fewer), DecoderFor(message, Projection(fewer))});
  }
}

std::vector<Kind> MakeKinds() {
  std::vector<Kind> kinds;
  kinds.emplace_back(api::GroupVersionResource{"", "v1", "resourcequotas"}, quota::QuotaFields());
  for (const quota::Evaluator& evaluator : fuzz::QuotaApis().front().evaluators) {
    const api::GroupVersionResource resource{evaluator.resource.group, "v1",
                                             evaluator.resource.resource};
    if (protobuf::MessageOf(resource) == nullptr) continue;
    if (!evaluator.fields.empty()) kinds.emplace_back(resource, evaluator.fields, &evaluator);
    if (!evaluator.classes || evaluator.resource.group != "resource.k8s.io") continue;
    kinds.emplace_back(api::GroupVersionResource{"resource.k8s.io", "v1", "deviceclasses"},
                       evaluator.classes->fields);
  }
  return kinds;
}

// Encodes the decoder's result, and equivalent JSON; nullopt for values without a protobuf form,
// such as a map without entries (left when none of the wanted keys exists).
std::optional<std::string> Encoded(const Message& message, const Value& value);

std::optional<std::string> EncodedTime(std::string_view text) {
  const auto time = api::ParseTime(text);
  if (!time || api::FormatTime(*time) != text) return std::nullopt;
  const auto since_epoch =
      std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count();
  // A time that is not set looks like 1970.
  return since_epoch == 0 ? wire::Number(2, 1) : wire::Number(1, since_epoch);
}

std::optional<std::string> EncodedText(const Field& field, const std::string& text) {
  if (field.type == FieldType::kQuantity) {
    return wire::Bytes(field.number, wire::Bytes(1, text));
  }
  if (field.type != FieldType::kTime) return wire::Bytes(field.number, text);
  const auto time = EncodedTime(text);
  return time ? std::optional(wire::Bytes(field.number, *time)) : std::nullopt;
}

std::optional<std::string> EncodedOne(const Field& field, const Value& value) {
  if (field.type == FieldType::kInteger) {
    const auto number = value.AsInt64();
    return number ? std::optional(wire::Number(field.number, *number)) : std::nullopt;
  }
  if (field.type == FieldType::kBool) {
    const auto flag = value.AsBool();
    return flag ? std::optional(wire::Number(field.number, *flag ? 1 : 0)) : std::nullopt;
  }
  if (field.type == FieldType::kMessage) {
    const auto below = Encoded(*field.message, value);
    return below ? std::optional(wire::Bytes(field.number, *below)) : std::nullopt;
  }
  const std::string* const text = value.AsString();
  return text != nullptr ? EncodedText(field, *text) : std::nullopt;
}

std::optional<std::string> EncodedMap(const Field& field, const Value& map) {
  if (!map.IsObject() || map.AsObject()->empty()) return std::nullopt;
  std::string bytes;
  for (const auto& [key, value] : *map.AsObject()) {
    const std::string* const text = value.AsString();
    if (text == nullptr) return std::nullopt;
    bytes += field.type == FieldType::kQuantityMap
                 ? wire::Amount(field.number, key, *text)
                 : wire::Bytes(field.number, wire::Bytes(1, key).append(wire::Bytes(2, *text)));
  }
  return bytes;
}

std::optional<std::string> EncodedField(const Field& field, const Value& value) {
  const bool map = field.type == FieldType::kStringMap || field.type == FieldType::kQuantityMap;
  if (map) return EncodedMap(field, value);
  if (!field.repeated) return EncodedOne(field, value);
  if (!value.IsArray()) return std::nullopt;
  std::string bytes;
  for (const Value& element : *value.AsArray()) {
    const auto one = EncodedOne(field, element);
    if (!one) return std::nullopt;
    bytes += *one;
  }
  return bytes;
}

std::optional<std::string> Encoded(const Message& message, const Value& value) {
  if (!value.IsObject()) return std::nullopt;
  std::string bytes;
  for (const auto& [name, member] : *value.AsObject()) {
    for (const Field& field : message.fields) {
      if (field.name != name || member.IsNull()) continue;
      const auto encoded = EncodedField(field, member);
      if (!encoded) return std::nullopt;
      bytes += *encoded;
    }
  }
  return bytes;
}

const Kind* KindOf(const std::vector<Kind>& kinds, const Value& object) {
  const quota::Evaluator& evaluator = fuzz::EvaluatorOf(object);
  const auto found = std::ranges::find_if(kinds, [&](const Kind& kind) {
    return kind.evaluator != nullptr && kind.evaluator->resource == evaluator.resource;
  });
  return found == kinds.end() ? nullptr : &*found;
}

// An object counts the same in both forms.
void CheckAgainstJson(const std::vector<Kind>& kinds, std::string_view text) {
  const auto object = json::Parse(text);
  if (!object || !object->IsObject()) return;
  const Kind* const kind = KindOf(kinds, *object);
  const auto bytes = kind != nullptr ? Encoded(kind->message, *object) : std::nullopt;
  if (!bytes) return;
  static const base::WallTime now = *api::ParseTime("2026-01-02T03:04:05Z");
  const auto decoded = kind->decoder.Decode(*bytes);
  fuzz::Require(decoded.has_value(), "what is encoded can be decoded");
  const auto facts = kind->evaluator->facts_of(*decoded, {now});
  const auto of_json = kind->evaluator->facts_of(*object, {now});
  fuzz::RequireSame(facts ? "" : facts.error().message, of_json ? "" : of_json.error().message,
                    "the same is wrong in both forms");
  if (!facts) return;
  fuzz::RequireSame(facts->now.usage.ToString(), of_json->now.usage.ToString(), "the same usage");
  fuzz::Require(facts->now == of_json->now, "the same facts");
  fuzz::Require(facts->later.has_value() == of_json->later.has_value(), "the same later");
}

void CheckObject(const Kind& kind, std::string_view bytes, fuzz::Chance& chance) {
  const Lesser& lesser = kind.lesser[chance.Below(kind.lesser.size())];
  const auto object = kind.decoder.Decode(bytes);
  const auto part = lesser.decoder.Decode(bytes);
  if (!object) {
    fuzz::Require(object.error().Is(base::ErrorCode::kMalformed), "malformed");
    return;
  }
  fuzz::Require(part.has_value(), "who wants less can read it as well");
  const Value kept = fuzz::Kept(*object, lesser.fields.root());
  fuzz::RequireSame(json::Write(*part), json::Write(kept), "and reads the same");
  if (const auto encoded = Encoded(kind.message, *object)) {
    const auto again = kind.decoder.Decode(*encoded);
    fuzz::Require(again.has_value(), "what is encoded can be decoded");
    fuzz::RequireSame(json::Write(*again), json::Write(*object), "to the same");
  }
  if (kind.evaluator != nullptr) (void)kind.evaluator->facts_of(*object, {});
}

template <typename Splitter>
std::string Told(Splitter& splitter, const std::vector<std::string>& pieces,
                 std::vector<std::string>& messages) {
  for (const std::string& piece : pieces) {
    const auto fed = splitter.Feed(piece, [&](std::string_view message) -> base::Result<void> {
      messages.emplace_back(message);
      return {};
    });
    if (!fed) return fed.error().message;
  }
  return "";
}

informers::WatchEventDecoder EventDecoder() {
  informers::ReflectorOptions options;
  options.resource = {"", "v1", "resourcequotas"};
  options.fields = quota::QuotaFields();
  return {informers::ObjectDecoder(options), "/w"};
}

void CheckFrames(std::string_view input, const std::vector<std::string>& pieces) {
  protobuf::FrameSplitter whole(kMaxBytes);
  protobuf::FrameSplitter cut(kMaxBytes);
  std::vector<std::string> frames;
  std::vector<std::string> others;
  const std::string told = Told(whole, {std::string(input)}, frames);
  fuzz::RequireSame(Told(cut, pieces, others), told, "the same error");
  fuzz::Require(frames == others, "the same frames");
  if (told.empty()) fuzz::Require(whole.AtBoundary() == cut.AtBoundary(), "the same end");
  static const informers::WatchEventDecoder decoder = EventDecoder();
  json::Skimmer skimmer = decoder.NewSkimmer();
  for (const std::string& frame : frames) {
    bool server_said = false;
    const auto event = decoder.Decode(informers::WireForm::kProtobuf, frame, skimmer, server_said);
    if (event) fuzz::Require(event->object.IsObject(), "an event has an object");
  }
}

void CheckList(std::string_view input, const std::vector<std::string>& pieces) {
  protobuf::ListSplitter whole(kMaxBytes);
  protobuf::ListSplitter cut(kMaxBytes);
  std::vector<std::string> items;
  std::vector<std::string> others;
  const std::string told = Told(whole, {std::string(input)}, items);
  const std::string other = Told(cut, pieces, others);
  fuzz::RequireSame(other, told, "the same error");
  fuzz::Require(items == others, "the same items");
  if (!told.empty()) return;
  const auto list = whole.Finish();
  const auto same = cut.Finish();
  fuzz::Require(list.has_value() == same.has_value(), "both complete or none");
  if (!list) return;
  fuzz::Require(
      list->kind == same->kind && list->meta == same->meta && list->object == same->object,
      "the same list");
  (void)protobuf::DecodeWhole(protobuf::ListMeta(), list->meta);
  (void)protobuf::StatusAsJson(input);
}

FUZZ_TARGET(protobuf) {
  static const std::vector<Kind> kinds = MakeKinds();
  if (input.starts_with('{')) return CheckAgainstJson(kinds, input);
  fuzz::Chance chance(input);
  const std::vector<std::string> pieces = fuzz::Pieces(input, chance);
  CheckFrames(input, pieces);
  CheckList(input, pieces);
  if (input.empty()) return;
  const Kind& kind = kinds[static_cast<unsigned char>(input.front()) % kinds.size()];
  CheckObject(kind, input.substr(1), chance);
}

}  // namespace

// Bytes as an API server sends protobuf. As a stream: frames and items are the same wherever it is
// cut. Behind the first byte, which chooses a kind, as an object: what is wanted of it does not
// depend on what else is wanted, and encoded again it is decoded to the same.

#include "pkg/protobuf/splitter.h"

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

struct Kind {
  api::GroupVersionResource resource;
  std::vector<std::string> fields;
  const quota::Evaluator* evaluator = nullptr;
};

std::vector<Kind> MakeKinds() {
  std::vector<Kind> kinds;
  kinds.push_back({{"", "v1", "resourcequotas"}, quota::QuotaFields()});
  for (const quota::Evaluator& evaluator : fuzz::QuotaApis().front().evaluators) {
    const api::GroupVersionResource resource{evaluator.resource.group, "v1",
                                             evaluator.resource.resource};
    if (protobuf::MessageOf(resource) == nullptr) continue;
    if (!evaluator.fields.empty()) kinds.push_back({resource, evaluator.fields, &evaluator});
    if (!evaluator.classes || evaluator.resource.group != "resource.k8s.io") continue;
    kinds.push_back({{"resource.k8s.io", "v1", "deviceclasses"}, evaluator.classes->fields});
  }
  return kinds;
}

// An encoder of what the decoder gives; nullopt for a time that has no such form.
std::optional<std::string> Encoded(const Message& message, const Value& value);

std::optional<std::string> EncodedTime(std::string_view text) {
  const auto time = api::ParseTime(text);
  if (!time) return std::nullopt;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count();
  // A time that is not set looks like 1970.
  if (seconds == 0) return wire::Number(2, 1);
  return wire::Number(1, seconds);
}

std::optional<std::string> EncodedOne(const Field& field, const Value& value) {
  const std::string text = value.AsString() != nullptr ? *value.AsString() : "";
  switch (field.type) {
    case FieldType::kInteger:
      return wire::Number(field.number, value.AsInt64().value_or(0));
    case FieldType::kBool:
      return wire::Number(field.number, value.AsBool().value_or(false) ? 1 : 0);
    case FieldType::kQuantity:
      return wire::Bytes(field.number, wire::Bytes(1, text));
    case FieldType::kTime: {
      const auto time = EncodedTime(text);
      return time ? std::optional(wire::Bytes(field.number, *time)) : std::nullopt;
    }
    case FieldType::kMessage: {
      const auto below = Encoded(*field.message, value);
      return below ? std::optional(wire::Bytes(field.number, *below)) : std::nullopt;
    }
    default:
      return wire::Bytes(field.number, text);
  }
}

std::string EncodedMap(const Field& field, const json::Object& map) {
  std::string bytes;
  for (const auto& [key, value] : map) {
    const std::string& text = *value.AsString();
    bytes += field.type == FieldType::kQuantityMap
                 ? wire::Amount(field.number, key, text)
                 : wire::Bytes(field.number, wire::Bytes(1, key).append(wire::Bytes(2, text)));
  }
  return bytes;
}

std::optional<std::string> EncodedField(const Field& field, const Value& value) {
  const bool map = field.type == FieldType::kStringMap || field.type == FieldType::kQuantityMap;
  if (map) return EncodedMap(field, *value.AsObject());
  if (!field.repeated) return EncodedOne(field, value);
  std::string bytes;
  for (const Value& element : *value.AsArray()) {
    const auto one = EncodedOne(field, element);
    if (!one) return std::nullopt;
    bytes += *one;
  }
  return bytes;
}

std::optional<std::string> Encoded(const Message& message, const Value& value) {
  std::string bytes;
  for (const auto& [name, member] : *value.AsObject()) {
    for (const Field& field : message.fields) {
      if (field.name != name) continue;
      const auto encoded = EncodedField(field, member);
      if (!encoded) return std::nullopt;
      bytes += *encoded;
    }
  }
  return bytes;
}

void CheckObject(const Kind& kind, std::string_view bytes, fuzz::Chance& chance) {
  const Message* const message = protobuf::MessageOf(kind.resource);
  fuzz::Require(message != nullptr, "a kind that is described");
  const std::vector<std::string> fields = fuzz::WithIdentity(kind.fields);
  std::vector<std::string> fewer;
  for (const std::string& field : fields) {
    if (chance.OneIn(2)) fewer.push_back(field);
  }
  const auto decoder = Decoder::For(*message, Projection(fields));
  const auto lesser = Decoder::For(*message, Projection(fewer));
  fuzz::Require(decoder && lesser, "all that evaluators read is described");
  const auto object = decoder->Decode(bytes);
  const auto part = lesser->Decode(bytes);
  if (!object) {
    fuzz::Require(object.error().Is(base::ErrorCode::kMalformed), "malformed");
    return;
  }
  fuzz::Require(part.has_value(), "who wants less can read it as well");
  const Value kept = fuzz::Kept(*object, Projection(fewer).root());
  fuzz::RequireSame(json::Write(*part), json::Write(kept), "and reads the same");
  if (const auto encoded = Encoded(*message, *object)) {
    const auto again = decoder->Decode(*encoded);
    fuzz::Require(again.has_value(), "what is encoded can be decoded");
    fuzz::RequireSame(json::Write(*again), json::Write(*object), "to the same");
  }
  if (kind.evaluator != nullptr) (void)kind.evaluator->facts_of(*object, base::WallTime());
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
  for (const std::string& frame : frames) {
    bool server_said = false;
    const auto event = decoder.Decode(informers::WireForm::kProtobuf, frame, server_said);
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
  fuzz::Chance chance(input);
  const std::vector<std::string> pieces = fuzz::Pieces(input, chance);
  CheckFrames(input, pieces);
  CheckList(input, pieces);
  if (input.empty()) return;
  const Kind& kind = kinds[static_cast<unsigned char>(input.front()) % kinds.size()];
  CheckObject(kind, input.substr(1), chance);
}

}  // namespace

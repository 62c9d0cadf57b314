#include "pkg/protobuf/envelope.h"

#include <protozero/pbf_reader.hpp>

#include "pkg/json/value.h"
#include "pkg/protobuf/decoder.h"
#include "pkg/protobuf/kinds.h"

namespace protobuf {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// The first two string or message fields of a message: all messages here use numbers 1 and 2.
struct Pair {
  std::string_view first;   // field 1
  std::string_view second;  // field 2
};

// Throws protozero::exception.
Pair ReadPair(std::string_view bytes) {
  pbf_reader reader(bytes.data(), bytes.size());
  Pair pair;
  while (reader.next()) {
    const bool text = reader.wire_type() == pbf_wire_type::length_delimited;
    if (text && (reader.tag() == 1 || reader.tag() == 2)) {
      std::string_view& part = reader.tag() == 1 ? pair.first : pair.second;
      const protozero::data_view view = reader.get_view();
      part = {view.data(), view.size()};
    } else {
      reader.skip();
    }
  }
  return pair;
}

// Throws protozero::exception.
Envelope OpenUnknown(std::string_view bytes) {
  const Pair unknown = ReadPair(bytes);
  const Pair type = ReadPair(unknown.first);
  return {.api_version = type.first, .kind = type.second, .object = unknown.second};
}

}  // namespace

base::Error Malformed(std::string_view why) {
  return {.code = base::ErrorCode::kMalformed,
          .message = std::string("malformed protobuf: ").append(why)};
}

base::Result<Envelope> Open(std::string_view bytes) {
  if (!IsEnveloped(bytes)) return Malformed("it does not begin with \"k8s\"");
  try {
    return OpenUnknown(bytes.substr(kMagic.size()));
  } catch (const protozero::exception& e) {
    return Malformed(e.what());
  }
}

base::Result<WatchFrame> OpenWatchFrame(std::string_view bytes) {
  try {
    const Pair event = ReadPair(bytes);
    const std::string_view raw = ReadPair(event.second).first;
    const base::Result<Envelope> object = Open(raw);
    if (!object) return object.error();
    return WatchFrame{.type = event.first, .object = *object};
  } catch (const protozero::exception& e) {
    return Malformed(e.what());
  }
}

std::optional<std::string> StatusAsJson(std::string_view bytes) {
  const base::Result<Envelope> envelope = Open(bytes);
  if (!envelope || envelope->kind != "Status") return std::nullopt;
  base::Result<json::Value> status = DecodeWhole(Status(), envelope->object);
  if (!status) return std::nullopt;
  status->Make({"kind"}) = "Status";
  status->Make({"apiVersion"}) = "v1";
  return json::Write(*status);
}

}  // namespace protobuf

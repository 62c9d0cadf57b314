#include "pkg/protobuf/envelope.h"

#include <catch2/catch.hpp>

#include "pkg/json/value.h"
#include "tests/pkg/protobuf/wire.h"

namespace protobuf::envelope_test {
namespace {

TEST_CASE("protobuf: an envelope has version, kind and object", "[protobuf]") {
  const std::string bytes = wire::Enveloped("Pod", "object");
  const auto envelope = Open(bytes);
  REQUIRE(envelope.has_value());
  CHECK(envelope->api_version == "v1");
  CHECK(envelope->kind == "Pod");
  CHECK(envelope->object == "object");
}

TEST_CASE("protobuf: an envelope needs the magic bytes", "[protobuf]") {
  for (const std::string& bad : {std::string(), std::string("k8s"), std::string("{}"),
                                 wire::Enveloped("Pod", "object").substr(0, 20)}) {
    const auto envelope = Open(bad);
    REQUIRE_FALSE(envelope.has_value());
    CHECK(envelope.error().Is(base::ErrorCode::kMalformed));
  }
}

TEST_CASE("protobuf: a frame of a watch has a type and an enveloped object", "[protobuf]") {
  const std::string bytes = wire::Frame("ADDED", "Pod", "object").substr(4);
  const auto frame = OpenWatchFrame(bytes);
  REQUIRE(frame.has_value());
  CHECK(frame->type == "ADDED");
  CHECK(frame->object.kind == "Pod");
  CHECK(frame->object.object == "object");
  CHECK_FALSE(OpenWatchFrame(wire::Bytes(1, "ADDED")).has_value());
  CHECK_FALSE(OpenWatchFrame(bytes.substr(1)).has_value());
}

TEST_CASE("protobuf: a Status has the same members as in JSON", "[protobuf]") {
  std::string details = wire::Bytes(3, "pods");
  details.append(wire::Bytes(4, wire::Bytes(1, "ResourceVersionTooLarge")));
  details.append(wire::Number(5, 3));
  std::string status = wire::Bytes(1, "");
  status.append(wire::Bytes(2, "Failure")).append(wire::Bytes(3, "too old resource version"));
  status.append(wire::Bytes(4, "Expired")).append(wire::Bytes(5, details));
  status.append(wire::Number(6, 410));
  const auto text = StatusAsJson(wire::Enveloped("Status", status));
  REQUIRE(text.has_value());
  CHECK(json::Parse(*text).value() ==
        json::Parse(R"({"apiVersion":"v1","kind":"Status","metadata":{},"status":"Failure",
                        "message":"too old resource version","reason":"Expired","code":410,
                        "details":{"kind":"pods","retryAfterSeconds":3,
                                   "causes":[{"reason":"ResourceVersionTooLarge"}]}})")
            .value());
  CHECK_FALSE(StatusAsJson(wire::Enveloped("Pod", status)).has_value());
  CHECK_FALSE(StatusAsJson("{}").has_value());
}

}  // namespace
}  // namespace protobuf::envelope_test

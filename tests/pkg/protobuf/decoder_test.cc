#include "pkg/protobuf/decoder.h"

#include <catch2/catch.hpp>

#include "pkg/protobuf/kinds.h"
#include "tests/pkg/protobuf/wire.h"

namespace protobuf::decoder_test {
namespace {

using wire::Amount;
using wire::Bytes;
using wire::Number;

const Message& Pod() { return *MessageOf({"", "v1", "pods"}); }

json::Value Json(std::string_view text) { return json::Parse(text).value(); }

json::Value Decoded(const Message& message, const std::vector<std::string>& fields,
                    std::string_view bytes) {
  const auto decoder = Decoder::For(message, json::Projection(fields));
  REQUIRE(decoder.has_value());
  const auto value = decoder->Decode(bytes);
  INFO((value ? "" : value.error().message));
  REQUIRE(value.has_value());
  return *value;
}

std::string Meta() {
  return Bytes(1, "web").append(Bytes(3, "team-a")).append(Bytes(5, "u-1")).append(Bytes(6, "17"));
}

std::string Container(std::string_view name, std::string_view cpu) {
  std::string resources = Amount(1, "cpu", cpu).append(Amount(2, "memory", "1Gi"));
  return Bytes(1, name).append(Bytes(2, "image:1")).append(Bytes(8, resources));
}

TEST_CASE("protobuf: wanted fields get their JSON names", "[protobuf]") {
  std::string spec = Bytes(1, "a volume").append(Bytes(2, Container("a", "100m")));
  spec.append(Bytes(2, Container("b", "2"))).append(Bytes(24, "high")).append(Number(5, 30));
  const std::string pod =
      Bytes(1, Meta()).append(Bytes(2, spec)).append(Bytes(3, Bytes(1, "Running")));
  CHECK(Decoded(Pod(),
                {"metadata.name", "spec.containers.resources.limits", "spec.activeDeadlineSeconds",
                 "status.phase"},
                pod) == Json(R"({"metadata":{"name":"web"},
                 "spec":{"containers":[{"resources":{"limits":{"cpu":"100m"}}},
                                       {"resources":{"limits":{"cpu":"2"}}}],
                         "activeDeadlineSeconds":30},
                 "status":{"phase":"Running"}})"));
}

TEST_CASE("protobuf: an element of a list is kept even without the wanted field", "[protobuf]") {
  const std::string pod = Bytes(2, Bytes(2, Bytes(1, "a")).append(Bytes(2, "")));
  CHECK(Decoded(Pod(), {"spec.containers.resources.limits"}, pod) ==
        Json(R"({"spec":{"containers":[{},{}]}})"));
}

TEST_CASE("protobuf: an empty value that Go always writes is absent", "[protobuf]") {
  const std::string pod =
      Bytes(1, Bytes(1, "web").append(Bytes(2, "")).append(Number(7, 0)).append(Bytes(8, "")))
          .append(Bytes(2, Bytes(24, "")));
  CHECK(Decoded(Pod(),
                {"metadata.name", "metadata.generateName", "metadata.generation",
                 "metadata.creationTimestamp", "spec.priorityClassName"},
                pod) == Json(R"({"metadata":{"name":"web"},"spec":{}})"));
}

TEST_CASE("protobuf: a pointer to an empty message is present", "[protobuf]") {
  const Message& claim = *MessageOf({"", "v1", "persistentvolumeclaims"});
  CHECK(Decoded(claim, {"spec.storageClassName"}, Bytes(2, Bytes(5, ""))) ==
        Json(R"({"spec":{"storageClassName":""}})"));
  const std::string term = Bytes(4, "");  // an empty namespaceSelector selects everything
  const std::string pod = Bytes(2, Bytes(18, Bytes(2, Bytes(1, term))));
  const std::string path =
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.namespaceSelector";
  CHECK(
      Decoded(Pod(), {path}, pod)
          .At({"spec", "affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"})
          ->AsArray()
          ->at(0) == Json(R"({"namespaceSelector":{}})"));
}

TEST_CASE("protobuf: times are written as RFC 3339", "[protobuf]") {
  const std::string time = Number(1, 1'767'323'045).append(Number(2, 0));
  CHECK(Decoded(Pod(), {"metadata.deletionTimestamp"}, Bytes(1, Bytes(9, time))) ==
        Json(R"({"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"}})"));
}

TEST_CASE("protobuf: a map gives all or only the wanted keys", "[protobuf]") {
  const Message& claim = *MessageOf({"", "v1", "persistentvolumeclaims"});
  const std::string requests = Amount(2, "storage", "1Gi").append(Amount(2, "other", "5"));
  const std::string bytes = Bytes(2, Bytes(2, requests));
  CHECK(Decoded(claim, {"spec.resources.requests"}, bytes) ==
        Json(R"({"spec":{"resources":{"requests":{"storage":"1Gi","other":"5"}}}})"));
  CHECK(Decoded(claim, {"spec.resources.requests.storage"}, bytes) ==
        Json(R"({"spec":{"resources":{"requests":{"storage":"1Gi"}}}})"));
  CHECK(Decoded(claim, {"spec.resources.requests.*"}, bytes) ==
        Json(R"({"spec":{"resources":{"requests":{"storage":"1Gi","other":"5"}}}})"));
}

TEST_CASE("protobuf: the last of repeated entries of a map wins", "[protobuf]") {
  std::string resources;
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    resources.append(Amount(2, "example.com/" + std::to_string(i * 7 % 500), number));
  }
  const std::string pod = Bytes(2, Bytes(2, Bytes(1, "a").append(Bytes(8, resources))));
  const json::Value value = Decoded(Pod(), {"spec.containers.resources.requests"}, pod);
  const json::Value& requests =
      *value.ArrayAt({"spec", "containers"})[0].At({"resources", "requests"});
  CHECK(requests.AsObject()->size() == 500);
  CHECK(requests.StringAt({"example.com/7"}) == "501");
}

TEST_CASE("protobuf: a field that is not described is not supported", "[protobuf]") {
  CHECK_FALSE(Decoder::For(Pod(), json::Projection({"spec.hostname"})).has_value());
  CHECK_FALSE(Decoder::For(Pod(), json::Projection({"spec"})).has_value());
  CHECK_FALSE(Decoder::For(Pod(), json::Projection({""})).has_value());
  CHECK(
      Decoder::For(*MessageOf({"", "v1", "resourcequotas"}), json::Projection({"spec", "status"})));
  CHECK(MessageOf({"apps", "v1", "deployments"}) == nullptr);
  CHECK(MessageOf({"", "v2", "pods"}) == nullptr);
}

TEST_CASE("protobuf: unknown fields of every wire type are skipped", "[protobuf]") {
  std::string pod = Number(99, -1);
  pod.append(wire::Fixed64(98)).append(Bytes(97, "x")).append(Bytes(1, Meta()));
  pod.append(wire::Varint(96 << 3 | 5)).append(4, 'z');
  CHECK(Decoded(Pod(), {"metadata.uid"}, pod) == Json(R"({"metadata":{"uid":"u-1"}})"));
}

TEST_CASE("protobuf: the error of malformed bytes names the message", "[protobuf]") {
  const auto decoder = Decoder::For(Pod(), json::Projection({"metadata.uid", "spec.overhead"}));
  REQUIRE(decoder.has_value());
  const std::string good = Bytes(1, Meta());
  for (const std::string& bad :
       {good.substr(0, good.size() - 1),
        std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), std::string("\x0b"),
        Number(1, 5), Bytes(2, Number(32, 7)), std::string("\0", 1)}) {
    const auto value = decoder->Decode(bad);
    REQUIRE_FALSE(value.has_value());
    CHECK(value.error().Is(base::ErrorCode::kMalformed));
    CHECK(value.error().message.find("malformed protobuf of a Pod") == 0);
  }
}

TEST_CASE("protobuf: a wanted message gives all described fields", "[protobuf]") {
  const auto meta = DecodeWhole(ListMeta(), Bytes(2, "17").append(Bytes(3, "token")));
  REQUIRE(meta.has_value());
  CHECK(*meta == Json(R"({"resourceVersion":"17","continue":"token"})"));
}

}  // namespace
}  // namespace protobuf::decoder_test

#include "cmd/sandbox-apiserver/protobuf.h"

#include <catch2/catch.hpp>

#include <string>

#include "tests/cmd/sandbox-apiserver/show_result.h"

namespace sandbox::protobuf_test {
namespace {

std::string Field(int number, const std::string& bytes) {
  std::string text;
  text.push_back(static_cast<char>(number << 3 | 2));
  text.push_back(static_cast<char>(bytes.size()));
  return text + bytes;
}

std::string Integer(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

std::string Envelope(const std::string& kind, const std::string& raw) {
  return std::string("k8s\0", 4) + Field(1, Field(1, "v1") + Field(2, kind)) + Field(2, raw) +
         Field(3, "") + Field(4, "");
}

std::string Decoded(const std::string& body) { return json::Write(DecodeProtobuf(body).value()); }

}  // namespace

TEST_CASE("protobuf: a quota is read as kubectl sends it", "[sandbox]") {
  const auto entry = [](const std::string& name, const std::string& quantity) {
    return Field(1, Field(1, name) + Field(2, Field(1, quantity)));
  };
  const std::string meta =
      Field(1, "q") + Field(2, "") + Field(3, "a") + Integer(7, 0) + Field(8, "");
  const std::string spec = entry("pods", "5") + entry("cpu", "500m") + Field(2, "BestEffort");
  const std::string raw = Field(1, meta) + Field(2, spec) + Field(3, "");
  CHECK(Decoded(Envelope("ResourceQuota", raw)) ==
        R"({"metadata":{"name":"q","namespace":"a"},)"
        R"("spec":{"hard":{"pods":"5","cpu":"500m"},"scopes":["BestEffort"]},)"
        R"("kind":"ResourceQuota","apiVersion":"v1"})");
}

TEST_CASE("protobuf: bytes become base64, zero replicas stay", "[sandbox]") {
  const std::string secret = Field(1, Field(1, "s")) + Field(2, Field(1, "k") + Field(2, "v"));
  CHECK(Decoded(Envelope("Secret", secret)).find(R"("data":{"k":"dg=="})") != std::string::npos);
  const std::string deployment = Field(1, Field(1, "d")) + Field(2, Integer(1, 0) + Integer(5, 0));
  CHECK(Decoded(Envelope("Deployment", deployment)).find(R"("spec":{"replicas":0})") !=
        std::string::npos);
}

TEST_CASE("protobuf: times and ports are decoded by their kind", "[sandbox]") {
  const std::string seconds = std::string("\x08\x80\xA3\x05", 4);  // 86400
  const std::string meta = Field(1, Field(1, "s") + Field(8, seconds));
  const std::string port = Integer(3, 80) + Field(4, Integer(1, 0) + Integer(2, 90) + Field(3, ""));
  const std::string text = Decoded(Envelope("Service", meta + Field(2, Field(1, port))));
  CHECK(text.find(R"("creationTimestamp":"1970-01-02T00:00:00Z")") != std::string::npos);
  CHECK(text.find(R"("ports":[{"port":80,"targetPort":90}])") != std::string::npos);
}

TEST_CASE("protobuf: unknown kinds and fields are errors", "[sandbox]") {
  const auto unknown_kind = DecodeProtobuf(Envelope("Widget", ""));
  CHECK(unknown_kind.error().Is(base::ErrorCode::kInvalidArgument));
  const auto unknown_field = DecodeProtobuf(Envelope("Namespace", Field(9, "x")));
  CHECK(unknown_field.error().message ==
        "protobuf: field 9 of Namespace is not known here, send JSON");
}

TEST_CASE("protobuf: a truncated object is an error at every length", "[sandbox]") {
  const std::string type =
      std::string("k8s\0", 4) + Field(1, Field(1, "v1") + Field(2, "Namespace"));
  const std::string whole = type + Field(2, Field(1, Field(1, "a")) + Field(2, Field(1, "k")));
  REQUIRE(DecodeProtobuf(whole));
  for (std::size_t length = type.size() + 1; length < whole.size(); ++length) {
    INFO(length);
    CHECK(DecodeProtobuf(whole.substr(0, length)).error().Is(base::ErrorCode::kMalformed));
  }
  CHECK_FALSE(DecodeProtobuf("{}"));
}

}  // namespace sandbox::protobuf_test

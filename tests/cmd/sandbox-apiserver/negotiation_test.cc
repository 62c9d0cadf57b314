#include "cmd/sandbox-apiserver/negotiation.h"

#include <catch2/catch.hpp>

namespace sandbox::negotiation_test {
namespace {

constexpr const char* kTable =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
    "json;as=Table;v=v1beta1;g=meta.k8s.io,"
    "application/json";
constexpr const char* kMetadata =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

}  // namespace

TEST_CASE("negotiation: JSON is the default", "[sandbox]") {
  for (const char* accept : {"", "*/*", "application/json", "application/*", "text/html, */*;q=0.1",
                             "application/vnd.kubernetes.protobuf,application/json"}) {
    INFO(accept);
    const auto chosen = Negotiate(accept, Shape::kSingle);
    REQUIRE(chosen);
    CHECK(chosen->encoding == Encoding::kJson);
    CHECK(chosen->form == Form::kObject);
  }
}

TEST_CASE("negotiation: YAML is served, but not in a watch", "[sandbox]") {
  CHECK(Negotiate("application/yaml", Shape::kSingle)->encoding == Encoding::kYaml);
  CHECK_FALSE(Negotiate("application/yaml", Shape::kWatch));
  CHECK(Negotiate("application/json;q=0.5,application/yaml", Shape::kList)->encoding ==
        Encoding::kYaml);
}

TEST_CASE("negotiation: protobuf alone is not acceptable", "[sandbox]") {
  CHECK_FALSE(Negotiate("application/vnd.kubernetes.protobuf", Shape::kSingle));
  CHECK_FALSE(Negotiate("application/json;q=0", Shape::kSingle));
}

TEST_CASE("negotiation: tables and metadata have shapes of their own", "[sandbox]") {
  CHECK(Negotiate(kTable, Shape::kList)->form == Form::kTable);
  CHECK(Negotiate(kTable, Shape::kList)->meta_version == "v1");
  CHECK(Negotiate(kTable, Shape::kWatch)->form == Form::kTable);
  CHECK(Negotiate(kMetadata, Shape::kSingle)->form == Form::kMetadata);
  CHECK(Negotiate(kMetadata, Shape::kWatch)->form == Form::kMetadata);
  CHECK_FALSE(Negotiate(kMetadata, Shape::kList));
  const char* list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  CHECK(Negotiate(list, Shape::kList)->form == Form::kMetadata);
  CHECK_FALSE(Negotiate(list, Shape::kWatch));
}

TEST_CASE("negotiation: aggregated discovery is served only if it is the first choice",
          "[sandbox]") {
  CHECK(AcceptsAggregatedDiscovery(
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"));
  CHECK_FALSE(AcceptsAggregatedDiscovery("application/json"));
  CHECK_FALSE(AcceptsAggregatedDiscovery(
      "application/json,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
  CHECK_FALSE(AcceptsAggregatedDiscovery(
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"));
}

TEST_CASE("negotiation: a body is read by its media type", "[sandbox]") {
  CHECK(BodyFormatOf("application/json; charset=utf-8") == BodyFormat::kJson);
  CHECK(BodyFormatOf("Application/YAML") == BodyFormat::kYaml);
  CHECK(BodyFormatOf("") == BodyFormat::kJson);
  CHECK(BodyFormatOf("application/vnd.kubernetes.protobuf") == BodyFormat::kProtobuf);
  CHECK_FALSE(BodyFormatOf("application/cbor"));
}

}  // namespace sandbox::negotiation_test

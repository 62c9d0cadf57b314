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
    CHECK(Negotiate(accept, Shape::kSingle) == Form::kObject);
  }
}

TEST_CASE("negotiation: protobuf or YAML alone is not acceptable", "[sandbox]") {
  CHECK_FALSE(Negotiate("application/vnd.kubernetes.protobuf", Shape::kSingle));
  CHECK_FALSE(Negotiate("application/yaml", Shape::kList));
  CHECK_FALSE(Negotiate("application/json;q=0", Shape::kSingle));
}

TEST_CASE("negotiation: tables and metadata have shapes of their own", "[sandbox]") {
  CHECK(Negotiate(kTable, Shape::kList) == Form::kTable);
  CHECK(Negotiate(kTable, Shape::kSingle) == Form::kTable);
  CHECK(Negotiate(kMetadata, Shape::kSingle) == Form::kMetadata);
  CHECK_FALSE(Negotiate(kMetadata, Shape::kList));
  const char* list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  CHECK(Negotiate(list, Shape::kList) == Form::kMetadata);
  CHECK_FALSE(Negotiate(list, Shape::kSingle));
}

TEST_CASE("negotiation: a media type has no parameters", "[sandbox]") {
  CHECK(MediaType("Application/JSON; charset=utf-8") == "application/json");
  CHECK(MediaType("").empty());
}

}  // namespace sandbox::negotiation_test

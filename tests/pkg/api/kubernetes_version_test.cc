#include "pkg/api/kubernetes_version.h"

#include <catch2/catch.hpp>

namespace api {
namespace {

base::Result<KubernetesVersion> Parse(const std::string& major, const std::string& minor) {
  return ParseKubernetesVersion(json::Object{{"major", major}, {"minor", minor}});
}

TEST_CASE("kubernetes version: the numbers of major and minor", "[api]") {
  CHECK(Parse("1", "37").value() == KubernetesVersion{1, 37});
  CHECK(Parse("1", "33+").value() == KubernetesVersion{1, 33});
  CHECK(KubernetesVersion{1, 9} < KubernetesVersion{1, 37});
  CHECK(KubernetesVersion{1, 37} < KubernetesVersion{2, 0});
  CHECK(KubernetesVersion{1, 37}.ToString() == "1.37");
}

TEST_CASE("kubernetes version: anything else is an error", "[api]") {
  for (const char* minor : {"", "+", "x37", "-1", "99999999999"}) {
    CAPTURE(minor);
    const auto version = Parse("1", minor);
    REQUIRE_FALSE(version.has_value());
    CHECK(version.error().code == base::ErrorCode::kMalformed);
    CHECK(version.error().message == "minor: is no number: " + std::string(minor));
  }
  CHECK_FALSE(Parse("", "37").has_value());
  CHECK_FALSE(ParseKubernetesVersion(json::Value()).has_value());
}

}  // namespace
}  // namespace api

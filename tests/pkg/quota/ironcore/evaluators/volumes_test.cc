// Volumes: their usage in any state, and their scopes.

#include <string>

#include "tests/pkg/quota/ironcore/ironcore_testing.h"
#include "tests/pkg/quota/ironcore/sample_objects.h"

namespace quota::ironcore::volumes_test {
namespace {

constexpr const char* kCount = "count/volumes.storage.ironcore.dev";

std::string Volume(const std::string& of, const std::string& storage,
                   const std::string& state = "Available") {
  std::string text = R"({"metadata":{"name":"v"},"spec":{"resources":{"storage":)" + storage + "}";
  if (!of.empty()) text += R"(,"volumeClassRef":{"name":")" + of + "\"}";
  return text + R"(},"status":{"state":")" + state + R"(","resources":{"storage":"9Ti"}}})";
}

const char* const kClassless = R"({"metadata":{"name":"v"},"spec":{}})";

TEST_CASE("volumes: the requested size counts in every state", "[quota][ironcore]") {
  Namespace volumes("volumes");
  volumes.Put(sample::kData, 1);
  CHECK(volumes.Used({kCount, "requests.storage"}) ==
        "count/volumes.storage.ironcore.dev=1,requests.storage=50Gi");
  for (const char* state : {"Pending", "Available", "Error", "Terminated"}) {
    volumes.Put(Volume("slow", R"("1Gi")", state), 2);
    CHECK(volumes.Used({"requests.storage", "requests.tps", "requests.cpu"}) ==
          "requests.cpu=0,requests.storage=51Gi,requests.tps=0");
  }
  volumes.Put(Volume("slow", "1024"), 2);
  CHECK(volumes.Used({"requests.storage"}) == "requests.storage=52428801Ki");
}

TEST_CASE("volumes: scopes select classes and volumes without a class", "[quota][ironcore]") {
  Namespace volumes("volumes");
  volumes.Put(sample::kData, 1);
  volumes.Put(Volume("slow", R"("7Gi")"), 2);
  volumes.Put(kClassless, 3);
  const auto used = [&](const std::string& rest) {
    return volumes.Used({kCount, "requests.storage"},
                        R"([{"scopeName":"VolumeClass",)" + rest + "}]");
  };
  const auto both = [](const char* count, const char* storage) {
    return std::string(kCount)
        .append("=")
        .append(count)
        .append(",requests.storage=")
        .append(storage);
  };
  CHECK(used(R"("operator":"Exists")") == both("2", "57Gi"));
  CHECK(used(R"("operator":"DoesNotExist")") == both("1", "0"));
  CHECK(used(R"("operator":"In","values":["fast",""])") == both("1", "50Gi"));
  // Without a class it is in no scope over classes: upstream's answer, unlike Kubernetes'.
  CHECK(used(R"("operator":"NotIn","values":["fast"])") == both("1", "7Gi"));
  CHECK(used(R"("operator":"NotIn","values":[])") == both("2", "57Gi"));
  CHECK(volumes.Used({kCount, "requests.storage"}, sample::kNotFast) == both("1", "7Gi"));
  CHECK(volumes.Used({kCount, "requests.storage"}, sample::kOfLarge) == both("0", "0"));
}

TEST_CASE("volumes: an invalid size counts as nothing and is reported", "[quota][ironcore]") {
  Namespace volumes("volumes");
  volumes.Put(sample::kData, 1);
  CHECK(volumes.Put(Volume("fast", R"("-1Gi")"), 2) ==
        "spec.resources[storage]: must not be negative");
  CHECK(volumes.Used({kCount, "requests.storage"}) ==
        "count/volumes.storage.ironcore.dev=2,requests.storage=50Gi");
  CHECK(volumes.Put(Volume("fast", R"("1e30")"), 2).empty());
  CHECK(volumes.Used({"requests.storage"}) == "requests.storage=1e30");
  CHECK(volumes.Put(Volume("fast", R"("big")"), 2).starts_with("spec.resources[storage]: "));
  CHECK(volumes.Put(Volume("fast", "{}"), 2) ==
        "spec.resources[storage]: must be a quantity, not object");
  CHECK(volumes.Put(Volume("fast", "null"), 2).empty());
  CHECK(volumes.Put(kClassless, 2).empty());
  CHECK(volumes.Put(Volume("", R"("1Gi")"), 2).empty());
  CHECK(volumes.Used({"requests.storage"}) == "requests.storage=51Gi");
}

}  // namespace
}  // namespace quota::ironcore::volumes_test

// Buckets: their usage by class, and their scopes.

#include <string>

#include "tests/pkg/quota/ironcore/ironcore_testing.h"

namespace quota::ironcore::buckets_test {
namespace {

constexpr const char* kCount = "count/buckets.storage.ironcore.dev";
constexpr const char* kClassless = R"({"metadata":{"name":"b"},"spec":{}})";

std::string Bucket(const std::string& of) {
  return R"({"metadata":{"name":"b"},"spec":{"bucketClassRef":{"name":")" + of + "\"}}}";
}

TEST_CASE("buckets: tps and iops are those of the class", "[quota][ironcore]") {
  Namespace buckets("buckets");
  buckets.PutClass(R"({"metadata":{"name":"fast"},"capabilities":{"tps":"200Mi","iops":"4000"}})");
  buckets.Put(Bucket("fast"), 1);
  buckets.Put(Bucket("fast"), 2);
  CHECK(buckets.Used({kCount, "requests.iops", "requests.storage", "requests.tps"}) ==
        "count/buckets.storage.ironcore.dev=2,requests.iops=8k,requests.storage=0,"
        "requests.tps=400Mi");
  buckets.Put(Bucket("slow"), 3);
  CHECK(buckets.Used({"requests.iops"}) == "bucket class \"slow\" not found");
}

// Upstream dereferences the missing reference, and the process crashes.
TEST_CASE("buckets: a bucket without a class counts as an object and uses nothing",
          "[quota][ironcore]") {
  Namespace buckets("buckets");
  CHECK(buckets.Put(kClassless, 1).empty());
  CHECK(buckets.Used({kCount, "requests.iops", "requests.tps"}) ==
        "count/buckets.storage.ironcore.dev=1,requests.iops=0,requests.tps=0");
  const auto count = [&](const std::string& rest) {
    return buckets.Used({kCount}, R"([{"scopeName":"BucketClass",)" + rest + "}]");
  };
  CHECK(count(R"("operator":"Exists")") == "count/buckets.storage.ironcore.dev=0");
  CHECK(count(R"("operator":"DoesNotExist")") == "count/buckets.storage.ironcore.dev=1");
  CHECK(count(R"("operator":"In","values":["fast"])") == "count/buckets.storage.ironcore.dev=0");
  CHECK(count(R"("operator":"NotIn","values":["fast"])") == "count/buckets.storage.ironcore.dev=0");
}

}  // namespace
}  // namespace quota::ironcore::buckets_test

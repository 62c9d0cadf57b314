#include "pkg/quota/facts_pool.h"

#include "tests/pkg/quota/quota_testing.h"

namespace quota::facts_pool_test {
namespace {

TEST_CASE("facts: equal facts hash alike, whatever their notation", "[quota]") {
  CHECK(Using({{"memory", "1Gi"}}).Hash() == Using({{"memory", "1073741824"}}).Hash());
  CHECK(Using({{"memory", "1Gi"}}) == Using({{"memory", "1073741824"}}));
  CHECK(Using({{"a", "1"}}).Hash() != Using({{"b", "1"}}).Hash());
  CHECK(Using({{"a", "1"}}).Hash() != Using({{"a", "2"}}).Hash());
  CHECK(Using({}, {{"s", "x"}}).Hash() != Using({}, {{"s", "y"}}).Hash());
  CHECK(Using({}, {{"sx", ""}}).Hash() != Using({}, {{"s", "x"}}).Hash());
}

TEST_CASE("facts pool: equal facts share an id until the last reference is released", "[quota]") {
  FactsPool pool;
  const FactsId small = pool.Acquire(Using({{"pods", "1"}}));
  CHECK(pool.Acquire(Using({{"pods", "1000m"}})) == small);
  const FactsId large = pool.Acquire(Using({{"pods", "2"}}));
  CHECK(large != small);
  CHECK(pool.size() == 2);

  pool.Release(small);
  CHECK(pool.Get(small)->usage == List({{"pods", "1"}}));
  const std::shared_ptr<const Facts> kept = pool.Get(small);
  pool.Release(small);
  CHECK(pool.size() == 1);
  CHECK(kept->usage == List({{"pods", "1"}}));  // a reader still holds them
}

TEST_CASE("facts pool: ids are reused", "[quota]") {
  FactsPool pool;
  for (int i = 0; i < 1000; ++i) {
    const FactsId id = pool.Acquire(Using({{"pods", std::to_string(i)}}));
    CHECK(id == 0);
    pool.Release(id);
  }
  CHECK(pool.size() == 0);
}

}  // namespace
}  // namespace quota::facts_pool_test

#include "pkg/quota/uncountable_names.h"

#include <catch2/catch.hpp>

#include "pkg/quota/core/core_quota.h"

namespace uncountable_names_test {

using namespace quota;

TEST_CASE("uncountable names: what core never counts, whatever is served", "[quota]") {
  ResourceList hard;
  for (const char* name :
       {"pods", "requests.cpu", "requests.example.com/gpu", "example.com/gpu", "count/events",
        "count/widgets.example.com", "gold.storageclass.storage.k8s.io/requests.storage", "podz"}) {
    hard.Set(name, Quantity::FromInt(1));
  }
  CHECK(UncountableNames(CoreQuotaApi(), hard) ==
        std::vector<std::string>{"count/events", "example.com/gpu", "podz"});
}

}  // namespace uncountable_names_test

#include "cmd/quota-controller-manager/descriptors.h"

#include <catch2/catch.hpp>

namespace descriptors_test {

TEST_CASE("descriptors: clients get a part of them, never all", "[manager]") {
  for (const std::size_t limit : {64UL, 256UL, 1024UL, 65536UL, 1048576UL}) {
    INFO(limit);
    // Of the webhook, metrics and probes.
    CHECK(manager::WebhookConnections(limit) + 2 * manager::EndpointConnections(limit) < limit);
  }
}

TEST_CASE("descriptors: a tiny limit still leaves a probe and a scrape", "[manager]") {
  CHECK(manager::EndpointConnections(16) == 4);
  CHECK(manager::WebhookConnections(1) == 1);
}

TEST_CASE("descriptors: a large limit is not used in full", "[manager]") {
  CHECK(manager::WebhookConnections(1'000'000) == 2048);
  CHECK(manager::EndpointConnections(1'000'000) == 64);
}

}  // namespace descriptors_test

#include "pkg/webhook/certificate_memory.h"

#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/certificate.h"

namespace certificate_memory_test {

namespace {

using webhook::CertificateMaterial;
using webhook::NewMemoryCertificates;
using namespace std::chrono_literals;

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  base::TaskGroup tasks{io.get_executor()};
  std::unique_ptr<webhook::CertificateSource> source =
      NewMemoryCertificates(scheduler, {"127.0.0.1"}).value();
  std::vector<CertificateMaterial> seen;

  // Runs a minute of looks, one every ten seconds, and then advances the calendar.
  void Pass(std::chrono::minutes time) {
    scheduler.RunFor(1min);
    scheduler.SetWallBy(time - 1min);
  }
  Fixture() {
    source->SetListener([this](const CertificateMaterial& material) { seen.push_back(material); });
    tasks.Spawn("certificates", [this] { return source->Run(); });
  }
  ~Fixture() {
    tasks.Cancel();
    scheduler.RunUntilIdle();
  }
  [[nodiscard]] bool Accepts(const CertificateMaterial& trusting,
                             const CertificateMaterial& serving) const {
    return http::CheckServer(serving.cert_pem, trusting.ca_bundle_pem,
                             {.host = "127.0.0.1", .at = scheduler.WallNow()})
        .has_value();
  }
};

TEST_CASE("certificates in memory: there is one from the start", "[admission]") {
  Fixture fixture;
  REQUIRE(fixture.seen.size() == 1);
  std::string why;
  CHECK(fixture.source->Ready(&why));
  CHECK(fixture.Accepts(fixture.seen[0], fixture.seen[0]));
  CHECK(fixture.source->not_after() == fixture.scheduler.WallNow() + 24h * 90);
}

TEST_CASE("certificates in memory: for two years, clients one change behind accept them",
          "[admission]") {
  Fixture fixture;
  std::size_t bundles = 0;
  std::size_t leaves = 0;
  std::size_t checked = 1;
  for (int hour = 0; hour < 2 * 365 * 24; ++hour) {
    fixture.Pass(1h);
    const CertificateMaterial& now = *fixture.source->current();
    REQUIRE(now.not_after - fixture.scheduler.WallNow() >= 24h * 30);
    for (; checked < fixture.seen.size(); ++checked) {
      const CertificateMaterial& before = fixture.seen[checked - 1];
      const CertificateMaterial& after = fixture.seen[checked];
      const bool new_bundle = before.ca_bundle_pem != after.ca_bundle_pem;
      const bool new_leaf = before.cert_pem != after.cert_pem;
      REQUIRE(new_bundle != new_leaf);
      REQUIRE(fixture.Accepts(before, after));
      REQUIRE(fixture.Accepts(after, before));
      bundles += new_bundle ? 1 : 0;
      leaves += new_leaf ? 1 : 0;
    }
  }
  CHECK(bundles == 6);  // three CAs join, three are dropped
  CHECK(leaves >= 13);
  CHECK(leaves <= 16);
}

TEST_CASE("certificates in memory: a new CA signs only after it is published", "[admission]") {
  Fixture fixture;
  bool published = false;
  fixture.source->SetPublished([&](const std::string& bundle) {
    CHECK(bundle == fixture.source->current()->ca_bundle_pem);
    return published;
  });
  const std::string one = fixture.source->current()->ca_bundle_pem;
  while (fixture.source->current()->ca_bundle_pem == one) fixture.Pass(1h);
  const std::string shown = fixture.source->current()->cert_pem;
  fixture.scheduler.RunFor(24h);
  CHECK(fixture.source->current()->cert_pem == shown);
  published = true;
  fixture.scheduler.RunFor(1min);
  CHECK(fixture.source->current()->cert_pem == shown);  // the two minutes are not over
  fixture.scheduler.RunFor(3min);
  CHECK(fixture.source->current()->cert_pem != shown);
}

TEST_CASE("certificates in memory: all forms of hosts work, an invalid one is an error",
          "[admission]") {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  CHECK(NewMemoryCertificates(scheduler, {"localhost"}).has_value());
  CHECK(NewMemoryCertificates(scheduler, {"::1"}).has_value());
  const auto refused = NewMemoryCertificates(scheduler, {"a,DNS:evil"});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == base::ErrorCode::kInvalidArgument);
}

}  // namespace

}  // namespace certificate_memory_test

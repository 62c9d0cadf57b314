// What the admitter grants from bursts, and when it gives them up.

#include "tests/controllers/admission/admitter_fixture.h"

namespace burst_grants_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using Kind = admission::Answer::Kind;

struct Crowded : AdmitterFixture {
  Crowded() : AdmitterFixture({}, {}) {}

  // Creations of this cpu, until a burst is reserved in so many quotas. They are all admitted.
  void CrowdUntilBursts(std::size_t quotas, const std::string& cpu = "1") {
    for (; created < 50 && recorder.bursts < quotas; ++created) {
      Ask(Create("crowd" + std::to_string(created), cpu));
      RunFor(10ms);
    }
    REQUIRE(recorder.bursts == quotas);
    REQUIRE(Count(Kind::kAllowed) == static_cast<std::size_t>(created));
    cluster.writes.clear();
  }
  int created = 0;
};

TEST_CASE("quota admitter: creations are granted from a burst without a write", "[admission]") {
  Crowded f;
  f.PutQuota("q", {{"things", "10k"}});
  f.PutQuota("r", {{"cpu", "10k"}});
  f.CrowdUntilBursts(2);
  const std::string of_q = f.Used("q");
  for (int i = 0; i < 2; ++i) f.Ask(Create("u" + std::to_string(i), "1"));
  f.RunFor(1ms);
  CHECK(f.Count(Kind::kAllowed) == static_cast<std::size_t>(f.created + 2));
  CHECK(f.cluster.writes.empty());
  CHECK(f.Used("q") == of_q);

  // The burst of "r" is too small, so "r" is written.
  f.Ask(Create("u2", "1000"));
  f.RunFor(10ms);
  CHECK(f.Count(Kind::kAllowed) == static_cast<std::size_t>(f.created + 3));
  CHECK(f.Used("q") == of_q);
  CHECK(f.Used("r").starts_with("cpu=10"));
  REQUIRE(f.cluster.writes.size() == 1);
  CHECK(AdmitterFixture::Patches(f.cluster.writes[0], "r"));
  f.RunFor(1s);  // the bursts are over
  CHECK(f.Used("q") == "things=" + std::to_string(f.created + 3));
  CHECK(f.Used("r") == "cpu=" + std::to_string(f.created + 1002));
}

TEST_CASE("quota admitter: a burst counts as free, and is given up at the limit", "[admission]") {
  Crowded f;
  SECTION("many creations") {
    f.PutQuota("q", {{"things", "500"}});
    f.CrowdUntilBursts(1);
    const int left = 500 - f.created;
    for (int i = 0; i <= left; ++i) f.Ask(Create("u" + std::to_string(i)));
    f.RunFor(100ms);
    CHECK(f.Count(Kind::kAllowed) == 500);
    CHECK(f.Count(Kind::kRefused) == 1);
    CHECK(f.Used("q") == "things=500");
  }
  SECTION("large creations") {
    f.PutQuota("q", {{"cpu", "500"}});
    f.CrowdUntilBursts(1);
    f.Ask(Create("more", std::to_string(500 - f.created - 1)));
    f.Ask(Create("most", "2"));
    f.RunFor(100ms);
    CHECK(f.Count(Kind::kAllowed) == static_cast<std::size_t>(f.created + 1));
    CHECK(f.Count(Kind::kRefused) == 1);
    CHECK(f.Used("q") == "cpu=499");
  }
}

TEST_CASE("quota admitter: an update is not granted from a burst, and ends it", "[admission]") {
  Crowded f;
  const json::Value stored = f.Store("u", "1");
  f.PutQuota("q", {{"cpu", "10k"}});
  f.CrowdUntilBursts(1);
  REQUIRE(f.Used("q") != "cpu=" + std::to_string(f.created + 1));
  f.Ask(Update(stored, "3"));
  f.RunFor(10ms);
  CHECK(f.Count(Kind::kAllowed) == static_cast<std::size_t>(f.created + 1));
  CHECK(f.cluster.writes.size() == 1);
  CHECK(f.Used("q") == "cpu=" + std::to_string(f.created + 3));
}

}  // namespace
}  // namespace burst_grants_test

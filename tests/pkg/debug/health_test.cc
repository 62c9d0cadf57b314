#include "pkg/debug/health.h"

#include <catch2/catch.hpp>

#include "tests/fake/captured_log.h"

namespace health_test {

namespace {

struct Fixture {
  base::ManualClock clock;
  debug::Health health{clock};
  std::optional<debug::Failure> live;
  std::optional<debug::Failure> synced;

  Fixture() {
    health.AddLiveness("loop", [this] { return live; });
    health.AddReadiness("synced", [this] { return synced; });
  }
  http::Response Get(std::string_view target) {
    const auto parsed = http::ParseTarget(target);
    REQUIRE(parsed.has_value());
    REQUIRE(health.Handles(*parsed));
    return health.Answer(*parsed);
  }
  [[nodiscard]] bool Handles(std::string_view target) const {
    return health.Handles(*http::ParseTarget(target));
  }
};

}  // namespace

TEST_CASE("health: the answer is 200 and ok if all checks pass", "[debug]") {
  Fixture f;
  const char* const path =
      GENERATE("/healthz", "/livez", "/readyz", "/readyz/synced", "/livez/ping");
  const http::Response response = f.Get(path);
  CHECK(response.status == 200);
  CHECK(response.body == "ok");
  CHECK(response.headers.Get("Content-Type") == "text/plain; charset=utf-8");
  CHECK(response.headers.Get("X-Content-Type-Options") == "nosniff");
}

TEST_CASE("health: verbose lists every check", "[debug]") {
  Fixture f;
  CHECK(f.Get("/readyz?verbose").body ==
        "[+]ping ok\n[+]loop ok\n[+]synced ok\nreadyz check passed\n");
  CHECK(f.Get("/livez?verbose=1").body == "[+]ping ok\n[+]loop ok\nlivez check passed\n");
}

TEST_CASE("health: a failed check gives 500, its name and its reason, without details", "[debug]") {
  Fixture f;
  f.synced = {"pods are not listed yet: Forbidden", "User \"secret-name\" cannot list pods"};
  const http::Response response = f.Get("/readyz");
  CHECK(response.status == 500);
  CHECK(response.body ==
        "[+]ping ok\n[+]loop ok\n[-]synced failed: pods are not listed yet: Forbidden\n"
        "readyz check failed\n");
  CHECK(f.Get("/readyz/synced").status == 500);
  CHECK(f.Get("/readyz/loop").status == 200);
  f.synced.reset();
  CHECK(f.Get("/readyz").status == 200);
}

TEST_CASE("health: a check that fails is logged with its details, and again after five minutes",
          "[debug]") {
  const fake::CapturedLog log;
  Fixture f;
  f.synced = {"pods are not listed yet: Forbidden", "User \"x\" cannot list pods"};
  const auto said = [&] { return log.With("User \\\"x\\\" cannot list pods").size(); };
  for (int second = 0; second < 601; second += 10) {
    (void)f.Get("/readyz");
    f.clock.Advance(std::chrono::seconds(10));
  }
  CHECK(said() == 3);
  f.synced.reset();
  (void)f.Get("/readyz");
  CHECK(log.With("passes again check=synced").size() == 1);
}

TEST_CASE("health: readiness includes the liveness checks, but not the reverse", "[debug]") {
  Fixture f;
  f.synced = {"not yet", ""};
  CHECK(f.Get("/livez").status == 200);
  CHECK(f.Get("/healthz").status == 200);
  f.live = {"stuck", ""};
  CHECK(f.Get("/livez").status == 500);
  CHECK(f.Get("/healthz").body == "[+]ping ok\n[-]loop failed: stuck\nhealthz check failed\n");
  CHECK(f.Get("/readyz").status == 500);
}

TEST_CASE("health: an excluded check does not count", "[debug]") {
  Fixture f;
  f.synced = {"not yet", ""};
  f.live = {"stuck", ""};
  CHECK(f.Get("/readyz?exclude=synced").status == 500);
  CHECK(f.Get("/readyz?exclude=synced&exclude=loop").status == 200);
  CHECK(f.Get("/readyz?exclude=synced&exclude=loop&exclude=x&verbose").body ==
        "[+]ping ok\n[+]loop excluded: ok\n[+]synced excluded: ok\n"
        "warn: some health checks cannot be excluded: no matches for \"x\"\n"
        "readyz check passed\n");
}

TEST_CASE("health: it does not answer unknown paths and checks", "[debug]") {
  const Fixture f;
  for (const char* path : {"/", "/health", "/readyz/none", "/livez/synced", "/readyz/synced/x"}) {
    INFO(path);
    CHECK_FALSE(f.Handles(path));
  }
}

}  // namespace health_test

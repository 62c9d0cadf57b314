// Resources that are never read (TrackingContext::withheld).

#include <catch2/catch.hpp>

#include "tests/controllers/quota/controller_fixture.h"

namespace withheld_test {

namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kQuotas;
using fixture::kSecrets;
using fixture::MakeQuota;
using fixture::MakeSecret;
using Texts = std::vector<std::string>;

// A controller that reads no Secrets, though the server would allow it.
struct Fixture : ControllerFixture {
  explicit Fixture(const controllers::QuotaControllerOptions& options = {})
      : ControllerFixture(options) {
    Stop();
    withheld = {{kSecrets.WithoutVersion(), "not without a flag"}};
    cluster.fault = [this](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.ends_with("/secrets")) ++secrets_read;
      if (request.path == "/api" || request.path == "/api/v1") ++discoveries;
      return std::nullopt;
    };
    Start();
  }
  int secrets_read = 0;
  int discoveries = 0;
};

}  // namespace

TEST_CASE("withheld: the resource is not read, and the quotas that name it are told why",
          "[controllers]") {
  Fixture f;
  f.cluster.Put(kSecrets, MakeSecret("s"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"count/secrets", "5"}, {"pods", "5"}, {"secrets", "5"}}));
  f.cluster.Put(kQuotas, MakeQuota("other", {{"pods", "5"}}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");  // at once: nobody waits for what is never counted
  CHECK(f.Used("other") == "pods=0");
  std::string why;
  CHECK(f.controller->Ready(&why));
  f.RunFor(10min);
  CHECK(f.events.Texts() ==
        Texts{"QuotaStale q: count/secrets, secrets are stale, status.used keeps what was last "
              "known: not without a flag"});
  CHECK(f.Used("q") == "pods=0");
  CHECK(f.secrets_read == 0);
  // Nor is discovery asked each second for it.
  CHECK(f.discoveries < 60);
}

TEST_CASE("withheld: admission does not ask for it, so the API server sends none",
          "[controllers]") {
  controllers::QuotaControllerOptions options;
  options.guarded = [](const quota::Evaluator& evaluator, std::string_view) {
    return evaluator.resource.resource != "secrets";
  };
  Fixture f(options);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}, {"secrets", "5"}}));
  f.RunFor(10s);
  Texts constrained;
  for (const quota::Evaluator* evaluator : f.controller->tracker().Constrained()) {
    constrained.push_back(evaluator->resource.ToString());
  }
  CHECK(constrained == Texts{"pods"});
  CHECK(f.Hard("q") == "pods=5");
}

TEST_CASE("withheld: a value that somebody else counted stays", "[controllers]") {
  Fixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}, {"secrets", "5"}}));
  f.WriteStatus("q", {{"pods", "5"}, {"secrets", "5"}}, {{"pods", "0"}, {"secrets", "3"}});
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=0,secrets=3");
}

}  // namespace withheld_test

// What users do as often as they like does not fill the log.

#include <catch2/catch.hpp>

#include "tests/controllers/quota/ironcore_fixture.h"
#include "tests/fake/captured_log.h"

namespace log_bounds_test {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;

TEST_CASE("log bounds: objects that cannot be counted come and go", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "5"}, {"pods", "5"}}));
  f.RunFor(2s);
  const fake::CapturedLog log;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "odd-" + std::to_string(i);
    f.cluster.Put(kPods, MakePod(name, "lots"));
    f.RunFor(50ms);
    f.cluster.Delete(kPods, "team-a", name);
    f.RunFor(50ms);
  }
  CHECK(log.With("count of team-a/q fails").size() == 5);
  CHECK(log.With("object cannot be counted").size() <= 5);
  CHECK(log.With("").size() < 15);
  // Another tenant's object is still named.
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "5"}}, "team-b"));
  f.cluster.Put(kPods, MakePod("odd", "lots", "team-b"));
  f.RunFor(2s);
  CHECK(log.With("object=team-b/odd").size() == 1);
}

TEST_CASE("log bounds: quotas that cannot be read come, change and go", "[controllers]") {
  ControllerFixture f;
  f.RunFor(2s);
  const fake::CapturedLog log;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "odd-" + std::to_string(i % 100);
    f.cluster.Put(kQuotas, MakeQuota(name, {{"pods", "lots-" + std::to_string(i)}}));
    f.RunFor(100ms);
    if (i % 3 == 0) f.cluster.Delete(kQuotas, "team-a", name);
  }
  CHECK(log.With("a part of a quota cannot be read").size() == 20);
  CHECK(log.With("").size() < 50);
}

TEST_CASE("log bounds: quotas name kinds that nobody serves", "[controllers]") {
  ControllerFixture f;
  f.RunFor(2s);
  const fake::CapturedLog log;
  for (int i = 0; i < 200; ++i) {
    f.cluster.Put(kQuotas, MakeQuota("q", {{"count/k" + std::to_string(i) + ".example.com", "5"}}));
    f.RunFor(1s);
  }
  CHECK(log.With("quotas name resources that the server does not serve").size() == 5);
}

TEST_CASE("log bounds: a class that cannot be read changes all the time", "[controllers]") {
  fixture::IroncoreFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.cpu", "50"}}));
  f.cluster.Put(fixture::kMachines, fixture::MakeMachine("one", "small"));
  f.RunFor(2s);
  const fake::CapturedLog log;
  for (int i = 0; i < 1000; ++i) {
    f.PutClass("small", i % 2 == 0 ? "lots" : "2", "4Gi");
    f.RunFor(100ms);
  }
  CHECK(log.With("class lacks amounts").size() == 5);
  CHECK(log.With("").size() < 15);
}

}  // namespace log_bounds_test

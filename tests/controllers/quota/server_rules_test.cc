// The rules by which the server counts, and what happens when they change.
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/controllers/quota/controller_fixture.h"

namespace server_rules_test {
namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;

// Its container "a" gets what "b" gives back. It counts 400m up to Kubernetes 1.36, and 300m since.
json::Value Swapping(const std::string& name) {
  json::Value pod = MakePod(name);
  const json::Value more = json::Object{{"requests", json::Object{{"cpu", "200m"}}}};
  const json::Value less = json::Object{{"requests", json::Object{{"cpu", "100m"}}}};
  pod.Make({"spec", "containers"}) = json::Array{json::Object{{"name", "a"}, {"resources", more}},
                                                 json::Object{{"name", "b"}, {"resources", less}}};
  pod.Make({"status", "containerStatuses"}) =
      json::Array{json::Object{{"name", "a"}, {"resources", less}},
                  json::Object{{"name", "b"}, {"resources", more}}};
  return pod;
}

struct Fixture : ControllerFixture {
  explicit Fixture(int minor) {
    Stop();
    cluster.minor = minor;
    Start();
    cluster.Put(kQuotas, MakeQuota("q", {{"requests.cpu", "10"}}));
    cluster.Put(kPods, Swapping("p"));
  }
};

TEST_CASE("server rules: pods count as the server's version counts them", "[controllers]") {
  for (const auto& [minor, used] :
       {std::pair{29, "requests.cpu=400m"}, std::pair{36, "requests.cpu=400m"},
        std::pair{37, "requests.cpu=300m"}}) {
    CAPTURE(minor);
    Fixture f(minor);
    f.RunFor(2s);
    CHECK(f.Used("q") == used);
  }
}

TEST_CASE("server rules: a newer server recounts once the older ones are gone", "[controllers]") {
  Fixture f(36);
  f.RunFor(2s);
  f.cluster.minor = 37;
  f.RunFor(9min);
  CHECK(f.Used("q") == "requests.cpu=400m");
  // The other server, behind the same address.
  f.cluster.minor = 36;
  f.RunFor(1min);
  f.cluster.minor = 37;
  f.RunFor(9min);
  CHECK(f.Used("q") == "requests.cpu=400m");
  f.RunFor(3min);
  CHECK(f.Used("q") == "requests.cpu=300m");
  f.cluster.Put(kPods, Swapping("r"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=600m");
}

TEST_CASE("server rules: an older server recounts at once", "[controllers]") {
  Fixture f(37);
  f.RunFor(2s);
  f.cluster.minor = 36;
  f.RunFor(45s);
  CHECK(f.Used("q") == "requests.cpu=400m");
}

TEST_CASE("server rules: a recount that fails is tried again", "[controllers]") {
  Fixture f(37);
  f.RunFor(2s);
  f.cluster.minor = 36;
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != kPods.Path("")) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "etcd is away"};
  };
  f.RunFor(2min);
  f.cluster.ForgetFunctions();
  f.RunFor(45s);
  CHECK(f.Used("q") == "requests.cpu=400m");
}

TEST_CASE("server rules: without a version the oldest rules apply, until one is known",
          "[controllers]") {
  Fixture f(37);
  f.Stop();
  bool hidden = true;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!hidden || request.path != "/version") return std::nullopt;
    return base::Error{
        .code = base::ErrorCode::kForbidden, .message = "not yours", .http_status = 403};
  };
  f.Start();
  f.RunFor(2min);
  CHECK(f.Used("q") == "requests.cpu=400m");
  hidden = false;
  f.RunFor(45s);
  CHECK(f.Used("q") == "requests.cpu=300m");
  f.cluster.ForgetFunctions();
}

}  // namespace
}  // namespace server_rules_test

// When usage without an object ends: everything that may use it was shown.

#include <catch2/catch.hpp>

#include "pkg/accounting/reservation_list.h"
#include "pkg/json/value.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace questions_test {

using namespace fixture;
using namespace std::chrono_literals;

namespace {

// A quota with an amount that an external writer added, and that no object uses.
struct Charged : ControllerFixture {
  explicit Charged(int secrets) {
    for (int i = 0; i < secrets; ++i) {
      cluster.Put(kSecrets, MakeSecret("s" + std::to_string(i), "elsewhere"));
    }
    cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "100"}}));
    RunFor(
        40s);  // the cases end before a silent watch is opened anew, which asks for a version, too
    REQUIRE(Used("q") == "secrets=0");
    cluster.listed.clear();
    WriteStatus("q", {{"secrets", "100"}}, {{"secrets", "5"}});
  }
  ~Charged() { cluster.ForgetFunctions(); }

  // The limits of the lists of secrets.
  [[nodiscard]] std::vector<std::string> Limits() const {
    std::vector<std::string> limits;
    for (const client::ApiRequest& request : cluster.listed) {
      for (const auto& [name, value] : request.query) {
        if (name == "limit") limits.push_back(value);
      }
    }
    return limits;
  }
};

}  // namespace

TEST_CASE("questions: a small collection is listed, and the usage ends", "[controllers]") {
  Charged f(3);
  f.RunFor(14s);
  CHECK(f.Used("q") == "secrets=5");
  f.RunFor(2s);
  CHECK(f.Used("q") == "secrets=0");
  CHECK(f.Limits() == std::vector<std::string>{"500"});
}

TEST_CASE("questions: a large collection is not listed while its watch goes on", "[controllers]") {
  Charged f(1'001);
  f.RunFor(20s);
  CHECK(f.Used("q") == "secrets=5");
  CHECK(f.Limits() == std::vector<std::string>{"1"});
  SECTION("an event brings the watch to the version") {
    f.cluster.Put(kSecrets, MakeSecret("another", "elsewhere"));
    f.RunFor(2s);
    CHECK(f.Used("q") == "secrets=0");
    CHECK(f.Limits() == std::vector<std::string>{"1"});
  }
  SECTION("objects that are deleted meanwhile do not prolong it") {
    for (int i = 0; i < 1'001; ++i) {
      f.cluster.Delete(kSecrets, "elsewhere", "s" + std::to_string(i));
    }
    f.RunFor(2s);
    CHECK(f.Used("q") == "secrets=0");
  }
  SECTION("without an event or a bookmark it is listed once") {
    f.RunFor(65s);
    CHECK(f.Used("q") == "secrets=5");
    f.RunFor(10s);
    CHECK(f.Used("q") == "secrets=0");
    CHECK(f.Limits() == std::vector<std::string>{"1", "500"});
  }
  SECTION("a new list of the watch is enough") {
    f.cluster.CutWatches(kSecrets, true);
    f.RunFor(5s);
    CHECK(f.Used("q") == "secrets=0");
  }
}

TEST_CASE("questions: an object that the watch does not show keeps the usage", "[controllers]") {
  Charged f(3);
  f.cluster.Hold(kSecrets);
  f.cluster.Put(kSecrets, MakeSecret("unseen"));
  f.RunFor(20s);
  CHECK(f.Used("q") == "secrets=5");
  f.cluster.Release(kSecrets);
  f.RunFor(5s);
  CHECK(f.Used("q") == "secrets=1");
}

TEST_CASE("questions: the quota is recounted although a kind cannot be listed", "[controllers]") {
  Charged f(3);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/secrets")) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "no"};
  };
  f.RunFor(20s);
  CHECK(f.Used("q") == "secrets=5");
  f.cluster.Put(kSecrets, MakeSecret("mine"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "50"}}));
  f.RunFor(1s);
  CHECK(f.Hard("q") == "secrets=50");
  f.cluster.fault = nullptr;
  f.RunFor(5s);
  CHECK(f.Used("q") == "secrets=1");
}

// What belongs to the broken kind may still be stored, so that much is kept.
TEST_CASE("questions: a kind that cannot be listed keeps only the usage of its own names",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "100"}, {"pods", "100"}}));
  f.RunFor(40s);
  REQUIRE(f.Used("q") == "pods=0,secrets=0");
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/secrets")) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "broken"};
  };
  f.cluster.CutWatches(kSecrets, true);
  f.RunFor(1s);
  const json::Object limits{{"secrets", "100"}, {"pods", "100"}};
  SECTION("in two writes, the broken kind first") {
    f.WriteStatus("q", limits, {{"secrets", "3"}, {"pods", "0"}});
    f.RunFor(1s);
    f.WriteStatus("q", limits, {{"secrets", "3"}, {"pods", "2"}});
  }
  SECTION("in one write") { f.WriteStatus("q", limits, {{"secrets", "3"}, {"pods", "2"}}); }
  f.RunFor(10s);
  CHECK(f.Used("q") == "pods=2,secrets=3");
  f.RunFor(10s);
  CHECK(f.Used("q") == "pods=0,secrets=3");
  f.cluster.fault = nullptr;
  f.RunFor(60s);
  CHECK(f.Used("q") == "pods=0,secrets=0");
  f.cluster.ForgetFunctions();
}

TEST_CASE("questions: an answer in small pieces ends at its deadline", "[controllers]") {
  Charged f(3);
  f.cluster.stall = [](const client::ApiRequest& request) {
    const bool list = request.path.ends_with("/secrets");
    return list ? base::Duration(1h) : base::Duration::zero();
  };
  f.RunFor(30s);
  CHECK(f.Used("q") == "secrets=5");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "50"}}));
  f.RunFor(15s);
  CHECK(f.Hard("q") == "secrets=50");
  f.cluster.stall = nullptr;
  f.RunFor(20s);
  CHECK(f.Used("q") == "secrets=0");
}

TEST_CASE("questions: namespaces that come and go leave nothing behind", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "100"}}));
  f.RunFor(1s);
  const auto* tracked = f.controller->tracker().Find({"", "secrets"});
  REQUIRE(tracked != nullptr);
  for (int i = 0; i < 10'000; ++i) {
    const std::string ns = "ci-" + std::to_string(i);
    f.cluster.Put(kSecrets, MakeSecret("s", ns));
    f.cluster.Delete(kSecrets, ns, "s");
    if (i % 100 == 0) f.RunFor(1s);
  }
  f.RunFor(2min);
  CHECK(tracked->ledger().namespaces() == 0);
  CHECK(tracked->ledger().size() == 0);
  CHECK(tracked->ledger().distinct_facts() == 0);
}

}  // namespace questions_test

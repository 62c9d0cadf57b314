// A creation under a name that is taken is answered as the API server would, and charges nothing.

#include <catch2/catch.hpp>

#include "pkg/json/value.h"
#include "tests/controllers/quota/charging_fixture.h"

namespace taken_names_test {

using namespace fixture;
using namespace std::chrono_literals;
using admission::Answer;

namespace {

struct Taken : ChargingFixture {
  Taken() {
    cluster.Put(kQuotas, MakeQuota("q", {{"pods", "2"}}));
    RunFor(1s);
  }
  const Answer& Create(const std::string& name, const std::string& uid, bool dry_run = false) {
    json::Value pod = MakePod(name);
    pod.Make({"metadata", "uid"}) = uid;
    Ask({.uid = "call",
         .resource = {"", "v1", "pods"},
         .subresource = "",
         .operation = admission::Operation::kCreate,
         .ns = "team-a",
         .name = name,
         .dry_run = dry_run,
         .object = pod});
    RunFor(100ms);
    REQUIRE(answers.back().has_value());
    return *answers.back();
  }
  void Store(const std::string& name, const std::string& uid) {
    json::Value pod = MakePod(name);
    pod.Make({"metadata", "uid"}) = uid;
    cluster.Put(kPods, pod);
    RunFor(100ms);
  }
};

}  // namespace

TEST_CASE("taken names: a repeated creation is answered 409, and what fits is admitted",
          "[admission]") {
  Taken f;
  CHECK(f.Create("p", "first").kind == Answer::Kind::kAllowed);
  f.Store("p", "first");
  const bool dry_run = GENERATE(false, true);
  const Answer& again = f.Create("p", "second", dry_run);
  CHECK(again.kind == Answer::Kind::kRefused);
  CHECK(again.code == 409);
  CHECK(again.reason == "AlreadyExists");
  CHECK(again.message == R"(pods "p" already exists)");
  CHECK_FALSE(again.refuser.has_value());
  CHECK(again.causes == std::vector<api::StatusCause>{{.reason = "AlreadyExists"}});
  CHECK(f.Used("q") == "pods=1");
  CHECK(f.Create("other", "third").kind == Answer::Kind::kAllowed);
}

TEST_CASE("taken names: a further call for the stored object is no repeated creation",
          "[admission]") {
  Taken f;
  CHECK(f.Create("p", "first").kind == Answer::Kind::kAllowed);
  f.Store("p", "first");
  CHECK(f.Create("p", "first").kind == Answer::Kind::kAllowed);
}

TEST_CASE("taken names: an object whose deletion the watch has not shown does not take its name",
          "[admission]") {
  Taken f;
  CHECK(f.Create("p", "first").kind == Answer::Kind::kAllowed);
  f.Store("p", "first");
  f.cluster.Hold(kPods);
  f.cluster.Delete(kPods, "team-a", "p");
  CHECK(f.Create("p", "second").kind == Answer::Kind::kAllowed);
  CHECK(f.Used("q") == "pods=2");
  // The first one still counts, so this does not fit: nothing is admitted on trust.
  CHECK(f.Create("r", "third").kind == Answer::Kind::kRefused);
  f.cluster.Release(kPods);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("taken names: if the server cannot be asked, the creation is charged as usual",
          "[admission]") {
  Taken f;
  CHECK(f.Create("p", "first").kind == Answer::Kind::kAllowed);
  f.Store("p", "first");
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/pods")) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no"};
  };
  CHECK(f.Create("p", "second").kind == Answer::Kind::kAllowed);
  CHECK(f.Used("q") == "pods=2");
}

TEST_CASE("taken names: the age of the object does not matter", "[admission]") {
  Taken f;
  CHECK(f.Create("p", "first").kind == Answer::Kind::kAllowed);
  f.Store("p", "first");
  f.RunFor(10min);
  SECTION("it was shown by a watch") {}
  SECTION("it was there when the daemon started") {
    f.cluster.CutWatches(kPods, true);
    f.RunFor(1min);
  }
  CHECK(f.Create("p", "second").code == 409);
  CHECK(f.Used("q") == "pods=1");
  CHECK(f.Create("other", "third").kind == Answer::Kind::kAllowed);
}

TEST_CASE("taken names: an old object that is replaced counts until the watch shows it gone",
          "[admission]") {
  Taken f;
  CHECK(f.Create("p", "first").kind == Answer::Kind::kAllowed);
  f.Store("p", "first");
  f.RunFor(10min);
  f.cluster.Hold(kPods);
  f.cluster.Delete(kPods, "team-a", "p");
  CHECK(f.Create("p", "second").kind == Answer::Kind::kAllowed);
  f.Store("p", "second");
  CHECK(f.Used("q") == "pods=2");
  // The watch knows the first one, the server has the second one.
  CHECK(f.Create("p", "third").code == 409);
  CHECK(f.Create("r", "fourth").kind == Answer::Kind::kRefused);
  f.cluster.Release(kPods);
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Delete(kPods, "team-a", "p");
  f.RunFor(1s);
  CHECK(f.Create("p", "fifth").kind == Answer::Kind::kAllowed);
}

TEST_CASE("taken names: the server is asked only about names that the watch has shown",
          "[admission]") {
  Taken f;
  CHECK(f.Create("p", "first").kind == Answer::Kind::kAllowed);
  f.Store("p", "first");
  const std::size_t lists = f.cluster.lists;
  CHECK(f.Create("q", "second").kind == Answer::Kind::kAllowed);
  CHECK(f.cluster.lists == lists);
  CHECK(f.Create("p", "third").code == 409);
  CHECK(f.cluster.lists == lists + 1);
}

}  // namespace taken_names_test

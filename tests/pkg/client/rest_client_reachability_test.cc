// What a RestClient tells a Reachability.
#include <catch2/catch.hpp>

#include "tests/pkg/client/rest_client_fixture.h"

namespace client::rest_client_reachability_test {
namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;
using base::ErrorCode;
using rest_testing::Fixture;

// Sends a request, and the same a minute later, for which the caller has scripted answers.
void AskForAMinute(Fixture& fixture, const ApiRequest& request) {
  (void)fixture.Do(request);
  fixture.scheduler.RunFor(1min);
  (void)fixture.Do(request);
}

// So that each request is one exchange.
const ApiRequest kWrite{.verb = "PATCH", .path = "/x", .body = "{}"};
const ApiRequest kWatch{.path = "/x", .query = {{"watch", "1"}}};

}  // namespace

TEST_CASE("rest client: requests without an answer make the server unreachable", "[client]") {
  Fixture fixture;
  fixture.script.Fail(ErrorCode::kUnavailable, "no route");
  fixture.script.Fail(ErrorCode::kTimeout, "silent");
  AskForAMinute(fixture, kWrite);
  REQUIRE(fixture.reachability.Unanswered());
  CHECK(fixture.reachability.Unanswered()->last.message == "PATCH /x: silent");

  SECTION("an answer makes it reachable") { fixture.script.Answer(GENERATE(200, 404, 503), "{}"); }
  SECTION("so does a page that no API server writes") { fixture.script.Answer(200, "<html>"); }
  (void)fixture.Do(kWrite);
  CHECK_FALSE(fixture.reachability.Unanswered());
}

TEST_CASE("rest client: each try counts, not only the last one", "[client]") {
  Fixture fixture;
  fixture.script.Fail(ErrorCode::kUnavailable, "no route");
  fixture.script.Fail(ErrorCode::kUnavailable, "no route");
  AskForAMinute(fixture, kWrite);
  REQUIRE(fixture.reachability.Unanswered());
  fixture.script.Answer(429, "", {{"Retry-After", "20"}});
  const auto running = fixture.Start({.path = "/x"});
  fixture.scheduler.RunUntilIdle();
  CHECK_FALSE(running.done());
  CHECK_FALSE(fixture.reachability.Unanswered());
  fixture.script.Answer(200, "{}");
  fixture.scheduler.RunFor(20s);
  CHECK(running.done());
}

TEST_CASE("rest client: a minute of 401 says that the credentials have ended", "[client]") {
  Fixture fixture;
  fixture.config.token = "old";
  const bool watch = GENERATE(true, false);
  for (int i = 0; i < 4; ++i) {
    CHECK_FALSE(fixture.reachability.Refused());
    fixture.script.Answer(401, "");
    if (watch) CHECK_FALSE(fixture.Read(kWatch));
    if (!watch) CHECK_FALSE(fixture.Do(kWrite));
    fixture.scheduler.RunFor(20s);
  }
  REQUIRE(fixture.reachability.Refused());
  CHECK_THAT(fixture.reachability.Refused()->last.message, Contains("401"));
}

TEST_CASE("rest client: what arrives of a watch is a sign of the server", "[client]") {
  Fixture fixture;
  fixture.script.Answer(200, "event");
  std::unique_ptr<http::BodyStream> body;
  const Running<base::Result<std::string>> opened(
      fixture.io, [&]() -> base::Task<base::Result<std::string>> {
        auto stream = co_await fixture.Client().Stream(kWatch);
        if (!stream) co_return stream.error();
        body = std::move(*stream);
        co_return "opened";
      });
  fixture.scheduler.RunUntilIdle();
  REQUIRE(opened.value());
  const auto read = [&] {
    const Running<base::Result<std::optional<std::string>>> reading(fixture.io,
                                                                    [&] { return body->Read(1s); });
    fixture.scheduler.RunUntilIdle();
    return reading.value().value();
  };
  const auto lose_contact = [&] {
    fixture.script.Fail(ErrorCode::kUnavailable, "no route");
    fixture.script.Fail(ErrorCode::kUnavailable, "no route");
    AskForAMinute(fixture, kWrite);
    REQUIRE(fixture.reachability.Unanswered());
  };
  lose_contact();
  CHECK(read() == "event");
  CHECK_FALSE(fixture.reachability.Unanswered());
  // The end of a body may come from a proxy in between.
  lose_contact();
  CHECK(read() == std::nullopt);
  CHECK(fixture.reachability.Unanswered());
}

TEST_CASE("rest client: without a credential to send nothing is answered", "[client]") {
  Fixture fixture;
  fixture.config.token_file = "/nonexistent/token";
  AskForAMinute(fixture, kWrite);
  CHECK(fixture.script.sent.empty());
  REQUIRE(fixture.reachability.Unanswered());
  CHECK_THAT(fixture.reachability.Unanswered()->last.message, Contains("/nonexistent/token"));
}

}  // namespace client::rest_client_reachability_test

// Answers that are read piece by piece.
#include <catch2/catch.hpp>

#include "tests/pkg/client/rest_client_fixture.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::rest_client_stream_test {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using rest_testing::Fixture;

TEST_CASE("rest client: a streamed list is compressed, a watch never", "[client]") {
  Fixture fixture;
  fixture.script.Answer(200, "events");
  CHECK(fixture.Read({.path = "/x", .query = {{"watch", "1"}}}).value() == "events");
  CHECK_FALSE(fixture.script.sent[0].gzip);
  fixture.script.Answer(200, "list");
  CHECK(fixture.Read({.path = "/x", .query = {{"limit", "5"}}}).value() == "list");
  CHECK(fixture.script.sent[1].gzip);
  CHECK(fixture.recorder.lines == std::vector<std::string>{"GET 200 streamed", "GET 200 streamed"});
}

TEST_CASE("rest client: a refused stream is an error with the server's words", "[client]") {
  Fixture fixture;
  fixture.script.Answer(410,
                        R"({"kind":"Status","reason":"Expired","message":"too old","code":410})");
  const auto refused = fixture.Read({.path = "/x", .query = {{"watch", "1"}}});
  CHECK(refused.error().code == ErrorCode::kExpired);
  CHECK(refused.error().message == "GET /x: 410 Expired: too old");
  fixture.script.Answer(429, "", {{"Retry-After", "4"}});
  CHECK(fixture.Read({.path = "/x", .timeout = 3s}).error().retry_after == 4s);
}

TEST_CASE("rest client: a streamed list is repeated like every other read", "[client]") {
  Fixture fixture;
  const ApiRequest list{.path = "/x", .query = {{"limit", "500"}}};
  SECTION("when the server says, after a refusal") {
    const int status = GENERATE(429, 503);
    fixture.script.Answer(status, "", {{"Retry-After", "4"}});
    fixture.script.Answer(200, "list");
    CHECK(fixture.Read(list, 4s).value() == "list");
    const std::string refused = std::to_string(status);
    CHECK(fixture.recorder.lines == std::vector<std::string>{"GET " + refused + " streamed",
                                                             "retry GET " + refused,
                                                             "GET 200 streamed"});
  }
  SECTION("a second after a lost connection") {
    fixture.script.Fail(ErrorCode::kUnavailable, "reset");
    fixture.script.Answer(200, "list");
    CHECK(fixture.Read(list, 1s).value() == "list");
  }
  SECTION("at once after a 401, with a newer token") {
    const TempFolder folder;
    fixture.config.token_file = folder.Write("token", "one");
    fixture.script.Answer(200, "list");
    CHECK(fixture.Read(list));
    folder.Write("token", "two");
    fixture.script.Answer(401, "");
    fixture.script.Answer(200, "list");
    CHECK(fixture.Read(list).value() == "list");
    CHECK(fixture.script.sent.back().request.headers.Get("Authorization") == "Bearer two");
  }
}

TEST_CASE("rest client: the timeout of a streamed list bounds all its tries", "[client]") {
  Fixture fixture;
  fixture.script.Answer(429, "", {{"Retry-After", "6"}});
  fixture.script.Answer(429, "", {{"Retry-After", "6"}});
  const auto refused = fixture.Read({.path = "/x", .timeout = 10s}, 6s);
  CHECK(refused.error().code == ErrorCode::kTooManyRequests);
  REQUIRE(fixture.script.sent.size() == 2);
  CHECK(fixture.script.sent[1].timeout == 4s);
}

TEST_CASE("rest client: a watch is answered at once, whatever the answer", "[client]") {
  const TempFolder folder;
  Fixture fixture;
  fixture.config.token_file = folder.Write("token", "one");
  const auto watch = [&fixture] {
    return fixture.Read({.path = "/x", .query = {{"watch", "1"}}}).error();
  };
  fixture.script.Answer(503, "", {{"Retry-After", "1"}});
  CHECK(watch().retry_after == 1s);
  fixture.script.Fail(ErrorCode::kUnavailable, "reset");
  CHECK(watch().code == ErrorCode::kUnavailable);
  folder.Write("token", "two");
  fixture.script.Answer(401, "");
  CHECK(watch().code == ErrorCode::kUnauthorized);
  CHECK(fixture.script.sent.size() == 3);
  fixture.script.Answer(410, "");
  watch();
  CHECK(fixture.script.sent.back().request.headers.Get("Authorization") == "Bearer two");
}

// Brings one byte every second, without end.
struct DrippingBody final : http::BodyStream {
  explicit DrippingBody(base::Scheduler& scheduler) : clock(scheduler) {}
  base::Task<base::Result<std::optional<std::string>>> Read(std::chrono::milliseconds) override {
    co_await clock.Sleep(1s);
    co_return std::optional<std::string>("x");
  }
  base::Scheduler& clock;
};

TEST_CASE("rest client: a refusal that never ends is cut at the request's timeout", "[client]") {
  Fixture fixture;
  fixture.script.Answer(503, "");
  fixture.script.make_body = [&](const std::string&) {
    return std::make_unique<DrippingBody>(fixture.scheduler);
  };
  using Stream = base::Result<std::unique_ptr<http::BodyStream>>;
  Running<Stream> running(fixture.io, [&rest = fixture.Client()] {
    return rest.Stream({.path = "/x", .query = {{"watch", "1"}}, .timeout = 30s});
  });
  fixture.scheduler.RunFor(31s);
  REQUIRE(running.done());
  CHECK(running.Take().error().message.starts_with("GET /x: 503 ServiceUnavailable: xxx"));
}

TEST_CASE("rest client: a timeout of the user bounds each request with its body, but no watch",
          "[client]") {
  Fixture fixture;
  fixture.timeout = 5s;
  fixture.script.Answer(200, "{}");
  REQUIRE(fixture.Do({.path = "/x"}));
  CHECK(fixture.script.sent.back().timeout == 5s);
  fixture.script.make_body = [&](const std::string&) {
    return std::make_unique<DrippingBody>(fixture.scheduler);
  };
  const std::string watch = GENERATE("0", "1");
  const ApiRequest request{.path = "/x", .query = {{"watch", watch}}};
  fixture.script.Answer(200, "");
  Running<std::size_t> reading(fixture.io,
                               [&rest = fixture.Client(), request]() -> base::Task<std::size_t> {
                                 auto stream = co_await rest.Stream(request);
                                 for (std::size_t bytes = 0; bytes < 20; ++bytes) {
                                   auto piece = co_await (*stream)->Read(1min);
                                   if (!piece) co_return bytes;
                                 }
                                 co_return 20;
                               });
  fixture.scheduler.RunFor(1min);
  REQUIRE(reading.done());
  CHECK(reading.value() == (watch == "1" ? 20 : 5));
}

}  // namespace
}  // namespace client::rest_client_stream_test

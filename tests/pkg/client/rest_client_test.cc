#include "pkg/client/rest_client.h"

#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"
#include "pkg/http/certificate.h"
#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/scripted_http.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::rest_client_test {
namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;
using base::ErrorCode;

class Recorder final : public RequestObserver {
 public:
  void OnExchange(const Exchange& exchange) override {
    lines.push_back(std::string(exchange.verb) + " " + std::to_string(exchange.code) +
                    (exchange.streamed ? " streamed" : ""));
    targets.emplace_back(exchange.target);
  }
  void OnRetry(std::string_view verb, int code) override {
    lines.push_back("retry " + std::string(verb) + " " + std::to_string(code));
  }
  std::vector<std::string> lines;
  std::vector<std::string> targets;
};

struct Fixture {
  base::asio::io_context io;
  base::ManualScheduler scheduler{io};
  HttpScript script;
  Recorder recorder;
  ClusterConfig config;
  std::optional<std::chrono::milliseconds> timeout;
  std::unique_ptr<RestClient> client;

  Fixture() { config.server = http::ParseUrl("https://h:6443").value(); }

  RestClient& Client() {
    if (!client) {
      client = std::make_unique<RestClient>(io.get_executor(), scheduler,
                                            std::make_unique<ScriptedHttp>(script), config,
                                            RestOptions{UserAgent("0.1.0"), &recorder, timeout});
    }
    return *client;
  }
  Running<base::Result<ApiResponse>> Start(ApiRequest request) {
    return {io, [&rest = Client(), request = std::move(request)] { return rest.Do(request); }};
  }
  base::Result<ApiResponse> Do(ApiRequest request, base::Duration time = 0s) {
    const auto running = Start(std::move(request));
    scheduler.RunFor(time);
    REQUIRE(running.done());
    return running.value();
  }
};

base::Result<std::string> ReadAll(Fixture& fixture, ApiRequest request, base::Duration time = 0s) {
  Running<base::Result<std::string>> running(
      fixture.io,
      [&rest = fixture.Client(),
       request = std::move(request)]() -> base::Task<base::Result<std::string>> {
        auto stream = co_await rest.Stream(request);
        if (!stream) co_return stream.error();
        auto part = co_await (*stream)->Read(1s);
        if (!part) co_return part.error();
        co_return part->value_or("");
      });
  fixture.scheduler.RunFor(time);
  return running.value();
}

TEST_CASE("rest client: a request carries prefix, query, headers and body", "[client]") {
  Fixture fixture;
  fixture.config.server = http::ParseUrl("https://h/k8s/c1").value();
  fixture.config.token = "secret";
  fixture.config.impersonate = {"root", "7", {"g", "h"}, {{"Scope/A", "x"}}};
  fixture.script.Answer(201, "{}");
  const auto answer = fixture.Do({.verb = "POST",
                                  .path = "/api/v1/pods",
                                  .query = {{"dryRun", "All"}, {"labelSelector", "a=b"}},
                                  .content_type = "application/json",
                                  .body = "{\"a\":1}"});
  REQUIRE(answer);
  CHECK(answer->status == 201);
  REQUIRE(fixture.script.sent.size() == 1);
  const http::Request& sent = fixture.script.sent[0].request;
  CHECK(sent.method == "POST");
  CHECK(sent.target == "/k8s/c1/api/v1/pods?dryRun=All&labelSelector=a%3Db");
  CHECK(sent.body == "{\"a\":1}");
  CHECK(sent.headers.Get("accept") == "application/json");
  CHECK(sent.headers.Get("content-type") == "application/json");
  CHECK(sent.headers.Get("authorization") == "Bearer secret");
  CHECK_THAT(std::string(sent.headers.Get("user-agent")),
             Catch::StartsWith("quota-controller-manager/0.1.0 (linux/"));
  CHECK(sent.headers.Get("impersonate-user") == "root");
  CHECK(sent.headers.Get("impersonate-uid") == "7");
  CHECK(sent.headers.Get("impersonate-extra-scope%2fa") == "x");
  std::vector<std::string> groups;
  for (const auto& [name, value] : sent.headers) {
    if (name == "Impersonate-Group") groups.push_back(value);
  }
  CHECK(groups == std::vector<std::string>{"g", "h"});
  CHECK(fixture.recorder.lines == std::vector<std::string>{"POST 201"});
  CHECK(fixture.recorder.targets == std::vector<std::string>{sent.target});
}

TEST_CASE("rest client: no credential goes to a server that is not https", "[client]") {
  Fixture fixture;
  fixture.config.server = http::ParseUrl("http://h:8080").value();
  fixture.config.token = "secret";
  fixture.script.Answer(200, "{}");
  REQUIRE(fixture.Do({.path = "/x"}));
  CHECK_FALSE(fixture.script.sent[0].request.headers.Has("Authorization"));
}

TEST_CASE("rest client: refusals are errors, and so is a Status of Failure with code 200",
          "[client]") {
  Fixture fixture;
  fixture.script.Answer(404, "nothing here");
  CHECK(fixture.Do({.path = "/x"}).error().code == ErrorCode::kNotFound);
  fixture.script.Answer(
      200, R"({"kind":"Status","status":"Failure","reason":"Conflict","message":"m","code":409})");
  CHECK(fixture.Do({.path = "/x"}).error().message == "GET /x: 409 Conflict: m");
  fixture.script.Fail(ErrorCode::kTls, "certificate has expired");
  const base::Error tls = fixture.Do({.path = "/x"}).error();
  CHECK(tls.code == ErrorCode::kTls);
  CHECK(tls.message == "GET /x: certificate has expired");
}

TEST_CASE("rest client: it waits as the server says, then succeeds", "[client]") {
  Fixture fixture;
  fixture.script.Answer(429, "slow down", {{"Retry-After", "5"}});
  fixture.script.Answer(503, "", {{"Retry-After", "2"}});
  fixture.script.Answer(200, "{}");
  const auto running = fixture.Start({.verb = "PATCH", .path = "/x"});
  fixture.scheduler.RunFor(4s);
  CHECK(fixture.script.sent.size() == 1);
  fixture.scheduler.RunFor(1s);
  CHECK(fixture.script.sent.size() == 2);
  fixture.scheduler.RunFor(2s);
  REQUIRE(running.done());
  CHECK(running.value());
  CHECK(fixture.recorder.lines == std::vector<std::string>{"PATCH 429", "retry PATCH 429",
                                                           "PATCH 503", "retry PATCH 503",
                                                           "PATCH 200"});
}

TEST_CASE("rest client: the request's timeout bounds all tries together", "[client]") {
  Fixture fixture;
  fixture.script.Answer(429, "", {{"Retry-After", "6"}});
  fixture.script.Answer(429, "", {{"Retry-After", "6"}});
  const auto running = fixture.Start({.path = "/x", .timeout = 10s});
  fixture.scheduler.RunFor(6s);
  REQUIRE(running.done());  // another wait would exceed the deadline
  CHECK(running.value().error().code == ErrorCode::kTooManyRequests);
  CHECK(running.value().error().retry_after == 6s);
  REQUIRE(fixture.script.sent.size() == 2);
  CHECK(fixture.script.sent[0].timeout == 10s);
  CHECK(fixture.script.sent[1].timeout == 4s);
}

TEST_CASE("rest client: the request's timeout bounds the wait for an exec plugin, too",
          "[client]") {
  Fixture fixture;
  fixture.config.exec = ExecEntry{
      .api_version = "client.authentication.k8s.io/v1", .command = "sleep", .args = {"60"}};
  const auto running = fixture.Start({.verb = "PUT", .path = "/x", .timeout = 5s});
  fixture.scheduler.RunFor(4s);
  CHECK_FALSE(running.done());
  fixture.scheduler.RunFor(1s);
  REQUIRE(running.done());
  CHECK(running.value().error().Is(ErrorCode::kTimeout));
  CHECK_THAT(running.value().error().message,
             Catch::Contains("PUT /x") && Catch::Contains("exec credential plugin"));
  CHECK(fixture.script.sent.empty());
  base::TaskGroup closing(fixture.io.get_executor());
  closing.Spawn("close", [&fixture] { return fixture.Client().Close(); });
  fixture.scheduler.RunUntilIdle();
  CHECK(closing.empty());
  CHECK(fixture.script.idle_closed == 1);
}

TEST_CASE("rest client: a plugin that may ask a user has its own time", "[client]") {
  const TempFolder folder;
  Fixture fixture;
  fixture.config.plugin_input = GENERATE(PluginInput::kTaken, PluginInput::kTerminal);
  fixture.config.exec = ExecEntry{.api_version = "client.authentication.k8s.io/v1",
                                  .command = folder.WriteScript("plugin", R"(#!/bin/sh
while [ ! -e "$1" ]; do sleep 0.01; done
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
       "status":{"token":"t"}}')"),
                                  .args = {folder.path() + "/answered"}};
  fixture.script.Answer(200, "{}");
  const auto running = fixture.Start({.verb = "PUT", .path = "/x", .timeout = 5s});
  fixture.scheduler.RunFor(10min);
  CHECK_FALSE(running.done());
  folder.Write("answered", "");
  fixture.io.restart();
  while (!running.done()) fixture.io.run_one();
  REQUIRE(running.value());
  CHECK(fixture.script.sent[0].timeout == 5s);
  CHECK(fixture.script.sent[0].request.headers.Get("Authorization") == "Bearer t");
}

TEST_CASE("rest client: a lost connection repeats a read and never a write", "[client]") {
  Fixture fixture;
  fixture.script.Fail(ErrorCode::kUnavailable, "reset");
  SECTION("a read") {
    fixture.script.Answer(200, "{}");
    CHECK(fixture.Do({.path = "/x"}, 1s));
  }
  SECTION("a write") {
    CHECK(fixture.Do({.verb = "PATCH", .path = "/x"}, 1s).error().message == "PATCH /x: reset");
    CHECK(fixture.script.sent.size() == 1);
  }
}

TEST_CASE("rest client: after a 401 the token file is read again, and the request is repeated once",
          "[client]") {
  const TempFolder folder;
  Fixture fixture;
  fixture.config.token_file = folder.Write("token", "one");
  fixture.script.Answer(200, "{}");
  REQUIRE(fixture.Do({.path = "/x"}));
  fixture.script.Answer(401, "");
  SECTION("with a newer token") {
    folder.Write("token", "two");
    fixture.script.Answer(200, "{}");
    CHECK(fixture.Do({.path = "/x"}));
    CHECK(fixture.script.sent[2].request.headers.Get("Authorization") == "Bearer two");
  }
  SECTION("not more than once") {
    folder.Write("token", "two");
    fixture.script.Answer(401, "");
    CHECK(fixture.Do({.path = "/x"}).error().code == ErrorCode::kUnauthorized);
    CHECK(fixture.script.sent.size() == 3);
  }
  SECTION("not with the same token") {
    CHECK(fixture.Do({.path = "/x"}).error().code == ErrorCode::kUnauthorized);
    CHECK(fixture.script.sent.size() == 2);
  }
  // A write is repeated as well: the server answered 401, so it has written nothing.
  SECTION("a write, too") {
    const std::string verb = GENERATE("PUT", "POST", "PATCH", "DELETE");
    folder.Write("token", "two");
    fixture.script.Answer(200, "{}");
    CHECK(fixture.Do({.verb = verb, .path = "/x", .body = "{}"}));
    REQUIRE(fixture.script.sent.size() == 3);
    CHECK(fixture.script.sent[2].request.headers.Get("Authorization") == "Bearer two");
    CHECK(fixture.script.sent[2].request.body == "{}");
  }
  SECTION("a write not more than once") {
    folder.Write("token", "two");
    fixture.script.Answer(401, "");
    const auto answer = fixture.Do({.verb = "PATCH", .path = "/x"});
    CHECK(answer.error().code == ErrorCode::kUnauthorized);
    CHECK(fixture.script.sent.size() == 3);
  }
}

TEST_CASE(
    "rest client: files of certificates are read again when the server refuses them or is not "
    "trusted",
    "[client]") {
  const TempFolder folder;
  Fixture fixture;
  fixture.config.ca_file = folder.Write("ca", "A");
  fixture.config.tls.ca_pem = "A";
  fixture.config.cert_file = folder.Write("cert", "C");
  fixture.config.tls.cert_pem = "C";
  fixture.Client();
  fixture.scheduler.RunFor(10s);
  const auto refuse = [&script = fixture.script](bool answered) {
    if (answered) script.Answer(401, "");
    if (!answered) script.Fail(ErrorCode::kTls, "wrong CA?");
  };
  SECTION("a request is repeated with what has changed, once") {
    const bool answered = GENERATE(true, false);
    const bool streamed = GENERATE(true, false);
    folder.Write(answered ? "cert" : "ca", "new");
    refuse(answered);
    fixture.script.Answer(200, "{}");
    if (streamed) CHECK(ReadAll(fixture, {.path = "/x"}));
    if (!streamed) CHECK(fixture.Do({.path = "/x"}));
    REQUIRE(fixture.script.tls.size() == 1);
    CHECK(fixture.script.tls[0].ca_pem == (answered ? "A" : "new"));
    CHECK(fixture.script.tls[0].cert_pem == (answered ? "new" : "C"));
  }
  SECTION("a write only if the server has answered") {
    const bool answered = GENERATE(true, false);
    folder.Write("cert", "new");
    refuse(answered);
    fixture.script.Answer(200, "{}");
    CHECK(fixture.Do({.verb = "PUT", .path = "/x"}).has_value() == answered);
    CHECK(fixture.script.tls.size() == 1);
  }
  SECTION("at most every ten seconds") {
    refuse(true);
    CHECK_FALSE(fixture.Do({.path = "/x"}));
    folder.Write("cert", "new");
    refuse(true);
    CHECK_FALSE(fixture.Do({.path = "/x"}));
    CHECK(fixture.script.tls.empty());
    fixture.scheduler.RunFor(10s);
    refuse(true);
    fixture.script.Answer(200, "{}");
    CHECK(fixture.Do({.path = "/x"}));
  }
  SECTION("a watch is not repeated, but the next request has what has changed") {
    folder.Write("ca", "new");
    refuse(false);
    CHECK_FALSE(ReadAll(fixture, {.path = "/x", .query = {{"watch", "1"}}}));
    CHECK(fixture.script.sent.size() == 1);
    CHECK(fixture.script.tls.size() == 1);
  }
}

TEST_CASE("rest client: a 304 is an answer only if it was requested", "[client]") {
  Fixture fixture;
  fixture.script.Answer(304, "");
  const auto unchanged = fixture.Do({.path = "/apis", .if_none_match = "\"E\""});
  REQUIRE(unchanged);
  CHECK(unchanged->status == 304);
  CHECK(fixture.script.sent[0].request.headers.Get("If-None-Match") == "\"E\"");
  fixture.script.Answer(304, "");
  CHECK_FALSE(fixture.Do({.path = "/apis"}));
}

TEST_CASE("rest client: a cancellation ends a wait before a retry", "[client]") {
  Fixture fixture;
  fixture.script.Answer(429, "", {{"Retry-After", "20"}});
  base::TaskGroup group(fixture.io.get_executor());
  std::optional<base::Result<ApiResponse>> answer;
  group.Spawn("get", [&]() -> base::Task<void> {
    co_await base::DeferCancellation();
    ApiRequest request;
    request.path = "/x";
    answer = co_await fixture.Client().Do(std::move(request));
  });
  fixture.scheduler.RunFor(1s);
  CHECK_FALSE(answer);
  group.Cancel();
  fixture.scheduler.RunUntilIdle();
  REQUIRE(answer);
  CHECK(answer->error().code == ErrorCode::kCancelled);
  CHECK(fixture.script.sent.size() == 1);
}

TEST_CASE("rest client: a streamed list is compressed, a watch never", "[client]") {
  Fixture fixture;
  fixture.script.Answer(200, "events");
  CHECK(ReadAll(fixture, {.path = "/x", .query = {{"watch", "1"}}}).value() == "events");
  CHECK_FALSE(fixture.script.sent[0].gzip);
  fixture.script.Answer(200, "list");
  CHECK(ReadAll(fixture, {.path = "/x", .query = {{"limit", "5"}}}).value() == "list");
  CHECK(fixture.script.sent[1].gzip);
  CHECK(fixture.recorder.lines == std::vector<std::string>{"GET 200 streamed", "GET 200 streamed"});
}

TEST_CASE("rest client: a refused stream is an error with the server's words", "[client]") {
  Fixture fixture;
  fixture.script.Answer(410,
                        R"({"kind":"Status","reason":"Expired","message":"too old","code":410})");
  const auto refused = ReadAll(fixture, {.path = "/x", .query = {{"watch", "1"}}});
  CHECK(refused.error().code == ErrorCode::kExpired);
  CHECK(refused.error().message == "GET /x: 410 Expired: too old");
  fixture.script.Answer(429, "", {{"Retry-After", "4"}});
  CHECK(ReadAll(fixture, {.path = "/x", .timeout = 3s}).error().retry_after == 4s);
}

TEST_CASE("rest client: a streamed list is repeated like every other read", "[client]") {
  Fixture fixture;
  const ApiRequest list{.path = "/x", .query = {{"limit", "500"}}};
  SECTION("when the server says, after a refusal") {
    const int status = GENERATE(429, 503);
    fixture.script.Answer(status, "", {{"Retry-After", "4"}});
    fixture.script.Answer(200, "list");
    CHECK(ReadAll(fixture, list, 4s).value() == "list");
    const std::string refused = std::to_string(status);
    CHECK(fixture.recorder.lines == std::vector<std::string>{"GET " + refused + " streamed",
                                                             "retry GET " + refused,
                                                             "GET 200 streamed"});
  }
  SECTION("a second after a lost connection") {
    fixture.script.Fail(ErrorCode::kUnavailable, "reset");
    fixture.script.Answer(200, "list");
    CHECK(ReadAll(fixture, list, 1s).value() == "list");
  }
  SECTION("at once after a 401, with a newer token") {
    const TempFolder folder;
    fixture.config.token_file = folder.Write("token", "one");
    fixture.script.Answer(200, "list");
    CHECK(ReadAll(fixture, list));
    folder.Write("token", "two");
    fixture.script.Answer(401, "");
    fixture.script.Answer(200, "list");
    CHECK(ReadAll(fixture, list).value() == "list");
    CHECK(fixture.script.sent.back().request.headers.Get("Authorization") == "Bearer two");
  }
}

TEST_CASE("rest client: the timeout of a streamed list bounds all its tries", "[client]") {
  Fixture fixture;
  fixture.script.Answer(429, "", {{"Retry-After", "6"}});
  fixture.script.Answer(429, "", {{"Retry-After", "6"}});
  const auto refused = ReadAll(fixture, {.path = "/x", .timeout = 10s}, 6s);
  CHECK(refused.error().code == ErrorCode::kTooManyRequests);
  REQUIRE(fixture.script.sent.size() == 2);
  CHECK(fixture.script.sent[1].timeout == 4s);
}

TEST_CASE("rest client: a watch is answered at once, whatever the answer", "[client]") {
  const TempFolder folder;
  Fixture fixture;
  fixture.config.token_file = folder.Write("token", "one");
  const auto watch = [&fixture] {
    return ReadAll(fixture, {.path = "/x", .query = {{"watch", "1"}}}).error();
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

TEST_CASE("rest client: a 401 with an expired client certificate is called that", "[client]") {
  Fixture fixture;
  const auto certificate = [&](std::chrono::seconds until) {
    return http::MakeCertificate(
               {.common_name = "quota", .now = fixture.scheduler.WallNow(), .valid_until = until})
        .value()
        .cert_pem;
  };
  fixture.config.tls.cert_pem = certificate(60s);
  const auto asked = [&] { return fixture.Do({.path = "/x"}).error(); };
  fixture.script.Answer(401, "");
  const base::Error valid = asked();
  CHECK_THAT(valid.message, !Contains("certificate"));
  fixture.scheduler.RunFor(61s);
  fixture.script.Answer(401, "");
  const base::Error expired = asked();
  CHECK(expired.code == ErrorCode::kUnauthorized);
  CHECK_THAT(expired.message,
             Contains("401") && Contains("(the client certificate expired at ") && Contains("Z)"));
  fixture.script.Answer(403, "");
  CHECK_THAT(asked().message, !Contains("certificate"));
  fixture.script.Answer(401, "");
  CHECK_THAT(ReadAll(fixture, {.path = "/x"}).error().message, Contains("certificate expired"));
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

TEST_CASE("rest client: the error for an answer that is not a JSON object names the request",
          "[client]") {
  Fixture fixture;
  const auto get = [&fixture] {
    const Running<base::Result<json::Value>> running(
        fixture.io, [&rest = fixture.Client()]() -> base::Task<base::Result<json::Value>> {
          ApiRequest request;
          request.path = "/x";
          auto value = co_await DoJson(rest, std::move(request));
          co_return value;
        });
    fixture.scheduler.RunUntilIdle();
    return running.value();
  };
  fixture.script.Answer(200, "[1]");
  CHECK(get().error().message == "GET /x: the answer is not a JSON object but of type array");
  fixture.script.Answer(200, "<html>");
  CHECK(get().error().code == ErrorCode::kMalformed);
  fixture.script.Answer(200, "{\"a\":1}");
  CHECK(get()->At({"a"})->AsInt64() == 1);
}

}  // namespace
}  // namespace client::rest_client_test

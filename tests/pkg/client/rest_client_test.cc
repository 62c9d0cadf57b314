#include "pkg/client/rest_client.h"

#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"
#include "tests/pkg/client/rest_client_fixture.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::rest_client_test {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using rest_testing::Fixture;

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

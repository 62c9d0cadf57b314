#include "pkg/debug/endpoints.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"

using Catch::Matchers::Contains;

namespace {

struct Fixture {
  base::ManualClock clock;
  debug::Health health{clock};
  metrics::Registry registry;
  debug::Endpoints endpoints{&health, &registry, {}};

  http::Response Ask(const std::string& method, const std::string& target) const {
    base::asio::io_context io;
    std::optional<http::Response> response;
    base::TaskGroup tasks(io.get_executor());
    tasks.Spawn("ask", [&]() -> base::Task<void> {
      http::Request request{.method = method, .target = target};
      response = co_await debug::Answer(endpoints, std::move(request));
    });
    io.run();
    return *response;
  }
};

class Recorder final : public http::ResponseWriter {
 public:
  base::Task<base::Result<void>> Send(http::Response response) override {
    sent.push_back(std::move(response));
    co_return base::Result<void>();
  }
  base::Task<base::Result<void>> Start(int, http::Headers) override { co_return Unexpected(); }
  base::Task<base::Result<void>> Write(std::string) override { co_return Unexpected(); }
  base::Task<base::Result<void>> Finish() override { co_return Unexpected(); }
  void Abort(bool) override {}

  std::vector<http::Response> sent;

 private:
  static base::Error Unexpected() { return {.message = "not called"}; }
};

}  // namespace

TEST_CASE("endpoints: metrics are served in the text format", "[debug]") {
  Fixture f;
  f.registry.NewCounter("jobs_total", "Jobs.").Increment(3);
  const http::Response response = f.Ask("GET", "/metrics");
  CHECK(response.status == 200);
  CHECK(response.headers.Get("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
  CHECK_THAT(response.body, Contains("jobs_total 3\n"));
}

TEST_CASE("endpoints: two concurrent scrapes are answered in steps that yield to the event loop",
          "[debug]") {
  Fixture f;
  int refreshed = 0;
  f.registry.OnScrapeInSteps([&] { return ++refreshed % 5 != 0; });
  base::asio::io_context io;
  base::TaskGroup tasks(io.get_executor());
  std::vector<http::Response> answers;
  const auto ask = [&]() -> base::Task<void> {
    http::Request request{.method = "GET", .target = "/metrics"};
    answers.push_back(co_await debug::Answer(f.endpoints, std::move(request)));
  };
  tasks.Spawn("one", ask);
  tasks.Spawn("other", ask);
  int most_in_a_turn = 0;
  int turns = 0;
  for (int before = 0; io.poll_one() > 0; before = refreshed) {
    most_in_a_turn = std::max(most_in_a_turn, refreshed - before);
    ++turns;
  }
  REQUIRE(answers.size() == 2);
  CHECK(answers[1].status == 200);
  CHECK(refreshed == 10);
  CHECK(most_in_a_turn == 1);
  // The scrape that waits does not ask again and again.
  CHECK(turns < 20);
}

TEST_CASE("endpoints: the scrape after a cancelled one is answered", "[debug]") {
  Fixture f;
  f.registry.OnScrapeInSteps([] { return true; });
  base::asio::io_context io;
  base::TaskGroup endless(io.get_executor());
  base::TaskGroup tasks(io.get_executor());
  int begun = 0;
  const auto ask = [&]() -> base::Task<void> {
    ++begun;
    http::Request request{.method = "GET", .target = "/metrics"};
    (void)co_await debug::Answer(f.endpoints, std::move(request));
  };
  endless.Spawn("endless", ask);
  tasks.Spawn("one", ask);
  tasks.Spawn("other", ask);
  for (int i = 0; i < 20; ++i) io.poll_one();
  REQUIRE(begun == 3);
  endless.Cancel();
  for (int i = 0; i < 20; ++i) io.poll_one();
  CHECK(endless.empty());
  CHECK(f.registry.TryExpose() == nullptr);  // the next one is in progress
  tasks.Cancel();
  io.run();
  CHECK(tasks.empty());
}

TEST_CASE("endpoints: health is served beside them", "[debug]") {
  Fixture f;
  CHECK(f.Ask("GET", "/readyz").body == "ok");
  CHECK(f.Ask("HEAD", "/livez").status == 200);
}

TEST_CASE("endpoints: other paths are not found", "[debug]") {
  Fixture f;
  for (const char* path : {"/", "/metrics/x", "/debug/pprof", "/readyz/none"}) {
    INFO(path);
    CHECK(f.Ask("GET", path).status == 404);
  }
  CHECK(f.Ask("POST", "/").status == 404);
}

TEST_CASE("endpoints: only GET and HEAD are allowed", "[debug]") {
  Fixture f;
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get"}) {
    INFO(method);
    const http::Response response = f.Ask(method, "/metrics");
    CHECK(response.status == 405);
    CHECK(response.headers.Get("Allow") == "GET, HEAD");
  }
}

TEST_CASE("endpoints: an address serves only its own endpoints", "[debug]") {
  Fixture f;
  f.endpoints.metrics = nullptr;
  CHECK(f.Ask("GET", "/metrics").status == 404);
  CHECK(f.Ask("GET", "/healthz").status == 200);
  f.endpoints = {nullptr, &f.registry, {}};
  CHECK(f.Ask("GET", "/metrics").status == 200);
  CHECK(f.Ask("GET", "/healthz").status == 404);
}

TEST_CASE("endpoints: a target that cannot be decoded is a bad request", "[debug]") {
  Fixture f;
  CHECK(f.Ask("GET", "/metrics/%zz").status == 400);
}

TEST_CASE("endpoints: the handler sends exactly one answer", "[debug]") {
  Fixture f;
  Recorder recorder;
  base::asio::io_context io;
  base::TaskGroup group(io.get_executor());
  const http::Handler handler = debug::NewHandler(f.endpoints);
  group.Spawn("request", [&] { return handler({.target = "/readyz"}, {}, recorder); });
  io.run();
  REQUIRE(recorder.sent.size() == 1);
  CHECK(recorder.sent[0].body == "ok");
}

namespace {

// The handler's answer to one request, and the tokens that the guard was asked about.
struct Guarded : Fixture {
  std::vector<std::string> asked;
  base::Result<void> verdict;

  http::Response Send(const std::string& target, const std::string& authorization = "") {
    endpoints.guard = [this](std::string token, std::string path,
                             std::string) -> base::Task<base::Result<void>> {
      asked.push_back(path + " " + token);
      co_return verdict;
    };
    http::Request request{.target = target};
    if (!authorization.empty()) request.headers.Set("Authorization", authorization);
    Recorder recorder;
    base::asio::io_context io;
    base::TaskGroup group(io.get_executor());
    const http::Handler handler = debug::NewHandler(endpoints);
    group.Spawn("request", [&] { return handler(request, {}, recorder); });
    io.run();
    REQUIRE(recorder.sent.size() == 1);
    return recorder.sent[0];
  }
  void Refuse(base::ErrorCode code) {
    verdict = base::Error{.code = code, .message = "user \"x\" may not"};
  }
};

}  // namespace

TEST_CASE("endpoints: guarded metrics are only for permitted clients", "[debug]") {
  Guarded g;
  g.registry.NewCounter("jobs_total", "Jobs.").Increment(3);
  CHECK_THAT(g.Send("/metrics", "Bearer abc").body, Contains("jobs_total 3\n"));
  CHECK(g.Send("/metrics", "bearer  x").status == 200);
  CHECK(g.asked == std::vector<std::string>{"/metrics abc", "/metrics x"});

  g.Refuse(base::ErrorCode::kUnauthorized);
  const http::Response unknown = g.Send("/metrics");
  CHECK(unknown.status == 401);
  CHECK(unknown.headers.Get("WWW-Authenticate") == "Bearer");
  g.Refuse(base::ErrorCode::kForbidden);
  CHECK(g.Send("/metrics", "Bearer abc").status == 403);
  g.Refuse(base::ErrorCode::kTooManyRequests);
  CHECK(g.Send("/metrics", "Bearer abc").status == 429);
  for (const auto code : {base::ErrorCode::kUnavailable, base::ErrorCode::kInternal}) {
    g.Refuse(code);
    const http::Response away = g.Send("/metrics", "Bearer abc");
    CHECK(away.status == 503);
    CHECK_THAT(away.body, !Contains("jobs_total"));
  }
}

TEST_CASE("endpoints: other Authorization headers are not bearer tokens", "[debug]") {
  Guarded g;
  for (const char* header : {"", "Basic YTpi", "Bearer", "Bearer ", "abc", "Bearerabc"}) {
    g.Send("/metrics", header);
    CHECK(g.asked.back() == "/metrics ");
  }
}

TEST_CASE("endpoints: every spelling of /metrics is guarded, and health is not", "[debug]") {
  Guarded g;
  g.registry.NewCounter("jobs_total", "Jobs.");
  g.Refuse(base::ErrorCode::kUnauthorized);
  for (const char* target : {"/metrics", "/metrics?x=1", "/%6detrics", "//metrics", "/metrics/"}) {
    INFO(target);
    CHECK_THAT(g.Send(target).body, !Contains("jobs_total"));
  }
  g.asked.clear();
  CHECK(g.Send("/healthz").status == 200);
  CHECK(g.Send("/livez").status == 200);
  CHECK(g.Send("/readyz?verbose").status == 200);
  CHECK(g.Send("/other").status == 404);
  CHECK(g.asked.empty());
}

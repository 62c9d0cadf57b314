#include "pkg/debug/endpoints.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"

using Catch::Matchers::Contains;

namespace {

struct Fixture {
  debug::Health health;
  metrics::Registry registry;
  debug::Endpoints endpoints{&health, &registry};

  http::Response Ask(const std::string& method, const std::string& target) const {
    return debug::Answer(endpoints, {.method = method, .target = target});
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

TEST_CASE("endpoints: an address serves only what it was given", "[debug]") {
  Fixture f;
  f.endpoints.metrics = nullptr;
  CHECK(f.Ask("GET", "/metrics").status == 404);
  CHECK(f.Ask("GET", "/healthz").status == 200);
  f.endpoints = {nullptr, &f.registry};
  CHECK(f.Ask("GET", "/metrics").status == 200);
  CHECK(f.Ask("GET", "/healthz").status == 404);
}

TEST_CASE("endpoints: a target that cannot be decoded is a bad request", "[debug]") {
  Fixture f;
  CHECK(f.Ask("GET", "/metrics/%zz").status == 400);
}

TEST_CASE("endpoints: the handler sends one answer", "[debug]") {
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

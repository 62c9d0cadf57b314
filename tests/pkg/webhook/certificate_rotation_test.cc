// The most important guarantee: certificates rotate under a real server while real clients call,
// and no call fails.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>
#include <deque>
#include <set>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/client.h"
#include "pkg/http/server.h"
#include "pkg/webhook/certificate_memory.h"

namespace certificate_rotation_test {

namespace {

using namespace std::chrono_literals;

// Virtual time begins now and advances by less than the backdating, because the clients check with
// real time.
webhook::CertificatePolicy Hasty() {
  return {.ca_life = 10min, .leaf_life = 3min, .publish_for = 40s, .keep_old = 60s};
}

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  base::TaskGroup tasks{io.get_executor()};
  std::unique_ptr<webhook::CertificateSource> source;
  std::unique_ptr<http::Server> server;

  Fixture() {
    scheduler.RunFor(base::RealClock().WallNow() - scheduler.WallNow());
    source = webhook::NewMemoryCertificates(scheduler, {"127.0.0.1"}, Hasty()).value();
    http::ServerOptions options;
    options.tls = http::ServerTls{source->current()->cert_pem, source->current()->key_pem};
    server = http::NewServer(io.get_executor(), options, Answer).value();
    source->SetListener([this](const webhook::CertificateMaterial& material) {
      REQUIRE(server->SetTls({material.cert_pem, material.key_pem}).has_value());
    });
    tasks.Spawn("certificates", [this] { return source->Run(); });
    tasks.Spawn("server", [this] { return server->Run(); });
  }
  ~Fixture() {
    server->Stop(0ms);
    tasks.Cancel();
    while (!tasks.empty()) io.run_one();
  }

  static base::Task<void> Answer(http::Request, http::Peer, http::ResponseWriter& writer) {
    // Lets other coroutines run, so that certificates change during a request.
    for (int i = 0; i < 5; ++i) co_await base::asio::post(base::asio::use_awaitable);
    http::Response response;
    response.body = "ok";
    co_await writer.Send(std::move(response));
  }
  [[nodiscard]] std::unique_ptr<http::Client> NewClient(const std::string& bundle) {
    http::ClientOptions options;
    options.server = {.scheme = "https", .host = "127.0.0.1", .port = server->port()};
    options.tls.ca_pem = bundle;
    return http::NewClient(io.get_executor(), std::move(options)).value();
  }
};

struct Caller {
  std::unique_ptr<http::Client> client;
  int answered = 0;
  std::vector<std::string> failures;

  base::Task<void> Call() {
    const base::Result<http::Response> answer = co_await client->Do(http::Request(), 10s);
    if (answer && answer->status == 200) {
      ++answered;
    } else {
      failures.push_back(answer ? std::to_string(answer->status) : answer.error().message);
    }
  }
};

TEST_CASE("certificates: no call fails while they are rotated", "[admission][http]") {
  Fixture fixture;
  std::set<std::string> leaves;
  std::set<std::string> bundles;
  std::deque<std::string> known;  // the bundle that callers know, with a lag
  Caller kept{fixture.NewClient(fixture.source->current()->ca_bundle_pem), 0, {}};
  int fresh_answered = 0;
  for (int second = 0; second < 50 * 60; second += 5) {
    leaves.insert(fixture.source->current()->cert_pem);
    bundles.insert(fixture.source->current()->ca_bundle_pem);
    known.push_back(fixture.source->current()->ca_bundle_pem);
    if (known.size() > 5) known.pop_front();
    // Uses one connection for the whole test, and a new one for each round. The certificate may
    // change during both calls.
    Caller fresh{fixture.NewClient(known.front()), 0, {}};
    base::TaskGroup calls(fixture.io.get_executor());
    calls.Spawn("kept", [&] { return kept.Call(); });
    calls.Spawn("fresh", [&] { return fresh.Call(); });
    fixture.io.restart();
    for (int i = second % 7; i > 0; --i) fixture.io.run_one();
    fixture.scheduler.RunFor(5s);
    fixture.io.restart();
    while (!calls.empty()) fixture.io.run_one();
    fresh_answered += fresh.answered;
    REQUIRE(fresh.failures.empty());
    REQUIRE(kept.failures.empty());
  }
  CHECK(fresh_answered == 600);
  CHECK(kept.answered == 600);
  CHECK(leaves.size() > 20);
  CHECK(bundles.size() > 10);
}

TEST_CASE("certificates: a client that trusts only a dropped CA fails", "[admission][http]") {
  Fixture fixture;
  const std::string old = fixture.source->current()->ca_bundle_pem;
  fixture.scheduler.RunFor(20min);
  Caller caller{fixture.NewClient(old), 0, {}};
  base::TaskGroup calls(fixture.io.get_executor());
  calls.Spawn("call", [&] { return caller.Call(); });
  fixture.io.restart();
  while (!calls.empty()) fixture.io.run_one();
  CHECK(caller.answered == 0);
  CHECK(caller.failures.size() == 1);
}

}  // namespace

}  // namespace certificate_rotation_test

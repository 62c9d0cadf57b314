#include "cmd/quota-controller-manager/server_contact.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/fake/captured_log.h"
#include "tests/fake/scripted_client.h"

namespace server_contact_test {
namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;
using base::ErrorCode;

// A server that gives the same answer to each request.
class Server final : public client::ApiClient {
 public:
  explicit Server(client::Reachability& reachability) : reachability_(reachability) {}
  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override {
    ++asked;
    last = std::move(request);
    if (error) {
      reachability_.OnError(*error);
      co_return *error;
    }
    reachability_.OnAnswer();
    co_return client::ApiResponse{.status = 200};
  }
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(client::ApiRequest) override {
    co_return base::Error{.code = ErrorCode::kInternal, .message = "nobody watches here"};
  }

  int asked = 0;
  client::ApiRequest last;
  std::optional<base::Error> error;

 private:
  client::Reachability& reachability_;
};

base::Error Silence() {
  return {.code = ErrorCode::kTimeout, .message = "GET /x: stranger's text"};
}
base::Error Unauthorized() {
  return {
      .code = ErrorCode::kUnauthorized, .message = "GET /x: 401 Unauthorized", .http_status = 401};
}

class Fixture {
 public:
  Fixture() {
    contact_.AddChecks(health_);
    tasks_.Spawn("contact", [this] { return contact_.Run(); });
  }
  ~Fixture() {
    tasks_.Cancel();
    scheduler.RunUntilIdle();
  }
  http::Response Ask(const std::string& path) {
    return health_.Answer(http::ParseTarget(path).value());
  }
  [[nodiscard]] bool IsReady() const { return health_.IsReady(); }
  [[nodiscard]] bool Runs() const { return !tasks_.empty(); }

 private:
  base::asio::io_context io_{1};

 public:
  base::ManualScheduler scheduler{io_};
  client::Reachability reachability{scheduler};
  Server server{reachability};
  std::vector<bool> told;  // whether the server answers
  int refused = 0;

 private:
  debug::Health health_{scheduler};
  manager::ServerContact contact_{scheduler,
                                  server,
                                  reachability,
                                  {.on_contact = [this](bool answers) { told.push_back(answers); },
                                   .on_refused = [this] { ++refused; }}};
  base::TaskGroup tasks_{io_.get_executor()};
};

}  // namespace

TEST_CASE("server contact: a replica without answers is not ready after a minute", "[manager]") {
  Fixture f;
  f.scheduler.RunFor(1h);
  CHECK(f.IsReady());
  f.server.error = Silence();
  f.scheduler.RunFor(1min);
  CHECK(f.IsReady());
  f.scheduler.RunFor(15s);
  CHECK_FALSE(f.IsReady());
  CHECK(f.told == std::vector<bool>{false});
  const http::Response answer = f.Ask("/readyz");
  CHECK(answer.status == 500);
  CHECK_THAT(answer.body,
             Contains("[-]apiserver failed: the API server has not answered since 20"));
  CHECK_THAT(answer.body, Contains("Z: Timeout\n"));
  CHECK_THAT(answer.body, !Contains("stranger"));
  // A new start would not help.
  CHECK(f.Ask("/livez").status == 200);
  CHECK(f.refused == 0);

  // The next request shows that the server is back, and comes soon.
  f.server.error.reset();
  f.scheduler.RunFor(1s);
  CHECK(f.IsReady());
  CHECK(f.told == std::vector<bool>{false, true});
  CHECK(f.Ask("/readyz").status == 200);
}

TEST_CASE("server contact: the server is asked only while nobody else asks", "[manager]") {
  Fixture f;
  f.scheduler.RunFor(1min);
  CHECK(f.server.asked >= 10);
  CHECK(f.server.asked <= 12);
  CHECK(f.server.last.path == "/version");
  CHECK(f.server.last.timeout <= 5s);
  const int before = f.server.asked;
  for (int i = 0; i < 30; ++i) {
    f.reachability.OnAnswer();
    f.scheduler.RunFor(2s);
  }
  CHECK(f.server.asked == before);
}

TEST_CASE("server contact: the process ends when its credentials have ended", "[manager]") {
  const fake::CapturedLog log;
  Fixture f;
  f.server.error = Unauthorized();
  f.scheduler.RunFor(1min);
  CHECK(f.refused == 0);
  CHECK(f.Runs());
  f.scheduler.RunFor(15s);
  CHECK(f.refused == 1);
  CHECK_FALSE(f.Runs());
  CHECK_FALSE(f.IsReady());
  CHECK_THAT(f.Ask("/readyz").body, Contains("the API server has refused our credentials since "));
  const auto lines = log.With("our credentials have ended");
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Contains("since=") && Contains("401 Unauthorized"));
}

TEST_CASE("server contact: credentials that are accepted again in time have not ended",
          "[manager]") {
  Fixture f;
  for (int i = 0; i < 5; ++i) {
    f.server.error = Unauthorized();
    f.scheduler.RunFor(50s);
    f.server.error.reset();
    f.scheduler.RunFor(10s);
  }
  CHECK(f.refused == 0);
  CHECK(f.IsReady());
}

}  // namespace server_contact_test

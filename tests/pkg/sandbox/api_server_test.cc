#include "pkg/sandbox/api_server.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"
#include "pkg/config/yaml.h"
#include "pkg/http/client.h"
#include "tests/pkg/sandbox/show_result.h"

namespace sandbox {
namespace {

constexpr std::chrono::seconds kPatience{20};

// Runs `test` beside a server on a loopback port.
class ServerFixture {
 protected:
  void Run(ApiServerOptions options, std::function<base::Task<void>()> test) {
    options.token = "t";
    server_ = ApiServer::New(io_.get_executor(), std::move(options)).value();
    base::TaskGroup tasks(io_.get_executor());
    tasks.Spawn("server", [this] { return server_->Run(); });
    tasks.Spawn("test", [this, test] { return RunTest(test); });
    io_.run();
    REQUIRE(done_);
  }

  std::unique_ptr<http::Client> Client(std::string ca_pem) {
    http::ClientOptions options;
    options.server = http::ParseUrl(server_->url()).value();
    options.tls.ca_pem = std::move(ca_pem);
    return http::NewClient(io_.get_executor(), options).value();
  }
  static http::Request Get(std::string target) {
    return {"GET", std::move(target), {{"Authorization", "Bearer t"}}, ""};
  }

  base::asio::io_context io_{1};
  std::unique_ptr<ApiServer> server_;

 private:
  base::Task<void> RunTest(std::function<base::Task<void>()> test) {
    co_await test();
    done_ = true;
    server_->Stop();
  }

  bool done_ = false;
};

}  // namespace

TEST_CASE_METHOD(ServerFixture, "api server: TLS with a certificate that the kubeconfig trusts",
                 "[sandbox]") {
  Run({}, [this]() -> base::Task<void> {
    const json::Value kubeconfig = config::ParseYaml(server_->Kubeconfig()).value();
    CHECK(kubeconfig.StringAt({"current-context"}) == "sandbox");
    const auto trusting = Client(server_->ca_pem());
    const auto answer = co_await trusting->Do(Get("/api/v1/namespaces/default"), kPatience);
    CHECK((answer && answer->status == 200));
    const auto stranger = Client("");
    const auto refused = co_await stranger->Do(Get("/api/v1/namespaces"), kPatience);
    CHECK((!refused && refused.error().Is(base::ErrorCode::kTls)));
    trusting->CloseIdle();
  });
}

TEST_CASE_METHOD(ServerFixture, "api server: a watch streams over a socket, and Stop ends it",
                 "[sandbox]") {
  ApiServerOptions options;
  options.tls = false;
  Run(std::move(options), [this]() -> base::Task<void> {
    const auto client = Client("");
    auto watch = co_await client->Open(Get("/api/v1/namespaces?watch=1"), false, kPatience);
    REQUIRE(watch);
    CHECK(watch->status == 200);
    std::string body;
    while (body.find("kube-system") == std::string::npos) {
      auto bytes = co_await watch->body->Read(kPatience);
      REQUIRE((bytes && *bytes));
      body += **bytes;
    }
    CHECK(body.find("\"type\":\"ADDED\"") != std::string::npos);
    server_->Stop();
    const auto end = co_await watch->body->Read(kPatience);
    CHECK((!end || !*end));
    client->CloseIdle();
  });
}

TEST_CASE_METHOD(ServerFixture, "api server: a dropped watch is seen as a reset", "[sandbox]") {
  ApiServerOptions options;
  options.tls = false;
  Run(std::move(options), [this]() -> base::Task<void> {
    const auto client = Client("");
    const std::string version = std::to_string(server_->handler().store().current_version());
    auto watch = co_await client->Open(Get("/api/v1/namespaces?watch=1&resourceVersion=" + version),
                                       false, kPatience);
    REQUIRE(watch);
    http::Request inject = Get("/sandbox/faults");
    inject.method = "POST";
    inject.body = R"({"fault":"drop-watches","resource":"namespaces","reset":true})";
    const auto injected = co_await client->Do(std::move(inject), kPatience);
    CHECK((injected && injected->status == 200));
    const auto end = co_await watch->body->Read(kPatience);
    CHECK((!end && end.error().Is(base::ErrorCode::kUnavailable)));
    client->CloseIdle();
  });
}

TEST_CASE("api server: an address that is taken is an error", "[sandbox]") {
  base::asio::io_context io{1};
  const auto first = ApiServer::New(io.get_executor(), {});
  REQUIRE(first);
  ApiServerOptions options;
  options.bind.port = (*first)->port();
  const auto second = ApiServer::New(io.get_executor(), std::move(options));
  CHECK((!second && second.error().Is(base::ErrorCode::kUnavailable)));
}

}  // namespace sandbox

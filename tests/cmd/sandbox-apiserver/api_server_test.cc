#include "cmd/sandbox-apiserver/api_server.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/base64.h"
#include "pkg/base/task_group.h"
#include "pkg/config/yaml.h"
#include "pkg/http/client.h"
#include "tests/cmd/sandbox-apiserver/show_result.h"

namespace sandbox::api_server_test {
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
    const std::string version =
        std::to_string(server_->handler().store().objects().current_version());
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

TEST_CASE_METHOD(ServerFixture, "api server: a webhook is called over TLS at its URL",
                 "[sandbox]") {
  const http::CertificatePair pair = http::MakeSelfSigned({"127.0.0.1"}).value();
  http::ServerOptions listen;
  listen.tls = http::ServerTls{pair.cert_pem, pair.key_pem, "", false};
  std::vector<std::string> targets;
  const auto webhook =
      http::NewServer(io_.get_executor(), listen,
                      [&targets](http::Request request, http::Peer,
                                 http::ResponseWriter& writer) -> base::Task<void> {
                        targets.push_back(request.target);
                        const json::Value review = json::Parse(request.body).value();
                        json::Value answer = json::Object{{"kind", "AdmissionReview"},
                                                          {"apiVersion", "admission.k8s.io/v1"}};
                        answer.Make({"response", "uid"}) = review.StringAt({"request", "uid"});
                        answer.Make({"response", "allowed"}) = false;
                        http::Response response{200, {}, json::Write(answer)};
                        co_await writer.Send(std::move(response));
                      })
          .value();
  base::TaskGroup tasks(io_.get_executor());
  tasks.Spawn("webhook", [&webhook] { return webhook->Run(); });
  Run({}, [&]() -> base::Task<void> {
    const std::string url =
        "https://127.0.0.1:" + std::to_string(webhook->port()) + "/validate/all";
    const auto client = Client(server_->ca_pem());
    http::Request configure =
        Get("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations");
    configure.method = "POST";
    configure.body =
        R"({"metadata":{"name":"w"},"webhooks":[{"name":"w.example.com","sideEffects":"None",
            "admissionReviewVersions":["v1"],"timeoutSeconds":7,
            "rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
                      "resources":["configmaps"]}],"clientConfig":{"url":")" +
        url + R"(","caBundle":")" + base::EncodeBase64(pair.cert_pem) + R"("}}]})";
    const auto configured = co_await client->Do(std::move(configure), kPatience);
    CHECK((configured && configured->status == 201));
    http::Request create = Get("/api/v1/namespaces/default/configmaps");
    create.method = "POST";
    create.body = R"({"metadata":{"name":"c"}})";
    const auto denied = co_await client->Do(std::move(create), kPatience);
    CHECK((denied && denied->status == 400));
    CHECK(targets == std::vector<std::string>{"/validate/all?timeout=7s"});
    client->CloseIdle();
    webhook->Stop(std::chrono::milliseconds(0));
  });
}

TEST_CASE("api server: an address in use is an error", "[sandbox]") {
  base::asio::io_context io{1};
  const auto first = ApiServer::New(io.get_executor(), {});
  REQUIRE(first);
  ApiServerOptions options;
  options.bind.port = (*first)->port();
  const auto second = ApiServer::New(io.get_executor(), std::move(options));
  CHECK((!second && second.error().Is(base::ErrorCode::kUnavailable)));
}

}  // namespace sandbox::api_server_test

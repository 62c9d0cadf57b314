#include "tests/e2e/harness/stub_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <stdexcept>
#include <thread>

#include "pkg/base/task_group.h"
#include "pkg/http/server.h"
#include "pkg/json/value.h"
#include "tests/e2e/harness/files.h"

namespace e2e {

class StubServer::Runner {
 public:
  Runner(Answer answer, const KeyPair* tls) : answer_(std::move(answer)) {
    http::ServerOptions options;
    if (tls != nullptr) {
      options.tls =
          http::ServerTls{.cert_pem = ReadFile(tls->cert_path), .key_pem = ReadFile(tls->key_path)};
    }
    auto server = http::NewServer(
        io_.get_executor(), options,
        [this](http::Request request, const http::Peer&, http::ResponseWriter& writer) {
          return Handle(std::move(request), writer);
        });
    if (!server) throw std::runtime_error(server.error().message);
    server_ = std::move(*server);
    tasks_.Spawn("stub server", [this] { return server_->Run(); });
    thread_ = std::thread([this] { io_.run(); });
  }

  ~Runner() {
    base::asio::post(io_, [this] { server_->Stop(std::chrono::milliseconds(0)); });
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  std::atomic<int> requests_{0};
  std::atomic<int> writes_{0};

 private:
  base::Task<void> Handle(http::Request request, http::ResponseWriter& writer) {
    ++requests_;
    if (request.method != "GET") ++writes_;
    auto response = answer_(request);
    (void)co_await writer.Send(std::move(response));
  }

  Answer answer_;
  base::asio::io_context io_{1};
  base::TaskGroup tasks_{io_.get_executor()};
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

StubServer::StubServer(Answer answer, const KeyPair* tls)
    : runner_(std::make_unique<Runner>(std::move(answer), tls)) {}

StubServer::~StubServer() = default;

std::uint16_t StubServer::port() const { return runner_->port(); }
int StubServer::requests() const { return runner_->requests_; }
int StubServer::writes() const { return runner_->writes_; }

http::Response StatusAnswer(int code, const std::string& reason, const std::string& message) {
  json::Value status;
  status.Make({"kind"}) = "Status";
  status.Make({"apiVersion"}) = "v1";
  status.Make({"metadata"}) = json::Object();
  status.Make({"status"}) = "Failure";
  status.Make({"message"}) = message;
  status.Make({"reason"}) = reason;
  status.Make({"code"}) = code;
  return {code, {{"Content-Type", "application/json"}}, json::Write(status)};
}

}  // namespace e2e

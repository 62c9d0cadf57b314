#include "cmd/sandbox-apiserver/api_server.h"

#include <random>
#include <utility>

#include "pkg/base/base64.h"
#include "pkg/config/yaml.h"

namespace sandbox {
namespace {

constexpr std::string_view kName = "sandbox";

std::string RandomToken() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 32; ++i) token.push_back("0123456789abcdef"[random() % 16]);
  return token;
}

// After a restart the server has lost all objects. Its first version is above all versions of
// earlier runs, so a client that resumes from one of those gets 410 instead of waiting forever.
std::uint64_t VersionOfNow(base::WallTime now) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count());
}

// The address to which a client on this machine connects.
std::string ClientHost(const std::string& address) {
  if (address.empty() || address == "0.0.0.0" || address == "::") return "127.0.0.1";
  return address;
}

base::Result<void> EnsureCertificate(ApiServerOptions& options) {
  if (!options.tls || options.certificate) return {};
  std::vector<std::string> hosts{"localhost", "127.0.0.1"};
  const std::string host = ClientHost(options.bind.address);
  if (host != hosts[0] && host != hosts[1]) hosts.push_back(host);
  base::Result<http::CertificatePair> made = http::MakeSelfSigned(hosts);
  if (!made) return made.error();
  options.certificate = *std::move(made);
  return {};
}

http::ServerOptions ServerOptionsOf(const ApiServerOptions& options) {
  http::ServerOptions server;
  server.address = options.bind.address;
  server.port = options.bind.port;
  if (options.tls) {
    server.tls = http::ServerTls{options.certificate->cert_pem, options.certificate->key_pem,
                                 options.client_ca_pem, false};
  }
  return server;
}

json::Value Named(std::string_view field, json::Object content) {
  return json::Array{json::Object{{"name", kName}, {std::string(field), std::move(content)}}};
}

}  // namespace

ApiServer::ApiServer(base::asio::any_io_executor executor, ApiServerOptions options)
    : options_(std::move(options)),
      scheduler_(executor),
      background_(executor),
      handler_(executor, scheduler_, options_.handler) {}

base::Result<std::unique_ptr<ApiServer>> ApiServer::New(base::asio::any_io_executor executor,
                                                        ApiServerOptions options) {
  if (options.token.empty()) options.token = RandomToken();
  options.handler.auth.tokens.emplace(options.token, User{"admin", {"system:masters"}});
  if (base::Result<void> ensured = EnsureCertificate(options); !ensured) return ensured.error();
  StoreOptions& store = options.handler.store;
  if (store.first_version <= 1) store.first_version = VersionOfNow(base::RealClock().WallNow());
  const http::ServerOptions listen = ServerOptionsOf(options);
  std::unique_ptr<ApiServer> made(new ApiServer(executor, std::move(options)));
  ApiHandler& handler = made->handler_;
  base::Result<std::unique_ptr<http::Server>> server = http::NewServer(
      executor, listen,
      [&handler](http::Request request, http::Peer peer, http::ResponseWriter& writer) {
        return handler.Handle(std::move(request), std::move(peer), writer);
      });
  if (!server) return server.error();
  made->server_ = *std::move(server);
  return made;
}

base::Task<void> ApiServer::Run() {
  background_.Spawn("sandbox background", [this] { return handler_.RunBackground(); });
  co_await server_->Run();
  background_.Cancel();
  co_await background_.Join();
}

void ApiServer::Stop(std::chrono::milliseconds grace) { server_->Stop(grace); }

std::string ApiServer::url() const {
  http::Url url;
  url.host = ClientHost(options_.bind.address);
  url.port = port();
  return (options_.tls ? "https://" : "http://") + url.Authority();
}

std::string ApiServer::ca_pem() const {
  return options_.tls ? options_.certificate->cert_pem : std::string();
}

std::string ApiServer::Kubeconfig() const {
  json::Object cluster{{"server", url()}};
  if (options_.tls) cluster.Set("certificate-authority-data", base::EncodeBase64(ca_pem()));
  json::Object context{{"cluster", kName}, {"user", kName}};
  return config::WriteYaml(
      json::Object{{"apiVersion", "v1"},
                   {"kind", "Config"},
                   {"current-context", kName},
                   {"clusters", Named("cluster", std::move(cluster))},
                   {"users", Named("user", json::Object{{"token", options_.token}})},
                   {"contexts", Named("context", std::move(context))}});
}

}  // namespace sandbox

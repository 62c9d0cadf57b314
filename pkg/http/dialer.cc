#include "pkg/http/dialer.h"

#include "pkg/http/proxy.h"

namespace http {
namespace {

// Returns the name as it is in a certificate and in SNI (RFC 6066). The dot at the end of
// "host.example." only keeps the resolver from trying other domains.
std::string CertifiedName(std::string host) {
  if (host.ends_with('.')) host.pop_back();
  return host;
}

}  // namespace

Dialer::Dialer(base::asio::any_io_executor executor, Url server, std::optional<Url> proxy)
    : executor_(std::move(executor)),
      server_(std::move(server)),
      proxy_(std::move(proxy)),
      resolver_(proxy_ ? proxy_->host : server_.host, proxy_ ? proxy_->port : server_.port) {}

bool Dialer::absolute_targets() const {
  return proxy_ && proxy_->scheme != "socks5" && server_.scheme == "http";
}

base::Result<void> Dialer::SetTls(const TlsOptions& options) {
  const bool proxy_speaks_tls = proxy_ && proxy_->scheme == "https";
  if (server_.scheme != "https" && !proxy_speaks_tls) return {};
  auto tls = TlsContext::ForClient(options);
  if (!tls) return tls.error();
  // The proxy must not get our client certificate.
  auto proxy_tls = TlsContext::ForClient({.ca_pem = options.ca_pem, .insecure = options.insecure});
  if (!proxy_tls) return proxy_tls.error();
  tls_ = std::move(*tls);
  proxy_tls_ = std::move(*proxy_tls);
  server_name_ = CertifiedName(options.server_name.empty() ? server_.host : options.server_name);
  return {};
}

base::Task<base::Result<void>> Dialer::Prepare(Connection& connection, base::TimePoint deadline) {
  if (proxy_) {
    const auto passed = co_await PassProxy(connection, deadline);
    if (!passed) co_return passed.error();
  }
  if (server_.scheme != "https") co_return base::Result<void>();
  std::shared_ptr<TlsStream> tls =
      TlsStream::Client(tls_, connection.stream(), server_name_, server_.Authority());
  co_return co_await connection.StartTls(std::move(tls), deadline);
}

base::Task<base::Result<std::unique_ptr<Connection>>> Dialer::Connect(base::TimePoint deadline) {
  const auto endpoints = co_await resolver_.Resolve(deadline);
  if (!endpoints) co_return endpoints.error();
  const std::string peer =
      proxy_ ? server_.Authority() + " through proxy " + proxy_->Authority() : server_.Authority();
  std::optional<base::Error> first_error;
  for (std::size_t i = 0; i < endpoints->size(); ++i) {
    // An address that never answers must leave the others their share of the time.
    const base::TimePoint now = base::RealClock().Now();
    const base::TimePoint share = now + (deadline - now) / static_cast<int>(endpoints->size() - i);
    auto socket = std::make_shared<Socket>(Tcp::socket(executor_), peer);
    auto connected = co_await socket->Connect((*endpoints)[i], share);
    if (connected) co_return std::make_unique<Connection>(std::move(socket));
    socket->Close();
    if (connected.error().Is(base::ErrorCode::kCancelled)) co_return connected.error();
    if (!first_error) first_error = connected.error();
  }
  co_return std::move(*first_error);
}

base::Task<base::Result<void>> Dialer::PassProxy(Connection& connection, base::TimePoint deadline) {
  if (proxy_->scheme == "https") {
    std::shared_ptr<TlsStream> tls =
        TlsStream::Client(proxy_tls_, connection.stream(), CertifiedName(proxy_->host),
                          "proxy " + proxy_->Authority());
    const auto secured = co_await connection.StartTls(std::move(tls), deadline);
    if (!secured) co_return secured.error();
  }
  base::Result<void> passed;
  if (proxy_->scheme == "socks5") {
    passed = co_await Socks5Connect(connection, *proxy_, server_, deadline);
  } else if (!absolute_targets()) {
    passed = co_await HttpConnect(connection, *proxy_, server_, deadline);
  }
  co_return passed;
}

}  // namespace http

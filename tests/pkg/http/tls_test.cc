#include "pkg/http/tls.h"

#include <catch2/catch.hpp>

#include "tests/fake/captured_log.h"
#include "tests/pkg/http/loopback.h"
#include "tests/pkg/http/tls_attacker.h"

namespace tls_test {

namespace {

using base::ErrorCode;
using base::Task;
using http::CertificatePair;
using http::CertificateSpec;
using http::test::Authority;
using http::test::kLong;
using http::test::Loopback;
using namespace std::chrono_literals;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

http::ServerTls Serve(const CertificatePair& pair) {
  return {.cert_pem = pair.cert_pem, .key_pem = pair.key_pem};
}

http::ServerTls Serve(const Authority& authority, CertificateSpec spec) {
  return Serve(authority.Issue(std::move(spec)));
}

std::unique_ptr<http::Client> NewClient(Loopback& loopback, http::TlsOptions tls,
                                        const std::string& host = "127.0.0.1") {
  http::ClientOptions options;
  options.server = loopback.url(host);
  options.tls = std::move(tls);
  return http::NewClient(loopback.io().get_executor(), std::move(options)).value();
}

// Answers with what the handler knows about the client.
http::Handler WhoAmI() {
  return [](http::Request, http::Peer peer, http::ResponseWriter& writer) -> Task<void> {
    http::Response response;
    response.body = peer.client_common_name;
    for (const std::string& organization : peer.client_organizations) {
      response.body += "," + organization;
    }
    co_await writer.Send(std::move(response));
  };
}

// Sends one request with its own client.
base::Result<http::Response> Ask(const http::ServerTls& server, http::TlsOptions tls,
                                 const std::string& host = "127.0.0.1") {
  Loopback loopback;
  loopback.options.tls = server;
  loopback.handler = WhoAmI();
  base::Result<http::Response> result = base::Error{};
  loopback.Run([&]() -> Task<void> {
    const auto client = NewClient(loopback, tls, host);
    result = co_await client->Do(http::Request(), kLong);
    if (!result) CHECK(Contains(result.error().message, loopback.url(host).Authority()));
  });
  return result;
}

TEST_CASE("tls: a server is trusted by its CA, by name and by address", "[http][tls]") {
  const Authority authority;
  const std::string host = GENERATE("127.0.0.1", "localhost");
  const auto response = Ask(authority.Serve(), {.ca_pem = authority.ca.cert_pem}, host);
  REQUIRE(response.has_value());
  CHECK(response->status == 200);
}

// As every Go client: "localhost." is the same name from the root of DNS.
TEST_CASE("tls: the dot at the end of a server's name is not part of its certificate's",
          "[http][tls]") {
  const Authority authority;
  const auto ask = [&authority](const std::string& name) {
    return Ask(authority.Serve(), {.ca_pem = authority.ca.cert_pem, .server_name = name});
  };
  CHECK(ask("localhost.").has_value());
  CHECK_FALSE(ask("localhost..").has_value());
}

TEST_CASE("tls: connections are kept and bodies are whole", "[http][tls]") {
  const Authority authority;
  Loopback loopback;
  loopback.options.tls = authority.Serve();
  std::vector<std::string> addresses;
  loopback.handler = [&](http::Request request, http::Peer peer,
                         http::ResponseWriter& writer) -> Task<void> {
    addresses.push_back(peer.address);
    co_await http::test::Echo(std::move(request), std::move(peer), writer);
  };
  std::string large;
  while (large.size() < (std::size_t{3} << 20)) large += std::to_string(large.size()) + " ";
  loopback.Run([&]() -> Task<void> {
    http::TlsOptions tls;
    tls.ca_pem = authority.ca.cert_pem;
    const auto client = NewClient(loopback, tls);
    for (int i = 0; i < 2; ++i) {
      http::Request request;
      request.method = "PUT";
      request.body = large;
      const auto response = co_await client->Do(std::move(request), kLong);
      REQUIRE(response.has_value());
      CHECK(response->body == "PUT / " + large);
    }
  });
  REQUIRE(addresses.size() == 2);
  CHECK(addresses[0] == addresses[1]);
}

TEST_CASE("tls: records that arrive together are read together, and then the end of the stream",
          "[http][tls]") {
  constexpr int kRecords = 40;
  const bool clean = GENERATE(true, false);
  const Authority authority;
  Loopback loopback;
  loopback.options.tls = authority.Serve();
  bool sent = false;
  loopback.handler = [&](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    co_await writer.Start(200, {});
    for (int i = 0; i < kRecords; ++i) co_await writer.Write(std::to_string(i) + "\n");
    if (clean) co_await writer.Finish();
    if (!clean) writer.Abort(false);
    sent = true;
  };
  std::string text;
  for (int i = 0; i < kRecords; ++i) text += std::to_string(i) + "\n";
  loopback.Run([&]() -> Task<void> {
    http::TlsOptions tls;
    tls.ca_pem = authority.ca.cert_pem;
    const auto client = NewClient(loopback, tls);
    auto stream = co_await client->Open(http::Request(), false, kLong);
    REQUIRE(stream.has_value());
    while (!sent) co_await http::test::Yield();
    std::string read;
    int reads = 0;
    auto piece = co_await stream->body->Read(kLong);
    while (piece && *piece) {
      read += **piece;
      ++reads;
      piece = co_await stream->body->Read(kLong);
    }
    CHECK(read == text);
    CHECK(reads <= 4);
    CHECK(piece.has_value() == clean);
    if (!piece) CHECK(piece.error().Is(ErrorCode::kUnavailable));
  });
}

TEST_CASE("tls: the error for an untrusted server has the reason", "[http][tls]") {
  const Authority authority;
  const Authority stranger;
  CertificateSpec other_name;
  other_name.hosts = {"kubernetes", "10.0.0.1"};
  CertificateSpec expired;
  expired.hosts = {"127.0.0.1"};
  expired.valid_from = -48h;
  expired.valid_until = -24h;
  CertificateSpec early = expired;
  early.valid_from = 24h;
  early.valid_until = 48h;
  CertificateSpec only_common_name;
  only_common_name.common_name = "127.0.0.1";

  struct Case {
    std::string name;
    http::ServerTls server;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {"wrong CA", stranger.Serve(), "unable to get local issuer certificate (wrong CA?)"},
      {"self-signed", Serve(http::MakeSelfSigned({"127.0.0.1"}).value()), "(wrong CA?)"},
      {"other name", Serve(authority, other_name),
       "host name mismatch: certificate is for DNS:kubernetes, IP:10.0.0.1, not for 127.0.0.1"},
      {"common name only", Serve(authority, only_common_name), "certificate is for no name at all"},
      {"expired", Serve(authority, expired), "certificate has expired"},
      {"not yet valid", Serve(authority, early), "certificate is not yet valid"}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto response = Ask(c.server, {.ca_pem = authority.ca.cert_pem});
    REQUIRE_FALSE(response.has_value());
    CAPTURE(response.error().message);
    CHECK(response.error().Is(ErrorCode::kTls));
    CHECK(Contains(response.error().message, c.reason));

    const auto insecure = Ask(c.server, {.insecure = true});
    CHECK(insecure.has_value());
  }
}

TEST_CASE("tls: the expected server name can differ from the URL's", "[http][tls]") {
  const Authority authority;
  CertificateSpec spec;
  spec.hosts = {"*.example.test"};
  const auto server = Serve(authority, spec);
  const std::string ca = authority.ca.cert_pem;
  CHECK(Ask(server, {.ca_pem = ca, .server_name = "api.example.test"}).has_value());
  CHECK_FALSE(Ask(server, {.ca_pem = ca, .server_name = "a.b.example.test"}).has_value());
  CHECK_FALSE(Ask(server, {.ca_pem = ca}).has_value());
}

TEST_CASE("tls: a self-signed certificate can be its own CA", "[http][tls]") {
  const CertificatePair pair = http::MakeSelfSigned({"127.0.0.1", "localhost", "::1"}).value();
  CHECK(Ask(Serve(pair), {.ca_pem = pair.cert_pem}).has_value());
  CHECK(Ask(Serve(pair), {.ca_pem = pair.cert_pem}, "localhost").has_value());
}

TEST_CASE("tls: the error names a server without TLS as such", "[http][tls]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    options.server.scheme = "https";
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kTls));
    CHECK(Contains(response.error().message, "does not speak TLS"));
  });
}

TEST_CASE("tls: a silent server ends the handshake at the connect timeout", "[http][tls]") {
  Loopback loopback;
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    http::test::Listener silent(loopback.io());
    http::ClientOptions options;
    options.server = {.scheme = "https", .host = "127.0.0.1", .port = silent.port()};
    options.connect_timeout = 50ms;
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kTimeout));
    CHECK(Contains(response.error().message, "TLS handshake"));
  });
}

TEST_CASE("tls: a client is known by its verified certificate", "[http][tls]") {
  const Authority authority;
  const Authority stranger;
  CertificateSpec spec;
  spec.common_name = "admin";
  spec.organizations = {"system:masters", "dev"};
  const CertificatePair known = authority.Issue(spec);
  const CertificatePair unknown = stranger.Issue(spec);
  http::ServerTls server = authority.Serve();
  server.client_ca_pem = authority.ca.cert_pem;
  const auto as = [&](const CertificatePair& pair) {
    return http::TlsOptions{
        .ca_pem = authority.ca.cert_pem, .cert_pem = pair.cert_pem, .key_pem = pair.key_pem};
  };

  SECTION("where certificates are optional, a stranger has no name") {
    CHECK(Ask(server, as(known))->body == "admin,system:masters,dev");
    CHECK(Ask(server, as(unknown))->body.empty());
    CHECK(Ask(server, as({}))->body.empty());
  }
  SECTION("where they are required, a stranger is refused") {
    server.require_client_cert = true;
    CHECK(Ask(server, as(known))->body == "admin,system:masters,dev");
    const auto refused = Ask(server, as(unknown));
    REQUIRE_FALSE(refused.has_value());
    const auto missing = Ask(server, as({}));
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().Is(ErrorCode::kTls));
    CHECK(Contains(missing.error().message, "certificate required"));
  }
}

TEST_CASE("tls: an RSA key that makes handshakes expensive is warned about", "[http][tls]") {
  const unsigned bits = GENERATE(2048U, 3072U);
  const fake::CapturedLog log;
  const CertificatePair pair = http::test::RsaCertificate(bits);
  CHECK(http::TlsContext::ForServer(Serve(pair)).has_value());
  CHECK(log.With("bits=3072").size() == (bits == 3072 ? 1 : 0));
  CHECK(log.With("handshakes expensive").size() == (bits == 3072 ? 1 : 0));
}

TEST_CASE("tls: changed certificates are used by new connections", "[http][tls]") {
  const Authority before;
  const Authority after;
  Loopback loopback;
  loopback.options.tls = before.Serve();
  loopback.handler = http::test::Echo;
  loopback.Run([&]() -> Task<void> {
    http::TlsOptions tls;
    tls.ca_pem = before.ca.cert_pem;
    const auto client = NewClient(loopback, tls);
    const auto first = co_await client->Do(http::Request(), kLong);
    CHECK(first.has_value());

    CHECK(loopback.server().SetTls(after.Serve()).has_value());
    const auto kept = co_await client->Do(http::Request(), kLong);
    CHECK(kept.has_value());

    tls.ca_pem = "nonsense";
    CHECK(client->SetTls(tls).error().message == "certificate authority: no PEM certificate found");
    const auto unchanged = co_await client->Do(http::Request(), kLong);
    CHECK(unchanged.has_value());

    tls.ca_pem = after.ca.cert_pem;
    CHECK(client->SetTls(tls).has_value());
    const auto fresh = co_await client->Do(http::Request(), kLong);
    CHECK(fresh.has_value());
  });
}

TEST_CASE("tls: the error names certificates and keys that do not match", "[http][tls]") {
  const Authority authority;
  const CertificatePair one = authority.Issue({});
  const CertificatePair two = authority.Issue({});
  const auto error = [](http::TlsOptions tls) {
    base::asio::io_context io;
    http::ClientOptions options;
    options.server = {.scheme = "https", .host = "x", .port = 1};
    options.tls = std::move(tls);
    const auto client = http::NewClient(io.get_executor(), options);
    REQUIRE_FALSE(client.has_value());
    CHECK(client.error().Is(ErrorCode::kInvalidArgument));
    return client.error().message;
  };
  CHECK(Contains(error({.ca_pem = "x"}), "certificate authority"));
  CHECK(Contains(error({.cert_pem = "x", .key_pem = one.key_pem}), "client certificate"));
  CHECK(Contains(error({.cert_pem = one.cert_pem, .key_pem = "x"}), "client key"));
  CHECK(Contains(error({.cert_pem = one.cert_pem, .key_pem = two.key_pem}), "does not match"));
  CHECK(Contains(error({.cert_pem = one.cert_pem}), "without a client key"));
  const std::string broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  CHECK(Contains(error({.ca_pem = broken}), "does not parse"));
}

TEST_CASE("tls: an invalid host name makes no certificate", "[http][tls]") {
  CHECK_FALSE(http::MakeSelfSigned({"a,DNS:b"}).has_value());
}

}  // namespace

}  // namespace tls_test

#include "pkg/client/tls_material.h"

#include <catch2/catch.hpp>

#include "pkg/client/rest_client.h"
#include "pkg/http/certificate.h"
#include "tests/fake/captured_log.h"
#include "tests/pkg/client/certificate_files.h"
#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/scripted_http.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::tls_material_test {
namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

constexpr const char* kUnreadable =
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

std::string NewCa() {
  return http::MakeCertificate({.common_name = "ca", .is_ca = true}).value().cert_pem;
}

struct Fixture {
  base::asio::io_context io;
  base::ManualScheduler scheduler{io};
  HttpScript script;
  ScriptedHttp http{script};
  ClusterConfig config;
  const fake::CapturedLog log;

  explicit Fixture(std::string bundle = "") {
    config.server = http::ParseUrl("https://h:6443").value();
    config.source = "context \"kind\" of /config";
    config.tls.ca_pem = std::move(bundle);
  }
  [[nodiscard]] auto NewClient() {
    return NewRestClient(io.get_executor(), scheduler, config, RestOptions{UserAgent("0.1.0")});
  }
  [[nodiscard]] auto Skipped() const { return log.With("unreadable certificate"); }
};

TEST_CASE("tls material: files are read again after five minutes, and only changes are applied",
          "[client]") {
  const TempFolder folder;
  Fixture fixture;
  UseCertificateFiles(folder, fixture.config);
  TlsMaterial tls(fixture.http, fixture.config, fixture.scheduler.Now());
  const auto after = [&](std::chrono::minutes wait) {
    fixture.scheduler.RunFor(wait);
    tls.Refresh(fixture.scheduler.Now());
    return fixture.script.tls.size();
  };
  CHECK(after(5min) == 0);
  folder.Write("cert", "C2");
  CHECK(after(4min) == 0);
  CHECK(after(1min) == 1);
  CHECK(fixture.script.tls[0].cert_pem == "C2");
  CHECK(fixture.script.tls[0].key_pem == "K");
  CHECK(fixture.script.idle_closed == 1);
  std::filesystem::remove(folder.path() + "/key");
  folder.Write("cert", "C3");
  CHECK(after(5min) == 1);  // half of a change is not used
  folder.Write("key", "K3");
  CHECK(after(5min) == 2);
  CHECK(fixture.script.tls[1].cert_pem == "C3");
}

TEST_CASE(
    "tls material: a broken bundle does not keep an old client certificate in use, nor the "
    "reverse",
    "[client]") {
  const TempFolder folder;
  Fixture fixture;
  UseCertificateFiles(folder, fixture.config);
  TlsMaterial tls(fixture.http, fixture.config, fixture.scheduler.Now());
  const bool bundle = GENERATE(true, false);
  folder.Write("ca", bundle ? "" : "A2");
  folder.Write("cert", bundle ? "C2" : "");
  fixture.scheduler.RunFor(5min);
  tls.Refresh(fixture.scheduler.Now());
  REQUIRE(fixture.script.tls.size() == 1);
  CHECK(fixture.script.tls[0].ca_pem == (bundle ? "A" : "A2"));
  CHECK(fixture.script.tls[0].cert_pem == (bundle ? "C2" : "C"));
  CHECK(fixture.log.With("keeping the last certificates").size() == 1);
}

TEST_CASE("tls material: an emptied file does not change the trust", "[client]") {
  const TempFolder folder;
  Fixture fixture;
  fixture.config.ca_file = folder.Write("ca", "A");
  fixture.config.tls.ca_pem = "A";
  TlsMaterial tls(fixture.http, fixture.config, fixture.scheduler.Now());
  // It is being written, for example. Without a CA, every root of the system would be trusted.
  folder.Write("ca", "\n");
  fixture.scheduler.RunFor(5min);
  tls.Refresh(fixture.scheduler.Now());
  CHECK(fixture.script.tls.empty());
  folder.Write("ca", "A2");
  fixture.scheduler.RunFor(5min);
  tls.Refresh(fixture.scheduler.Now());
  REQUIRE(fixture.script.tls.size() == 1);
  CHECK(fixture.script.tls[0].ca_pem == "A2");
}

TEST_CASE("CA bundle: the log says once which certificate is skipped", "[client]") {
  Fixture fixture(NewCa() + kUnreadable + NewCa());
  REQUIRE(fixture.NewClient().has_value());
  REQUIRE(fixture.Skipped().size() == 1);
  CHECK_THAT(fixture.Skipped().front(), Contains("PEM block 2") && Contains("/config"));
}

TEST_CASE("CA bundle: the error about one without a readable certificate names its source",
          "[client]") {
  Fixture fixture(kUnreadable);
  const auto client = fixture.NewClient();
  REQUIRE_FALSE(client.has_value());
  CHECK(client.error().Is(base::ErrorCode::kInvalidArgument));
  CHECK_THAT(client.error().message, Contains("/config") && Contains("certificate authority"));
}

TEST_CASE("CA bundle: a file that is read again is reported once, too", "[client]") {
  const TempFolder folder;
  const std::string good = NewCa();
  Fixture fixture(good);
  fixture.config.ca_file = folder.Write("ca", good);
  TlsMaterial tls(fixture.http, fixture.config, fixture.scheduler.Now());
  const auto refresh = [&] {
    fixture.scheduler.RunFor(5min);
    tls.Refresh(fixture.scheduler.Now());
    return fixture.script.tls.size();
  };
  CHECK(refresh() == 0);
  folder.Write("ca", kUnreadable + good);
  CHECK(refresh() == 1);
  CHECK(refresh() == 1);
  CHECK(tls.UseClientCertificate("CERT", "KEY"));
  REQUIRE(fixture.Skipped().size() == 1);
  CHECK_THAT(fixture.Skipped().front(), Contains("PEM block 1"));
}

TEST_CASE("CA bundle: a file that ends within a block does not change the trust", "[client]") {
  const TempFolder folder;
  const std::string good = NewCa();
  Fixture fixture(good);
  fixture.config.ca_file = folder.Write("ca", good);
  TlsMaterial tls(fixture.http, fixture.config, fixture.scheduler.Now());
  // It is being written: the first certificate is there, and half of the second.
  folder.Write("ca", good + NewCa().substr(0, 300));
  fixture.scheduler.RunFor(5min);
  tls.Refresh(fixture.scheduler.Now());
  CHECK(fixture.script.tls.empty());
  CHECK(fixture.log.With("keeping the last certificates").size() == 1);
}

}  // namespace
}  // namespace client::tls_material_test

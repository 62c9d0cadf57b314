#include "pkg/webhook/certificate_directory.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/certificate.h"
#include "tests/pkg/client/temp_folder.h"

namespace certificate_directory_test {

namespace {

using http::CertificatePair;
using namespace std::chrono_literals;

const std::string kHost = "web.ns.svc";

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  base::TaskGroup tasks{io.get_executor()};
  client::TempFolder folder;
  CertificatePair ca = MakeCa();
  std::unique_ptr<webhook::CertificateSource> source;
  int changes = 0;

  ~Fixture() {
    tasks.Cancel();
    scheduler.RunUntilIdle();
  }

  [[nodiscard]] CertificatePair MakeCa() const {
    return http::MakeCertificate({.common_name = "CA", .now = scheduler.WallNow(), .is_ca = true})
        .value();
  }
  [[nodiscard]] CertificatePair Issue(const std::string& host = kHost,
                                      std::chrono::seconds life = 24h * 30) const {
    return http::MakeCertificate({.common_name = "leaf",
                                  .hosts = {host},
                                  .now = scheduler.WallNow(),
                                  .valid_until = life,
                                  .issuer = &ca})
        .value();
  }
  void Write(const CertificatePair& pair, const std::string& below = "") const {
    folder.Write(below + "tls.crt", pair.cert_pem);
    folder.Write(below + "tls.key", pair.key_pem);
    folder.Write(below + "ca.crt", ca.cert_pem);
  }
  void Start(const std::string& below = "") {
    source = webhook::NewDirectoryCertificates(scheduler, folder.path() + below, kHost);
    source->SetListener([this](const webhook::CertificateMaterial&) { ++changes; });
    tasks.Spawn("certificates", [this] { return source->Run(); });
    scheduler.RunUntilIdle();
  }
  [[nodiscard]] std::string Shown() const {
    return source->current() == nullptr ? "" : source->current()->cert_pem;
  }
  [[nodiscard]] std::string Trouble() const {
    std::string why;
    return source->Ready(&why) ? "" : why;
  }
};

TEST_CASE("certificates of a folder: are read at once, and again after a change", "[admission]") {
  Fixture fixture;
  const CertificatePair first = fixture.Issue();
  fixture.Write(first);
  fixture.Start();
  CHECK(fixture.Shown() == first.cert_pem);
  CHECK(fixture.source->current()->ca_bundle_pem == fixture.ca.cert_pem);
  CHECK(fixture.source->not_after() == fixture.scheduler.WallNow() + 24h * 30);
  CHECK(fixture.changes == 1);
  fixture.scheduler.RunFor(60s);
  CHECK(fixture.changes == 1);

  const CertificatePair second = fixture.Issue();
  fixture.Write(second);
  fixture.scheduler.RunFor(11s);
  CHECK(fixture.Shown() == second.cert_pem);
  CHECK(fixture.changes == 2);
}

TEST_CASE("certificates of a folder: a swapped symlink is noticed", "[admission]") {
  Fixture fixture;
  const std::filesystem::path root = fixture.folder.path();
  fixture.Write(fixture.Issue(), "..one/");
  const CertificatePair second = fixture.Issue();
  fixture.Write(second, "..two/");
  std::filesystem::create_directory_symlink("..one", root / "..data");
  for (const char* name : {"tls.crt", "tls.key", "ca.crt"}) {
    std::filesystem::create_symlink(std::filesystem::path("..data") / name, root / name);
  }
  fixture.Start();
  REQUIRE(fixture.changes == 1);
  std::filesystem::create_directory_symlink("..two", root / "..data_tmp");
  std::filesystem::rename(root / "..data_tmp", root / "..data");
  fixture.scheduler.RunFor(11s);
  CHECK(fixture.Shown() == second.cert_pem);
}

TEST_CASE("certificates of a folder: an unusable pair changes nothing", "[admission]") {
  Fixture fixture;
  const CertificatePair good = fixture.Issue();
  fixture.Write(good);
  fixture.Start();
  const CertificatePair next = fixture.Issue();
  SECTION("half a certificate") { fixture.folder.Write("tls.crt", next.cert_pem.substr(0, 200)); }
  SECTION("half a key") { fixture.folder.Write("tls.key", next.key_pem.substr(0, 60)); }
  SECTION("only one of the pair") { fixture.folder.Write("tls.crt", next.cert_pem); }
  SECTION("an unknown CA") { fixture.folder.Write("ca.crt", fixture.MakeCa().cert_pem); }
  SECTION("another host") { fixture.Write(fixture.Issue("other.ns.svc")); }
  SECTION("expired") { fixture.Write(fixture.Issue(kHost, -1s)); }
  SECTION("empty") { fixture.folder.Write("tls.crt", ""); }
  SECTION("gone") { std::filesystem::remove(fixture.folder.path() + "/tls.key"); }
  fixture.scheduler.RunFor(11s);
  CHECK(fixture.Shown() == good.cert_pem);
  CHECK(fixture.changes == 1);
  CHECK(fixture.Trouble().empty());  // the current one is valid
  fixture.Write(next);
  fixture.scheduler.RunFor(11s);
  CHECK(fixture.Shown() == next.cert_pem);
}

TEST_CASE("certificates of a folder: without a certificate, readiness names the bad file",
          "[admission]") {
  Fixture fixture;
  const std::string path = fixture.folder.path();
  fixture.Start();
  CHECK(fixture.source->current() == nullptr);
  CHECK_FALSE(fixture.source->not_after());
  CHECK(fixture.Trouble() ==
        "no certificate: read " + path + "/tls.crt: No such file or directory");

  CertificatePair mixed = fixture.Issue();
  mixed.key_pem = fixture.Issue().key_pem;
  fixture.Write(mixed);
  fixture.scheduler.RunFor(11s);
  CHECK(fixture.Trouble() == "no certificate: " + path + "/tls.crt and " + path +
                                 "/tls.key: the private key does not match the certificate");

  fixture.Write(fixture.Issue("other.ns.svc"));
  fixture.scheduler.RunFor(11s);
  CHECK(fixture.Trouble() ==
        "no certificate: " + path + "/tls.crt by " + path +
            "/ca.crt: the certificate is for DNS:other.ns.svc, not for web.ns.svc");

  fixture.Write(fixture.Issue());
  fixture.scheduler.RunFor(11s);
  CHECK(fixture.Trouble().empty());
}

TEST_CASE("certificates of a folder: without ca.crt the bundle is empty", "[admission]") {
  Fixture fixture;
  fixture.Write(fixture.Issue());
  if (GENERATE(true, false)) {
    std::filesystem::remove(fixture.folder.path() + "/ca.crt");
  } else {
    fixture.folder.Write("ca.crt", "\n");  // as an issuer without a CA writes it
  }
  fixture.Start();
  REQUIRE(fixture.source->current() != nullptr);
  CHECK(fixture.source->current()->ca_bundle_pem.empty());
}

TEST_CASE("certificates of a folder: an expired one is reported and then replaced", "[admission]") {
  Fixture fixture;
  fixture.Write(fixture.Issue(kHost, 1h));
  fixture.Start();
  CHECK(fixture.Trouble().empty());
  fixture.scheduler.RunFor(61min);
  CHECK(fixture.Trouble().starts_with("the certificate has expired at "));
  fixture.Write(fixture.Issue());
  fixture.scheduler.RunFor(11s);
  CHECK(fixture.Trouble().empty());
}

}  // namespace

}  // namespace certificate_directory_test

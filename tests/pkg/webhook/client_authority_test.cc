#include "pkg/webhook/client_authority.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/certificate.h"
#include "tests/pkg/client/temp_folder.h"

namespace client_authority_test {

namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  base::TaskGroup tasks{io.get_executor()};
  client::TempFolder folder;
  std::unique_ptr<webhook::ClientAuthority> authority;
  int changes = 0;

  ~Fixture() {
    tasks.Cancel();
    scheduler.RunUntilIdle();
  }
  [[nodiscard]] http::CertificatePair Ca(std::chrono::seconds life = 24h * 30) const {
    return http::MakeCertificate({.common_name = "clients' CA",
                                  .now = scheduler.WallNow(),
                                  .valid_until = life,
                                  .is_ca = true})
        .value();
  }
  [[nodiscard]] std::string path() const { return folder.path() + "/ca.crt"; }
  void Write(const std::string& text) const { folder.Write("ca.crt", text); }
  base::Result<std::unique_ptr<webhook::ClientAuthority>> New() {
    return webhook::ClientAuthority::New(scheduler, path());
  }
  void Start() {
    authority = New().value();
    authority->SetListener([this] { ++changes; });
    tasks.Spawn("client authority", [this] { return authority->Run(); });
    scheduler.RunUntilIdle();
  }
};

TEST_CASE("client authority: a changed file is read within ten seconds", "[admission]") {
  Fixture fixture;
  const std::string first = fixture.Ca().cert_pem;
  fixture.Write(first);
  fixture.Start();
  CHECK(fixture.authority->pem() == first);
  CHECK(fixture.changes == 0);
  const std::string both = first + fixture.Ca().cert_pem;  // as in a rotation
  fixture.Write(both);
  fixture.scheduler.RunFor(10s);
  CHECK(fixture.authority->pem() == both);
  CHECK(fixture.changes == 1);
  fixture.scheduler.RunFor(1min);
  CHECK(fixture.changes == 1);
}

TEST_CASE("client authority: an invalid file does not replace a valid CA", "[admission]") {
  Fixture fixture;
  const std::string good = fixture.Ca().cert_pem;
  fixture.Write(good);
  fixture.Start();
  for (const std::string& bad :
       {std::string(), std::string("x"), fixture.Ca().key_pem, fixture.Ca(-30min).cert_pem}) {
    fixture.Write(bad);
    fixture.scheduler.RunFor(10s);
    CHECK(fixture.authority->pem() == good);
  }
  std::filesystem::remove(fixture.path());
  fixture.scheduler.RunFor(10s);
  CHECK(fixture.authority->pem() == good);
  CHECK(fixture.changes == 0);
  const std::string next = fixture.Ca().cert_pem;
  fixture.Write(next);
  fixture.scheduler.RunFor(10s);
  CHECK(fixture.authority->pem() == next);
}

TEST_CASE("client authority: the error about an invalid file has its name", "[admission]") {
  Fixture fixture;
  const auto refusal = [&] {
    const auto made = fixture.New();
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().Is(base::ErrorCode::kInvalidArgument));
    CHECK_THAT(made.error().message, Contains(fixture.path()));
    return made.error().message;
  };
  refusal();  // there is none
  fixture.Write("this is no PEM");
  refusal();
  const http::CertificatePair ca = fixture.Ca();
  fixture.Write(ca.key_pem);
  CHECK_THAT(refusal(), !Contains(ca.key_pem.substr(40, 20)));
  fixture.Write(fixture.Ca(-30min).cert_pem);
  CHECK_THAT(refusal(), Contains("expired"));
}

}  // namespace

}  // namespace client_authority_test

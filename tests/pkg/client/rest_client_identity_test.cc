// What a RestClient does when its identity, or the server's, is refused.
#include <catch2/catch.hpp>

#include "pkg/http/certificate.h"
#include "tests/pkg/client/certificate_files.h"
#include "tests/pkg/client/rest_client_fixture.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::rest_client_identity_test {
namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;
using base::ErrorCode;
using rest_testing::Fixture;

TEST_CASE("rest client: after a 401 the token file is read again, and the request is repeated once",
          "[client]") {
  const TempFolder folder;
  Fixture fixture;
  fixture.config.token_file = folder.Write("token", "one");
  fixture.script.Answer(200, "{}");
  REQUIRE(fixture.Do({.path = "/x"}));
  fixture.script.Answer(401, "");
  SECTION("with a newer token") {
    folder.Write("token", "two");
    fixture.script.Answer(200, "{}");
    CHECK(fixture.Do({.path = "/x"}));
    CHECK(fixture.script.sent[2].request.headers.Get("Authorization") == "Bearer two");
  }
  SECTION("not more than once") {
    folder.Write("token", "two");
    fixture.script.Answer(401, "");
    CHECK(fixture.Do({.path = "/x"}).error().code == ErrorCode::kUnauthorized);
    CHECK(fixture.script.sent.size() == 3);
  }
  SECTION("not with the same token") {
    CHECK(fixture.Do({.path = "/x"}).error().code == ErrorCode::kUnauthorized);
    CHECK(fixture.script.sent.size() == 2);
  }
  // A write is repeated as well: the server answered 401, so it has written nothing.
  SECTION("a write, too") {
    const std::string verb = GENERATE("PUT", "POST", "PATCH", "DELETE");
    folder.Write("token", "two");
    fixture.script.Answer(200, "{}");
    CHECK(fixture.Do({.verb = verb, .path = "/x", .body = "{}"}));
    REQUIRE(fixture.script.sent.size() == 3);
    CHECK(fixture.script.sent[2].request.headers.Get("Authorization") == "Bearer two");
    CHECK(fixture.script.sent[2].request.body == "{}");
  }
  SECTION("a write not more than once") {
    folder.Write("token", "two");
    fixture.script.Answer(401, "");
    const auto answer = fixture.Do({.verb = "PATCH", .path = "/x"});
    CHECK(answer.error().code == ErrorCode::kUnauthorized);
    CHECK(fixture.script.sent.size() == 3);
  }
}

TEST_CASE(
    "rest client: files of certificates are read again when the server refuses them or is not "
    "trusted",
    "[client]") {
  const TempFolder folder;
  Fixture fixture;
  UseCertificateFiles(folder, fixture.config);
  fixture.Client();
  fixture.scheduler.RunFor(10s);
  const auto refuse = [&script = fixture.script](bool answered) {
    if (answered) script.Answer(401, "");
    if (!answered) script.Fail(ErrorCode::kTls, "wrong CA?");
  };
  SECTION("a request is repeated with what has changed, once") {
    const bool answered = GENERATE(true, false);
    const bool streamed = GENERATE(true, false);
    folder.Write(answered ? "cert" : "ca", "new");
    refuse(answered);
    fixture.script.Answer(200, "{}");
    if (streamed) CHECK(fixture.Read({.path = "/x"}));
    if (!streamed) CHECK(fixture.Do({.path = "/x"}));
    REQUIRE(fixture.script.tls.size() == 1);
    CHECK(fixture.script.tls[0].ca_pem == (answered ? "A" : "new"));
    CHECK(fixture.script.tls[0].cert_pem == (answered ? "new" : "C"));
  }
  SECTION("a write only if the server has answered") {
    const bool answered = GENERATE(true, false);
    folder.Write("cert", "new");
    refuse(answered);
    fixture.script.Answer(200, "{}");
    CHECK(fixture.Do({.verb = "PUT", .path = "/x"}).has_value() == answered);
    CHECK(fixture.script.tls.size() == 1);
  }
  SECTION("at most every ten seconds") {
    refuse(true);
    CHECK_FALSE(fixture.Do({.path = "/x"}));
    folder.Write("cert", "new");
    refuse(true);
    CHECK_FALSE(fixture.Do({.path = "/x"}));
    CHECK(fixture.script.tls.empty());
    fixture.scheduler.RunFor(10s);
    refuse(true);
    fixture.script.Answer(200, "{}");
    CHECK(fixture.Do({.path = "/x"}));
  }
  SECTION("a watch is not repeated, but the next request has what has changed") {
    folder.Write("ca", "new");
    refuse(false);
    CHECK_FALSE(fixture.Read({.path = "/x", .query = {{"watch", "1"}}}));
    CHECK(fixture.script.sent.size() == 1);
    CHECK(fixture.script.tls.size() == 1);
  }
}

TEST_CASE("rest client: a 401 with an expired client certificate is called that", "[client]") {
  Fixture fixture;
  const auto certificate = [&](std::chrono::seconds until) {
    return http::MakeCertificate(
               {.common_name = "quota", .now = fixture.scheduler.WallNow(), .valid_until = until})
        .value()
        .cert_pem;
  };
  fixture.config.tls.cert_pem = certificate(60s);
  const auto asked = [&] { return fixture.Do({.path = "/x"}).error(); };
  fixture.script.Answer(401, "");
  const base::Error valid = asked();
  CHECK_THAT(valid.message, !Contains("certificate"));
  fixture.scheduler.RunFor(61s);
  fixture.script.Answer(401, "");
  const base::Error expired = asked();
  CHECK(expired.code == ErrorCode::kUnauthorized);
  CHECK_THAT(expired.message,
             Contains("401") && Contains("(the client certificate expired at ") && Contains("Z)"));
  fixture.script.Answer(403, "");
  CHECK_THAT(asked().message, !Contains("certificate"));
  fixture.script.Answer(401, "");
  CHECK_THAT(fixture.Read({.path = "/x"}).error().message, Contains("certificate expired"));
}

}  // namespace
}  // namespace client::rest_client_identity_test

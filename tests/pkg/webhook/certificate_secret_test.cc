#include "pkg/webhook/certificate_secret.h"

#include <catch2/catch.hpp>
#include <ctime>

#include "pkg/base/base64.h"
#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/certificate.h"
#include "pkg/webhook/certificate_keyring.h"

namespace certificate_secret_test {

namespace {

using base::Error;
using base::ErrorCode;
using json::Value;
using webhook::CertificateMaterial;
using namespace std::chrono_literals;

// An API server with one Secret. It checks the resourceVersion of writes.
class SecretServer final : public client::ApiClient {
 public:
  explicit SecretServer(base::Scheduler& scheduler) : scheduler_(scheduler) {}

  Value secret;  // null: there is none
  std::optional<Error> trouble;
  std::optional<Error> write_trouble;
  std::optional<base::WallTime::duration> clock_ahead;  // sends a Date
  std::string date;                                     // or one of this year
  int gets = 0;
  int writes = 0;
  int lost_races = 0;
  std::vector<std::string> paths;  // of writes

  void Put(Value changed) {
    secret = std::move(changed);
    secret.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
  }
  void Edit(std::string_view key, Value value) {
    Value changed = secret;
    changed.Make({"data", key}) = std::move(value);
    Put(std::move(changed));
  }
  [[nodiscard]] std::string Data(std::string_view key) const {
    return base::DecodeBase64(secret.StringAt({"data", key})).value();
  }

  [[nodiscard]] std::string DateOf(base::WallTime::duration ahead) const {
    const std::time_t now = std::chrono::system_clock::to_time_t(scheduler_.WallNow() + ahead);
    char text[64];
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", std::gmtime(&now));
    return text;
  }

  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override {
    // Lets other replicas run, as a network would.
    co_await scheduler_.Sleep(10ms);
    co_return Answer(request);
  }
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(client::ApiRequest) override {
    co_return Error{.code = ErrorCode::kInternal, .message = "nobody streams Secrets"};
  }

 private:
  base::Result<client::ApiResponse> Answer(const client::ApiRequest& request) {
    if (trouble) return *trouble;
    if (request.path == "/version") return Found();
    if (request.verb == "GET") {
      ++gets;
      if (request.path != "/api/v1/namespaces/ns/secrets/web-certificate" || secret.IsNull()) {
        return Error{.code = ErrorCode::kNotFound, .message = "not found"};
      }
      return Found();
    }
    if (write_trouble) return *write_trouble;
    paths.push_back(request.verb + " " + request.path);
    const Value body = json::Parse(request.body).value();
    if (request.verb == "POST") {
      if (!secret.IsNull()) return Lost(ErrorCode::kAlreadyExists);
      Put(body);
    } else {
      const std::string_view guard = body.StringAt({"metadata", "resourceVersion"});
      REQUIRE_FALSE(guard.empty());
      if (guard != secret.StringAt({"metadata", "resourceVersion"})) {
        return Lost(ErrorCode::kConflict);
      }
      Value changed = secret;
      for (const auto& [key, value] : *body.At({"data"})->AsObject()) {
        changed.Make({"data", key}) = value;
      }
      Put(std::move(changed));
    }
    ++writes;
    return Found();
  }
  base::Result<client::ApiResponse> Lost(ErrorCode code) {
    ++lost_races;
    return Error{.code = code, .message = "somebody else was first"};
  }
  [[nodiscard]] client::ApiResponse Found() const {
    client::ApiResponse response{.status = 200, .headers = {}, .body = json::Write(secret)};
    if (clock_ahead) response.headers.Set("Date", DateOf(*clock_ahead));
    if (!date.empty()) response.headers.Set("Date", "Sun, 06 Nov " + date + " 08:49:37 GMT");
    return response;
  }

  base::Scheduler& scheduler_;
  int version_ = 100;
};

// The clock of a machine that is wrong.
class WrongClock final : public base::Scheduler {
 public:
  WrongClock(base::Scheduler& scheduler, base::Duration ahead)
      : scheduler_(scheduler), ahead_(ahead) {}
  [[nodiscard]] base::TimePoint Now() const override { return scheduler_.Now(); }
  [[nodiscard]] base::WallTime WallNow() const override { return scheduler_.WallNow() + ahead_; }
  std::unique_ptr<base::Alarm> NewAlarm() override { return scheduler_.NewAlarm(); }

 private:
  base::Scheduler& scheduler_;
  base::Duration ahead_;
};

// An API server that answers with a clock of its own. All have the same Secret.
class OtherServer final : public client::ApiClient {
 public:
  OtherServer(SecretServer& server, base::WallTime::duration ahead)
      : server_(server), ahead_(ahead) {}
  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override {
    auto answer = co_await server_.Do(std::move(request));
    if (answer) answer->headers.Set("Date", server_.DateOf(ahead_));
    co_return answer;
  }
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest request) override {
    return server_.Stream(std::move(request));
  }

 private:
  SecretServer& server_;
  base::WallTime::duration ahead_;
};

struct Replica {
  std::unique_ptr<webhook::CertificateSource> source;
  std::vector<CertificateMaterial> seen;

  [[nodiscard]] const CertificateMaterial& now() const {
    REQUIRE(source->current() != nullptr);
    return *source->current();
  }
  [[nodiscard]] std::string Trouble() const {
    std::string why;
    return source->Ready(&why) ? "" : why;
  }
};

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  base::TaskGroup tasks{io.get_executor()};
  SecretServer server{scheduler};
  std::vector<std::unique_ptr<Replica>> replicas;
  webhook::SecretCertificateOptions options =
      webhook::SecretCertificatesOf({.ns = "ns", .name = "web", .port = 443});

  ~Fixture() {
    tasks.Cancel();
    scheduler.RunUntilIdle();
  }
  Replica& Start() { return Start(server, scheduler); }
  Replica& Start(client::ApiClient& api, base::Scheduler& clock) {
    replicas.push_back(std::make_unique<Replica>());
    Replica& replica = *replicas.back();
    replica.source = webhook::NewSecretCertificates(api, clock, options);
    replica.source->SetListener(
        [&replica](const CertificateMaterial& material) { replica.seen.push_back(material); });
    tasks.Spawn("certificates", [&replica] { return replica.source->Run(); });
    return replica;
  }
  // Short lifetimes, so that a day of polls covers years.
  void LiveFast() {
    options.policy.ca_life = 20h;
    options.policy.leaf_life = 5h;
    options.policy.keep_old = 1h;
  }
  // `ahead`: of the clock of who decides.
  [[nodiscard]] bool Accepts(const CertificateMaterial& trusting,
                             const CertificateMaterial& serving,
                             base::WallTime::duration ahead = {}) const {
    return http::CheckServer(serving.cert_pem, trusting.ca_bundle_pem,
                             {.host = "web.ns.svc", .at = scheduler.WallNow() + ahead})
        .has_value();
  }
};

TEST_CASE("certificates of a Secret: a missing Secret is created with all keys", "[admission]") {
  Fixture fixture;
  Replica& replica = fixture.Start();
  CHECK(replica.Trouble() == "no certificate yet");
  fixture.scheduler.RunFor(1s);
  CHECK(fixture.server.paths == std::vector<std::string>{"POST /api/v1/namespaces/ns/secrets"});
  CHECK(fixture.server.secret.StringAt({"type"}) == "kubernetes.io/tls");
  CHECK(fixture.server.secret.StringAt({"metadata", "name"}) == "web-certificate");
  CHECK(fixture.server.secret.StringAt({"metadata", "labels", "app.kubernetes.io/managed-by"}) ==
        "quota-controller-manager");
  CHECK(replica.now().cert_pem == fixture.server.Data("tls.crt"));
  CHECK(replica.now().ca_bundle_pem == fixture.server.Data("ca.crt"));
  CHECK(http::ReadCertificates(replica.now().cert_pem, "")->front().hosts ==
        std::vector<std::string>{"web.ns.svc", "web.ns.svc.cluster.local", "web.ns"});
  CHECK(replica.Trouble().empty());
  CHECK(fixture.Accepts(replica.now(), replica.now()));

  fixture.scheduler.RunFor(1h);
  CHECK(fixture.server.writes == 1);
  CHECK(fixture.server.gets <= 122);
}

TEST_CASE("certificates of a Secret: replicas that start together serve the same one",
          "[admission]") {
  Fixture fixture;
  for (int i = 0; i < 3; ++i) fixture.Start();
  fixture.scheduler.RunFor(1s);
  CHECK(fixture.server.writes == 1);
  CHECK(fixture.server.lost_races == 2);
  for (const auto& replica : fixture.replicas) {
    CHECK(replica->now().cert_pem == fixture.server.Data("tls.crt"));
    CHECK(replica->seen.size() == 1);
  }
}

TEST_CASE("certificates of a Secret: the bundle accepts the leaf during all rotations",
          "[admission]") {
  Fixture fixture;
  fixture.LiveFast();
  fixture.Start();
  fixture.Start();
  const Replica& one = *fixture.replicas[0];
  const Replica& two = *fixture.replicas[1];
  fixture.scheduler.RunFor(1min);
  CertificateMaterial late = one.now();  // as an API server knows it whose watch lags
  std::size_t changes = 0;
  for (int step = 0; step < 36 * 60; ++step) {
    fixture.scheduler.RunFor(1min);
    REQUIRE(one.Trouble().empty());
    if (changes != one.seen.size() + two.seen.size()) {
      REQUIRE(fixture.Accepts(late, one.now()));
      REQUIRE(fixture.Accepts(late, two.now()));
      REQUIRE(fixture.Accepts(two.now(), one.now()));
    }
    changes = one.seen.size() + two.seen.size();
    if (step % 2 == 0) late.ca_bundle_pem = one.now().ca_bundle_pem;
  }
  CHECK(one.seen.size() > 15);  // twelve leaves, and two CAs that join and are dropped
  CHECK(fixture.server.writes == static_cast<int>(one.seen.size()));
}

TEST_CASE("certificates of a Secret: a damaged Secret of ours is restored from memory",
          "[admission]") {
  Fixture fixture;
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1s);
  const std::string cert = fixture.server.Data("tls.crt");
  const std::string key = fixture.server.Data("ca.key");
  SECTION("not base64") { fixture.server.Edit("tls.crt", "%%%"); }
  SECTION("no certificate") { fixture.server.Edit("tls.crt", base::EncodeBase64("hello")); }
  SECTION("no bundle") { fixture.server.Edit("ca.crt", base::EncodeBase64("hello")); }
  SECTION("another key") {
    fixture.server.Edit("ca.key", fixture.server.secret.At({"data"})->StringAt({"tls.key"}));
  }
  SECTION("not a string") { fixture.server.Edit("ca.crt", 7); }
  SECTION("deleted") { fixture.server.secret = nullptr; }
  SECTION("emptied") {
    for (const char* name : {"ca.crt", "ca.key", "tls.crt", "tls.key"}) {
      fixture.server.Edit(name, nullptr);
    }
  }
  fixture.scheduler.RunFor(31s);
  CHECK(fixture.server.Data("tls.crt") == cert);
  CHECK(fixture.server.Data("ca.key") == key);
  CHECK(replica.seen.size() == 1);  // the certificate never changed
  CHECK(fixture.server.writes == 2);
  fixture.scheduler.RunFor(10min);
  CHECK(fixture.server.writes == 2);
}

TEST_CASE("certificates of a Secret: a damaged one is issued again after a restart",
          "[admission]") {
  Fixture fixture;
  fixture.server.Put(json::Object{
      {"metadata", json::Object{{"name", "web-certificate"},
                                {"labels", json::Object{{"app.kubernetes.io/managed-by",
                                                         "quota-controller-manager"}}}}},
      {"data", json::Object{{"tls.crt", "%%%"}, {"extra", "a2VwdA=="}}}});
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1s);
  CHECK(replica.Trouble().empty());
  CHECK(replica.now().cert_pem == fixture.server.Data("tls.crt"));
  CHECK(fixture.server.Data("extra") == "kept");
  CHECK(fixture.server.paths ==
        std::vector<std::string>{"PATCH /api/v1/namespaces/ns/secrets/web-certificate"});
}

TEST_CASE("certificates of a Secret: an empty one that Helm installed is filled", "[admission]") {
  Fixture fixture;
  fixture.server.Put(json::Object{
      {"metadata",
       json::Object{{"name", "web-certificate"},
                    {"labels", json::Object{{"app.kubernetes.io/managed-by", "Helm"},
                                            {"quota-controller-manager.io/managed", "true"}}}}}});
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1s);
  CHECK(replica.Trouble().empty());
  CHECK(replica.now().cert_pem == fixture.server.Data("tls.crt"));
  CHECK(fixture.server.secret.StringAt({"metadata", "labels", "app.kubernetes.io/managed-by"}) ==
        "Helm");
}

TEST_CASE("certificates of a Secret: a foreign one is never written", "[admission]") {
  Fixture fixture;
  fixture.server.Put(json::Object{{"metadata", json::Object{{"name", "web-certificate"}}},
                                  {"data", json::Object{{"password", "c2VjcmV0"}}}});
  const Value before = fixture.server.secret;
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1h);
  CHECK(fixture.server.secret == before);
  CHECK(fixture.server.writes == 0);
  CHECK(replica.Trouble() ==
        "no certificate: Secret ns/web-certificate is not ours (no label "
        "app.kubernetes.io/managed-by=quota-controller-manager) and is left alone; it cannot be "
        "used: label it, or replace it by the empty Secret of the installation");
  fixture.server.secret = nullptr;
  fixture.scheduler.RunFor(46s);
  CHECK(replica.Trouble().empty());
}

TEST_CASE("certificates of a Secret: a valid foreign one is used until it expires", "[admission]") {
  Fixture fixture;
  fixture.LiveFast();
  const base::WallTime now = fixture.scheduler.WallNow();
  const auto keyring = webhook::CarryOut(webhook::CertificateAction::kStartOver, {},
                                         fixture.options.hosts, {now, now}, fixture.options.policy)
                           .value();
  fixture.server.Put(
      json::Object{{"metadata", json::Object{{"name", "web-certificate"}}},
                   {"data", json::Object{{"ca.crt", base::EncodeBase64(keyring.ca_pem)},
                                         {"tls.crt", base::EncodeBase64(keyring.cert_pem)},
                                         {"tls.key", base::EncodeBase64(keyring.key_pem)}}}});
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(4h);
  CHECK(replica.now().cert_pem == keyring.cert_pem);
  CHECK(replica.Trouble().empty());
  fixture.scheduler.RunFor(2h);
  CHECK(replica.Trouble().starts_with("the certificate has expired at "));
  CHECK(fixture.server.writes == 0);
}

TEST_CASE("certificates of a Secret: removing ca.key retires the CA without a gap", "[admission]") {
  Fixture fixture;
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1s);
  const CertificateMaterial first = replica.now();
  fixture.server.Edit("ca.key", nullptr);
  fixture.scheduler.RunFor(31s);
  const CertificateMaterial published = replica.now();
  CHECK(published.cert_pem == first.cert_pem);
  CHECK(published.ca_bundle_pem.starts_with(first.ca_bundle_pem));
  CHECK(published.ca_bundle_pem != first.ca_bundle_pem);
  fixture.scheduler.RunFor(6min);
  CHECK(replica.now().cert_pem != first.cert_pem);
  CHECK(fixture.Accepts(published, replica.now()));
  fixture.scheduler.RunFor(25h);
  CHECK_FALSE(fixture.Accepts(replica.now(), first));
}

TEST_CASE("certificates of a Secret: the last one serves while the API server is away",
          "[admission]") {
  Fixture fixture;
  fixture.LiveFast();
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1s);
  const std::string shown = replica.now().cert_pem;
  fixture.server.trouble = Error{.code = ErrorCode::kUnavailable, .message = "away"};
  fixture.scheduler.RunFor(4h);  // due after three
  CHECK(replica.now().cert_pem == shown);
  CHECK(replica.Trouble().empty());
  fixture.server.trouble.reset();
  fixture.scheduler.RunFor(1min);
  CHECK(replica.now().cert_pem != shown);
}

TEST_CASE("certificates of a Secret: a missing right to write is reported", "[admission]") {
  Fixture fixture;
  fixture.server.write_trouble = Error{.code = ErrorCode::kForbidden, .message = "no right"};
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1s);
  CHECK(replica.Trouble() ==
        "no certificate: write Secret ns/web-certificate: new CA and certificate: no usable "
        "CA: no right");
  CHECK(fixture.server.gets <= 2);
  fixture.scheduler.RunFor(10min);
  CHECK(fixture.server.gets <= 40);  // retries have a backoff
  fixture.server.write_trouble.reset();
  fixture.scheduler.RunFor(1min);
  CHECK(replica.Trouble().empty());
}

TEST_CASE("certificates of a Secret: dates are compared with the API server's clock",
          "[admission]") {
  Fixture fixture;
  fixture.server.clock_ahead = 0s;
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1s);
  const std::string first = replica.now().cert_pem;
  fixture.server.clock_ahead = 24h * 60;  // the certificate is due there
  fixture.scheduler.RunFor(31s);
  CHECK(replica.now().cert_pem != first);
  CHECK(*replica.source->not_after() > fixture.scheduler.WallNow() + 24h * 140);
}

TEST_CASE("certificates of a Secret: API servers with different clocks do not take turns",
          "[admission]") {
  Fixture fixture;
  const auto other = GENERATE(70 * 24h, -70 * 24h, 2h, -2h, 20 * 365 * 24h);
  fixture.server.clock_ahead = 0s;
  Replica& one = fixture.Start();
  fixture.Start();
  fixture.scheduler.RunFor(1s);
  for (int period = 0; period < 200; ++period) {
    fixture.server.clock_ahead = period % 2 == 0 ? std::chrono::seconds(other) : 0s;
    fixture.scheduler.RunFor(35s);
    REQUIRE(fixture.Accepts(one.now(), one.now()));
  }
  CHECK(fixture.server.writes <= 3);
  for (const CertificateMaterial& material : one.seen) CHECK(fixture.Accepts(material, material));
}

TEST_CASE("certificates of a Secret: the first one is good for all clocks", "[admission]") {
  Fixture fixture;
  const base::WallTime::duration servers = GENERATE(-70 * 24h, -2h, 0h, 2h, 70 * 24h);
  const base::WallTime::duration ours = GENERATE(-70 * 24h, -2h, 0h, 2h, 70 * 24h);
  OtherServer server(fixture.server, servers);
  WrongClock clock(fixture.scheduler, ours);
  Replica& replica = fixture.Start(server, clock);
  fixture.scheduler.RunFor(2h);
  CHECK(replica.source->trouble().empty());
  CHECK(fixture.server.writes == 1);
  const auto leaf = http::ReadCertificates(replica.now().cert_pem, "")->front();
  const base::WallTime now = fixture.scheduler.WallNow();
  CHECK(leaf.not_before <= now + std::min(servers, ours) - 24h);
  for (const auto ahead : {servers, ours, servers - 24h, ours - 24h}) {
    CHECK(fixture.Accepts(replica.now(), replica.now(), ahead));
  }
}

TEST_CASE("certificates of a Secret: a renewal under a wrong clock serves what others accept",
          "[admission]") {
  Fixture fixture;
  const base::WallTime::duration wrong = GENERATE(2h, 70 * 24h, 200 * 24h, 360 * 24h);
  fixture.server.clock_ahead = 0s;
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1min);
  const std::string first = replica.now().cert_pem;
  fixture.scheduler.SetWallBy(54 * 24h - 1h);
  fixture.server.clock_ahead = wrong;
  fixture.scheduler.RunFor(48h);
  CHECK(replica.now().cert_pem != first);
  for (const CertificateMaterial& material : replica.seen) {
    CHECK(fixture.Accepts(material, material));
  }
  CHECK(fixture.Accepts(replica.now(), replica.now(), wrong));
  CHECK(fixture.server.writes <= 6);  // at most a CA, and leaves before and after its step
  const int writes = fixture.server.writes;
  fixture.server.clock_ahead = 0s;
  fixture.scheduler.RunFor(48h);
  CHECK(fixture.server.writes <= writes + 1);  // a CA that is not needed any more
}

TEST_CASE("certificates of a Secret: replicas at servers with different clocks agree",
          "[admission]") {
  Fixture fixture;
  const base::WallTime::duration ahead = GENERATE(2h, 70 * 24h, -70 * 24h, 300 * 24h);
  OtherServer right(fixture.server, {});
  OtherServer other(fixture.server, ahead);
  WrongClock wrong(fixture.scheduler, ahead);
  const bool wrong_first = GENERATE(false, true);
  Replica& first =
      wrong_first ? fixture.Start(other, wrong) : fixture.Start(right, fixture.scheduler);
  fixture.scheduler.RunFor(1min);
  Replica& second =
      wrong_first ? fixture.Start(right, fixture.scheduler) : fixture.Start(other, wrong);
  fixture.scheduler.RunFor(1h);  // the CA's step takes minutes
  const int writes = fixture.server.writes;
  CHECK(writes <= 8);
  for (const Replica* replica : {&first, &second}) {
    CHECK(fixture.Accepts(replica->now(), replica->now()));
    CHECK(fixture.Accepts(replica->now(), replica->now(), ahead));
  }
  fixture.scheduler.RunFor(20h);
  CHECK(fixture.server.writes <= writes + 1);
}

TEST_CASE("certificates of a Secret: a clock that refuses the certificate is reported",
          "[admission]") {
  Fixture fixture;
  fixture.server.clock_ahead = 0s;
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1min);
  fixture.server.clock_ahead = -70 * 24h;
  fixture.scheduler.RunFor(1min);
  CHECK(replica.source->trouble().find("for not yet valid") != std::string::npos);
  CHECK(replica.Trouble().empty());  // others accept it: it stays ready
  CHECK(fixture.server.writes == 1);
  fixture.server.clock_ahead = 0s;
  fixture.scheduler.RunFor(2h);
  CHECK(replica.source->trouble().empty());
}

TEST_CASE("certificates of a Secret: dates that nobody can have are ignored", "[admission]") {
  Fixture fixture;
  const auto years = GENERATE(-5000, -100, -30, 30, 150, 5000);
  fixture.server.clock_ahead = 0s;
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1min);
  fixture.server.date = std::to_string(2025 + years);
  fixture.scheduler.RunFor(1h);
  CHECK(replica.Trouble().empty());
  CHECK(fixture.server.writes == 1);
}

TEST_CASE("certificates of a Secret: what somebody removes again and again is issued once an hour",
          "[admission]") {
  Fixture fixture;
  Replica& replica = fixture.Start();
  fixture.scheduler.RunFor(1s);
  for (int minute = 0; minute < 119; ++minute) {
    fixture.server.Edit("tls.crt", nullptr);
    fixture.server.Edit("tls.key", nullptr);
    fixture.scheduler.RunFor(1min);
    CHECK(replica.Trouble().empty());
  }
  CHECK(fixture.server.writes == 1 + 2);
  CHECK(replica.source->trouble().find("nothing is issued") != std::string::npos);
  Replica& fresh = fixture.Start();  // it has none to serve
  fixture.scheduler.RunFor(1min);
  CHECK(fresh.Trouble().empty());
}

}  // namespace

}  // namespace certificate_secret_test

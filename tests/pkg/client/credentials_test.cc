#include "pkg/client/credentials.h"

#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"
#include "tests/fake/captured_log.h"
#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/scripted_http.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::credentials_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("token file: the file is read again after 50 s, not before", "[client]") {
  const TempFolder folder;
  base::ManualClock clock;
  TokenFile file(folder.Write("token", "one\n"), "");
  CHECK(file.Get(clock.Now()).value() == "one");
  folder.Write("token", "two");
  clock.Advance(49s);
  CHECK(file.Get(clock.Now()).value() == "one");
  clock.Advance(1s);
  CHECK(file.Get(clock.Now()).value() == "two");
}

TEST_CASE("token file: the last good token is used while the file cannot be read", "[client]") {
  const TempFolder folder;
  base::ManualClock clock;
  const std::string path = folder.Write("token", "one");
  TokenFile file(path, "");
  CHECK(file.Get(clock.Now()).value() == "one");
  SECTION("gone") { std::filesystem::remove(path); }
  SECTION("empty") { folder.Write("token", " \n"); }
  SECTION("two lines") { folder.Write("token", "a\nb"); }
  clock.Advance(1min);
  CHECK(file.Get(clock.Now()).value() == "one");
  CHECK(file.generation() == 1);
}

TEST_CASE("token file: one that cannot be read is not logged for each rejection", "[client]") {
  const TempFolder folder;
  const fake::CapturedLog log;
  base::ManualClock clock;
  const std::string path = folder.Write("token", "one");
  TokenFile file(path, "");
  CHECK(file.Get(clock.Now()));
  std::filesystem::remove(path);
  for (int i = 0; i < 400; ++i) {
    file.Expire();
    CHECK(file.Get(clock.Now()).value() == "one");
    clock.Advance(1s);
  }
  CHECK(log.With("keeping the last token").size() == 2);
  folder.Write("token", "two");
  file.Expire();
  CHECK(file.Get(clock.Now()).value() == "two");
  CHECK(log.With("the token can be read again").size() == 1);
}

TEST_CASE("token file: without any good token an error says why", "[client]") {
  const TempFolder folder;
  base::ManualClock clock;
  TokenFile file(folder.Write("token", "\n"), "");
  CHECK(file.Get(clock.Now()).error().message == "token file " + folder.path() + "/token is empty");
  folder.Write("token", "late");
  CHECK(file.Get(clock.Now()).value() == "late");
}

struct Fixture {
  base::asio::io_context io;
  base::ManualScheduler scheduler{io};
  HttpScript script;
  ScriptedHttp http{script};
  ClusterConfig config;
  std::unique_ptr<TlsMaterial> tls;

  Fixture() { config.server = http::ParseUrl("https://h").value(); }

  std::unique_ptr<CredentialSource> Source() {
    tls = std::make_unique<TlsMaterial>(http, config, scheduler.Now());
    return NewCredentialSource(io.get_executor(), scheduler, *tls, config);
  }
  base::Result<Credential> Get(CredentialSource& source) {
    Running<base::Result<Credential>> running(io,
                                              [&] { return source.Get(scheduler.Now() + 1min); });
    scheduler.RunUntilIdle();
    return running.value();
  }
};

TEST_CASE("credentials: a token or a user name makes the header", "[client]") {
  Fixture fixture;
  SECTION("a token") {
    fixture.config.token = "secret";
    CHECK(fixture.Get(*fixture.Source())->authorization == "Bearer secret");
  }
  SECTION("user name and password") {
    fixture.config.username = "Aladdin";
    fixture.config.password = "open sesame";
    CHECK(fixture.Get(*fixture.Source())->authorization == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  }
  SECTION("nothing") { CHECK(fixture.Get(*fixture.Source())->authorization.empty()); }
  SECTION("a server that is not https gets nothing") {
    fixture.config.token = "secret";
    fixture.config.server = http::ParseUrl("http://h").value();
    CHECK(fixture.Get(*fixture.Source())->authorization.empty());
  }
  SECTION("a fixed token is not better the second time") {
    fixture.config.token = "secret";
    CHECK_FALSE(fixture.Source()->Reject(0));
  }
}

TEST_CASE("credentials: a refused file token is read again at once", "[client]") {
  const TempFolder folder;
  Fixture fixture;
  fixture.config.token_file = folder.Write("token", "one");
  const auto source = fixture.Source();
  const Credential first = fixture.Get(*source).value();
  CHECK(first.authorization == "Bearer one");
  CHECK_FALSE(source->Reject(first.generation));
  folder.Write("token", "two");
  CHECK(source->Reject(first.generation));
  CHECK(fixture.Get(*source)->authorization == "Bearer two");
}

// A plugin whose runs end when the test says so.
struct Plugin {
  explicit Plugin(Fixture& fixture, std::chrono::seconds ahead = ExecCredentials::kAhead)
      : scheduler(fixture.scheduler),
        source(
            fixture.io.get_executor(), fixture.scheduler, (fixture.Source(), *fixture.tls),
            [this] { return Run(); }, ahead) {}
  auto Get(base::Duration timeout = 1min) { return source.Get(scheduler.Now() + timeout); }
  base::Task<base::Result<ExecCredential>> Run() {
    ++runs;
    co_await scheduler.Sleep(1s);
    co_await base::Stopping();  // throws if it was cancelled
    co_return answer;
  }
  base::ManualScheduler& scheduler;
  int runs = 0;
  base::Result<ExecCredential> answer = ExecCredential{.token = "t"};
  ExecCredentials source;
};

TEST_CASE("exec credentials: concurrent callers share one run", "[client]") {
  Fixture fixture;
  Plugin plugin(fixture);
  const auto get = [&plugin] { return plugin.Get(); };
  const Running<base::Result<Credential>> first(fixture.io, get);
  const Running<base::Result<Credential>> second(fixture.io, get);
  fixture.scheduler.RunFor(500ms);
  const Running<base::Result<Credential>> third(fixture.io, get);
  fixture.scheduler.RunFor(1s);
  CHECK(first.value()->authorization == "Bearer t");
  CHECK(second.value()->authorization == "Bearer t");
  CHECK(third.value()->authorization == "Bearer t");
  CHECK(plugin.runs == 1);

  SECTION("and share its failure") {
    plugin.source.Reject(first.value()->generation);
    plugin.answer = base::Error{.code = base::ErrorCode::kTimeout, .message = "slow"};
    const Running<base::Result<Credential>> one(fixture.io, get);
    const Running<base::Result<Credential>> two(fixture.io, get);
    fixture.scheduler.RunFor(1s);
    CHECK(one.value().error().message == "slow");
    CHECK(two.value().error().message == "slow");
    CHECK(plugin.runs == 2);
  }
}

TEST_CASE("exec credentials: the plugin runs again only after expiry or refusal", "[client]") {
  Fixture fixture;
  Plugin plugin(fixture);
  plugin.answer->expiration = fixture.scheduler.WallNow() + 10min;
  const auto get = [&] {
    const Running<base::Result<Credential>> running(fixture.io, [&plugin] { return plugin.Get(); });
    fixture.scheduler.RunFor(1s);
    return running.value();
  };
  const Credential first = get().value();
  fixture.scheduler.RunFor(8min);
  CHECK(get());
  CHECK(plugin.runs == 1);
  SECTION("expiry") {
    plugin.answer = ExecCredential{.token = "later"};
    fixture.scheduler.RunFor(2min);
    CHECK(get()->authorization == "Bearer later");
    CHECK(plugin.runs == 2);
  }
  SECTION("refusal") {
    CHECK(plugin.source.Reject(first.generation));
    CHECK(get()->generation != first.generation);
    CHECK(plugin.runs == 2);
    plugin.source.Reject(first.generation);  // a late rejection of the old credential
    CHECK(get());
    CHECK(plugin.runs == 2);
  }
}

TEST_CASE("exec credentials: a plugin that fails does not run for each request", "[client]") {
  Fixture fixture;
  Plugin plugin(fixture);
  plugin.answer = base::Error{.code = base::ErrorCode::kUnauthorized, .message = "no ticket"};
  const auto get = [&] {
    const Running<base::Result<Credential>> running(fixture.io, [&plugin] { return plugin.Get(); });
    fixture.scheduler.RunFor(1s);
    return running.value();
  };
  CHECK(get().error().message == "no ticket");
  for (int i = 0; i < 9; ++i) CHECK(get().error().message == "no ticket");
  CHECK(plugin.runs == 1);
  plugin.answer = ExecCredential{.token = "later"};
  fixture.scheduler.RunFor(1s);
  CHECK(get()->authorization == "Bearer later");
  CHECK(plugin.runs == 2);
}

TEST_CASE(
    "exec credentials: a server that rejects each credential does not run the plugin for each",
    "[client]") {
  Fixture fixture;
  Plugin plugin(fixture);
  const auto get = [&] {
    const Running<base::Result<Credential>> running(fixture.io, [&plugin] { return plugin.Get(); });
    fixture.scheduler.RunFor(1s);
    return running.value();
  };
  const std::uint64_t first = get()->generation;
  // Of several requests with the same credential.
  for (int i = 0; i < 3; ++i) CHECK(plugin.source.Reject(first));
  for (int i = 0; i < 9; ++i) CHECK_FALSE(plugin.source.Reject(get()->generation));
  CHECK(plugin.runs == 2);
  fixture.scheduler.RunFor(1s);
  CHECK(plugin.source.Reject(get()->generation));
  CHECK(get());
  CHECK(plugin.runs == 3);
}

TEST_CASE("exec credentials: in the last minute the plugin runs while the credential is used",
          "[client]") {
  Fixture fixture;
  Plugin plugin(fixture);
  const base::WallTime end = fixture.scheduler.WallNow() + 10min;
  plugin.answer->expiration = end;
  const auto get = [&] {
    const Running<base::Result<Credential>> running(fixture.io, [&plugin] { return plugin.Get(); });
    fixture.scheduler.RunUntilIdle();
    return running.done() ? running.value().value().authorization : "waits";
  };
  CHECK(get() == "waits");
  fixture.scheduler.RunFor(9min - 1s);
  CHECK(get() == "Bearer t");
  CHECK(plugin.runs == 1);
  plugin.answer->token = "later";
  SECTION("the next is used as soon as it is there") {
    plugin.answer->expiration = end + 10min;
    fixture.scheduler.RunFor(1s);
    CHECK(get() == "Bearer t");
    CHECK(get() == "Bearer t");
    CHECK(plugin.runs == 2);
    fixture.scheduler.RunFor(1s);
    CHECK(get() == "Bearer later");
    CHECK(plugin.runs == 2);
  }
  SECTION("a failure is tried again after ten seconds, and nobody waits for it") {
    plugin.answer = base::Error{.code = base::ErrorCode::kTimeout, .message = "slow"};
    for (int i = 1; i <= 40; ++i) {
      fixture.scheduler.RunFor(1s);
      CHECK(get() == "Bearer t");
      CHECK(plugin.runs == 2 + (i - 1) / 10);
    }
  }
}

TEST_CASE("exec credentials: a plugin that asks a user runs only when nothing else is left",
          "[client]") {
  Fixture fixture;
  Plugin plugin(fixture, 0s);
  plugin.answer->expiration = fixture.scheduler.WallNow() + 1min;
  const auto get = [&] {
    const Running<base::Result<Credential>> running(fixture.io, [&plugin] { return plugin.Get(); });
    fixture.scheduler.RunFor(1s);
    return running.value();
  };
  for (int i = 0; i < 59; ++i) CHECK(get());
  CHECK(plugin.runs == 1);
  fixture.scheduler.RunFor(1s);
  plugin.answer = ExecCredential{.token = "later"};
  CHECK(get()->authorization == "Bearer later");
  CHECK(plugin.runs == 2);
}

TEST_CASE("exec credentials: one that has expired on arrival is used, for ten seconds",
          "[client]") {
  Fixture fixture;
  Plugin plugin(fixture);
  plugin.answer->expiration = fixture.scheduler.WallNow() - 1h;
  const fake::CapturedLog log;
  const auto get = [&] {
    const Running<base::Result<Credential>> running(fixture.io, [&plugin] { return plugin.Get(); });
    fixture.scheduler.RunFor(1s);
    return running.value();
  };
  const Credential first = get().value();
  CHECK(first.authorization == "Bearer t");
  for (int i = 0; i < 8; ++i) CHECK(get()->generation == first.generation);
  CHECK(plugin.runs == 1);
  SECTION("then the plugin runs again, and is logged only at first") {
    fixture.scheduler.RunFor(2s);
    CHECK(get()->authorization == "Bearer t");
    CHECK(plugin.runs == 2);
    CHECK(log.With("has expired by our clock; it is used").size() == 1);
    CHECK(log.With("Bearer").empty());
  }
  SECTION("a refusal does not run it for each request") {
    CHECK_FALSE(plugin.source.Reject(first.generation));
    CHECK(get()->generation == first.generation);
    CHECK(plugin.runs == 1);
    fixture.scheduler.RunFor(2s);
    CHECK(plugin.source.Reject(first.generation));
    CHECK(get()->generation != first.generation);
    CHECK(plugin.runs == 2);
  }
  SECTION("a later one with time left is used until its end") {
    fixture.scheduler.RunFor(2s);
    plugin.answer = ExecCredential{.token = "later"};
    CHECK(get()->authorization == "Bearer later");
    fixture.scheduler.RunFor(1h);
    CHECK(get()->authorization == "Bearer later");
    CHECK(plugin.runs == 2);
  }
}

TEST_CASE("exec credentials: a cancelled caller does not end the run for another", "[client]") {
  Fixture fixture;
  Plugin plugin(fixture);
  base::TaskGroup group(fixture.io.get_executor());
  group.Spawn("first", [&plugin]() -> base::Task<void> { co_await plugin.Get(); });
  fixture.scheduler.RunFor(500ms);
  const Running<base::Result<Credential>> second(fixture.io, [&plugin] { return plugin.Get(); });
  fixture.scheduler.RunUntilIdle();
  group.Cancel();
  fixture.scheduler.RunFor(2s);
  CHECK(group.empty());
  CHECK(second.value()->authorization == "Bearer t");
  CHECK(plugin.runs == 1);
}

TEST_CASE("exec credentials: the run goes on after a caller's deadline", "[client]") {
  Fixture fixture;
  Plugin plugin(fixture);
  const auto get = [&](base::Duration timeout) {
    return Running<base::Result<Credential>>(fixture.io,
                                             [&plugin, timeout] { return plugin.Get(timeout); });
  };
  const auto hasty = get(400ms);
  const auto patient = get(1min);
  fixture.scheduler.RunFor(399ms);
  CHECK_FALSE(hasty.done());
  fixture.scheduler.RunFor(1ms);
  REQUIRE(hasty.done());
  CHECK(hasty.value().error().Is(base::ErrorCode::kTimeout));
  const auto late = get(100ms);
  fixture.scheduler.RunFor(100ms);
  CHECK(late.value().error().Is(base::ErrorCode::kTimeout));
  SECTION("another caller still waits for it") {
    fixture.scheduler.RunFor(500ms);
    CHECK(patient.value()->authorization == "Bearer t");
  }
  SECTION("it serves those who come later") {
    fixture.scheduler.RunFor(1h);
    const auto served = get(1ms);
    fixture.scheduler.RunUntilIdle();
    CHECK(served.value()->authorization == "Bearer t");
  }
  CHECK(plugin.runs == 1);
}

TEST_CASE("exec credentials: closing ends the run, and its callers are cancelled", "[client]") {
  Fixture fixture;
  Plugin plugin(fixture);
  const bool began = GENERATE(true, false);
  const Running<base::Result<Credential>> waiting(fixture.io, [&plugin] { return plugin.Get(); });
  base::TaskGroup closing(fixture.io.get_executor());
  if (began) fixture.scheduler.RunFor(500ms);
  closing.Spawn("close", [&plugin] { return plugin.source.Close(); });
  fixture.scheduler.RunUntilIdle();
  CHECK(closing.empty());
  REQUIRE(waiting.done());
  CHECK(waiting.value().error().Is(base::ErrorCode::kCancelled));
}

TEST_CASE("exec credentials: a new client certificate closes idle connections", "[client]") {
  Fixture fixture;
  fixture.config.tls.ca_pem = "CA";
  Plugin plugin(fixture);
  plugin.answer = ExecCredential{.cert_pem = "CERT", .key_pem = "KEY"};
  const auto get = [&] {
    const Running<base::Result<Credential>> running(fixture.io, [&plugin] { return plugin.Get(); });
    fixture.scheduler.RunFor(1s);
    return running.value();
  };
  SECTION("it is used beside the trust that was configured") {
    CHECK(get()->authorization.empty());
    REQUIRE(fixture.script.tls.size() == 1);
    CHECK(fixture.script.tls[0].ca_pem == "CA");
    CHECK(fixture.script.tls[0].cert_pem == "CERT");
    CHECK(fixture.script.idle_closed == 1);
    plugin.source.Reject(1);
    CHECK(get());
    CHECK(fixture.script.tls.size() == 1);  // the same certificate again changes nothing
  }
  SECTION("one that does not parse is the plugin's error") {
    fixture.script.refuse_tls =
        base::Error{.code = base::ErrorCode::kInvalidArgument, .message = "no key"};
    CHECK(get().error().message == "exec credential plugin: no key");
  }
}

}  // namespace
}  // namespace client::credentials_test

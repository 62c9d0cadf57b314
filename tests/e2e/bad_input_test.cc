// Wrong files, flags, certificates and credentials: one clear message, and no status is written.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/scenario.h"
#include "tests/e2e/harness/stub_server.h"

namespace e2e::bad_input_test {
namespace {

struct BadStart {
  std::string situation;
  std::vector<std::string> flags;
  std::string must_name;
};

std::size_t Lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

ProgramResult StartAndFail(const std::vector<std::string>& flags) {
  std::vector<std::string> argv{BuiltProgram("quota-controller-manager"),
                                "--metrics-bind-address=", "--health-probe-bind-address="};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return RunProgram({.argv = argv, .env = {{"KUBECONFIG", ""}, {"HOME", "/nonexistent"}}},
                    Patience());
}

// Starts a daemon with this kubeconfig, which can never use its server.
void KeepsTrying(const std::string& kubeconfig, const std::string& must_say) {
  Daemon daemon({.kubeconfig = kubeconfig});
  daemon.WaitForLog(must_say);
  CHECK(daemon.Running());
  CHECK(daemon.Probe("/livez") == 200);
  CHECK(daemon.Probe("/readyz") != 200);
  CHECK(daemon.Stop() == 0);
}

}  // namespace

TEST_CASE("a start that can never succeed exits with 2 and one line with the reason",
          "[e2e][input]") {
  TempDir dir;
  const auto good = dir.Write("good", KubeconfigText({.server = "http://127.0.0.1:1"}));
  const std::vector<BadStart> starts{
      {"no such file", {"--kubeconfig=/no/such/file"}, "/no/such/file"},
      {"not YAML", {"--kubeconfig=" + dir.Write("broken", "clusters: [\n  - name: {")}, "broken"},
      {"another kind of document", {"--kubeconfig=" + dir.Write("list", "- 1\n- 2\n")}, "list"},
      {"empty file", {"--kubeconfig=" + dir.Write("empty", "")}, "empty"},
      {"no such context", {"--kubeconfig=" + good, "--context=moon"}, "moon"},
      {"a CA that is not there",
       {"--kubeconfig=" + dir.Write("ca", KubeconfigText({.server = "https://127.0.0.1:1",
                                                          .ca_path = "/no/such/ca.crt"}))},
       "/no/such/ca.crt"},
      {"a CA that is none",
       {"--kubeconfig=" +
        dir.Write("junk-ca", KubeconfigText({.server = "https://127.0.0.1:1",
                                             .ca_path = dir.Write("junk.crt", "x")}))},
       "junk-ca"},
      {"a server that is no URL",
       {"--kubeconfig=" + dir.Write("url", KubeconfigText({.server = "not a url"}))},
       "not a url"},
      {"an unknown flag", {"--no-such-flag=1"}, "no-such-flag"},
      {"a content type that we do not read",
       {"--kube-api-content-type=application/yaml"},
       "--kube-api-content-type"},
      {"a duration that is none",
       {"--kubeconfig=" + good, "--resync-period=soon"},
       "resync-period"},
      {"an address that is none",
       {"--kubeconfig=" + good, "--health-probe-bind-address=here:there"},
       "health-probe-bind-address"},
      {"a CA of the webhook's clients that is not there",
       {"--kubeconfig=" + good, "--enforce=core", "--admission-url=https://127.0.0.1:1",
        "--admission-client-ca=/no/such/clients.crt"},
       "admission-client-ca"},
      {"a CA of the webhook's clients that is none",
       {"--kubeconfig=" + good, "--enforce=core", "--admission-url=https://127.0.0.1:1",
        "--admission-client-ca=" + dir.Write("junk-clients.crt", "x")},
       "junk-clients.crt"},
      {"no answer is ever waited for",
       {"--kubeconfig=" + good, "--admission-timeout=0s"},
       "--admission-timeout: must be whole seconds, from 1s to 30s"},
      {"more than API servers take",
       {"--kubeconfig=" + good, "--admission-timeout=31s"},
       "--admission-timeout"},
      {"half a second", {"--kubeconfig=" + good, "--admission-timeout=1500ms"}, "whole seconds"},
      {"no namespace's name",
       {"--kubeconfig=" + good, "--exempt-namespaces=kube-system,Team A"},
       "--exempt-namespaces: \"Team A\" is not a valid namespace name"},
      {"two ways to end",
       {"--kubeconfig=" + good, "--uninstall", "--break-glass"},
       "--break-glass"},
      {"an argument that is no flag", {"--kubeconfig=" + good, "extra"}, "extra"},
  };
  for (const auto& start : starts) {
    INFO(start.situation);
    const auto result = StartAndFail(start.flags);
    INFO(result.output);
    CHECK(result.exit_code == 2);
    CHECK(Lines(result.output) == 1);
    CHECK(result.output.find(start.must_name) != std::string::npos);
  }
}

TEST_CASE("--help and --version exit with 0", "[e2e][input]") {
  CHECK(StartAndFail({"--help"}).exit_code == 0);
  CHECK(StartAndFail({"--help"}).output.find("--resync-period") != std::string::npos);
  CHECK(StartAndFail({"--version"}).exit_code == 0);
}

TEST_CASE("a server under another CA or an expired certificate is never written to",
          "[e2e][input]") {
  TempDir dir;
  CertificateAuthority authority(dir.path(), "ca");
  CertificateAuthority stranger(dir.path(), "stranger");
  const auto answer = [](const http::Request&) {
    return StatusAnswer(500, "InternalError", "never");
  };
  const auto kubeconfig = [&](const StubServer& server) {
    return dir.Write("kubeconfig",
                     KubeconfigText({.server = "https://127.0.0.1:" + std::to_string(server.port()),
                                     .ca_path = authority.cert_path(),
                                     .token = "t"}));
  };
  SECTION("wrong CA") {
    const auto pair = stranger.Server("server");
    StubServer server(answer, &pair);
    KeepsTrying(kubeconfig(server), "certificate");
    CHECK(server.requests() == 0);
  }
  SECTION("expired") {
    const auto pair = authority.Server("server", -1);
    StubServer server(answer, &pair);
    KeepsTrying(kubeconfig(server), "expired");
    CHECK(server.requests() == 0);
  }
}

TEST_CASE("401 and 403 are logged and retried, and nothing is written", "[e2e][input]") {
  TempDir dir;
  const auto kubeconfig = [&](const StubServer& server) {
    return dir.Write("kubeconfig", KubeconfigText({.server = "http://127.0.0.1:" +
                                                             std::to_string(server.port())}));
  };
  SECTION("401") {
    StubServer server(
        [](const http::Request&) { return StatusAnswer(401, "Unauthorized", "Unauthorized"); });
    KeepsTrying(kubeconfig(server), "Unauthorized");
    CHECK(server.writes() == 0);
  }
  SECTION("403") {
    StubServer server([](const http::Request&) {
      return StatusAnswer(403, "Forbidden", "resourcequotas is forbidden: User \"x\" cannot list");
    });
    KeepsTrying(kubeconfig(server), "is forbidden");
    CHECK(server.writes() == 0);
  }
  SECTION("answers that are not JSON") {
    StubServer server([](const http::Request&) {
      return http::Response{200, {{"Content-Type", "text/html"}}, "<html>please log in</html>"};
    });
    Daemon daemon({.kubeconfig = kubeconfig(server)});
    Eventually("the daemon tries again", [&]() -> std::string {
      return server.requests() >= 4 ? "" : std::to_string(server.requests()) + " requests";
    });
    CHECK(daemon.Running());
    CHECK(daemon.Probe("/readyz") != 200);
    CHECK(server.writes() == 0);
  }
  SECTION("JSON of another shape") {
    StubServer server([](const http::Request&) {
      return http::Response{
          200, {{"Content-Type", "application/json"}}, R"({"items":7,"kind":"Fish"})"};
    });
    Daemon daemon({.kubeconfig = kubeconfig(server)});
    Eventually("the daemon tries again", [&]() -> std::string {
      return server.requests() >= 4 ? "" : std::to_string(server.requests()) + " requests";
    });
    CHECK(daemon.Running());
    CHECK(daemon.Probe("/readyz") != 200);
    CHECK(server.writes() == 0);
  }
}

TEST_CASE("a daemon that is refused as unknown for a minute exits with 1", "[e2e][input]") {
  TempDir dir;
  StubServer server(
      [](const http::Request&) { return StatusAnswer(401, "Unauthorized", "Unauthorized"); });
  Daemon daemon({.kubeconfig = dir.Write(
                     "kubeconfig", KubeconfigText({.server = "http://127.0.0.1:" +
                                                             std::to_string(server.port())}))});
  CHECK(daemon.WaitEnd(Stretched(75s)) == 1);
  CHECK(daemon.Log().find("our credentials have ended") != std::string::npos);
}

TEST_CASE("a wrong token and a user without rights are reported by a real server",
          "[e2e][input][real-only]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "5"}}));
  auto fields = s.server().Fields();
  TempDir dir;
  fields.token = "no-such-token";
  KeepsTrying(dir.Write("wrong", KubeconfigText(fields)), "Unauthorized");
  fields.token = "e2e-stranger-token";
  KeepsTrying(dir.Write("stranger", KubeconfigText(fields)), "forbidden");
  CHECK(s.Used("q").empty());
}

TEST_CASE("a client certificate does as well as a token", "[e2e][input]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "5"}}));
  auto fields = s.server().Fields();
  const auto pair = s.server().ClientCertificate("/O=system:masters/CN=admin");
  fields.token.clear();
  fields.extra_user_lines =
      "    client-certificate: " + pair.cert_path + "\n    client-key: " + pair.key_path + "\n";
  TempDir dir;
  s.StartDaemon("5m", dir.Write("with-certificate", KubeconfigText(fields)));
  s.Create("pods", Pod("a"));
  s.WaitUsed("q", {{"pods", "1"}});
}

}  // namespace e2e::bad_input_test

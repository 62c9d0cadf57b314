// The daemon as a user of an exec credential plugin.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/e2e/harness/scenario.h"

namespace e2e::exec_credentials_test {
namespace {

std::ptrdiff_t LinesOf(const std::string& text) { return std::ranges::count(text, '\n'); }

}  // namespace

// The clock of the daemon may run ahead of the one that the token was made with.
TEST_CASE("credentials: the daemon uses a plugin's token that has expired by its own clock",
          "[e2e][access]") {
  Scenario s;
  auto fields = s.server().Fields();
  const TempDir dir;
  const std::string runs = dir.Write("runs", "");
  const std::string answer =
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)"
      R"({"token":")" +
      fields.token + R"(","expirationTimestamp":"2020-01-01T00:00:00Z"}})";
  const std::string plugin =
      dir.Write("plugin.sh", "echo run >>" + runs + "\necho '" + answer + "'\n");
  fields.token.clear();
  fields.extra_user_lines =
      "    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [" + plugin +
      "], interactiveMode: Never}\n";
  Daemon& daemon =
      s.StartDaemon(DaemonOptions{.kubeconfig = dir.Write("kubeconfig", KubeconfigText(fields))});
  // More requests than the plugin may have runs.
  for (int i = 0; i < 20; ++i) {
    const std::string name = "q" + std::to_string(i);
    s.Create("resourcequotas", Quota(name, {{"resourcequotas", "30"}}));
    s.WaitUsed(name, {{"resourcequotas", std::to_string(i + 1)}});
  }
  const std::string log = daemon.Log();
  const std::string told = "gave a credential that has expired by our clock; it is used";
  const std::size_t first = log.find(told);
  CHECK(first != std::string::npos);
  CHECK(log.find(told, first + 1) == std::string::npos);
  const auto called = LinesOf(ReadFile(runs));
  CHECK(called >= 1);
  CHECK(called < 10);
  CHECK(daemon.Stop() == 0);
}

}  // namespace e2e::exec_credentials_test

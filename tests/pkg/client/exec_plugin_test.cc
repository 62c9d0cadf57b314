#include "pkg/client/exec_plugin.h"

#include <unistd.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <catch2/catch.hpp>
#include <chrono>

#include "pkg/base/task_group.h"
#include "pkg/client/process.h"
#include "tests/fake/captured_log.h"
#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/scripted_http.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::exec_plugin_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

constexpr const char* kVersion = "client.authentication.k8s.io/v1";

TEST_CASE("exec plugin: it gets the version, and the cluster if requested", "[client]") {
  ClusterConfig config;
  config.server = http::ParseUrl("https://h:6443/p").value();
  config.tls.ca_pem = "PEM";
  config.tls.server_name = "kube";
  config.proxy_url = "http://p";
  config.exec_config = json::Parse(R"({"audience":"x"})").value();
  config.exec = ExecEntry{.api_version = kVersion, .command = "c"};
  CHECK(ExecInfo(config) ==
        R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
        R"("spec":{"interactive":false}})");
  config.exec->provide_cluster_info = true;
  const json::Value info = json::Parse(ExecInfo(config)).value();
  const json::Value* cluster = info.At({"spec", "cluster"});
  REQUIRE(cluster != nullptr);
  CHECK(*cluster == json::Parse(R"({"server":"https://h:6443/p","tls-server-name":"kube",
      "certificate-authority-data":"UEVN","proxy-url":"http://p","config":{"audience":"x"}})")
                        .value());
}

TEST_CASE("exec plugin: the error for an invalid answer says why, without quoting it", "[client]") {
  const std::string head =
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)";
  struct Case {
    std::string output;
    std::string message;
  };
  const std::vector<Case> cases{
      {"", "its output is not a JSON object"},
      {"secret", "its output is not a JSON object"},
      {"{}", "its output is not an ExecCredential"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})",
       "its output has another apiVersion than the kubeconfig asks for "
       "(client.authentication.k8s.io/v1)"},
      {head + R"("status":{}})",
       "its output has neither a token nor a client certificate in its status"},
      {head + R"("status":{"token":"t","clientKeyData":"k"}})",
       "its output has one of clientCertificateData and clientKeyData without the other"},
      {head + R"("status":{"token":"a\nb"}})", "its output has a token with a line break"},
      {head + R"("status":{"token":"t","expirationTimestamp":"999"}})",
       "its output has an expirationTimestamp that is not an RFC 3339 time"},
      {head + R"("status":{"token":"t","expirationTimestamp":"tomorrow"}})",
       "its output has an expirationTimestamp that is not an RFC 3339 time"},
  };
  for (const Case& test : cases) {
    INFO(test.output);
    const auto credential = ParseExecCredential(test.output, kVersion);
    REQUIRE_FALSE(credential);
    CHECK(credential.error().code == base::ErrorCode::kMalformed);
    CHECK(credential.error().message == test.message);
  }
}

struct Shell {
  TempFolder folder;
  base::asio::io_context io;
  ClusterConfig config;

  explicit Shell(const std::string& script) {
    config.server = http::ParseUrl("https://h").value();
    config.exec = ExecEntry{.api_version = kVersion, .interactive_mode = "Never"};
    config.exec->command = folder.WriteScript("plugin", "#!/bin/sh\n" + script);
  }
  base::Result<ExecCredential> Run(std::chrono::milliseconds timeout = 20s) {
    Running<base::Result<ExecCredential>> running(
        io, [this, timeout] { return RunExecPlugin(io.get_executor(), config, timeout); });
    io.restart();
    io.run();
    return running.value();
  }
};

TEST_CASE("exec plugin: any large year means that the credential never expires", "[client]") {
  const std::string head =
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)";
  for (const char* time :
       {"9999-12-31T23:59:59Z", "2272-02-29T00:00:00Z", "2261-01-01T00:00:00Z"}) {
    INFO(time);
    const auto credential = ParseExecCredential(
        head + R"({"token":"t","expirationTimestamp":")" + time + R"("}})", kVersion);
    REQUIRE(credential);
    CHECK(credential->expiration > std::chrono::sys_days(std::chrono::year(2259) / 12 / 31));
  }
}

TEST_CASE("exec plugin: arguments and environment are passed, and the answer is read", "[client]") {
  Shell shell(R"(
case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*) ;; *) exit 9 ;; esac
if read line; then exit 8; fi
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":'
printf '{"token":"%s-%s-%s","expirationTimestamp":"2026-01-02T03:04:05Z"}}' "$1" "$EXTRA" "$HOME"
)");
  shell.config.exec->args = {"a b"};
  shell.config.exec->env = {{"EXTRA", "x"}, {"HOME", "/replaced"}};
  const auto credential = shell.Run();
  REQUIRE(credential);
  CHECK(credential->token == "a b-x-/replaced");
  CHECK(credential->expiration ==
        std::chrono::sys_days(std::chrono::year(2026) / 1 / 2) + 3h + 4min + 5s);
}

TEST_CASE("exec plugin: the error for a failed, missing or endless plugin names it", "[client]") {
  SECTION("it fails") {
    Shell shell("echo secret; exit 3");
    CHECK(shell.Run().error().message ==
          "exec credential plugin: " + shell.config.exec->command + " failed with exit status 3");
  }
  SECTION("it is killed") {
    Shell shell("kill -9 $$");
    CHECK_THAT(shell.Run().error().message, Contains("exit status 137"));
  }
  SECTION("it is not there") {
    Shell shell("");
    shell.config.exec->command = "no-such-plugin-of-qcm";
    shell.config.exec->install_hint = "Install it from example.com";
    const base::Error error = shell.Run().error();
    CHECK(error.code == base::ErrorCode::kInvalidArgument);
    CHECK(error.message ==
          "exec credential plugin: start no-such-plugin-of-qcm: No such file or directory; Install "
          "it from example.com");
  }
  SECTION("it never ends") {
    Shell shell("sleep 600 & sleep 600");
    const base::Error error = shell.Run(50ms).error();
    CHECK(error.code == base::ErrorCode::kTimeout);
    CHECK_THAT(error.message, Contains("/plugin: it did not end in time"));
  }
  SECTION("it closes its output and never ends") {
    Shell shell("exec >&-; sleep 600");
    CHECK(shell.Run(50ms).error().code == base::ErrorCode::kTimeout);
  }
  SECTION("it prints without end") {
    Shell shell("while :; do echo 0123456789012345678901234567890123456789; done");
    CHECK(shell.Run().error().code == base::ErrorCode::kTooLarge);
  }
}

// Puts a pipe with this text in place of standard input.
class StandardInput {
 public:
  explicit StandardInput(const std::string& text) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
  }
  ~StandardInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int before_ = ::dup(STDIN_FILENO);
};

TEST_CASE("exec plugin: for a user it reads the terminal, if it may", "[client]") {
  const StandardInput input("4711\n");
  Shell shell(R"(
case "$KUBERNETES_EXEC_INFO" in *'"interactive":true'*) asks=asks ;; *) asks=quiet ;; esac
read code
group=$(cut -d' ' -f5 /proc/$$/stat)
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":'
printf '{"token":"%s %s %s"}}' "$asks" "$code" "$group")");
  const std::string group = " " + std::to_string(::getpgrp());
  shell.config.plugin_input = PluginInput::kTerminal;
  shell.config.exec->interactive_mode = GENERATE("IfAvailable", "Always", "");
  CHECK(shell.Run()->token == "asks 4711" + group);
  SECTION("not if the kubeconfig forbids it") {
    shell.config.exec->interactive_mode = "Never";
    CHECK(shell.Run()->token == "quiet " + group);
  }
  SECTION("not if manifests come from there") {
    shell.config.plugin_input = PluginInput::kTaken;
    CHECK(shell.Run()->token == "quiet " + group);
  }
  SECTION("a daemon's plugin has neither the input nor the group") {
    shell.config.plugin_input = PluginInput::kDaemon;
    const std::string token = shell.Run()->token;
    CHECK_THAT(token, Catch::StartsWith("quiet  ") && !Catch::EndsWith(group));
  }
}

TEST_CASE("exec plugin: its standard error becomes one log record", "[client]") {
  const fake::CapturedLog log;
  Shell shell(R"sh(
printf 'E2026 fake] forged line\n\033[31mred' >&2
i=0; while [ $i -lt 2000 ]; do echo "0123456789012345678901234567890123456789" >&2; i=$((i+1)); done
exit 3)sh");
  CHECK_THAT(shell.Run().error().message, Contains("failed with exit status 3"));
  const std::vector<std::string> lines = log.With("wrote to standard error");
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0],
             Contains(R"(exit_status=3 stderr="E2026 fake] forged line\n\u001b[31mred01)"));
  CHECK(lines[0].find('\n') == std::string::npos);
  CHECK(lines[0].size() > 4'096);
  CHECK(lines[0].size() < 5'000);
}

TEST_CASE("exec plugin: a child that keeps standard error open delays nothing", "[client]") {
  Shell shell(R"(
sleep 60 >/dev/null &
echo hello >&2
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":'
printf '{"token":"t"}}')");
  const fake::CapturedLog log;
  const auto credential = shell.Run();
  REQUIRE(credential);
  CHECK(log.With("stderr=\"hello\\n\"").size() == 1);
}

TEST_CASE("process: the program inherits no descriptor but the standard ones", "[client]") {
  base::asio::io_context io;
  // Asio opens its sockets without FD_CLOEXEC. A program that outlives us must not keep our port.
  using Tcp = boost::asio::ip::tcp;
  const Tcp::acceptor acceptor(io, Tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const Running<base::Result<ProcessResult>> running(io, [&io] {
    ProcessOptions options;
    options.arguments = {"sh", "-c", "ls /proc/$$/fd"};
    return RunProcess(io.get_executor(), std::move(options));
  });
  io.restart();
  io.run();
  REQUIRE(running.value());
  CHECK(running.value()->output == "0\n1\n2\n");
}

TEST_CASE("process: a cancelled run ends at once", "[client]") {
  base::asio::io_context io;
  base::TaskGroup group(io.get_executor());
  std::optional<base::Result<ProcessResult>> result;
  group.Spawn("run", [&]() -> base::Task<void> {
    ProcessOptions options;
    options.arguments = {"sleep", "600"};
    result = co_await RunProcess(io.get_executor(), std::move(options));
  });
  io.poll();
  CHECK_FALSE(result);
  group.Cancel();
  io.restart();
  io.run();
  CHECK(group.empty());
  if (result) CHECK(result->error().code == base::ErrorCode::kCancelled);
}

}  // namespace
}  // namespace client::exec_plugin_test

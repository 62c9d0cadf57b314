// The command line of kubectl quota beside kubectl's own, on the same server and kubeconfigs.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/e2e/harness/counted_cluster.h"
#include "tests/e2e/harness/stub_server.h"

namespace e2e::kubectl_quota_flags_test {
namespace {

using Catch::Matchers::Contains;

using Words = std::vector<std::string>;

// The environment in which both programs find nothing but what the words name.
std::map<std::string, std::string> Environment(const TempDir& home) {
  return {{"LC_ALL", "C"},
          {"HOME", home.path()},
          {"KUBECONFIG", ""},
          {"PATH",
           std::filesystem::path(Kubectl()).parent_path().string() + ":" + std::getenv("PATH")}};
}

ProgramResult Run(const TempDir& home, Words argv) {
  return RunProgram({.argv = std::move(argv), .env = Environment(home)}, Patience());
}

ProgramResult AskQuota(const TempDir& home, Words words) {
  words.insert(words.begin(), BuiltProgram("kubectl-quota"));
  return Run(home, std::move(words));
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("kubectl quota takes kubectl's flags with kubectl's meaning", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}}));
  cluster.WaitUsed("compute", {{"pods", "0"}});
  const TempDir home;
  auto fields = s.server().Fields();
  const std::string token = fields.token;
  const std::string config = cluster.File("whole", KubeconfigText(fields));
  fields.token.clear();
  const std::string bare = cluster.File("bare", KubeconfigText(fields));
  const Words with{"--kubeconfig=" + config};
  const Words without{"--kubeconfig=" + bare};
  const Words named{"--server=" + fields.server, "--token=" + token,
                    "--certificate-authority=" + fields.ca_path};
  struct Call {
    Words base;
    Words flags;
  };
  const std::vector<Call> calls{
      {with, {}},
      {with, {"--as=somebody", "--as-group=system:masters"}},
      {with, {"--as=system:anonymous"}},
      {with, {"--as-group=system:masters"}},
      {with, {"--token=wrong"}},
      {without, {}},
      {without, {"--token", token}},
      {without, {"--token", token, "--request-timeout=30s"}},
      {with, {"--request-timeout=soon"}},
      {with, {"--server=https://127.0.0.1:1", "--request-timeout=20s"}},
      {with, {"-s", fields.server}},
      {with, {"--tls-server-name=elsewhere"}},
      {with, {"--tls-server-name=elsewhere", "--insecure-skip-tls-verify"}},
      {with, {"--certificate-authority=" + config}},
      {with, {"--certificate-authority=" + fields.ca_path, "--insecure-skip-tls-verify"}},
      {with, {"--user=nobody"}},
      {with, {"--cluster=nowhere"}},
      {with, {"--context=nowhere"}},
      {with, {"--user=e2e", "--cluster=e2e", "--context=e2e"}},
      {named, {}},
      {named, {"--kubeconfig=/nowhere/config"}},
  };
  for (const Call& call : calls) {
    Words words = call.base;
    words.insert(words.end(), call.flags.begin(), call.flags.end());
    words.push_back("--namespace=" + s.ns());
    Words kubectl{Kubectl(), "get", "resourcequotas", "--cache-dir=" + home.path()};
    kubectl.insert(kubectl.end(), words.begin(), words.end());
    const auto expected = Run(home, kubectl);
    const auto told = AskQuota(home, words);
    INFO(Catch::StringMaker<Words>::convert(words) << "\n" << expected.output << told.output);
    CHECK((told.exit_code == 0) == (expected.exit_code == 0));
    CHECK((told.exit_code == 0 || told.exit_code == 2));
    if (told.exit_code == 0) CHECK_THAT(told.output, Contains("compute"));
    CHECK_THAT(told.output, !Contains(token));
  }
}

TEST_CASE("kubectl quota finds its kubeconfigs as kubectl does", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}}));
  const TempDir home;
  const auto told = [&](const std::string& variable) {
    auto environment = Environment(home);
    environment["KUBECONFIG"] = variable;
    return RunProgram({.argv = {BuiltProgram("kubectl-quota"), "-n", s.ns()}, .env = environment},
                      Patience());
  };
  CHECK(told("/nowhere/config:" + s.server().Kubeconfig()).exit_code == 0);
  const auto nothing = told("/nowhere/config");
  CHECK(nothing.exit_code == 2);
  CHECK_THAT(nothing.output, Contains("$KUBECONFIG names no file that exists (/nowhere/config)"));
}

TEST_CASE("kubectl quota -v=6 prints each request, and no token", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}}));
  const auto told = cluster.AskHere({"-v=6"});
  CHECK(told.exit_code == 0);
  CHECK_THAT(told.output, Contains("GET " + s.server().Fields().server + "/api/v1/namespaces/" +
                                   s.ns() + "/resourcequotas?") &&
                              Contains(" 200 in ") && Contains(" ms\n"));
  CHECK_THAT(told.output, !Contains(s.server().Fields().token));
}

TEST_CASE("kubectl quota prints once that nothing answers", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  const std::string file = cluster.File("pod.yaml", json::Write(Pod("p")));
  const std::vector<Words> commands{{"top"},
                                    {"who", "q"},
                                    {"who", "clusterquota/x"},
                                    {"why", "deploy/web"},
                                    {"why", "deploy", "web"},
                                    {"check", "-f", file},
                                    {"tree"},
                                    {"suggest"},
                                    {"report"}};
  const std::vector<Words> reasons{{"--server=https://127.0.0.1:1"}, {"--token=wrong"}};
  for (const Words& reason : reasons) {
    for (Words words : commands) {
      words.insert(words.end(), reason.begin(), reason.end());
      const auto told = cluster.AskHere(words);
      INFO(Catch::StringMaker<Words>::convert(words) << "\n" << told.output);
      CHECK(told.exit_code == 2);
      CHECK(CountOf(told.output, "\n") == 1);
      CHECK_THAT(told.output, Catch::StartsWith("Unable to connect to the server: ") ||
                                  Catch::StartsWith("Error from server (Unauthorized): "));
    }
  }
}

TEST_CASE("kubectl quota check reads kustomizations, URLs and folders as kubectl does",
          "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}}));
  cluster.WaitUsed("compute", {{"pods", "0"}});
  const TempDir home;
  const std::string kustomization =
      cluster.File("kustomization.yaml",
                   "resources: [pod.yaml]\nnamePrefix: made-\nnamespace: " + s.ns() + "\n");
  const std::string pod = cluster.File("pod.yaml", json::Write(Pod("a")));
  const std::string other = cluster.File("other.yaml", json::Write(Pod("b")));
  const std::string folder = std::filesystem::path(pod).parent_path();
  StubServer web([](const http::Request& request) -> http::Response {
    if (request.target != "/pods.yaml?ref=1") return {.status = 404};
    return {.status = 200, .body = json::Write(Pod("far"))};
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(web.port()) + "/pods.yaml?ref=1";
  const auto asks = [&](Words words, const std::string& pods) {
    words.insert(words.begin(), {"check", "--kubeconfig=" + s.server().Kubeconfig(), "-n", s.ns()});
    const auto told = AskQuota(home, words);
    INFO(told.output);
    CHECK(told.exit_code == 0);
    CHECK_THAT(told.output, Contains("pods       0        " + pods + " "));
  };
  asks({"-k", folder}, "1");
  asks({"-f", pod + "," + other}, "2");
  asks({"-f", url}, "1");
  asks({"-f", pod, "-f", url + "," + other}, "3");
  std::filesystem::create_directory(folder + "/more");
  std::filesystem::copy_file(other, folder + "/more/c.yaml");
  std::filesystem::remove(kustomization);
  asks({"-f", folder}, "2");
  cluster.File("more/c.yaml", json::Write(Pod("c")));
  asks({"-R", "-f", folder}, "3");
  const auto missing = cluster.AskHere({"check", "-f", url + "1"});
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.output, Contains("the server answered with status 404"));
  const auto broken =
      AskQuota(home, {"check", "--kubeconfig=" + s.server().Kubeconfig(), "-k", folder + "/more"});
  CHECK(broken.exit_code == 2);
  CHECK_THAT(broken.output, Contains("kubectl kustomize " + folder + "/more failed"));
}

TEST_CASE("kubectl quota why takes a type before its names", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "0"}}));
  cluster.WaitUsed("compute", {{"pods", "0"}});
  s.Create("deployments", DeploymentOf("web", 1, {{"cpu", "500m"}}));
  const std::string expected = cluster.AskHere({"why", "deployment/web", "-o", "json"}).output;
  CHECK_THAT(expected, Contains("\"object\": \"deployment.apps/web\""));
  for (const char* type : {"deploy", "deployments.apps", "deploy.v1.apps", "Deployment"}) {
    INFO(type);
    const auto told = cluster.AskHere({"why", type, "web", "-o", "json"});
    CHECK(told.exit_code == 1);
    CHECK_THAT(told.output, Contains("\"object\": \"deployment.apps/web\""));
  }
  const auto mistyped = cluster.AskHere({"why", "depoly", "web"});
  CHECK(mistyped.exit_code == 2);
  CHECK_THAT(mistyped.output, Contains("did you mean \"deploy\"?"));
}

TEST_CASE("kubectl quota gives an exec plugin the terminal that kubectl would",
          "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}}));
  cluster.WaitUsed("compute", {{"pods", "0"}});
  auto fields = s.server().Fields();
  const std::string answer =
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)"
      R"({"token":")" +
      fields.token + R"(","expirationTimestamp":"2020-01-01T00:00:00Z"}})";
  fields.token.clear();
  const TempDir home;
  // The plugin asks for a code, on standard input or on /dev/tty.
  const auto config = [&](const std::string& mode, const std::string& from) {
    const std::string plugin = cluster.File(
        "ask.sh", "printf 'code? ' >&2\nread code" + from +
                      " || exit 3\n[ \"$code\" = 4711 ] || exit 4\n" + "echo '" + answer + "'\n");
    fields.extra_user_lines =
        "    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [" + plugin +
        "], interactiveMode: " + mode + "}\n";
    return cluster.File("exec.kubeconfig", KubeconfigText(fields));
  };
  // Types the code into a terminal in which the program runs.
  const auto typed = [&](const Words& words) {
    std::string line = BuiltProgram("kubectl-quota");
    for (const std::string& word : words) line += " " + word;
    return Run(home, {"/bin/sh", "-c", "echo 4711 | script -qec '" + line + "' /dev/null"});
  };
  const std::string pod = cluster.File("pod.json", json::Write(Pod("p")));
  for (const char* mode : {"IfAvailable", "Always"}) {
    INFO(mode);
    const auto told = typed({"top", "-n", s.ns(), "--kubeconfig=" + config(mode, "")});
    INFO(told.output);
    CHECK(told.exit_code == 0);
    CHECK_THAT(told.output, Contains("compute") && Contains("code? "));
  }
  const std::string tty = config("IfAvailable", " </dev/tty");
  const auto piped = typed({"check", "-n", s.ns(), "--kubeconfig=" + tty, "-f", "-", "<" + pod});
  INFO(piped.output);
  CHECK(piped.exit_code == 0);
  const auto none = AskQuota(home, {"top", "--kubeconfig=" + config("Always", "")});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.output, Contains("exec.interactiveMode is Always, and standard input is not a "
                                   "terminal"));
}

}  // namespace e2e::kubectl_quota_flags_test

#include "pkg/client/kubeconfig.h"

#include <catch2/catch.hpp>

#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::kubeconfig_test {
namespace {

base::Result<Kubeconfig> ParseText(std::string_view json,
                                   const std::string& file = "/home/a/config") {
  return ParseKubeconfig(json::Parse(json).value(), file);
}

TEST_CASE("kubeconfig: every field of an entry is read", "[client]") {
  const auto config = ParseText(R"({"apiVersion":"v1","kind":"Config","current-context":"c",
    "preferences":{"colors":true},"unknown":1,
    "clusters":[{"name":"k","cluster":{"server":"https://s:6443/p","tls-server-name":"n",
      "certificate-authority-data":"QQ==","proxy-url":"http://p:1","disable-compression":true,
      "extensions":[{"name":"client.authentication.k8s.io/exec","extension":{"a":1}},
                    {"name":"other","extension":2}]}}],
    "users":[{"name":"u","user":{"token":"t","as":"root","as-uid":"7","as-groups":["g","h"],
      "as-user-extra":{"Scopes":["x","y"]},"client-key":null,
      "exec":{"apiVersion":"v","command":"aws","args":["-a"],"env":[{"name":"N","value":"V"}],
              "installHint":"hint","provideClusterInfo":true,"interactiveMode":"Never"}}}],
    "contexts":[{"name":"c","context":{"cluster":"k","user":"u","namespace":"ns"}}]})");
  REQUIRE(config);
  CHECK(config->current_context == "c");
  const ClusterEntry& cluster = config->clusters.at("k");
  CHECK(cluster.file == "/home/a/config");
  CHECK(cluster.server == "https://s:6443/p");
  CHECK(cluster.tls_server_name == "n");
  CHECK_FALSE(cluster.insecure);
  CHECK(cluster.ca_data == "QQ==");
  CHECK(cluster.proxy_url == "http://p:1");
  CHECK(cluster.disable_compression);
  CHECK(json::Write(cluster.exec_config) == R"({"a":1})");
  const UserEntry& user = config->users.at("u");
  CHECK(user.token == "t");
  CHECK(user.key_file.empty());
  CHECK(user.as == "root");
  CHECK(user.as_uid == "7");
  CHECK(user.as_groups == std::vector<std::string>{"g", "h"});
  CHECK(user.as_extra ==
        std::vector<std::pair<std::string, std::string>>{{"Scopes", "x"}, {"Scopes", "y"}});
  REQUIRE(user.has_exec);
  CHECK(user.exec.command == "aws");
  CHECK(user.exec.args == std::vector<std::string>{"-a"});
  CHECK(user.exec.env == std::vector<std::pair<std::string, std::string>>{{"N", "V"}});
  CHECK(user.exec.install_hint == "hint");
  CHECK(user.exec.provide_cluster_info);
  CHECK(user.exec.interactive_mode == "Never");
  const ContextEntry& context = config->contexts.at("c");
  CHECK(context.cluster + "/" + context.user + "/" + context.ns == "k/u/ns");
}

TEST_CASE("kubeconfig: relative paths are resolved against the folder of their file", "[client]") {
  const auto config = ParseText(R"({
    "clusters":[{"name":"k","cluster":{"certificate-authority":"pki/ca.crt"}}],
    "users":[{"name":"u","user":{"client-certificate":"../a.crt","client-key":"/abs/a.key",
                                 "tokenFile":"token","exec":{"command":"bin/plugin"}}},
             {"name":"v","user":{"exec":{"command":"plugin"}}}]})");
  REQUIRE(config);
  CHECK(config->clusters.at("k").ca_file == "/home/a/pki/ca.crt");
  const UserEntry& user = config->users.at("u");
  CHECK(user.cert_file == "/home/a.crt");
  CHECK(user.key_file == "/abs/a.key");
  CHECK(user.token_file == "/home/a/token");
  CHECK(user.exec.command == "/home/a/bin/plugin");
  CHECK(config->users.at("v").exec.command == "plugin");
}

TEST_CASE("kubeconfig: a file named without a folder keeps an exec path a path", "[client]") {
  const auto config =
      ParseText(R"({"users":[{"name":"u","user":{"exec":{"command":"./plugin"}}}]})", "config");
  REQUIRE(config);
  CHECK(config->users.at("u").exec.command == "./plugin");
}

TEST_CASE("kubeconfig: the error for a wrong type names file, entry and field", "[client]") {
  struct Case {
    std::string document;
    std::string message;
  };
  const auto [document, message] = GENERATE(values<Case>({
      {R"([])", "/f is not a kubeconfig: expected an object, not a value of type array"},
      {R"({"kind":"Pod","apiVersion":"v1"})",
       "/f is not a kubeconfig: it contains v1 Pod, not v1 Config"},
      {R"({"clusters":{}})", "/f: clusters must be a list, not a value of type object"},
      {R"({"clusters":[3]})", "/f: clusters[0] must be an object, not a value of type number"},
      {R"({"clusters":[{"cluster":{}}]})", "/f: clusters[0].name is missing"},
      {R"({"clusters":[{"name":"k","cluster":{"server":1}}]})",
       "/f: cluster \"k\".server must be a string, not a value of type number"},
      {R"({"clusters":[{"name":"k","cluster":{"insecure-skip-tls-verify":"yes"}}]})",
       "/f: cluster \"k\".insecure-skip-tls-verify must be true or false, not a value of type "
       "string"},
      {R"({"users":[{"name":"u","user":{"token":12345}}]})",
       "/f: user \"u\".token must be a string, not a value of type number"},
      {R"({"users":[{"name":"u","user":{"as-groups":"g"}}]})",
       "/f: user \"u\".as-groups must be a list, not a value of type string"},
      {R"({"users":[{"name":"u","user":{"as-user-extra":{"k":"v"}}}]})",
       "/f: user \"u\".as-user-extra.k must be a list, not a value of type string"},
      {R"({"users":[{"name":"u","user":{"exec":{"args":[1]}}}]})",
       "/f: user \"u\".exec.args must be a list of strings, not a value of type number"},
      {R"({"users":[{"name":"u","user":{"exec":{"env":[{"name":1}]}}}]})",
       "/f: user \"u\".exec.env[0].name must be a string, not a value of type number"},
      {R"({"contexts":[{"name":"c"},{"name":"c"}]})", "/f: context \"c\" is defined twice"},
      {R"({"current-context":true})",
       "/f: current-context must be a string, not a value of type boolean"},
  }));
  const auto config = ParseText(document, "/f");
  REQUIRE_FALSE(config);
  CHECK(config.error().code == base::ErrorCode::kInvalidArgument);
  CHECK(config.error().message == message);
}

TEST_CASE("kubeconfig: the first file that defines an entry wins as a whole", "[client]") {
  const TempFolder folder;
  const std::string first = folder.Write("one", R"({"clusters":[{"name":"k","cluster":{}}]})");
  const std::string second = folder.Write("sub/two", R"({"current-context":"c",
    "clusters":[{"name":"k","cluster":{"server":"https://lost"}},
                {"name":"m","cluster":{"server":"https://m","certificate-authority":"ca"}}]})");
  const std::string third = folder.Write("three", R"({"current-context":"d"})");
  const std::string empty = folder.Write("empty", "");
  const auto loaded = LoadKubeconfig({folder.path() + "/missing", first, second, empty, third});
  REQUIRE(loaded);
  CHECK(loaded->found == 4);
  CHECK(loaded->config.clusters.at("k").server.empty());
  CHECK(loaded->config.clusters.at("m").ca_file == folder.path() + "/sub/ca");
  CHECK(loaded->config.current_context == "c");
}

TEST_CASE("kubeconfig: a file that cannot be read or parsed is an error, not a missing one",
          "[client]") {
  const TempFolder folder;
  SECTION("a folder") {
    const auto loaded = LoadKubeconfig({folder.path()});
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == base::ErrorCode::kInvalidArgument);
    CHECK(loaded.error().message == "read " + folder.path() + ": Is a directory");
  }
  SECTION("no YAML") {
    const std::string file = folder.Write("bad", "a: [1,\nb: }");
    const auto loaded = LoadKubeconfig({file});
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == base::ErrorCode::kInvalidArgument);
    CHECK(loaded.error().message.starts_with(file + ": "));
  }
}

TEST_CASE("kubeconfig: YAML files are read, too", "[client]") {
  const TempFolder folder;
  const std::string file = folder.Write("config", R"(apiVersion: v1
kind: Config
clusters:
- name: kind
  cluster:
    server: https://127.0.0.1:6443
    insecure-skip-tls-verify: true
contexts:
- name: kind
  context: {cluster: kind}
current-context: kind
)");
  const auto loaded = LoadKubeconfig({file});
  REQUIRE(loaded);
  CHECK(loaded->config.clusters.at("kind").server == "https://127.0.0.1:6443");
  CHECK(loaded->config.clusters.at("kind").insecure);
  CHECK(loaded->config.current_context == "kind");
}

TEST_CASE("kubeconfig: empty and repeated parts of a path list are dropped", "[client]") {
  CHECK(SplitPathList("").empty());
  CHECK(SplitPathList("/a") == std::vector<std::string>{"/a"});
  CHECK(SplitPathList(":/a::/b:/a:") == std::vector<std::string>{"/a", "/b"});
}

}  // namespace
}  // namespace client::kubeconfig_test

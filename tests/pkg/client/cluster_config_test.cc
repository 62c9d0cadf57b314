#include "pkg/client/cluster_config.h"

#include <catch2/catch.hpp>
#include <map>

#include "pkg/client/context_resolver.h"
#include "pkg/client/in_cluster.h"
#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::cluster_config_test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kPem = "-----BEGIN CERTIFICATE-----\nQQ==\n-----END CERTIFICATE-----\n";
// The base64 of "-----BEGIN X-----".
constexpr const char* kPemData = "LS0tLS1CRUdJTiBYLS0tLS0=";

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

std::string Config(const std::string& cluster, const std::string& user) {
  return R"({"current-context":"c","clusters":[{"name":"k","cluster":)" + cluster +
         R"(}],"users":[{"name":"u","user":)" + user +
         R"(}],"contexts":[{"name":"c","context":{"cluster":"k","user":"u","namespace":"team"}}]})";
}

base::Result<ClusterConfig> Resolve(const std::string& text, const std::string& context = "",
                                    const Environment& environment = Variables({}),
                                    const Caller& caller = {}) {
  const auto config = ParseKubeconfig(json::Parse(text).value(), "/f");
  return ResolveContext(config.value(), context, "/f", environment, caller);
}

TEST_CASE("cluster config: a context names server, trust and credentials", "[client]") {
  const auto config = Resolve(Config(std::string(R"({"server":"https://h:6443/k8s/c1",
      "tls-server-name":"kube","certificate-authority-data":")") +
                                         kPemData + "\"}",
                                     R"({"token":"secret","as":"root","as-groups":["g"]})"));
  REQUIRE(config);
  CHECK(config->server.host == "h");
  CHECK(config->server.path == "/k8s/c1");
  CHECK(config->tls.server_name == "kube");
  CHECK(config->tls.ca_pem == "-----BEGIN X-----");
  CHECK(config->token == "secret");
  CHECK(config->ns == "team");
  CHECK(config->impersonate.user == "root");
  CHECK(config->impersonate.groups == std::vector<std::string>{"g"});
  CHECK(config->Describe() == "https://h:6443/k8s/c1 (context \"c\" of /f)");
}

TEST_CASE("cluster config: the error for exclusive fields names them", "[client]") {
  const std::string server = R"({"server":"https://h"})";
  const std::string data = kPemData;
  struct Case {
    std::string cluster;
    std::string user;
    std::string message;
  };
  const std::string exec = R"({"exec":{"apiVersion":"client.authentication.k8s.io/v1",)";
  const std::vector<Case> cases{
      {R"({})", R"({})", "/f: cluster \"k\": server is missing"},
      {R"({"server":"socks5://h"})", R"({})",
       "/f: cluster \"k\": server \"socks5://h\" must begin with https:// or http://"},
      {R"({"server":"socks5://bob:S3cr3t@h"})", R"({})",
       "/f: cluster \"k\": server \"socks5://***@h\" must begin with https:// or http://"},
      {R"({"server":"https://bob:S3cr3t@h:x"})", R"({})",
       "/f: cluster \"k\": server: URL \"https://***@h:x\": "},
      {R"({"server":"https://h","proxy-url":"http://bob:S3#@p"})", R"({})",
       "/f: cluster \"k\": proxy-url: URL \"http://***@p\": "},
      {R"({"server":"https://h","insecure-skip-tls-verify":true,"certificate-authority-data":")" +
           data + "\"}",
       R"({})",
       "/f: cluster \"k\": insecure-skip-tls-verify and certificate-authority are mutually "
       "exclusive"},
      {R"({"server":"https://h","certificate-authority":"x","certificate-authority-data":")" +
           data + "\"}",
       R"({})",
       "/f: cluster \"k\": certificate-authority and certificate-authority-data are both set; only "
       "one is allowed"},
      {R"({"server":"https://h","certificate-authority-data":"!"})", R"({})",
       "/f: cluster \"k\": certificate-authority-data: not valid base64 at byte 0"},
      {R"({"server":"https://h","certificate-authority-data":"QUJD"})", R"({})",
       "/f: cluster \"k\": certificate-authority-data holds no PEM block"},
      {R"({"server":"https://h","certificate-authority":"/nowhere/ca"})", R"({})",
       "/f: cluster \"k\": certificate-authority: read /nowhere/ca: No such file or directory"},
      {R"({"server":"https://h","proxy-url":"ftp://p"})", R"({})",
       "/f: cluster \"k\": proxy-url: "},
      {R"({"server":"https://h","proxy-url":"p:1"})", R"({})",
       "/f: cluster \"k\": proxy-url must begin with"},
      {server, R"({"token":"t","username":"a"})",
       "/f: user \"u\": a token and username/password are mutually exclusive"},
      {server, R"({"tokenFile":"/t","password":"a"})",
       "/f: user \"u\": a token and username/password are mutually exclusive"},
      {server, R"({"as-uid":"1"})",
       "/f: user \"u\": as-uid, as-groups and as-user-extra need \"as\""},
      {server, R"({"as-groups":["g"]})",
       "/f: user \"u\": as-uid, as-groups and as-user-extra need \"as\""},
      {server, R"({"auth-provider":{"name":"gcp"}})",
       "/f: user \"u\": auth-provider \"gcp\": the gcp auth plugin has been removed; use the exec "
       "credential plugin gke-gcloud-auth-plugin instead"},
      {server, R"({"auth-provider":{"name":"azure","config":{"id-token":"a.b.c"}}})",
       "/f: user \"u\": auth-provider \"azure\": the azure auth plugin has been removed; use the "
       "exec credential plugin of https://github.com/Azure/kubelogin instead"},
      {server, R"({"auth-provider":{"name":"openstack"}})",
       "/f: user \"u\": auth-provider \"openstack\": is not known; use an exec"},
      {server, R"({"client-certificate-data":")" + data + "\"}",
       "/f: user \"u\": client-certificate needs client-key"},
      {server, R"({"client-key-data":")" + data + "\"}",
       "/f: user \"u\": client-key needs client-certificate"},
      {server, R"({"client-certificate":"/x","client-certificate-data":")" + data + "\"}",
       "/f: user \"u\": client-certificate and client-certificate-data are both set"},
      {server, R"({"tokenFile":"/nowhere/token"})",
       "/f: user \"u\": tokenFile: read /nowhere/token: No such file or directory"},
      {server, exec + R"("interactiveMode":"Never"}})", "/f: user \"u\": exec.command is missing"},
      {server, exec + R"("command":"c"}})", "/f: user \"u\": exec.interactiveMode is missing"},
      {server, exec + R"("command":"c","interactiveMode":"Always"}})",
       "/f: user \"u\": exec.interactiveMode is Always, and a daemon has no terminal"},
      {server, exec + R"("command":"c","interactiveMode":"Often"}})",
       "/f: user \"u\": exec.interactiveMode \"Often\" must be"},
      {server, R"({"exec":{"command":"c"}})", "/f: user \"u\": exec.apiVersion \"\" must be"},
      {server, exec + R"("command":"c","interactiveMode":"Never","env":[{"value":"v"}]}})",
       "/f: user \"u\": exec.env has an entry without a name"},
      {server,
       exec + R"("command":"c","interactiveMode":"Never"},"auth-provider":{"name":"oidc"}})",
       "/f: user \"u\": exec and auth-provider are mutually exclusive"},
  };
  for (const Case& test : cases) {
    INFO(test.message);
    const auto config = Resolve(Config(test.cluster, test.user));
    REQUIRE_FALSE(config);
    CHECK(config.error().code == base::ErrorCode::kInvalidArgument);
    CHECK_THAT(config.error().message, Catch::StartsWith(test.message));
  }
}

TEST_CASE("cluster config: an invalid entry that is not in use is ignored", "[client]") {
  const auto config = Resolve(R"({"current-context":"c",
    "clusters":[{"name":"k","cluster":{"server":"https://h"}},{"name":"bad","cluster":{}}],
    "users":[{"name":"bad","user":{"auth-provider":{"name":"gcp"}}}],
    "contexts":[{"name":"c","context":{"cluster":"k"}},
                {"name":"bad","context":{"cluster":"bad","user":"bad"}}]})");
  REQUIRE(config);
  CHECK(config->ns == "default");
}

TEST_CASE("cluster config: unknown contexts, clusters and users are errors", "[client]") {
  const std::string contexts = R"({"clusters":[{"name":"k","cluster":{"server":"https://h"}}],
    "contexts":[{"name":"a","context":{"cluster":"none"}},{"name":"b","context":{}},
                {"name":"d","context":{"cluster":"k","user":"none"}}]})";
  CHECK(Resolve(contexts).error().message ==
        "/f: current-context is empty; choose one with --context (there are: a, b, d)");
  CHECK(Resolve(contexts, "x").error().message ==
        "/f: context \"x\" is not defined (there are: a, b, d)");
  CHECK(Resolve(contexts, "a").error().message ==
        "/f: context \"a\": cluster \"none\" is not defined");
  CHECK(Resolve(contexts, "b").error().message == "/f: context \"b\": cluster is missing");
  CHECK(Resolve(contexts, "d").error().message ==
        "/f: context \"d\": user \"none\" is not defined");
}

TEST_CASE("cluster config: a server that is not https gets no credential", "[client]") {
  const auto config = Resolve(Config(
      R"({"server":"http://h:8080"})",
      R"({"token":"secret","client-certificate":"/nowhere","client-key":"/nowhere","as":"root"})"));
  REQUIRE(config);
  CHECK(config->token.empty());
  CHECK(config->tls.cert_pem.empty());
  CHECK(config->cert_file.empty());
}

TEST_CASE("cluster config: a server without a scheme is https where trust is configured",
          "[client]") {
  CHECK(
      Resolve(Config(R"({"server":"h:1","insecure-skip-tls-verify":true})", "{}"))->server.scheme ==
      "https");
  CHECK(Resolve(Config(R"({"server":"h:1"})", "{}"))->server.scheme == "http");
}

TEST_CASE("cluster config: certificates and tokens are read from files", "[client]") {
  const TempFolder folder;
  const std::string cert = folder.Write("cert", kPem);
  const std::string key = folder.Write("key", "-----BEGIN PRIVATE KEY-----");
  const std::string token = folder.Write("token", "  fresh\n");
  const std::string files = R"("client-certificate":")" + cert + R"(","client-key":")" + key +
                            R"(","tokenFile":")" + token + "\"";
  const auto config = Resolve(Config(R"({"server":"https://h"})", "{" + files + "}"));
  REQUIRE(config);
  CHECK(config->tls.cert_pem == kPem);
  CHECK(config->tls.key_pem == "-----BEGIN PRIVATE KEY-----");
  CHECK(config->cert_file == cert);
  CHECK(config->token == "fresh");
  CHECK(config->token_file == token);

  SECTION("a literal token beside the file is what it starts from") {
    const auto both = Resolve(
        Config(R"({"server":"https://h"})", R"({"token":"literal","tokenFile":"/nowhere"})"));
    REQUIRE(both);
    CHECK(both->token == "literal");
    CHECK(both->token_file == "/nowhere");
  }
}

TEST_CASE("cluster config: the cluster's proxy takes precedence over the environment's",
          "[client]") {
  const Environment environment = Variables({{"HTTPS_PROXY", "http://env:3128"}});
  CHECK(Resolve(Config(R"({"server":"https://h"})", "{}"), "", environment)->proxy->host == "env");
  const auto own = Resolve(Config(R"({"server":"https://h","proxy-url":"socks5://own:1"})", "{}"),
                           "", environment);
  CHECK(own->proxy->host == "own");
  CHECK(own->proxy->scheme == "socks5");
}

struct Places {
  TempFolder folder;
  LoadOptions options;
  std::map<std::string, std::string> variables;

  Places() {
    options.home = folder.path() + "/home";
    options.service_account = folder.path() + "/sa";
  }
  void AddHome() { folder.Write("home/.kube/config", Text("home")); }
  void AddPod() {
    variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
    variables["KUBERNETES_SERVICE_PORT"] = "443";
    folder.Write("sa/token", "pod-token\n");
    folder.Write("sa/ca.crt", kPem);
    folder.Write("sa/namespace", "kube-quota\n");
  }
  void AddVariable() { variables["KUBECONFIG"] = folder.Write("var", Text("var")); }
  base::Result<ClusterConfig> Load() {
    options.environment = Variables(variables);
    return LoadClusterConfig(options);
  }
  static std::string Text(const std::string& host) {
    return R"({"current-context":"c","clusters":[{"name":"k","cluster":{"server":"https://)" +
           host + R"("}}],"contexts":[{"name":"c","context":{"cluster":"k"}}]})";
  }
};

TEST_CASE("cluster config: the order is flag, pod, $KUBECONFIG, home directory", "[client]") {
  Places places;
  places.AddHome();
  CHECK(places.Load()->server.host == "home");
  places.AddVariable();
  CHECK(places.Load()->server.host == "var");
  places.AddPod();
  CHECK(places.Load()->server.host == "10.0.0.1");
  SECTION("a context rules the pod's account out") {
    places.options.context = "c";
    CHECK(places.Load()->server.host == "var");
  }
  SECTION("the flag wins") {
    places.options.kubeconfig = places.folder.Write("flag", Places::Text("flag"));
    CHECK(places.Load()->server.host == "flag");
  }
  SECTION("the flag's file must exist") {
    places.options.kubeconfig = "/nowhere/config";
    CHECK(places.Load().error().message == "--kubeconfig: /nowhere/config does not exist");
  }
}

TEST_CASE("cluster config: without any configuration one message names the places", "[client]") {
  Places places;
  const auto nothing = places.Load();
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code == base::ErrorCode::kInvalidArgument);
  CHECK(nothing.error().message ==
        "no API server is configured: --kubeconfig is not given, this is not a pod "
        "(KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set), $KUBECONFIG is not "
        "set, and " +
            places.options.home + "/.kube/config does not exist");
  places.AddHome();
  places.variables["KUBECONFIG"] = "/nowhere/a:/nowhere/b";
  CHECK_THAT(places.Load().error().message,
             Contains("$KUBECONFIG names no file that exists (/nowhere/a, /nowhere/b)"));
}

TEST_CASE("cluster config: for a user the pod's account is last, as in kubectl", "[client]") {
  Places places;
  places.options.caller.input = PluginInput::kNotTerminal;
  places.AddPod();
  SECTION("without a kubeconfig it is used, with the flags over it") {
    CHECK(places.Load()->server.host == "10.0.0.1");
    places.options.caller.flags.user.as = "jane";
    CHECK(places.Load()->impersonate.user == "jane");
    CHECK(places.Load()->in_cluster);
    places.options.caller.flags.user.token = "flag";
    CHECK(places.Load()->token == "flag");
    CHECK(places.Load()->token_file.empty());
  }
  SECTION("and if $KUBECONFIG names only absent or empty files") {
    places.variables["KUBECONFIG"] = "/nowhere/a:" + places.folder.Write("empty", "");
    CHECK(places.Load()->server.host == "10.0.0.1");
    places.options.kubeconfig = places.folder.Write("null", "apiVersion: v1\nkind: Config\n");
    CHECK(places.Load()->server.host == "10.0.0.1");
  }
  SECTION("a kubeconfig goes before it") {
    places.AddHome();
    CHECK(places.Load()->server.host == "home");
    places.AddVariable();
    places.variables["KUBECONFIG"] = "/nowhere/a:" + places.variables["KUBECONFIG"];
    CHECK(places.Load()->server.host == "var");
  }
  SECTION("a server of the flags goes before it, without its credentials") {
    places.options.caller.flags.cluster.server = "https://flag";
    CHECK(places.Load()->server.host == "flag");
    CHECK(places.Load()->token.empty());
  }
  SECTION("a flag that names an entry of a kubeconfig rules it out, and is named") {
    places.options.caller.flags.cluster_name = "k";
    CHECK_THAT(places.Load().error().message,
               Contains("--cluster k rules out the pod's service account, $KUBECONFIG is not set"));
  }
  SECTION("an account without a token is not used, and that is what the error says") {
    std::filesystem::remove(places.options.service_account + "/token");
    CHECK_THAT(places.Load().error().message,
               Contains("the pod has no service account (" + places.options.service_account +
                        "/token cannot be read)") &&
                   !Contains("not set)"));
  }
  SECTION("the variable that is not set is named alone") {
    places.variables.erase("KUBERNETES_SERVICE_PORT");
    CHECK_THAT(places.Load().error().message,
               Contains("this is not a pod (KUBERNETES_SERVICE_PORT is not set)"));
  }
}

TEST_CASE("cluster config: in a pod the service account's files are used", "[client]") {
  Places places;
  places.AddPod();
  const auto config = places.Load();
  REQUIRE(config);
  CHECK(config->server.scheme == "https");
  CHECK(config->token == "pod-token");
  CHECK(config->token_file == places.options.service_account + "/token");
  CHECK(config->tls.ca_pem == kPem);
  CHECK(config->ns == "kube-quota");
  SECTION("POD_NAMESPACE goes before the file") {
    places.variables["POD_NAMESPACE"] = "mine";
    CHECK(places.Load()->ns == "mine");
  }
  SECTION("an IPv6 host is bracketed") {
    places.variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
    CHECK(places.Load()->server.Authority() == "[fd00::1]:443");
  }
  SECTION("a missing CA leaves the system's roots") {
    std::filesystem::remove(places.options.service_account + "/ca.crt");
    const auto rootless = places.Load();
    REQUIRE(rootless);
    CHECK(rootless->tls.ca_pem.empty());
    CHECK_FALSE(rootless->tls.insecure);
  }
  SECTION("a missing or empty token is an error") {
    places.folder.Write("sa/token", " \n");
    CHECK_THAT(places.Load().error().message, Contains("/sa/token is empty"));
    std::filesystem::remove(places.options.service_account + "/token");
    CHECK_THAT(places.Load().error().message, Contains("/sa/token: No such file"));
    CHECK(places.Load().error().code == base::ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace client::cluster_config_test

#include "pkg/client/overrides.h"

#include <catch2/catch.hpp>

#include "pkg/client/context_resolver.h"
#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::overrides_test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kPem = "-----BEGIN CERTIFICATE-----\nQQ==\n-----END CERTIFICATE-----\n";
// The base64 of "-----BEGIN X-----".
constexpr const char* kPemData = "LS0tLS1CRUdJTiBYLS0tLS0=";

struct Fixture {
  TempFolder folder;
  std::string ca = folder.Write("ca", kPem);
  Kubeconfig config;
  Caller caller{.input = PluginInput::kNotTerminal};
  Overrides& flags = caller.flags;

  Fixture() {
    config.current_context = "c";
    config.contexts["c"] = {.file = "/f", .cluster = "k", .user = "u", .ns = "team"};
    config.clusters["k"] = {
        .file = "/f", .server = "https://h", .tls_server_name = "kube", .ca_data = kPemData};
    config.clusters["other"] = {.file = "/f", .server = "https://other"};
    config.users["u"] = {.file = "/f", .token = "own"};
    config.users["bare"] = {.file = "/f"};
  }
  base::Result<ClusterConfig> Resolve() {
    const Environment none = [](std::string_view) -> std::optional<std::string> { return {}; };
    return ResolveContext(config, "", "/f", none, caller);
  }
};

TEST_CASE("overrides: another server keeps the CA, and drops tls-server-name", "[client]") {
  Fixture fixture;
  fixture.flags.cluster.server = "https://there:6443/prefix";
  const auto config = fixture.Resolve();
  REQUIRE(config);
  CHECK(config->server.host == "there");
  CHECK(config->server.path == "/prefix");
  CHECK(config->tls.ca_pem == "-----BEGIN X-----");
  CHECK(config->tls.server_name.empty());
  CHECK(config->token == "own");
  CHECK(config->ns == "team");
  fixture.flags.cluster.tls_server_name = "flag";
  CHECK(fixture.Resolve()->tls.server_name == "flag");
}

TEST_CASE("overrides: trust of the flags takes the place of the entry's", "[client]") {
  Fixture fixture;
  SECTION("a CA") {
    fixture.config.clusters["k"].ca_data.clear();
    fixture.config.clusters["k"].insecure = true;
    fixture.flags.cluster.ca_file = fixture.ca;
    CHECK(fixture.Resolve()->tls.ca_pem == kPem);
    CHECK_FALSE(fixture.Resolve()->tls.insecure);
  }
  SECTION("none") {
    fixture.flags.cluster.insecure = true;
    CHECK(fixture.Resolve()->tls.ca_pem.empty());
    CHECK(fixture.Resolve()->tls.insecure);
    CHECK(fixture.Resolve()->tls.server_name == "kube");
  }
  SECTION("both exclude each other") {
    fixture.flags.cluster.ca_file = fixture.ca;
    fixture.flags.cluster.insecure = true;
    CHECK(fixture.Resolve().error().message ==
          "/f: cluster \"k\": insecure-skip-tls-verify and certificate-authority are mutually "
          "exclusive");
  }
  SECTION("a file that is not there") {
    fixture.flags.cluster.ca_file = "/nowhere/ca";
    CHECK_THAT(fixture.Resolve().error().message, Contains("read /nowhere/ca: No such file"));
  }
}

TEST_CASE("overrides: a token is used instead of the user's other credentials", "[client]") {
  Fixture fixture;
  fixture.flags.user.token = "flag";
  UserEntry& user = fixture.config.users["u"];
  SECTION("of another token") {}
  SECTION("of a token file") {
    user.token.clear();
    user.token_file = "/nowhere/token";
  }
  SECTION("of an exec plugin, even one that needs a terminal") {
    user.token.clear();
    user.has_exec = true;
    user.exec = {.api_version = "client.authentication.k8s.io/v1",
                 .command = "c",
                 .interactive_mode = "Always"};
  }
  SECTION("of an auth-provider") {
    user.token.clear();
    user.auth_provider = "gcp";
  }
  SECTION("of a user that is not defined") { fixture.config.users.clear(); }
  const auto config = fixture.Resolve();
  REQUIRE(config);
  CHECK(config->token == "flag");
  CHECK(config->token_file.empty());
  CHECK_FALSE(config->exec);
}

TEST_CASE("overrides: a token and a user name exclude each other, as in kubectl", "[client]") {
  Fixture fixture;
  fixture.config.users["u"] = {.file = "/f", .username = "a", .password = "b"};
  fixture.flags.user.token = "flag";
  CHECK(fixture.Resolve().error().message ==
        "/f: user \"u\": a token and username/password are mutually exclusive");
}

TEST_CASE("overrides: a client certificate goes before an exec plugin", "[client]") {
  Fixture fixture;
  UserEntry& user = fixture.config.users["u"];
  user = {.file = "/f", .cert_data = kPemData, .key_data = kPemData, .has_exec = true};
  user.exec = {.api_version = "client.authentication.k8s.io/v1beta1", .command = "c"};
  CHECK_FALSE(fixture.Resolve()->exec);
  SECTION("a file of the flags takes the place of the entry's data") {
    fixture.flags.user.cert_file = fixture.ca;
    fixture.flags.user.key_file = fixture.ca;
    CHECK(fixture.Resolve()->tls.cert_pem == kPem);
  }
}

TEST_CASE("overrides: who is impersonated", "[client]") {
  Fixture fixture;
  UserEntry& user = fixture.config.users["u"];
  user.as = "root";
  user.as_groups = {"wheel"};
  fixture.flags.user.as = "jane";
  fixture.flags.user.as_groups = {"dev", "qa"};
  fixture.flags.user.as_uid = "7";
  fixture.flags.user.as_extra = {{"scope", "a"}};
  const auto config = fixture.Resolve();
  REQUIRE(config);
  CHECK(config->impersonate.user == "jane");
  CHECK(config->impersonate.groups == std::vector<std::string>{"dev", "qa"});
  CHECK(config->impersonate.uid == "7");
  CHECK(config->impersonate.extra.size() == 1);
  CHECK(config->token == "own");
  SECTION("a group needs a user") {
    user.as.clear();
    fixture.flags.user.as.clear();
    CHECK_THAT(fixture.Resolve().error().message, Contains("need \"as\""));
  }
}

TEST_CASE("overrides: other entries are named by flags, and must exist", "[client]") {
  Fixture fixture;
  fixture.flags.cluster_name = "other";
  fixture.flags.user_name = "bare";
  CHECK(fixture.Resolve()->server.host == "other");
  CHECK(fixture.Resolve()->token.empty());
  SECTION("without a context") {
    fixture.config.current_context.clear();
    CHECK(fixture.Resolve()->server.host == "other");
    CHECK(fixture.Resolve()->ns == "default");
  }
  SECTION("no such cluster") {
    fixture.flags.cluster_name = "x";
    CHECK(fixture.Resolve().error().message ==
          "/f: cluster \"x\" of --cluster is not defined (there are: k, other)");
  }
  SECTION("no such user") {
    fixture.flags.user_name = "x";
    fixture.flags.user.token = "t";
    CHECK(fixture.Resolve().error().message ==
          "/f: user \"x\" of --user is not defined (there are: bare, u)");
  }
}

TEST_CASE("overrides: a server alone needs no kubeconfig", "[client]") {
  Fixture fixture;
  fixture.config = {};
  fixture.flags.cluster.server = "https://h";
  fixture.flags.user.token = "flag";
  const auto config = fixture.Resolve();
  REQUIRE(config);
  CHECK(config->Describe() == "https://h:443 (the flags)");
  CHECK(config->token == "flag");
}

TEST_CASE("overrides: an exec plugin that must ask gets a terminal, or an error", "[client]") {
  Fixture fixture;
  UserEntry& user = fixture.config.users["u"];
  user = {.file = "/f", .has_exec = true};
  user.exec = {.api_version = "client.authentication.k8s.io/v1",
               .command = "c",
               .interactive_mode = "Always"};
  const std::string always = "/f: user \"u\": exec.interactiveMode is Always, and ";
  CHECK(fixture.Resolve().error().message == always + "standard input is not a terminal");
  fixture.caller.input = PluginInput::kTaken;
  CHECK(fixture.Resolve().error().message == always + "-f - reads standard input");
  fixture.caller.input = PluginInput::kDaemon;
  CHECK(fixture.Resolve().error().message == always + "a daemon has no terminal");
  fixture.caller.input = PluginInput::kTerminal;
  CHECK(fixture.Resolve()->plugin_input == PluginInput::kTerminal);
}

}  // namespace
}  // namespace client::overrides_test

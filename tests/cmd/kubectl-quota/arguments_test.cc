#include "cmd/kubectl-quota/arguments.h"

#include <catch2/catch.hpp>

#include "cmd/kubectl-quota/words.h"

namespace arguments_test {

using Catch::Matchers::Contains;
using kubectl_quota::Command;
using kubectl_quota::ParseArguments;

TEST_CASE("arguments: the default command is top, and flags may precede or follow the command",
          "[kubectl-quota]") {
  CHECK(ParseArguments({}).options.command == Command::kTop);
  const auto before = ParseArguments({"-n", "a", "--no-headers", "who", "compute"});
  const auto behind = ParseArguments({"who", "compute", "-n", "a", "--no-headers"});
  for (const auto& parsed : {before, behind}) {
    REQUIRE_FALSE(parsed.leave);
    CHECK(parsed.options.command == Command::kWho);
    CHECK(parsed.options.who.quota == "compute");
    CHECK(parsed.options.place.ns == "a");
    CHECK_FALSE(parsed.options.headers);
  }
  CHECK(ParseArguments({"-w"}).options.watch);
  CHECK(ParseArguments({"why", "deploy/a", "pod-b"}).options.why.objects.size() == 2);
}

TEST_CASE("arguments: tree takes a quota or a namespace", "[kubectl-quota]") {
  const auto parsed = ParseArguments({"tree", "team-a", "-o", "name"});
  REQUIRE_FALSE(parsed.leave);
  CHECK(parsed.options.command == Command::kTree);
  CHECK(parsed.options.tree.quota == "team-a");
  CHECK_FALSE(ParseArguments({"tree", "-n", "a"}).leave);
  CHECK_FALSE(ParseArguments({"tree", "-A"}).leave);
}

TEST_CASE("arguments: check takes several files", "[kubectl-quota]") {
  const auto parsed = ParseArguments({"check", "-f", "a.yaml", "-f", "-", "--nodes", "3",
                                      "--validate=false", "--quota-file", "q.yaml", "-o", "junit"});
  REQUIRE_FALSE(parsed.leave);
  const auto& check = parsed.options.check;
  CHECK(check.files == std::vector<std::string>{"a.yaml", "-"});
  CHECK(check.nodes == 3);
  CHECK_FALSE(check.validate);
  CHECK(check.quota_files == std::vector<std::string>{"q.yaml"});
  CHECK(parsed.options.output == "junit");
}

TEST_CASE("arguments: kubectl's flags for the connection are there", "[kubectl-quota]") {
  const auto parsed = ParseArguments({"who",
                                      "compute",
                                      "--as=jane",
                                      "--as-group",
                                      "dev",
                                      "--as-group=qa",
                                      "--as-uid=7",
                                      "--as-user-extra",
                                      "scope=a=b",
                                      "--token=t",
                                      "--user",
                                      "u",
                                      "--cluster=k",
                                      "-s",
                                      "https://h",
                                      "--request-timeout=5s",
                                      "--insecure-skip-tls-verify",
                                      "--tls-server-name=kube",
                                      "--certificate-authority=ca",
                                      "--client-certificate=cert",
                                      "--client-key=key",
                                      "-v=6",
                                      "--disable-compression=true",
                                      "--username=a",
                                      "--password="});
  REQUIRE_FALSE(parsed.leave);
  const auto& flags = parsed.options.place.flags;
  CHECK(flags.user.as == "jane");
  CHECK(flags.user.as_groups == std::vector<std::string>{"dev", "qa"});
  CHECK(flags.user.as_uid == "7");
  CHECK(flags.user.as_extra == std::vector<std::pair<std::string, std::string>>{{"scope", "a=b"}});
  CHECK(flags.user.token == "t");
  CHECK(flags.user.cert_file == "cert");
  CHECK(flags.user.key_file == "key");
  CHECK(flags.user.username == "a");
  CHECK(flags.user.password.empty());
  CHECK(flags.user_name == "u");
  CHECK(flags.cluster_name == "k");
  CHECK(flags.cluster.server == "https://h");
  CHECK(flags.cluster.insecure);
  CHECK(flags.cluster.tls_server_name == "kube");
  CHECK(flags.cluster.ca_file == "ca");
  CHECK(flags.cluster.disable_compression);
  CHECK(parsed.options.place.request_timeout == std::chrono::seconds(5));
  CHECK(parsed.options.verbosity == 6);
  CHECK(parsed.options.who.quota == "compute");
  CHECK(ParseArguments({"who", "clusterquota", "team-a"}).options.who.quota ==
        "clusterquota/team-a");
  CHECK(ParseArguments({"--server=https://x"}).options.place.flags.cluster.server == "https://x");
  CHECK(ParseArguments({"-v", "6", "--v=8"}).options.verbosity == 8);
}

TEST_CASE("arguments: the last of several values counts, and a value may be empty",
          "[kubectl-quota]") {
  const auto parsed = ParseArguments({"-n", "a", "-n=b", "--context=", "--namespace=c"});
  REQUIRE_FALSE(parsed.leave);
  CHECK(parsed.options.place.ns == "c");
  CHECK(parsed.options.place.context.empty());
}

TEST_CASE("arguments: a timeout is seconds or a duration", "[kubectl-quota]") {
  const auto of = [](const char* text) {
    return ParseArguments({"--request-timeout", text}).options.place.request_timeout;
  };
  CHECK(of("90") == std::chrono::seconds(90));
  CHECK(of("1m30s") == std::chrono::seconds(90));
  CHECK(of("100us") == std::chrono::milliseconds(1));
  CHECK_FALSE(of("0"));
  CHECK_FALSE(of("0s"));
}

TEST_CASE("arguments: a short flag may have its value behind =", "[kubectl-quota]") {
  const auto parsed = ParseArguments({"top", "-n=a", "-o=json", "-l=app=web"});
  REQUIRE_FALSE(parsed.leave);
  CHECK(parsed.options.place.ns == "a");
  CHECK(parsed.options.place.selector == "app=web");
  CHECK(parsed.options.output == "json");
  const auto all = ParseArguments({"-A=true", "-w=false"});
  REQUIRE_FALSE(all.leave);
  CHECK(all.options.place.all_namespaces);
  CHECK_FALSE(all.options.watch);
  CHECK(ParseArguments({"check", "-f=a.yaml"}).options.check.files ==
        std::vector<std::string>{"a.yaml"});
  CHECK(ParseArguments({"why", "--", "-n=a"}).options.why.objects ==
        std::vector<std::string>{"-n=a"});
}

TEST_CASE("arguments: a wrong call prints one line and exits with 2", "[kubectl-quota]") {
  using Call = std::pair<std::vector<std::string>, const char*>;
  const Call call = GENERATE(
      Call{{"--frobnicate"}, "--frobnicate"}, Call{{"frobnicate"}, "frobnicate"},
      Call{{"top", "-o", "xml"}, "-o xml is unknown to top"}, Call{{"who"}, "QUOTA is required"},
      Call{{"who", "q", "-A"}, "who looks into one namespace"},
      Call{{"-A", "-n", "x"}, "-n and -A cannot be used together"},
      Call{{"who", "q", "-w"}, "-w is for top only"},
      Call{{"-w", "-o", "json"}, "-w goes with tables and csv only"},
      Call{{"tree", "-l", "a=b"}, "does not support -l"},
      Call{{"tree", "-o", "csv"}, "-o csv is unknown to tree"},
      Call{{"tree", "q", "-n", "x"}, "a quota's name and -n cannot be used together"},
      Call{{"check"}, "--filename is required"},
      Call{{"check", "-f", "x", "--used-file", "u"}, "go with --quota-file"},
      Call{{"check", "-f", "x", "--nodes", "-3"}, "--nodes"},
      Call{{"check", "-f", "x", "--server"}, "a dry run on the server is --dry-run=server"},
      Call{{"check", "--server", "-f", "x"}, "--server takes the URL of the API server"},
      Call{{"check", "-f", "x", "--dry-run=maybe"},
           "error: --dry-run must be none, client or server, not maybe\n"},
      Call{{"check", "-f", "x", "--dry-run"},
           "error: --dry-run needs a value: none, client or server\n"},
      Call{{"import", "--enforcement=Off"},
           "error: --enforcement must be Deny, Warn or Audit, not Off\n"},
      Call{{"top", "--context"}, "error: --context needs a value\n"},
      Call{{"check", "-f", "x", "--dry-run=server", "--quota-file", "q"}, "used together"},
      Call{{"check", "-f", "x", "-k", "y"}, "-k cannot be used together with -f or -R"},
      Call{{"check", "-R", "-k", "y"}, "-k cannot be used together with -f or -R"},
      Call{{"usage-definition"}, "usage-definition [OPTIONS] [ACTION]"},
      Call{{"usage-definition", "tset"},
           "unknown command \"tset\" for usage-definition; did you mean \"test\"?"},
      Call{{"usedef", "test"}, "--filename is required"},
      Call{{"usedef", "test", "-f", "x", "-l", "a=b"}, "reads only files, so it has no -l"},
      Call{{"--request-timeout=soon"}, "--request-timeout soon must be seconds"},
      Call{{"--request-timeout=-1s"}, "--request-timeout -1s must be seconds"},
      Call{{"--as-user-extra=scope"}, "--as-user-extra scope must be KEY=VALUE"},
      Call{{"chekc"}, "unknown command \"chekc\"; did you mean \"check\"?"},
      Call{{"help", "woh"}, "unknown command \"woh\"; did you mean \"who\"?"},
      Call{{"frobnicate"}, "unknown command \"frobnicate\"\n"},
      Call{{"top", "--nmaespace=x"}, "unknown flag: --nmaespace; did you mean \"--namespace\"?"},
      Call{{"check", "-f", "x", "--quotafile", "x"}, "did you mean \"--quota-file\"?"},
      Call{{"top", "--by", "owner"}, "--by is a flag of who, not of top"},
      Call{{"top", "compute"}, "unexpected argument \"compute\""},
      Call{{"who", "a", "b", "c"}, "unexpected argument \"c\""});
  const auto parsed = ParseArguments(call.first);
  REQUIRE(parsed.leave);
  CHECK(parsed.leave->exit_code == 2);
  const bool help = call.first == std::vector<std::string>{"usage-definition"};
  CHECK_THAT(parsed.leave->text, Contains(help ? "Usage: " : "error: ") && Contains(call.second));
}

TEST_CASE("arguments: usage-definition has an alias and takes several files", "[kubectl-quota]") {
  for (const char* name : {"usage-definition", "usedef"}) {
    const auto parsed = ParseArguments({name, "test", "-f", "a.yaml,b.yaml", "-f", "-", "-R"});
    REQUIRE_FALSE(parsed.leave);
    CHECK(parsed.options.command == Command::kUsageDefinition);
    CHECK(parsed.options.usage_definition.files ==
          std::vector<std::string>{"a.yaml", "b.yaml", "-"});
    CHECK(parsed.options.usage_definition.recursive);
    CHECK_THAT(ParseArguments({"help", name}).leave->text, Contains("usage-definition test -f"));
  }
}

TEST_CASE("arguments: help COMMAND is COMMAND --help", "[kubectl-quota]") {
  CHECK(ParseArguments({"help"}).leave->text == ParseArguments({"--help"}).leave->text);
  for (const auto& command : kubectl_quota::KnownCommands()) {
    if (command.name.empty() || command.name == "help") continue;
    const auto help = ParseArguments({"help", command.name}).leave;
    REQUIRE(help);
    CHECK(help->exit_code == 0);
    CHECK(help->text == ParseArguments({command.name, "--help"}).leave->text);
    CHECK_THAT(help->text, Contains("Usage: kubectl quota " + command.name));
  }
}

TEST_CASE("arguments: -f takes a list, and a comma in quotes", "[kubectl-quota]") {
  const auto files = [](const std::vector<std::string>& values) {
    std::vector<std::string> words{"check"};
    for (const std::string& value : values) words.push_back("-f=" + value);
    return ParseArguments(words).options.check.files;
  };
  using Files = std::vector<std::string>;
  CHECK(files({"a,b", "c"}) == Files{"a", "b", "c"});
  CHECK(files({"\"a,b\",c"}) == Files{"a,b", "c"});
  CHECK(files({R"("a""b",-)"}) == Files{"a\"b", "-"});
  CHECK(ParseArguments({"check", "-f", "a,-"}).options.check.ReadsStdin());
  CHECK_FALSE(ParseArguments({"check", "-f", "a"}).options.check.ReadsStdin());
  CHECK(ParseArguments({"check", "-f", "a", "--used-file=-"}).options.check.ReadsStdin());
}

TEST_CASE("arguments: help has an example of each command", "[kubectl-quota]") {
  const auto parsed = ParseArguments({"--help"});
  REQUIRE(parsed.leave);
  CHECK(parsed.leave->exit_code == 0);
  for (const char* command :
       {"quota -A", "top -w", "who compute", "why deployment/web", "check -f app.yaml",
        "quota tree", "suggest --headroom", "report -A", "usage-definition test -f"}) {
    CHECK_THAT(parsed.leave->text, Contains(command));
  }
}

TEST_CASE("arguments: help of a command has its own examples and forms", "[kubectl-quota]") {
  const auto parsed = ParseArguments({"who", "--help"});
  REQUIRE(parsed.leave);
  CHECK(parsed.leave->exit_code == 0);
  CHECK_THAT(parsed.leave->text, Contains("kubectl quota who compute --name requests.cpu") &&
                                     Contains("Formats for -o: csv, json, wide, yaml.\n") &&
                                     Contains("--by") && !Contains("quota suggest"));
}

TEST_CASE("words: errors have kubectl's form", "[kubectl-quota]") {
  base::Error error{.code = base::ErrorCode::kForbidden,
                    .message =
                        "list pods.v1: GET /api/v1/pods: 403 Forbidden: pods is forbidden: "
                        "User \"x\" cannot list",
                    .http_status = 403,
                    .reason = "Forbidden"};
  CHECK(kubectl_quota::ErrorText(error) ==
        "Error from server (Forbidden): pods is forbidden: User \"x\" cannot list");
  CHECK(kubectl_quota::ErrorText({.code = base::ErrorCode::kUnavailable, .message = "refused"}) ==
        "Unable to connect to the server: refused");
  CHECK(kubectl_quota::ErrorText({.code = base::ErrorCode::kInvalidArgument, .message = "x"}) ==
        "error: x");
}

}  // namespace arguments_test

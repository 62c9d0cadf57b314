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
      Call{{"check", "-f", "x", "--nodes", "-3"}, "--nodes"});
  const auto parsed = ParseArguments(call.first);
  REQUIRE(parsed.leave);
  CHECK(parsed.leave->exit_code == 2);
  CHECK_THAT(parsed.leave->text, Contains("error: ") && Contains(call.second));
}

TEST_CASE("arguments: help has an example of each command", "[kubectl-quota]") {
  const auto parsed = ParseArguments({"--help"});
  REQUIRE(parsed.leave);
  CHECK(parsed.leave->exit_code == 0);
  for (const char* command :
       {"quota -A", "top -w", "who compute", "why deployment/web", "check -f app.yaml",
        "quota tree", "suggest --headroom", "report -A"}) {
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

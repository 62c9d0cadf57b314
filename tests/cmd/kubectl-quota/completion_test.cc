#include "cmd/kubectl-quota/completion.h"

#include <catch2/catch.hpp>

namespace completion_test {

using kubectl_quota::Completion;
using kubectl_quota::CompletionOf;
using Names = Completion::Names;

std::string Text(const std::vector<std::string>& words) {
  return CompletionText(CompletionOf(words), {});
}

TEST_CASE("completion: commands, flags and values are offered where they are allowed",
          "[kubectl-quota]") {
  CHECK(Text({"w"}) == "who\nwhy\n:4\n");
  CHECK(Text({"who", "x", "--b"}) == "--by\n:4\n");
  CHECK(Text({"who", "x", "--by", "o"}) == "owner\nobject\n:4\n");
  CHECK(Text({"check", "-o", "j"}) == "json\njunit\n:4\n");
  CHECK(Text({"-o", "y"}) == "yaml\n:4\n");
  CHECK(Text({"tree", "-o", "n"}) == "name\n:4\n");
  CHECK(Text({"check", "-f", ""}) == ":0\n");
  CHECK(Text({"check", "--dry-run", "s"}) == "server\n:4\n");
  CHECK(Text({"top", "--as"}) == "--as\n--as-group\n--as-uid\n--as-user-extra\n:4\n");
  CHECK(Text({"who", "x", "--wat"}) == ":4\n");
  CHECK(Text({"help", "w"}) == "who\nwhy\n:4\n");
  CHECK(Text({"check", "--kust"}) == "--kustomize\n:4\n");
}

TEST_CASE("completion: the word that must follow a command is offered, also behind its alias",
          "[kubectl-quota]") {
  CHECK(Text({"us"}) == "usage-definition\n:4\n");
  CHECK(Text({"help", "us"}) == "usage-definition\n:4\n");
  for (const char* name : {"usage-definition", "usedef"}) {
    CHECK(Text({name, ""}) == "test\n:4\n");
    CHECK(Text({name, "x"}) == ":4\n");
    CHECK(Text({name, "test", ""}) == ":4\n");
    CHECK(Text({name, "test", "-f", ""}) == ":0\n");
    CHECK(Text({name, "-f", "a.yaml", "t"}) == "test\n:4\n");
    CHECK(Text({name, "test", "-o", ""}) == "json\nwide\nyaml\n:4\n");
    CHECK(Text({name, "test", "--re"}) == "--request-timeout\n--recursive\n:4\n");
    CHECK_FALSE(CompletionOf({name, ""}).AsksCluster());
  }
}

TEST_CASE("completion: names come from the cluster, with the flags typed before",
          "[kubectl-quota]") {
  CHECK(CompletionOf({"who", ""}).names == Names::kQuotas);
  CHECK(CompletionOf({"who", "compute", ""}).names == Names::kNone);
  CHECK(CompletionOf({"tree", ""}).names == Names::kClusterQuotas);
  CHECK(CompletionOf({"why", "deployment/a", ""}).names == Names::kWorkloads);
  CHECK(CompletionOf({"top", "-n", "te"}).names == Names::kNamespaces);
  const Completion completion = CompletionOf({"--context", "kind", "who", "-n", "team-a", "c"});
  CHECK(completion.place.context == "kind");
  CHECK(completion.place.ns == "team-a");
  CHECK(completion.AsksCluster());
  CHECK(CompletionOf({"who", "-n=team-a", "c"}).place.ns == "team-a");
  CHECK(CompletionOf({"who", "--context=kind", "c"}).place.context == "kind");
  const auto place = CompletionOf({"--as", "jane", "who", "--server=https://h", "--by", "-n", "c"});
  CHECK(place.place.flags.user.as == "jane");
  CHECK(place.place.flags.cluster.server == "https://h");
  CHECK(place.place.ns.empty());  // "-n" is the value of --by
  CHECK_FALSE(CompletionOf({"w"}).AsksCluster());
  CHECK(CompletionText(completion, {"compute", "objects"}) == "compute\n:4\n");
}

}  // namespace completion_test

// Requests of several namespaces that one ClusterQuota limits: they share its writer and its
// writes.

#include "tests/controllers/quota/cluster_charging_fixture.h"

namespace cluster_batch_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using Kind = admission::Answer::Kind;

TEST_CASE("cluster charging: the guarantee of a sibling stays free in one batch, too", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.PutNamespace("b-prod", "b");
  f.Put(ClusterQuota("company", "", {{"pods", "10"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "10"}}, "company"));
  json::Value team_b = ClusterQuota("team-b", "b", {{"pods", "6"}}, "company");
  team_b.Make({"spec", "guaranteed"}) = json::Object{{"pods", "4"}};
  f.Put(team_b);
  f.RunFor(1s);
  for (int i = 0; i < 8; ++i) {
    f.Ask("a-prod", "p" + std::to_string(i));
    if (i < 4) f.Ask("b-prod", "p" + std::to_string(i));
  }
  f.RunFor(1s);
  CHECK(f.UsedOf("team-a") == "6");
  CHECK(f.UsedOf("team-b") == "4");
  CHECK(f.UsedOf("company") == "10");
}

TEST_CASE("cluster charging: many namespaces under one quota share its writes", "[quota]") {
  Clustered f;
  for (int i = 0; i < 100; ++i) f.PutNamespace("ns" + std::to_string(i), "a");
  f.Put(ClusterQuota("company", "", {{"pods", "500"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "50"}}, "company"));
  f.RunFor(1s);
  f.cluster.patch_delay = 4ms;
  for (int i = 0; i < 64; ++i) f.Ask("ns" + std::to_string(i * 7 % 100), "p");
  f.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 50);
  CHECK(f.Count(Kind::kRefused) == 14);
  CHECK(f.UsedOf("team-a") == "50");
  CHECK(f.UsedOf("company") == "50");
  CHECK(f.batches.conflicts == 0);
  CHECK(f.batches.writes <= 4);  // two batches, two quotas
}

TEST_CASE("cluster charging: in a batch each request is judged by its own namespace's quotas",
          "[quota]") {
  Clustered f;
  for (const char* team : {"a", "b", "c"}) f.PutNamespace(std::string("ns-") + team, team);
  f.Put(ClusterQuota("company", "", {{"cpu", "10"}}));
  f.Put(ClusterQuota("team-a", "a", {{"cpu", "10"}}, "company"));
  f.Put(ClusterQuota("team-b", "b", {{"cpu", "3"}}, "company"));
  f.Put(ClusterQuota("team-c", "c", {{"pods", "1"}}, "company"));
  f.RunFor(1s);
  f.cluster.patch_delay = 4ms;
  f.Ask("ns-a", "first");  // its write is in flight while the others wait
  f.RunFor(1ms);
  for (const char* name : {"p1", "p2", "p3"}) {
    f.Ask("ns-a", name);
    f.Ask("ns-b", name, "2");
    f.Ask("ns-c", name);
  }
  f.RunFor(1s);
  CHECK(f.UsedOf("team-a", "cpu") == "4");
  CHECK(f.UsedOf("team-b", "cpu") == "2");
  CHECK(f.UsedOf("team-c") == "1");
  CHECK(f.UsedOf("company", "cpu") == "7");  // 1 + 3 of a, 2 of b, 1 of c
  CHECK(f.Count(Kind::kAllowed) == 6);
  CHECK(f.Count(Kind::kRefused) == 4);
  CHECK(f.batches.writes == 6);  // two for the first, one of each quota for all others
  CHECK(f.batches.conflicts == 0);
}

TEST_CASE("cluster charging: one namespace cannot fill the queue of a shared writer", "[quota]") {
  Clustered f({.max_waiting_in_namespace = 2});
  for (const char* ns : {"ns-1", "ns-2"}) f.PutNamespace(ns, "a");
  f.Put(ClusterQuota("team-a", "a", {{"pods", "50"}}));
  f.RunFor(1s);
  f.cluster.patch_delay = 4ms;
  for (int i = 0; i < 5; ++i) f.Ask("ns-1", "p" + std::to_string(i));
  f.Ask("ns-2", "p");
  f.RunFor(1s);
  CHECK(f.Count(Kind::kBusy) == 3);
  REQUIRE(f.answers.back().has_value());
  CHECK(f.answers.back()->kind == Kind::kAllowed);
}

}  // namespace
}  // namespace cluster_batch_test

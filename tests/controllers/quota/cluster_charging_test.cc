// Requests that ClusterQuotas limit: the controller is admission's book, with a real admitter and a
// fake cluster.

#include "tests/controllers/quota/cluster_charging_fixture.h"

namespace cluster_charging_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using Kind = admission::Answer::Kind;

TEST_CASE("cluster charging: a creation must fit in its quota and in all ancestors", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.PutNamespace("b-prod", "b");
  f.Put(ClusterQuota("company", "", {{"pods", "3"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "2"}}, "company"));
  f.Put(ClusterQuota("team-b", "b", {{"pods", "2"}}, "company"));
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("a-prod", "p2").kind == Kind::kAllowed);
  CHECK(f.UsedOf("team-a") == "2");
  CHECK(f.UsedOf("company") == "2");
  const admission::Answer own = f.Get("a-prod", "p3");
  CHECK(own.kind == Kind::kRefused);
  CHECK(own.code == 403);
  CHECK(own.message ==
        "exceeded cluster quota: team-a, requested: pods=1, used: pods=2, limited: pods=2");
  CHECK(f.Get("b-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("b-prod", "p2").message ==
        "exceeded cluster quota: company (above team-b), requested: pods=1, used: pods=3, "
        "limited: pods=3");
  CHECK(f.UsedOf("team-b") == "1");
  CHECK(f.UsedOf("company") == "3");
  CHECK(f.Get("other", "p1").kind == Kind::kAllowed);
}

TEST_CASE("cluster charging: the guarantee of a sibling stays free", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.PutNamespace("b-prod", "b");
  f.Put(ClusterQuota("company", "", {{"pods", "3"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "3"}}, "company"));
  json::Value team_b = ClusterQuota("team-b", "b", {{"pods", "2"}}, "company");
  team_b.Make({"spec", "guaranteed"}) = json::Object{{"pods", "2"}};
  f.Put(team_b);
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("a-prod", "p2").message ==
        "exceeded cluster quota: company (above team-a), requested: pods=1, used: pods=1, "
        "limited: pods=3, guaranteed to others: pods=2");
  CHECK(f.Get("b-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("b-prod", "p2").kind == Kind::kAllowed);
  CHECK(f.UsedOf("company") == "3");
}

// Another replica sees both writes in their order, and may decide in between.
TEST_CASE("cluster charging: a guarantee is used in the parent before it is in the child",
          "[quota]") {
  const char* const enforcement = GENERATE("Deny", "Warn");
  Clustered f;
  f.PutNamespace("b-prod", "b");
  json::Value company = ClusterQuota("company", "", {{"pods", "3"}});
  company.Make({"spec", "enforcement"}) = enforcement;
  f.Put(company);
  json::Value team_b = ClusterQuota("team-b", "b", {{"pods", "2"}}, "company");
  team_b.Make({"spec", "guaranteed"}) = json::Object{{"pods", "2"}};
  f.Put(team_b);
  f.RunFor(1s);
  f.cluster.writes.clear();
  REQUIRE(f.Get("b-prod", "p1").kind == Kind::kAllowed);
  REQUIRE(f.cluster.writes.size() == 2);
  CHECK(f.cluster.writes[0].path.ends_with("/company/status"));
  CHECK(f.cluster.writes[1].path.ends_with("/team-b/status"));

  f.RunFor(10s);
  f.cluster.writes.clear();
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/company/status")) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403};
  };
  const bool refuses = std::string_view(enforcement) == "Deny";
  CHECK((f.Get("b-prod", "p2").kind == Kind::kAllowed) != refuses);
  const auto children = std::ranges::count_if(
      f.cluster.writes, [](const auto& write) { return write.path.ends_with("/team-b/status"); });
  // What fails for a quota that only warns hides no guarantee of another one.
  CHECK((children == 0) == refuses);
  f.cluster.ForgetFunctions();
}

TEST_CASE("cluster charging: what is reserved in a child for others to come keeps its guarantee",
          "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.PutNamespace("b-prod", "b");
  f.Put(ClusterQuota("company", "", {{"pods", "40"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "40"}}, "company"));
  json::Value team_b = ClusterQuota("team-b", "b", {{"pods", "40"}}, "company");
  team_b.Make({"spec", "guaranteed"}) = json::Object{{"pods", "40"}};
  f.Put(team_b);
  f.RunFor(1s);
  // Another replica reserved a burst of 20, which no parent has.
  json::Value stored = *f.cluster.Find(f.quotas.resource, "", "team-b");
  const std::string uid(stored.StringAt({"metadata", "uid"}));
  stored.Make({"status", "used", "pods"}) = "20";
  stored.Make({"status", "reservations"}) =
      R"({"format":1,"uid":")" + uid +
      R"(","reservations":[{"by":"other","n":1,"of":"pods","usage":{"pods":"20"},)"
      R"("unassigned":20}],"floor":{},"writes":1,"used":{"pods":"20"}})";
  f.Put(stored);
  f.RunFor(100ms);
  CHECK(f.Get("a-prod", "p1").message ==
        "exceeded cluster quota: company (above team-a), requested: pods=1, used: pods=0, "
        "limited: pods=40, guaranteed to others: pods=40");
}

// One creation in each namespace, twice a second: each quota of a team has too few for a crowd.
TEST_CASE("cluster charging: a crowd in many namespaces needs few writes of each quota",
          "[quota]") {
  constexpr int kTeams = 16;
  Clustered f;
  f.Put(ClusterQuota("company", "", {{"pods", "10k"}}));
  for (int i = 0; i < kTeams; ++i) {
    const std::string team = "t" + std::to_string(i);
    f.PutNamespace(team, team);
    f.Put(ClusterQuota(team, team, {{"pods", "1k"}}, "company"));
  }
  f.RunFor(1s);
  std::vector<std::size_t> writes;
  for (int round = 0; round < 7; ++round) {
    const std::size_t before = f.batches.writes;
    for (int i = 0; i < kTeams; ++i) f.Ask("t" + std::to_string(i), "p" + std::to_string(round));
    f.RunFor(500ms);
    writes.push_back(f.batches.writes - before);
  }
  CHECK(f.Count(Kind::kAllowed) == std::size_t{7} * kTeams);
  // The second round reserves for two creations of each team, and the fifth for more of them.
  CHECK(writes[1] > kTeams);
  CHECK(writes[2] + writes[3] <= 2);
  CHECK(writes[4] > kTeams);
  CHECK(writes[5] + writes[6] <= 2);
  f.RunFor(4s);
  CHECK(f.UsedOf("t0") == "7");
  CHECK(f.UsedOf("company") == std::to_string(7 * kTeams));
}

TEST_CASE("cluster charging: a burst takes nothing of what is promised to others", "[quota]") {
  const bool promised = GENERATE(false, true);
  Clustered f;
  f.PutNamespace("a", "a");
  f.Put(ClusterQuota("company", "", {{"pods", "1k"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "1k"}}, "company"));
  json::Value team_b = ClusterQuota("team-b", "b", {{"pods", "1k"}}, "company");
  if (promised) team_b.Make({"spec", "guaranteed"}) = json::Object{{"pods", "900"}};
  f.Put(team_b);
  f.RunFor(1s);
  int created = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 16; ++i) f.Ask("a", "p" + std::to_string(created++));
    f.RunFor(500ms);
  }
  CHECK(f.Count(Kind::kAllowed) == 32);
  CHECK(f.UsedOf("team-a") == "64");
  CHECK(f.UsedOf("company") == (promised ? "36" : "64"));
}

TEST_CASE("cluster charging: an unknown namespace is read live", "[quota]") {
  Clustered f;
  f.Put(ClusterQuota("team-a", "a", {{"pods", "1"}}));
  f.PutNamespace("first", "a");
  f.RunFor(1s);
  CHECK(f.Get("first", "p").kind == Kind::kAllowed);
  f.cluster.Hold(kNamespaces);
  f.PutNamespace("second", "a");
  f.PutNamespace("third", "b");
  CHECK(f.Get("second", "p").message ==
        "exceeded cluster quota: team-a, requested: pods=1, used: pods=1, limited: pods=1");
  CHECK(f.Get("third", "p").kind == Kind::kAllowed);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    const http::Query& query = request.query;
    const bool reads = std::ranges::any_of(
        query, [](const auto& one) { return one.second == "metadata.name=fourth"; });
    if (!reads) return {};
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  f.PutNamespace("fourth", "b");
  const admission::Answer unread = f.Get("fourth", "p");
  CHECK(unread.kind == Kind::kUnavailable);
  CHECK(unread.message.find("read namespace fourth: away") != std::string::npos);
}

TEST_CASE("cluster charging: labels are read live while namespaces cannot be watched", "[quota]") {
  Clustered f;
  f.Put(ClusterQuota("team-a", "a", {{"pods", "5"}}));
  f.Put(ClusterQuota("team-b", "b", {{"pods", "0"}}));
  f.PutNamespace("ns", "a");
  f.RunFor(1s);
  CHECK(f.Get("ns", "p1").kind == Kind::kAllowed);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool watches =
        std::ranges::any_of(request.query, [](const auto& one) { return one.first == "watch"; });
    if (!watches || !request.path.ends_with("/namespaces")) return {};
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no watch"};
  };
  f.cluster.CutWatches(kNamespaces);
  f.RunFor(10s);
  f.PutNamespace("ns", "b");
  CHECK(f.Get("ns", "p2").message ==
        "exceeded cluster quota: team-b, requested: pods=1, used: pods=0, limited: pods=0");
}

TEST_CASE("cluster charging: labels are read live until the watch has shown what it missed",
          "[quota]") {
  const bool hangs = GENERATE(false, true);
  Clustered f;
  f.PutNamespace("moved", "a");
  f.Put(ClusterQuota("team-a", "a", {{"pods", "100"}}));
  f.Put(ClusterQuota("team-b", "b", {{"pods", "0"}}));
  f.RunFor(20s);
  bool down = true;
  const auto is_watch = [](const client::ApiRequest& request) {
    return request.path == "/api/v1/namespaces" &&
           std::ranges::any_of(request.query, [](const auto& one) { return one.first == "watch"; });
  };
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (hangs || !down || !is_watch(request)) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no watch"};
  };
  f.cluster.stall = [&](const client::ApiRequest& request) {
    return hangs && down && is_watch(request) ? base::Duration(3s) : base::Duration();
  };
  f.cluster.Hold(kNamespaces);  // its new watch lags, too
  f.cluster.CutWatches(kNamespaces);
  f.RunFor(2s);
  f.PutNamespace("moved", "b");
  f.RunFor(500ms);
  CHECK(f.Get("moved", "p0").kind == Kind::kRefused);
  down = false;
  f.RunFor(3s);
  CHECK(f.Get("moved", "p1").kind == Kind::kRefused);
  f.cluster.Release(kNamespaces);
  f.RunFor(1s);
  CHECK(f.Get("moved", "p2").kind == Kind::kRefused);
  f.cluster.ForgetFunctions();
}

TEST_CASE("cluster charging: the objects of a relabelled namespace count at once", "[quota]") {
  Clustered f;
  f.Put(ClusterQuota("team-a", "a", {{"pods", "5"}}));
  f.Put(ClusterQuota("team-b", "b", {{"pods", "3"}}));
  f.PutNamespace("ns", "a");
  f.PutNamespace("b-prod", "b");
  for (int i = 0; i < 3; ++i) f.cluster.Put(kPods, MakePod("p" + std::to_string(i), "1", "ns"));
  f.RunFor(2s);
  REQUIRE(f.UsedOf("team-a") == "3");
  REQUIRE(f.UsedOf("team-b") == "0");
  f.leads = false;  // the leader has not written the status yet
  f.PutNamespace("ns", "b");
  f.RunFor(100ms);
  CHECK(f.UsedOf("team-b") == "0");
  CHECK(f.Get("b-prod", "p").message ==
        "exceeded cluster quota: team-b, requested: pods=1, used: pods=3, limited: pods=3");
}

TEST_CASE("cluster charging: a charge for an object that is never stored expires", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.Put(ClusterQuota("team-a", "a", {{"pods", "2"}}));
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  f.RunFor(18s);
  CHECK(f.UsedOf("team-a") == "0");
  CHECK(f.Get("a-prod", "p2").kind == Kind::kAllowed);
  CHECK(f.UsedOf("team-a") == "1");
  CHECK(f.Get("a-prod", "p3").kind == Kind::kAllowed);
  CHECK(f.UsedOf("team-a") == "2");
}

TEST_CASE("cluster charging: a forged entry with our identity is ignored", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.Put(ClusterQuota("team-a", "a", {{"pods", "5"}}));
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  json::Value quota = *f.cluster.Find(f.quotas.resource, "", "team-a");
  json::Value list = *json::Parse(quota.StringAt({"status", "reservations"}));
  json::Value entry = (*list.At({"reservations"})->AsArray())[0];
  const std::int64_t last = *entry.At({"n"})->AsInt64();
  json::Array entries;
  for (std::int64_t more = 1; more <= 3; ++more) {
    entry.Make({"n"}) = last + more;
    entries.push_back(entry);
  }
  list.Make({"reservations"}) = entries;
  quota.Make({"status", "reservations"}) = json::Write(list);
  f.Put(quota);
  f.RunFor(100ms);
  CHECK(f.Get("a-prod", "p2").kind == Kind::kAllowed);
  CHECK(f.UsedOf("team-a") == "2");
  f.RunFor(1min);
  CHECK(f.UsedOf("team-a") == "0");  // nothing was ever stored
}

TEST_CASE("cluster charging: a forged entry with our identity is removed, and no other",
          "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.Put(ClusterQuota("team-a", "a", {{"pods", "5"}}));
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  const auto list = [&] {
    const json::Value quota = *f.cluster.Find(f.quotas.resource, "", "team-a");
    return *json::Parse(quota.StringAt({"status", "reservations"}));
  };
  const auto put = [&](const json::Value& changed) {
    json::Value quota = *f.cluster.Find(f.quotas.resource, "", "team-a");
    quota.Make({"status", "reservations"}) = json::Write(changed);
    f.Put(quota);
    f.RunFor(100ms);
  };
  const auto writers = [&] {
    std::vector<std::string> by;
    const json::Value now = list();
    for (const json::Value& entry : now.ArrayAt({"reservations"})) {
      by.emplace_back(entry.StringAt({"by"}));
    }
    return by;
  };
  json::Value forged = list();
  const json::Value mine = (*forged.At({"reservations"})->AsArray())[0];
  const std::string us(mine.StringAt({"by"}));
  json::Value other = mine;
  other.Make({"by"}) = "other";
  json::Value ahead = mine;
  ahead.Make({"n"}) = *mine.At({"n"})->AsInt64() + 1;
  forged.Make({"reservations"}) = json::Array{mine, other, ahead};
  put(forged);
  CHECK(writers() == std::vector<std::string>{us, "other"});
  // Also if nothing else has to be written.
  f.RunFor(2min);
  REQUIRE(writers().empty());
  json::Value alone = list();
  ahead.Make({"n"}) = 10'000;
  alone.Make({"reservations"}) = json::Array{ahead};
  put(alone);
  CHECK(writers().empty());
}

TEST_CASE("cluster charging: a quota in mode Warn admits, counts and warns", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  json::Value quota = ClusterQuota("team-a", "a", {{"pods", "1"}});
  quota.Make({"spec", "enforcement"}) = "Warn";
  f.Put(quota);
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").would_refuse.empty());
  const admission::Answer second = f.Get("a-prod", "p2");
  CHECK(second.kind == Kind::kAllowed);
  REQUIRE(second.would_refuse.size() == 1);
  CHECK(second.would_refuse[0].quota_api == "cluster");
  CHECK(second.would_refuse[0].would.message ==
        "exceeded cluster quota: team-a, requested: pods=1, used: pods=1, limited: pods=1");
  CHECK(f.UsedOf("team-a") == "2");
}

// "audited" in mode Audit, and maybe "enforced" in mode Deny, for namespace a-prod.
struct Audited : Clustered {
  explicit Audited(bool enforced = false) {
    PutNamespace("a-prod", "a");
    json::Value quota =
        ClusterQuota("audited", "a", {{"pods", "5"}, {"requests.cpu", "10"}}, "enforced");
    quota.Make({"spec", "enforcement"}) = "Audit";
    Put(quota);
    if (enforced) Put(ClusterQuota("enforced", "", {{"pods", "2"}}));
    RunFor(1s);
  }
  void FailWrites(base::ErrorCode code, int status) {
    cluster.fault = [=](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.verb != "PATCH" || !request.path.ends_with("/audited/status")) return {};
      return base::Error{.code = code, .message = "no", .http_status = status};
    };
  }
  Kind Answered(const std::string& name, const std::string& cpu = "1") {
    auto& answer = Ask("a-prod", name, cpu);
    RunFor(6s);
    REQUIRE(answer.has_value());
    return answer->kind;
  }
};

TEST_CASE("cluster charging: a quota in mode Audit refuses nothing, whatever fails", "[quota]") {
  Audited f;
  SECTION("an amount beyond every number") {
    CHECK(f.Answered("p1", "1e30") == Kind::kAllowed);
    CHECK(f.UsedOf("audited", "requests.cpu") == "1e30");
    CHECK(f.Answered("p2") == Kind::kAllowed);
  }
  SECTION("an object that cannot be read") {
    CHECK(f.Answered("p1", "much") == Kind::kAllowed);
    REQUIRE(f.answers.back()->would_refuse.size() == 1);
    CHECK(f.answers.back()->would_refuse[0].would.quota.name == "audited");
    CHECK(f.answers.back()->would_refuse[0].would.message.starts_with("not decided: "));
  }
  SECTION("a write that is forbidden") {
    f.FailWrites(base::ErrorCode::kForbidden, 403);
    CHECK(f.Answered("p1") == Kind::kAllowed);
  }
  SECTION("a write without an answer") {
    f.FailWrites(base::ErrorCode::kUnavailable, 0);
    CHECK(f.Answered("p1") == Kind::kAllowed);
  }
  f.cluster.fault = nullptr;
}

TEST_CASE("cluster charging: the failed write of an audited quota hides no enforced one",
          "[quota]") {
  Audited f(true);
  f.FailWrites(base::ErrorCode::kForbidden, 403);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("a-prod", "p2").kind == Kind::kAllowed);
  CHECK(f.UsedOf("enforced") == "2");
  CHECK(f.Get("a-prod", "p3").kind == Kind::kRefused);
  f.cluster.fault = nullptr;
}

TEST_CASE("cluster charging: a limit that cannot be read is refused only by its own names",
          "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.Put(ClusterQuota("odd", "a", {{"count/secrets", "some"}, {"pods", "1"}}));
  f.Put(ClusterQuota("worse", "b", {{"pods", "some"}}));
  f.PutNamespace("b-prod", "b");
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("a-prod", "p2").message ==
        "exceeded cluster quota: odd, requested: pods=1, used: pods=1, limited: pods=1");
  CHECK(f.Get("b-prod", "p1").message ==
        "status unknown for cluster quota: worse, resources: pods");
  const json::Value* odd = f.cluster.Find(f.quotas.resource, "", "odd");
  CHECK(odd->StringAt({"status", "conditions"}).empty());
  CHECK(json::Write(*odd->At({"status", "conditions"})).find("SpecUnreadable") !=
        std::string::npos);
}

TEST_CASE("cluster charging: no request is refused in an exempt namespace", "[quota]") {
  Clustered f;
  f.PutNamespace("exempt", "a");
  f.Put(ClusterQuota("team-a", "a", {{"pods", "0"}}));
  f.RunFor(1s);
  CHECK(f.Get("exempt", "p").kind == Kind::kAllowed);
}

TEST_CASE("cluster charging: quotas of the namespace and ClusterQuotas reserve all or none",
          "[quota]") {
  Clustered f;
  f.PutNamespace("team-a", "a");
  f.cluster.Put(kQuotas, MakeQuota("own", {{"pods", "10"}}));
  f.Put(ClusterQuota("cluster", "a", {{"pods", "1"}}));
  f.RunFor(1s);
  CHECK(f.Get("team-a", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("team-a", "p2").kind == Kind::kRefused);
  CHECK(f.Used("own") == "pods=1");
  CHECK(f.UsedOf("cluster") == "1");
}

}  // namespace
}  // namespace cluster_charging_test

#include "pkg/quota/decision.h"

#include <algorithm>

#include "pkg/quota/core/core_quota.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::decision_test {
namespace {

using Kind = Verdict::Kind;
using Items = std::initializer_list<std::pair<std::string_view, std::string_view>>;

const Evaluator kThings{
    .resource = {.group = "", .resource = "things"},
    .owns =
        [](std::string_view name) { return name == "things" || name == "cpu" || name == "mem"; },
    .fields = {},
    .scopes = {"Long"},
    .facts_of = nullptr,
};

Quota MakeQuota(std::string name, Items hard, Items used, ScopeSelector selector = {}) {
  Quota quota{.key = {"ns", std::move(name)}};
  quota.hard = List(hard);
  quota.status = {List(hard), List(used)};
  quota.selector = std::move(selector);
  return quota;
}

Request Create(Items usage, std::vector<Attribute> attributes = {}) {
  return {.evaluator = &kThings, .uid = {1}, .after = {List(usage), std::move(attributes)}};
}

Request Update(Items before, Items after, std::vector<Attribute> was = {},
               std::vector<Attribute> is = {}) {
  Request request = Create(after, std::move(is));
  request.before = Subject{List(before), std::move(was)};
  return request;
}

std::vector<Standing> Standings(const std::vector<const Quota*>& quotas) {
  std::vector<Standing> standings;
  standings.reserve(quotas.size());
  for (const Quota* quota : quotas) {
    standings.push_back({.quota = quota, .used = quota->status.used});
  }
  return standings;
}

TEST_CASE("decision: a request that fits is reserved, even if it fits exactly", "[quota]") {
  const Quota quota =
      MakeQuota("q", {{"things", "3"}, {"cpu", "1"}}, {{"things", "2"}, {"cpu", "0"}});
  const Verdict verdict =
      Decide(Create({{"things", "1"}, {"cpu", "400m"}, {"mem", "9"}}), Standings({&quota}));
  REQUIRE(verdict.kind == Kind::kFits);
  REQUIRE(verdict.needs.size() == 1);
  CHECK(verdict.needs[0].amount == List({{"things", "1"}, {"cpu", "400m"}}));
  CHECK(verdict.needs[0].absolute == List({{"things", "1"}, {"cpu", "400m"}}));
}

// "reason limit: message" of each cause.
std::vector<std::string> CausesOf(const Verdict& verdict) {
  std::vector<std::string> causes;
  for (const Cause& cause : verdict.causes) {
    CHECK(std::ranges::find(cause::kAll, cause.reason) != cause::kAll.end());
    causes.push_back(std::string(cause.reason) + " " + cause.limit + ": " + cause.message);
  }
  return causes;
}

TEST_CASE("decision: a refusal lists only the exceeded names", "[quota]") {
  const Quota quota = MakeQuota("q", {{"cpu", "800m"}, {"mem", "800Mi"}, {"things", "9"}},
                                {{"cpu", "600m"}, {"mem", "600Mi"}, {"things", "1"}});
  const Verdict verdict =
      Decide(Create({{"cpu", "300m"}, {"mem", "450Mi"}, {"things", "1"}}), Standings({&quota}));
  CHECK(verdict.kind == Kind::kRefused);
  CHECK(verdict.code == 403);
  CHECK(verdict.message ==
        "exceeded quota: q, requested: cpu=300m,mem=450Mi, used: cpu=600m,mem=600Mi, "
        "limited: cpu=800m,mem=800Mi");
  CHECK(CausesOf(verdict) ==
        std::vector<std::string>{"QuotaExceeded cpu: requested: 300m, used: 600m, limited: 800m",
                                 "QuotaExceeded mem: requested: 450Mi, used: 600Mi, "
                                 "limited: 800Mi"});
  CHECK(verdict.needs.empty());
}

TEST_CASE("decision: a limit of unknown usage is not judged, and only by a quota that enforces it",
          "[quota]") {
  Evaluator evaluator = kThings;
  evaluator.classes.emplace();
  evaluator.classes->concerns = [](std::string_view name) { return name == "gpu"; };
  evaluator.classes->owns = [](std::string_view name, const ClassTable& classes) {
    return classes.AnyUses(name);
  };
  Quota quota = MakeQuota("q", {{"things", "3"}, {"gpu", "9"}}, {{"things", "2"}, {"gpu", "0"}});
  Request request = Create({{"things", "1"}});
  request.evaluator = &evaluator;
  request.unknown =
      UnknownUsage{{.code = base::ErrorCode::kUnavailable, .message = "classes are not known yet"}};

  const Verdict unknown = Decide(request, Standings({&quota}));
  CHECK(unknown.kind == Kind::kRefused);
  CHECK(unknown.code == 503);
  CHECK(unknown.message == "failed quota: q: classes are not known yet");
  CHECK(CausesOf(unknown) == std::vector<std::string>{"NotCounted gpu: classes are not known yet"});

  ClassTable classes;
  request.classes = &classes;
  CHECK(Decide(request, Standings({&quota})).kind == Kind::kFits);
  request.classes = nullptr;

  quota.cluster.emplace().enforcement = ClusterSpec::Enforcement::kWarn;
  const Verdict warned = Decide(request, Standings({&quota}));
  CHECK(warned.kind == Kind::kFits);
  REQUIRE(warned.would_refuse.size() == 1);
  CHECK(warned.would_refuse[0].message == "failed cluster quota: q: classes are not known yet");

  const Quota other = MakeQuota("other", {{"things", "3"}}, {{"things", "2"}});
  CHECK(Decide(request, Standings({&other})).kind == Kind::kFits);
}

TEST_CASE("decision: a refusal names the quota and the exceeded limits", "[quota]") {
  const Quota roomy = MakeQuota("roomy", {{"cpu", "10"}}, {{"cpu", "0"}});
  Quota tight = MakeQuota("tight", {{"cpu", "1"}, {"mem", "5"}, {"things", "9"}},
                          {{"cpu", "1"}, {"mem", "5"}, {"things", "1"}});
  tight.uid = "u-tight";
  const Request request = Create({{"cpu", "1"}, {"mem", "1"}, {"things", "1"}});
  const Verdict refused = Decide(request, Standings({&roomy, &tight}));
  REQUIRE(refused.refuser);
  CHECK(refused.refuser->name == "tight");
  CHECK(refused.refuser->uid == "u-tight");
  CHECK(refused.refuser->exceeded == std::vector<std::string>{"cpu", "mem"});
  // A quota without a known usage refuses, but no limit is exceeded.
  tight.status.used = {};
  const Verdict unknown = Decide(request, Standings({&roomy, &tight}));
  REQUIRE(unknown.refuser);
  CHECK(unknown.refuser->name == "tight");
  CHECK(unknown.refuser->exceeded.empty());
  CHECK_FALSE(Decide(request, Standings({&roomy})).refuser);
}

TEST_CASE("decision: an exceeded quota refuses only requests that need more of that name",
          "[quota]") {
  const Quota quota =
      MakeQuota("q", {{"cpu", "1"}, {"things", "9"}}, {{"cpu", "5"}, {"things", "1"}});
  CHECK(Decide(Create({{"things", "1"}}), Standings({&quota})).kind == Kind::kFits);
  CHECK(Decide(Update({{"cpu", "3"}}, {{"cpu", "2"}}), Standings({&quota})).kind == Kind::kFree);
  CHECK(Decide(Update({{"cpu", "3"}}, {{"cpu", "3"}}), Standings({&quota})).kind == Kind::kFree);
  CHECK(Decide(Update({{"cpu", "3"}}, {{"cpu", "4"}}), Standings({&quota})).kind == Kind::kRefused);
}

TEST_CASE("decision: status.hard is enforced, not spec.hard", "[quota]") {
  Quota quota = MakeQuota("q", {{"cpu", "1"}}, {{"cpu", "0"}});
  quota.hard = List({{"cpu", "10"}});
  CHECK(Decide(Create({{"cpu", "2"}}), Standings({&quota})).kind == Kind::kRefused);
  quota.status = {};
  CHECK(Decide(Create({{"cpu", "2"}}), Standings({&quota})).kind == Kind::kFree);
}

TEST_CASE("decision: an update needs the difference", "[quota]") {
  const Quota quota = MakeQuota("q", {{"cpu", "10"}}, {{"cpu", "4"}});
  const Verdict verdict = Decide(Update({{"cpu", "3"}}, {{"cpu", "5"}}), Standings({&quota}));
  REQUIRE(verdict.needs.size() == 1);
  CHECK(verdict.needs[0].amount == List({{"cpu", "2"}}));
  CHECK(verdict.needs[0].absolute == List({{"cpu", "5"}}));
}

TEST_CASE("decision: an object that moves into a scope takes its full usage there", "[quota]") {
  const ScopeSelector terminating = {{.scope = "Long"}};
  const Quota scoped = MakeQuota("scoped", {{"cpu", "10"}}, {{"cpu", "4"}}, terminating);
  const Quota all = MakeQuota("all", {{"cpu", "10"}}, {{"cpu", "7"}});
  const Verdict verdict = Decide(Update({{"cpu", "3"}}, {{"cpu", "3"}}, {}, {{"Long", ""}}),
                                 Standings({&scoped, &all}));
  REQUIRE(verdict.kind == Kind::kFits);
  REQUIRE(verdict.needs.size() == 1);
  CHECK(verdict.needs[0].standing == 0);
  CHECK(verdict.needs[0].amount == List({{"cpu", "3"}}));
  CHECK(Decide(Update({{"cpu", "3"}}, {{"cpu", "3"}}, {{"Long", ""}}, {}), Standings({&scoped}))
            .kind == Kind::kFree);
}

TEST_CASE("decision: an earlier reservation for the request is not needed again", "[quota]") {
  const Quota quota = MakeQuota("q", {{"cpu", "5"}}, {{"cpu", "5"}});
  std::vector<Standing> standings = Standings({&quota});
  const ResourceList answer = List({{"cpu", "3"}});
  standings[0].answer = &answer;
  CHECK(Decide(Create({{"cpu", "3"}}), standings).kind == Kind::kFree);
  CHECK(Decide(Update({{"cpu", "1"}}, {{"cpu", "3"}}), standings).kind == Kind::kFree);
  const Verdict more = Decide(Create({{"cpu", "4"}}), standings);
  CHECK(more.message == "exceeded quota: q, requested: cpu=1, used: cpu=5, limited: cpu=5");
}

TEST_CASE("decision: used does not rise again for what others reserved for the object", "[quota]") {
  const Quota quota = MakeQuota("q", {{"cpu", "5"}}, {{"cpu", "5"}});
  std::vector<Standing> standings = Standings({&quota});
  standings[0].reserved = [](const ResourceList& stored) {
    return stored.empty() ? List({{"cpu", "3"}}) : List({{"cpu", "2"}});
  };
  const Verdict same = Decide(Create({{"cpu", "3"}}), standings);
  CHECK(same.kind == Kind::kFits);  // it needs an entry of its own
  REQUIRE(same.needs.size() == 1);
  CHECK(same.needs[0].amount.empty());
  CHECK(same.needs[0].absolute == List({{"cpu", "3"}}));
  CHECK(Decide(Create({{"cpu", "4"}}), standings).message ==
        "exceeded quota: q, requested: cpu=1, used: cpu=5, limited: cpu=5");
  CHECK(Decide(Update({{"cpu", "1"}}, {{"cpu", "3"}}), standings).kind == Kind::kRefused);
}

TEST_CASE("decision: what others reserved does not fit any more if the limit was lowered",
          "[quota]") {
  const Quota quota = MakeQuota("q", {{"cpu", "3"}, {"mem", "1"}}, {{"cpu", "6"}, {"mem", "2"}});
  std::vector<Standing> standings = Standings({&quota});
  standings[0].reserved = [](const ResourceList&) { return List({{"cpu", "4"}, {"mem", "1"}}); };
  CHECK(Decide(Update({{"cpu", "1"}, {"mem", "1"}}, {{"cpu", "4"}, {"mem", "1"}}), standings)
            .message == "exceeded quota: q, requested: cpu=3, used: cpu=3, limited: cpu=3");
  // What the object uses already is not compared.
  CHECK(Decide(Update({{"cpu", "4"}}, {{"cpu", "4"}}), standings).kind == Kind::kFree);
  // A repeated call has its answer already.
  const ResourceList answer = List({{"cpu", "4"}});
  standings[0].answer = &answer;
  CHECK(Decide(Update({{"cpu", "1"}}, {{"cpu", "4"}}), standings).kind == Kind::kFree);
}

TEST_CASE("decision: every quota must admit, and a refusal reserves nothing", "[quota]") {
  const Quota roomy = MakeQuota("roomy", {{"cpu", "10"}}, {{"cpu", "0"}});
  const Quota tight = MakeQuota("tight", {{"cpu", "1"}}, {{"cpu", "1"}});
  const Verdict refused = Decide(Create({{"cpu", "1"}}), Standings({&roomy, &tight}));
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.needs.empty());
  const Verdict fits = Decide(Create({{"cpu", "1"}}), Standings({&roomy, &roomy}));
  CHECK(fits.needs.size() == 2);
}

TEST_CASE("decision: a name without a count refuses", "[quota]") {
  const Quota quota = MakeQuota("q", {{"cpu", "5"}, {"mem", "5"}}, {{"mem", "1"}});
  const Verdict refused = Decide(Create({{"things", "1"}}), Standings({&quota}));
  CHECK(refused.message == "status unknown for quota: q, resources: cpu,mem");
  CHECK(CausesOf(refused) == std::vector<std::string>{"NotCounted cpu: there is no count yet"});
  CHECK(Decide(Update({{"cpu", "2"}}, {{"cpu", "2"}}), Standings({&quota})).kind == Kind::kFree);
}

TEST_CASE("decision: a refusal of a negative amount names it", "[quota]") {
  const Quota quota = MakeQuota("q", {{"cpu", "5"}}, {{"cpu", "1"}});
  const Verdict refused = Decide(Create({{"cpu", "-1"}, {"mem", "-2"}}), Standings({&quota}));
  CHECK(refused.message == "quota usage is negative for resource(s): cpu,mem");
  CHECK(CausesOf(refused) == std::vector<std::string>{"NegativeUsage : " + refused.message});
}

TEST_CASE("decision: nothing is reserved for a negative amount that is admitted", "[quota]") {
  Quota quota = MakeQuota("q", {{"cpu", "5"}, {"mem", "5"}}, {{"cpu", "1"}, {"mem", "1"}});
  quota.cluster.emplace().enforcement = ClusterSpec::Enforcement::kWarn;
  const Verdict warned = Decide(Create({{"cpu", "-1"}, {"mem", "2"}}), Standings({&quota}));
  CHECK(warned.kind == Kind::kFits);
  CHECK(warned.would_refuse.size() == 1);
  REQUIRE(warned.needs.size() == 1);
  CHECK(warned.needs[0].absolute.ToString() == "mem=2");
}

TEST_CASE("decision: an object must specify only limited names", "[quota]") {
  Evaluator strict = kThings;
  strict.guard.constraints = [](const json::Value&, const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : "+") + name;
    return "must specify " + text;
  };
  const json::Value object = Json("{}");
  const Quota quota =
      MakeQuota("q", {{"cpu", "5"}, {"mem", "5"}, {"unowned", "1"}}, {{"cpu", "1"}, {"mem", "1"}});
  Request request = Create({});
  request.evaluator = &strict;
  request.object = &object;
  const Verdict refused = Decide(request, Standings({&quota}));
  CHECK(refused.message == "failed quota: q: must specify cpu+mem");
  CHECK(CausesOf(refused) == std::vector<std::string>{"MustSpecify cpu: must specify cpu",
                                                      "MustSpecify mem: must specify mem"});
  request.before = Subject{};
  CHECK(Decide(request, Standings({&quota})).kind == Kind::kFree);
}

TEST_CASE("decision: a batch is decided in order, including its own earlier requests", "[quota]") {
  const Quota quota = MakeQuota("q", {{"things", "3"}}, {{"things", "1"}});
  std::vector<Standing> standings = Standings({&quota});
  int admitted = 0;
  for (int i = 0; i < 5; ++i) {
    const Verdict verdict = Decide(Create({{"things", "1"}}), standings);
    if (verdict.kind != Kind::kFits) continue;
    Apply(verdict.needs, standings);
    ++admitted;
  }
  CHECK(admitted == 2);
  CHECK(standings[0].used == List({{"things", "3"}}));
}

TEST_CASE("decision: a saturated usage refuses growth, and a saturated limit nothing", "[quota]") {
  const Quota full = MakeQuota("q", {{"cpu", "5"}, {"mem", "9"}}, {{"cpu", "1e30"}, {"mem", "1"}});
  CHECK(Decide(Create({{"cpu", "1m"}}), Standings({&full})).message ==
        "exceeded quota: q, requested: cpu=1m, used: cpu=1e30, limited: cpu=5");
  CHECK(Decide(Create({{"mem", "1"}}), Standings({&full})).kind == Kind::kFits);
  CHECK(Decide(Create({{"cpu", "0"}}), Standings({&full})).kind == Kind::kFree);
  CHECK(Decide(Update({{"cpu", "1e30"}}, {{"cpu", "1e31"}}), Standings({&full})).kind ==
        Kind::kFree);
  CHECK(Decide(Update({{"cpu", "1e30"}}, {{"cpu", "5"}}), Standings({&full})).kind == Kind::kFree);
  const Quota open = MakeQuota("q", {{"cpu", "1e30"}}, {{"cpu", "1e30"}});
  CHECK(Decide(Create({{"cpu", "1e40"}}), Standings({&open})).kind == Kind::kFits);
  const Quota plain = MakeQuota("q", {{"cpu", "5"}}, {{"cpu", "0"}});
  CHECK(Decide(Create({{"cpu", "1e30"}}), Standings({&plain})).message ==
        "exceeded quota: q, requested: cpu=1e30, used: cpu=0, limited: cpu=5");
}

TEST_CASE("decision: less than a tenth left causes a warning", "[quota]") {
  const Quota quota =
      MakeQuota("q", {{"things", "20"}, {"cpu", "10"}}, {{"things", "17"}, {"cpu", "1"}});
  std::vector<Standing> standings = Standings({&quota});
  const Verdict verdict = Decide(Create({{"things", "1"}, {"cpu", "1"}}), standings);
  Apply(verdict.needs, standings);
  CHECK(NearLimits(verdict.needs, standings).empty());  // exactly a tenth
  Apply(verdict.needs, standings);
  CHECK(NearLimits(verdict.needs, standings) == std::vector<std::string>{"q: things 19 of 20"});
}

}  // namespace
}  // namespace quota::decision_test

// Names whose kind the daemon may not list.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "controllers/quota/events/uncounted.h"
#include "tests/controllers/quota/cluster_charging_fixture.h"
#include "tests/source_dir.h"

namespace missing_rights_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using base::ErrorCode;
using Kind = admission::Answer::Kind;

constexpr const char* kHow =
    "quota-controller-manager may not list secrets: set rbac.countSecrets=true in its Helm values, "
    "or apply manifests/components/count-secrets";

struct Rights : Clustered {
  Rights() { PutNamespace("team-a", "a"); }
  ~Rights() { cluster.ForgetFunctions(); }

  // From now on lists and watches of Secrets fail like this.
  void Break(ErrorCode code, int status) {
    cluster.fault = [=](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path != "/api/v1/secrets") return std::nullopt;
      return base::Error{.code = code, .message = "not yours", .http_status = status};
    };
    cluster.CutWatches(kSecrets);
  }
  void Forbid() { Break(ErrorCode::kForbidden, 403); }
  void Allow() { cluster.fault = nullptr; }

  void Limit(const std::string& secrets = "1") {
    Put(ClusterQuota("tree", "a", {{"pods", "1"}, {"secrets", secrets}}));
    cluster.Put(kQuotas, MakeQuota("own", {{"pods", "5"}, {"secrets", secrets}}));
  }
  // "" if the creation of a Secret is admitted.
  std::string Create(const std::string& name) {
    json::Value secret = MakeSecret(name, "team-a");
    secret.Make({"metadata", "uid"}) = "uid-of-" + name;
    const admission::Review review{.uid = "call",
                                   .resource = {"", "v1", "secrets"},
                                   .subresource = "",
                                   .operation = admission::Operation::kCreate,
                                   .ns = "team-a",
                                   .name = name,
                                   .object = std::move(secret)};
    auto& answer = answers.emplace_back();
    calls.Spawn("call", [this, &answer, &review]() -> base::Task<void> {
      co_await base::DeferCancellation();
      admission::Answer given = co_await admitter->Admit(review, scheduler.Now() + 5s);
      answer = std::move(given);
    });
    RunFor(100ms);
    REQUIRE(answer.has_value());
    return answer->kind == Kind::kAllowed ? "" : answer->message;
  }
  [[nodiscard]] std::string HardOfTree(const std::string& name) const {
    const json::Value* quota = cluster.Find(quotas.resource, "", "tree");
    return std::string(quota->StringAt({"status", "hard", name}));
  }
  // "False ListForbidden message"
  [[nodiscard]] std::string Ready() const {
    const json::Value* quota = cluster.Find(quotas.resource, "", "tree");
    for (const json::Value& condition : *quota->At({"status", "conditions"})->AsArray()) {
      if (condition.StringAt({"type"}) != "Ready") continue;
      return std::string(condition.StringAt({"status"})) + " " +
             std::string(condition.StringAt({"reason"})) + " " +
             std::string(condition.StringAt({"message"}));
    }
    return "";
  }
};

}  // namespace

TEST_CASE("missing rights: a name that was never counted is not in force, and the quota says so",
          "[controllers]") {
  Rights f;
  f.Forbid();
  f.Limit("0");
  f.RunFor(20s);
  CHECK(f.Hard("own") == "pods=5");
  CHECK(f.HardOfTree("secrets").empty());
  CHECK(f.HardOfTree("pods") == "1");
  CHECK(f.Create("s") == "");
  CHECK(f.Get("team-a", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("team-a", "p2").kind == Kind::kRefused);
  CHECK(f.Ready() ==
        "False ListForbidden secrets is not in force until counted for the first "
        "time: list secrets.v1: not yours: set rbac.countSecrets=true in its Helm values, or "
        "apply manifests/components/count-secrets");
  const auto texts = f.events.Texts();
  for (const std::string quota : {"own", "tree"}) {
    CHECK(std::ranges::any_of(texts, [&](const std::string& text) {
      return text.starts_with("QuotaStale " + quota + ": secrets is not in force until counted") &&
             text.find("rbac.countSecrets=true") != std::string::npos;
    }));
  }
  f.Allow();
  f.RunFor(1min);
  CHECK(f.Hard("own") == "pods=5,secrets=0");
  CHECK(f.HardOfTree("secrets") == "0");
  CHECK(f.Ready() ==
        "True Counted everything that is limited is counted; this daemon enforces no "
        "ClusterQuotas");
  CHECK(f.Create("t").starts_with("exceeded "));
}

TEST_CASE("missing rights: a name that was counted stays in force, and its refusals name the cause",
          "[controllers]") {
  Rights f;
  f.cluster.Put(kSecrets, MakeSecret("old"));
  f.Limit();
  f.RunFor(5s);
  REQUIRE(f.Used("own") == "pods=0,secrets=1");
  f.Forbid();
  f.RunFor(1min);
  CHECK(f.Hard("own") == "pods=5,secrets=1");
  CHECK(f.HardOfTree("secrets") == "1");
  CHECK(f.Create("s") ==
        std::string("exceeded quota: own, requested: secrets=1, used: secrets=1, limited: "
                    "secrets=1; ") +
            kHow);
  CHECK(
      f.Ready().starts_with("False ListForbidden secrets is stale, status.used keeps what was "
                            "last known: not yours: set rbac.countSecrets=true"));
  // A new limit and a new quota of the same name change nothing.
  f.Limit("2");
  f.RunFor(1min);
  CHECK(f.HardOfTree("secrets") == "2");
  CHECK(f.Used("own") == "pods=0,secrets=1");
}

TEST_CASE("missing rights: an older daemon's limit without a count ends", "[controllers]") {
  Rights f;
  f.Forbid();
  json::Value own = MakeQuota("own", {{"pods", "5"}, {"secrets", "1"}});
  own.Make({"status"}) = json::Object{{"hard", json::Object{{"pods", "5"}, {"secrets", "1"}}},
                                      {"used", json::Object{{"pods", "0"}}}};
  f.cluster.Put(kQuotas, own);
  f.RunFor(20s);
  CHECK(f.Hard("own") == "pods=5");
  CHECK(f.Create("s") == "");
}

// A tenant can cause any other failure of a list: with an object whose conversion fails, or with
// one that cannot be counted.
TEST_CASE("missing rights: after any other failure a new name refuses, and says why",
          "[controllers]") {
  Rights f;
  const bool forbidden_first = GENERATE(false, true);
  if (forbidden_first) {
    f.Forbid();
    f.Limit();
    f.RunFor(20s);
    REQUIRE(f.Create("s") == "");
  }
  f.Break(ErrorCode::kUnavailable, 500);
  f.Limit();
  f.RunFor(1min);
  CHECK(f.Hard("own") == "pods=5,secrets=1");
  CHECK(f.Create("t") ==
        "status unknown for quota: own, resources: secrets; the API server answers 500 to a list "
        "of secrets");
}

TEST_CASE("missing rights: an outage after the refusal does not put the name in force",
          "[controllers]") {
  Rights f;
  f.Forbid();
  f.Limit();
  f.RunFor(20s);
  const auto [code, status] = GENERATE(
      std::pair{ErrorCode::kUnavailable, 0}, std::pair{ErrorCode::kUnavailable, 503},
      std::pair{ErrorCode::kUnauthorized, 401}, std::pair{ErrorCode::kTooManyRequests, 429});
  f.cluster.writes.clear();
  for (int i = 0; i < 5; ++i) {
    f.Break(code, status);
    f.RunFor(20s);
    f.Forbid();
    f.RunFor(20s);
  }
  CHECK(f.Hard("own") == "pods=5");
  CHECK(std::ranges::none_of(f.cluster.writes, [](const client::ApiRequest& request) {
    return request.path.find("resourcequotas") != std::string::npos;
  }));
  CHECK(f.Create("s") == "");
}

TEST_CASE("missing rights: a limit that cannot be read refuses also then", "[controllers]") {
  Rights f;
  f.Forbid();
  f.Limit("some");
  f.RunFor(20s);
  CHECK(f.Create("s").starts_with("status unknown for quota: own, resources: secrets"));
}

TEST_CASE("missing rights: the value to set fits the kind", "[controllers]") {
  using controllers::HowToAllow;
  CHECK(HowToAllow({"", "secrets"}).find("rbac.countSecrets=true") != std::string::npos);
  CHECK(HowToAllow({"", "configmaps"}).find("rbac.countAny=true") != std::string::npos);
  CHECK(HowToAllow({"example.com", "widgets"}).find("rbac.countGroups={example.com}") !=
        std::string::npos);
  // The groups of the shipped role.
  std::ifstream file(tests::SourcePath("/manifests/base/count-any.yaml"));
  std::size_t groups = 0;
  bool in_groups = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("  - apiGroups:")) in_groups = !line.ends_with("]");
    if (line.starts_with("    resources:")) in_groups = false;
    if (!in_groups || !line.starts_with("      - ")) continue;
    ++groups;
    INFO(line);
    CHECK(HowToAllow({line.substr(8), "things"}).find("rbac.countAny=true") != std::string::npos);
  }
  CHECK(groups == 12);
}

}  // namespace missing_rights_test

// A request that a full ResourceQuota refuses is refused before it is charged to ClusterQuotas, if
// this daemon enforces only those.

#include "tests/controllers/quota/cluster_charging_fixture.h"

namespace advice_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using admission::Answer;
using Kind = Answer::Kind;

// Only ClusterQuotas are enforced. The quota c is over the namespaces a and b.
struct Advised : Clustered {
  Advised() : Clustered({}, Core::kAdvises) {
    PutNamespace("a", "x");
    PutNamespace("b", "x");
    Put(ClusterQuota("c", "x", {{"pods", "3"}}));
    RunFor(1s);
  }
  ~Advised() { cluster.ForgetFunctions(); }
  void Limit(const json::Object& hard, const std::string& name = "q") {
    cluster.Put(kQuotas, MakeQuota(name, hard, "a"));
    RunFor(1s);
  }
  // Counts the reads of the quota q, each of which takes as long as `error` says.
  void CountReads(const std::optional<base::Error>& error = std::nullopt) {
    cluster.fault = [this, error](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (unwritten && request.path.ends_with("/resourcequotas/q/status")) return cluster.lost;
      if (request.verb != "GET" || !request.path.ends_with("/resourcequotas/q")) {
        return std::nullopt;
      }
      ++reads;
      return error;
    };
  }
  std::size_t reads = 0;
  bool unwritten = false;  // the status of q cannot be written
};

TEST_CASE("advice: what a full ResourceQuota refuses is charged to no ClusterQuota",
          "[admission]") {
  Advised f;
  f.Limit({{"pods", "0"}});
  for (int i = 0; i < 14; ++i) {
    const Answer& refused = f.Get("a", "p" + std::to_string(i));
    CHECK(refused.kind == Kind::kRefused);
    CHECK(refused.code == 403);
    CHECK(refused.reason == "Forbidden");
    CHECK(refused.message == "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0");
    CHECK(refused.quota_api == "core");
    CHECK_FALSE(refused.refused_by_cluster_quota);
    CHECK(refused.would_refuse.empty());
    CHECK(refused.causes ==
          std::vector<api::StatusCause>{{.reason = "QuotaExceeded",
                                         .message = "requested: 1, used: 0, limited: 0",
                                         .field = "ResourceQuota/q/pods"}});
    CHECK(f.UsedOf("c") == "0");
  }
  for (int i = 0; i < 3; ++i) CHECK(f.Get("b", "p" + std::to_string(i)).kind == Kind::kAllowed);
  CHECK(f.UsedOf("c") == "3");
}

TEST_CASE("advice: only a quota that is exceeded advises", "[admission]") {
  Advised f;
  SECTION("there is room") { f.Limit({{"pods", "9"}}); }
  SECTION("it limits another kind") { f.Limit({{"secrets", "0"}}); }
  SECTION("the object lacks what it requires") { f.Limit({{"limits.cpu", "0"}}); }
  SECTION("it has no count yet") {
    f.unwritten = true;
    f.CountReads();
    f.Limit({{"pods", "0"}});
  }
  SECTION("its scope does not match the object") {
    json::Value quota = MakeQuota("q", {{"pods", "0"}}, "a");
    quota.Make({"spec", "scopes"}) = json::Array{"Terminating"};
    f.cluster.Put(kQuotas, quota);
    f.RunFor(1s);
  }
  f.CountReads();
  CHECK(f.Get("a", "p").kind == Kind::kAllowed);
  CHECK(f.reads == 0);
  CHECK(f.UsedOf("c") == "1");
}

TEST_CASE("advice: scopes are matched as the plugin does", "[admission]") {
  Advised f;
  json::Value quota = MakeQuota("q", {{"pods", "0"}}, "a");
  quota.Make({"spec", "scopes"}) = json::Array{"NotTerminating"};
  f.cluster.Put(kQuotas, quota);
  f.RunFor(1s);
  CHECK(f.Get("a", "p").kind == Kind::kRefused);
  CHECK(f.UsedOf("c") == "0");
}

TEST_CASE("advice: the stored quota decides, not the watched one", "[admission]") {
  Advised f;
  f.Limit({{"pods", "1"}});
  f.cluster.Put(kPods, MakePod("there", "1", "a"));
  f.RunFor(1s);
  REQUIRE(f.Used("q", "a") == "pods=1");
  f.cluster.Hold(kQuotas);
  json::Value grown = *f.cluster.Find(kQuotas, "a", "q");
  grown.Make({"spec", "hard", "pods"}) = "2";
  grown.Make({"status", "hard", "pods"}) = "2";
  f.cluster.Put(kQuotas, grown);
  f.CountReads();
  CHECK(f.Get("a", "p").kind == Kind::kAllowed);
  CHECK(f.reads == 1);
  CHECK(f.UsedOf("c") == "2");
}

TEST_CASE("advice: if the quota cannot be read, the request is charged as usual", "[admission]") {
  Advised f;
  f.Limit({{"pods", "0"}});
  SECTION("the read fails") {
    f.CountReads(base::Error{.code = base::ErrorCode::kUnavailable, .message = "no"});
    CHECK(f.Get("a", "p").kind == Kind::kAllowed);
    CHECK(f.reads == 1);
  }
  SECTION("the quotas are not watched now") {
    f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("resourcequotas") == std::string::npos) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no"};
    };
    f.cluster.CutWatches(kQuotas);
    f.RunFor(10s);
    CHECK(f.Get("a", "p").kind == Kind::kAllowed);
  }
  SECTION("it was deleted") {
    f.cluster.Hold(kQuotas);
    f.cluster.Delete(kQuotas, "a", "q");
    CHECK(f.Get("a", "p").kind == Kind::kAllowed);
  }
  SECTION("it was replaced by one with room") {
    f.cluster.Hold(kQuotas);
    f.cluster.Delete(kQuotas, "a", "q");
    f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "0"}}, "a"));
    CHECK(f.Get("a", "p").kind == Kind::kAllowed);
  }
  CHECK(f.UsedOf("c") == "1");
}

TEST_CASE("advice: refusals at the same time share one read", "[admission]") {
  Advised f;
  f.Limit({{"pods", "0"}});
  f.CountReads();
  for (int i = 0; i < 100; ++i) f.Ask("a", "p" + std::to_string(i));
  f.RunFor(50ms);
  CHECK(f.Count(Kind::kRefused) == 100);
  CHECK(f.reads == 1);
  f.Get("a", "again");
  f.Get("a", "later");  // 100 ms after it
  CHECK(f.reads <= 3);
  CHECK(f.Count(Kind::kRefused) == 102);
}

TEST_CASE("advice: a request that no ClusterQuota limits is not asked about", "[admission]") {
  Advised f;
  f.Limit({{"pods", "0"}});
  f.PutNamespace("a", "other");
  f.RunFor(1s);
  f.CountReads();
  CHECK(f.Get("a", "p").kind == Kind::kAllowed);
  CHECK(f.reads == 0);
}

}  // namespace
}  // namespace advice_test

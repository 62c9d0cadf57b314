#include "cmd/quota-controller-manager/quota_series.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "pkg/quota/cluster/cluster_quota.h"

namespace quota_series_test {
namespace {

using Lines = std::vector<std::string>;

class IgnoredChanges final : public controllers::QuotaListener {
 public:
  void OnQuota(const quota::Quota*, const quota::Quota*) override {}
  void OnQuotasSynced() override {}
};

struct Fixture {
  explicit Fixture(std::size_t max_series) : series(registry, max_series) {
    series.Add("core", [this] { return served ? &store : nullptr; });
  }
  void Put(const std::string& ns, const std::string& name, const json::Object& hard,
           const json::Object& used) {
    store.Upsert(
        json::Object{{"metadata", json::Object{{"name", name},
                                               {"namespace", ns},
                                               {"uid", "uid-" + name},
                                               {"resourceVersion", std::to_string(++version)}}},
                     {"spec", json::Object{{"hard", hard}}},
                     {"status", json::Object{{"hard", hard}, {"used", used}}}});
  }
  // Returns the lines of a scrape that begin with `name`, without "# HELP" and "# TYPE".
  Lines Scrape(const std::string& name) {
    Lines lines;
    std::istringstream text(registry.Expose());
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with(name)) lines.push_back(line);
    }
    return lines;
  }

  IgnoredChanges ignored;
  base::ManualClock clock;
  controllers::QuotaStore store{"core", ignored, clock};
  bool served = true;
  int version = 0;
  metrics::Registry registry;
  manager::QuotaSeries series;
};

// ClusterQuotas, which a fixture exports as well.
class ClusterStore {
 public:
  explicit ClusterStore(Fixture& fixture)
      : store_("cluster", fixture.ignored, fixture.clock, quota::ClusterQuotaApi().form) {
    fixture.series.Add("cluster", [this] { return &store_; });
  }
  void Put(const std::string& name, const std::string& mode, json::Array conditions = {},
           const std::string& used = "12") {
    const json::Object hard{{"pods", "10"}};
    store_.Upsert(json::Object{
        {"metadata",
         json::Object{
             {"name", name}, {"uid", name}, {"resourceVersion", std::to_string(++version_)}}},
        {"spec", json::Object{{"hard", hard}, {"enforcement", mode}}},
        {"status", json::Object{{"hard", hard},
                                {"used", json::Object{{"pods", used}}},
                                {"conditions", std::move(conditions)}}}});
  }
  void Remove(const std::string& name) {
    store_.Remove(json::Object{{"metadata", json::Object{{"name", name}, {"uid", name}}}});
  }

 private:
  controllers::QuotaStore store_;
  int version_ = 0;
};

json::Value Condition(const char* type, const char* status, const std::string& reason) {
  return json::Object{{"type", type}, {"status", status}, {"reason", reason}, {"message", "m"}};
}

std::string Line(const std::string& metric, const std::string& quota, const std::string& resource,
                 const std::string& value) {
  return metric + "{namespace=\"ns\",quota=\"" + quota + "\",quota_api=\"core\",resource=\"" +
         resource + "\"} " + value;
}

}  // namespace

TEST_CASE("quota series: each limit and its usage are exported", "[manager]") {
  Fixture f(100);
  f.Put("ns", "q", {{"pods", "10"}, {"requests.cpu", "2500m"}}, {{"pods", "3"}});
  CHECK(f.Scrape("quota_hard") == Lines{Line("quota_hard", "q", "pods", "10"),
                                        Line("quota_hard", "q", "requests.cpu", "2.5")});
  // CPU is not counted yet, so it has no line, rather than 0.
  CHECK(f.Scrape("quota_used") == Lines{Line("quota_used", "q", "pods", "3")});
}

TEST_CASE("quota series: a ClusterQuota that does not refuse has its mode as a series",
          "[manager]") {
  Fixture f(100);
  f.Put("ns", "q", {{"pods", "10"}}, {{"pods", "3"}});
  ClusterStore cluster(f);
  cluster.Put("audits", "Audit");
  cluster.Put("denies", "Deny");
  cluster.Put("warns", "Warn");
  const std::string metric = "quota_enforcement_mode{mode=\"";
  const std::string labels = "\",namespace=\"\",quota=\"";
  CHECK(f.Scrape("quota_enforcement_mode{") ==
        Lines{metric + "Audit" + labels + "audits\",quota_api=\"cluster\"} 1",
              metric + "Warn" + labels + "warns\",quota_api=\"cluster\"} 1"});
}

TEST_CASE("quota series: conditions that report a problem are exported while they do",
          "[manager]") {
  Fixture f(100);
  ClusterStore cluster(f);
  const auto line = [](const std::string& condition, const std::string& quota,
                       const std::string& reason) {
    return "quota_condition{condition=\"" + condition + "\",namespace=\"\",quota=\"" + quota +
           "\",quota_api=\"cluster\",reason=\"" + reason + "\"} 1";
  };
  cluster.Put(
      "a", "Deny",
      {Condition("Ready", "False", "ParentNotFound"), Condition("Stale", "False", "Current"),
       Condition("OverLimit", "True", "LimitBelowUsage"),
       Condition("Exempt", "True", "SelectsExemptNamespaces")});
  cluster.Put("b", "Deny", {Condition("Ready", "True", "Counted")});
  // Not written by this daemon.
  cluster.Put("c", "Deny", {Condition("Ready", "False", std::string(1000, 'x'))});
  cluster.Put("d", "Deny", {Condition("Stale", "True", "a \"b\"")});
  CHECK(f.Scrape("quota_condition{") ==
        Lines{line("Ready", "a", "ParentNotFound"), line("OverLimit", "a", "LimitBelowUsage"),
              line("Ready", "c", "Other"), line("Stale", "d", "Other")});
  cluster.Put("a", "Deny", {Condition("Ready", "True", "Counted")});
  cluster.Remove("c");
  CHECK(f.Scrape("quota_condition{") == Lines{line("Stale", "d", "Other")});
}

TEST_CASE("quota series: a quota that is not ready is exported before fuller ones", "[manager]") {
  Fixture f(3);
  ClusterStore cluster(f);
  for (const char* name : {"a", "b", "c"}) cluster.Put(name, "Deny", {}, "9");
  cluster.Put("z", "Deny", {Condition("Ready", "False", "ParentNotFound")}, "0");
  CHECK(f.Scrape("quota_condition{").size() == 1);
  SECTION("its condition is left out last") {
    Fixture small(1);
    ClusterStore one(small);
    one.Put("z", "Warn", {Condition("Ready", "False", "ParentNotFound")});
    CHECK(small.Scrape("quota_condition{").size() == 1);
    CHECK(small.Scrape("quota_enforcement_mode{").empty());
  }
}

TEST_CASE("quota series: the bound includes modes, and leaves out the limits before them",
          "[manager]") {
  Fixture f(2);
  ClusterStore cluster(f);
  cluster.Put("trial", "Warn");
  CHECK(f.Scrape("quota_enforcement_mode{").size() == 1);
  CHECK(f.Scrape("quota_used").empty());
  CHECK(f.Scrape("quota_series_omitted") == Lines{"quota_series_omitted 2"});
}

TEST_CASE("quota series: a deleted quota and an API that is not served have no series",
          "[manager]") {
  Fixture f(100);
  f.Put("ns", "q", {{"pods", "10"}}, {{"pods", "3"}});
  CHECK(f.Scrape("quota_used").size() == 1);
  f.served = false;
  CHECK(f.Scrape("quota_used").empty());
  f.served = true;
  CHECK(f.Scrape("quota_used").size() == 1);
  f.store.Remove(json::Object{
      {"metadata", json::Object{{"name", "q"}, {"namespace", "ns"}, {"uid", "uid-q"}}}});
  CHECK(f.Scrape("quota_used").empty());
}

TEST_CASE("quota series: above the bound the last quotas are left out, and counted", "[manager]") {
  Fixture f(4);
  for (const char* name : {"c", "a", "b"}) f.Put("ns", name, {{"pods", "10"}}, {{"pods", "3"}});
  const Lines shown{Line("quota_used", "a", "pods", "3"), Line("quota_used", "b", "pods", "3")};
  CHECK(f.Scrape("quota_used") == shown);
  CHECK(f.Scrape("quota_series_omitted") == Lines{"quota_series_omitted 2"});
  // The next scrape has the same quotas.
  CHECK(f.Scrape("quota_used") == shown);
}

TEST_CASE("quota series: the quota at the bound is exported in part", "[manager]") {
  Fixture f(3);
  f.Put("ns", "q", {{"pods", "10"}, {"secrets", "10"}}, {{"pods", "3"}, {"secrets", "1"}});
  CHECK(f.Scrape("quota_used") == Lines{Line("quota_used", "q", "pods", "3")});
  CHECK(f.Scrape("quota_series_omitted") == Lines{"quota_series_omitted 2"});
}

TEST_CASE("quota series: a bound of 0 exports no series, and no alert fires", "[manager]") {
  Fixture f(0);
  f.Put("ns", "q", {{"pods", "10"}}, {{"pods", "3"}});
  CHECK(f.Scrape("quota_hard").empty());
  CHECK(f.Scrape("quota_series_omitted") == Lines{"quota_series_omitted 0"});
}

TEST_CASE("quota series: very many quotas are all exported", "[manager]") {
  Fixture f(10'000);
  for (int i = 0; i < 1000; ++i) {
    f.Put("ns-" + std::to_string(i % 100), "q" + std::to_string(i), {{"pods", "10"}},
          {{"pods", "3"}});
  }
  CHECK(f.Scrape("quota_hard").size() == 1000);
  CHECK(f.Scrape("quota_series_omitted") == Lines{"quota_series_omitted 0"});
}

TEST_CASE("quota series: refusals and would-be refusals are counted separately", "[manager]") {
  Fixture f(100);
  f.Put("ns", "q", {{"pods", "2"}}, {{"pods", "2"}});
  f.series.CountRefusal("core", {"ns", "q"}, {"pods"});
  f.series.CountRefusal("core", {"ns", "q"}, {"pods"}, true);
  f.series.CountRefusal("core", {"ns", "q"}, {"pods"}, true);
  f.series.CountRefusal("core", {"ns", "q"}, {}, true);
  CHECK(f.Scrape("quota_refused_requests_total{") ==
        Lines{Line("quota_refused_requests_total", "q", "pods", "1")});
  CHECK(f.Scrape("quota_admission_would_refuse_total{") ==
        Lines{Line("quota_admission_would_refuse_total", "q", "", "1"),
              Line("quota_admission_would_refuse_total", "q", "pods", "2")});
}

TEST_CASE("quota series: the bound includes would-be refusals", "[manager]") {
  Fixture f(3);
  f.Put("ns", "q", {{"pods", "2"}}, {{"pods", "2"}});
  f.series.CountRefusal("core", {"ns", "q"}, {"pods"}, true);
  f.series.CountRefusal("core", {"ns", "q"}, {}, true);
  CHECK(f.Scrape("quota_admission_would_refuse_total{") ==
        Lines{Line("quota_admission_would_refuse_total", "q", "pods", "1")});
  CHECK(f.Scrape("quota_series_omitted") == Lines{"quota_series_omitted 1"});
}

}  // namespace quota_series_test

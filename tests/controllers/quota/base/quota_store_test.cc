#include "controllers/quota/base/quota_store.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace quota_store_test {

using controllers::QuotaStore;

namespace {

// Records the listener's calls: "+q" added, "~q" changed, "-q" removed.
class Told final : public controllers::QuotaListener {
 public:
  void OnQuota(const quota::Quota* before, const quota::Quota* after) override {
    const char* sign = before == nullptr ? "+" : (after == nullptr ? "-" : "~");
    what.push_back(sign + (after != nullptr ? after : before)->key.name);
  }
  void OnQuotasSynced() override { what.emplace_back("synced"); }
  std::vector<std::string> what;
};

json::Value MakeQuota(const std::string& name, const std::string& version,
                      const std::string& pods = "10", const std::string& uid = "",
                      const std::string& ns = "ns") {
  return json::Object{{"metadata", json::Object{{"name", name},
                                                {"namespace", ns},
                                                {"uid", uid.empty() ? "uid-" + name : uid},
                                                {"resourceVersion", version}}},
                      {"spec", json::Object{{"hard", json::Object{{"pods", pods}}}}}};
}

struct StoreFixture {
  void List(const std::vector<json::Value>& quotas) {
    store.BeginList();
    for (const json::Value& quota : quotas) store.Upsert(quota);
    store.EndList();
  }
  Told told;
  base::ManualClock clock;
  QuotaStore store{"core", told, clock};
  using Names = std::vector<std::string>;
};

}  // namespace

TEST_CASE_METHOD(StoreFixture, "quota store: synced after the first complete list",
                 "[controllers]") {
  store.BeginList();
  store.Upsert(MakeQuota("a", "1"));
  CHECK_FALSE(store.synced());
  store.EndList();
  CHECK(store.synced());
  CHECK(told.what == Names{"+a", "synced"});
}

TEST_CASE_METHOD(StoreFixture, "quota store: it is ahead of the watch after a live answer",
                 "[controllers]") {
  const auto parsed = [](const json::Value& quota) { return *quota::ParseQuota(quota); };
  List({MakeQuota("a", "1"), MakeQuota("b", "2")});
  CHECK_FALSE(store.IsAhead());
  SECTION("until the watch shows it") {
    store.Apply(parsed(MakeQuota("a", "5")));
    CHECK(store.IsAhead());
    store.Upsert(MakeQuota("a", "3"));  // the watch lags
    CHECK(store.IsAhead());
    store.Upsert(MakeQuota("a", "5"));
    CHECK_FALSE(store.IsAhead());
  }
  SECTION("until the watch shows a later change") {
    store.Replace("ns", {MakeQuota("a", "5"), MakeQuota("b", "2")});
    CHECK(store.IsAhead());
    store.Upsert(MakeQuota("a", "6"));
    CHECK_FALSE(store.IsAhead());
  }
  SECTION("until the watch shows the deletion") {
    store.Replace("ns", {MakeQuota("b", "2")});
    CHECK(store.IsAhead());
    store.Remove(MakeQuota("a", "7"));
    CHECK_FALSE(store.IsAhead());
  }
  SECTION("until the next list") {
    store.Replace("ns", {MakeQuota("a", "5")});
    List({MakeQuota("a", "1"), MakeQuota("b", "2")});
    CHECK_FALSE(store.IsAhead());
  }
  SECTION("but not after an answer that shows nothing new") {
    store.Apply(parsed(MakeQuota("a", "1")));
    store.Replace("ns", {MakeQuota("a", "1"), MakeQuota("b", "2")});
    CHECK_FALSE(store.IsAhead());
  }
}

TEST_CASE_METHOD(StoreFixture, "quota store: a relist finds deletions without an event",
                 "[controllers]") {
  List({MakeQuota("a", "1"), MakeQuota("b", "2")});
  told.what.clear();
  List({MakeQuota("b", "2"), MakeQuota("c", "5")});
  CHECK(told.what == Names{"+c", "-a"});
  CHECK(store.size() == 2);
}

TEST_CASE_METHOD(StoreFixture, "quota store: an older version is ignored", "[controllers]") {
  List({MakeQuota("a", "9")});
  told.what.clear();
  store.Apply(*quota::ParseQuota(MakeQuota("a", "12", "20")));
  store.Upsert(MakeQuota("a", "10", "15"));
  CHECK(told.what == Names{"~a"});
  CHECK(store.Find({"ns", "a"})->hard.ToString() == "pods=20");
}

TEST_CASE_METHOD(StoreFixture, "quota store: a late answer does not bring a deleted quota back",
                 "[controllers]") {
  List({MakeQuota("a", "1")});
  store.Remove(MakeQuota("a", "3"));
  store.Apply(*quota::ParseQuota(MakeQuota("a", "2")));
  CHECK(store.size() == 0);
}

TEST_CASE_METHOD(StoreFixture, "quota store: the same name with another uid is another quota",
                 "[controllers]") {
  List({MakeQuota("a", "1")});
  told.what.clear();
  store.Upsert(MakeQuota("a", "7", "10", "uid-new"));
  CHECK(told.what == Names{"-a", "+a"});
  told.what.clear();
  store.Remove(MakeQuota("a", "6"));  // the deletion of the first quota, late
  CHECK(told.what.empty());
  CHECK(store.size() == 1);
}

TEST_CASE_METHOD(StoreFixture,
                 "quota store: a quota of which a part cannot be read stays, and is counted",
                 "[controllers]") {
  List({MakeQuota("a", "1"), MakeQuota("b", "2")});
  told.what.clear();
  store.Upsert(MakeQuota("a", "3", "many"));
  CHECK(told.what == Names{"~a"});
  CHECK(store.Find({"ns", "a"})->unreadable.names == std::vector<std::string>{"pods"});
  CHECK(store.broken() == 1);
  store.Upsert(MakeQuota("a", "4", "5"));
  CHECK(told.what == Names{"~a", "~a"});
  CHECK(store.broken() == 0);
  store.Upsert(MakeQuota("b", "5", "many"));
  store.Remove(MakeQuota("b", "6", "many"));
  CHECK(store.broken() == 0);
}

TEST_CASE_METHOD(StoreFixture, "quota store: a namespace's newer list adds, changes and removes",
                 "[controllers]") {
  List({MakeQuota("a", "1"), MakeQuota("b", "2"), MakeQuota("c", "3")});
  told.what.clear();
  store.Replace("ns",
                {MakeQuota("a", "1"), MakeQuota("b", "9", "5", "another"), MakeQuota("d", "8")});
  CHECK(told.what == Names{"-b", "+b", "+d", "-c"});
  CHECK(store.size() == 3);
}

TEST_CASE_METHOD(StoreFixture, "quota store: a watch that lags behind such a list reverts nothing",
                 "[controllers]") {
  List({MakeQuota("a", "1")});
  store.Replace("ns", {MakeQuota("a", "9", "5", "another")});
  told.what.clear();
  store.Upsert(MakeQuota("a", "2"));
  store.Remove(MakeQuota("a", "3"));
  store.Upsert(MakeQuota("a", "8", "5", "another"));
  CHECK(told.what.empty());
  CHECK(store.Find({"ns", "a"})->uid == "another");
}

TEST_CASE_METHOD(StoreFixture, "quota store: a watch that lags does not bring back deleted quotas",
                 "[controllers]") {
  List({MakeQuota("a", "1"), MakeQuota("b", "2")});
  store.Forget({"ns", "a"}, "uid-a");  // a write got a 404
  store.Replace("ns", {});             // and a newer list
  told.what.clear();
  store.Upsert(MakeQuota("a", "3"));
  store.Upsert(MakeQuota("b", "4"));
  CHECK(told.what.empty());
  store.Remove(MakeQuota("a", "5"));
  store.Upsert(MakeQuota("a", "7", "10", "another"));
  CHECK(told.what == Names{"+a"});
  store.Replace("ns", {MakeQuota("b", "9")});  // a restored store
  CHECK(told.what == Names{"+a", "+b", "-a"});
}

TEST_CASE_METHOD(StoreFixture, "quota store: a quota is forgotten only with its uid",
                 "[controllers]") {
  List({MakeQuota("a", "5", "10", "another")});
  told.what.clear();
  store.Forget({"ns", "a"}, "uid-a");
  store.Forget({"ns", "b"}, "uid-b");
  CHECK(told.what.empty());
  CHECK(store.size() == 1);
}

TEST_CASE_METHOD(StoreFixture, "quota store: a list after a restore replaces newer versions",
                 "[controllers]") {
  List({MakeQuota("a", "90", "5", "later"), MakeQuota("b", "91")});
  List({MakeQuota("a", "9"), MakeQuota("b", "8", "7")});
  CHECK(store.Find({"ns", "a"})->uid == "uid-a");
  CHECK(store.Find({"ns", "b"})->resource_version == "8");
}

TEST_CASE_METHOD(StoreFixture,
                 "quota store: a list that is older than a live answer removes nothing",
                 "[controllers]") {
  List({MakeQuota("a", "1"), MakeQuota("b", "2")});
  store.BeginList();
  store.Replace("ns",
                *json::Value(json::Array{MakeQuota("a", "1"), MakeQuota("new", "6")}).AsArray());
  SECTION("the quota was created after the list") {
    store.Upsert(MakeQuota("a", "1"));
    store.OnListed("5");
    store.EndList();
    CHECK(store.Find({"ns", "new"}) != nullptr);
  }
  SECTION("the quota was deleted before the list") {
    store.Upsert(MakeQuota("a", "1"));
    store.OnListed("7");
    store.EndList();
    CHECK(store.Find({"ns", "new"}) == nullptr);
  }
  CHECK(store.Find({"ns", "b"}) == nullptr);
}

TEST_CASE_METHOD(StoreFixture, "quota store: an answer that arrives during a list is kept",
                 "[controllers]") {
  List({MakeQuota("a", "1")});
  store.BeginList();
  store.Apply(*quota::ParseQuota(MakeQuota("a", "9", "5")));
  store.Upsert(MakeQuota("a", "1"));
  store.EndList();
  CHECK(store.Find({"ns", "a"})->resource_version == "9");
}

TEST_CASE_METHOD(StoreFixture,
                 "quota store: the steps of a walk do not depend on the number of namespaces",
                 "[controllers]") {
  std::vector<json::Value> quotas;
  for (int i = 10; i < 30; ++i) {
    quotas.push_back(MakeQuota("q" + std::to_string(i), "1", "10", "", i % 2 == 0 ? "" : "ns"));
  }
  List(quotas);
  std::set<std::string> visited;
  std::size_t steps = 0;
  QuotaStore::Place place;
  for (bool more = true; more; ++steps) {
    std::size_t now = 0;
    more = store.VisitSome(place, 3, [&](const quota::Quota& quota) {
      ++now;
      CHECK(visited.insert(quota.key.ToString()).second);
    });
    CHECK(now <= 3);
    if (steps == 1) store.Remove(quotas[10]);  // the one that was visited last
    if (steps == 1) store.Upsert(MakeQuota("a", "2"));
  }
  CHECK(steps == 8);
  CHECK(visited.size() == 21);
}

}  // namespace quota_store_test

#include "controllers/quota/cluster/namespace_watch.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/controllers/quota/cluster_fixture.h"

namespace namespace_watch_test {
namespace {

using controllers::NamespaceWatch;

json::Value Namespace(const std::string& name, const std::string& version) {
  return json::Object{{"metadata", json::Object{{"name", name},
                                                {"uid", name},
                                                {"resourceVersion", version},
                                                {"labels", json::Object{{"team", "a"}}}}}};
}

// Gives the watch the lists and events of a reflector.
struct Watched : fixture::ClusterQuotaWorld {
  void List(const std::vector<std::string>& names) {
    watch.BeginList();
    for (const auto& name : names) watch.Upsert(Namespace(name, "1"));
    watch.EndList();
  }

  controllers::TrackingContext context{
      .executor = io.get_executor(), .scheduler = &scheduler, .client = &cluster};
  std::set<std::string> shown;
  std::vector<std::string> gone;
  NamespaceWatch watch{context,
                       {.on_namespace =
                            [this](const std::string& ns, const NamespaceWatch::Labels& labels) {
                              if (labels) {
                                shown.insert(ns);
                              } else {
                                shown.erase(ns);
                                gone.push_back(ns);
                              }
                            },
                        .on_state = [] {}}};
};

TEST_CASE("namespace watch: nothing is complete before the first list ends", "[controllers]") {
  Watched f;
  CHECK_FALSE(f.watch.synced());
  f.watch.BeginList();
  f.watch.Upsert(Namespace("a", "7"));
  CHECK_FALSE(f.watch.synced());
  f.watch.EndList();
  CHECK(f.watch.synced());
  CHECK(f.watch.size() == 1);
  CHECK(f.watch.newest() == "7");
}

TEST_CASE("namespace watch: a namespace that a list lacks is gone", "[controllers]") {
  Watched f;
  f.List({"a", "b", "c"});
  f.List({"b"});
  CHECK(f.shown == std::set<std::string>{"b"});
  CHECK(f.gone == std::vector<std::string>{"a", "c"});
  CHECK(f.watch.size() == 1);
}

TEST_CASE("namespace watch: an event during a list counts as listed", "[controllers]") {
  Watched f;
  f.List({"a"});
  f.watch.BeginList();
  f.watch.Upsert(Namespace("new", "9"));
  f.watch.EndList();
  CHECK(f.shown == std::set<std::string>{"new"});
  f.watch.Remove(Namespace("new", "10"));
  f.watch.Remove(Namespace("never", "11"));
  CHECK(f.gone == std::vector<std::string>{"a", "new"});
  CHECK(f.watch.newest() == "11");
}

TEST_CASE("namespace watch: namespaces that are gone are told of in steps", "[controllers]") {
  Watched f;
  std::vector<std::string> names(600);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = "ns-" + std::to_string(i);
  f.List(names);
  f.watch.BeginList();
  std::size_t steps = 1;
  while (f.watch.SweepSome()) {
    CHECK(f.gone.size() < 600);
    ++steps;
  }
  CHECK(steps == 3);
  CHECK(f.gone.size() == 600);
  f.watch.EndList();
  CHECK(f.gone.size() == 600);
}

TEST_CASE("namespace watch: a version from before a relist is forgotten", "[controllers]") {
  Watched f;
  f.watch.BeginList();
  f.watch.Upsert(Namespace("a", "900"));
  f.watch.EndList();
  CHECK(f.watch.Reaches("900"));
  CHECK_FALSE(f.watch.Reaches("901"));
  f.watch.Relist();
  CHECK_FALSE(f.watch.synced());
  f.watch.BeginList();
  f.watch.Upsert(Namespace("a", "12"));
  f.watch.EndList();
  CHECK(f.watch.synced());
  CHECK(f.watch.newest() == "12");
  CHECK_FALSE(f.watch.Reaches("900"));
}

}  // namespace
}  // namespace namespace_watch_test

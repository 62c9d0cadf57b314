// A shared server is clean when the next scenario begins.
#include <catch2/catch.hpp>
#include <set>

#include "tests/e2e/harness/scenario.h"

namespace e2e::clean_server_test {

TEST_CASE("harness: a scenario leaves nothing in namespaces that it created", "[e2e][harness]") {
  std::string other;
  {
    Scenario s;
    other = FreshName("other");
    json::Value labelled = Namespace(other);
    labelled.Make({"metadata", "labels", "team"}) = "a";
    s.api().Create(PathOf("namespaces"), labelled);
    s.api().Create(PathOf("resourcequotas", other), Quota("q", {{"pods", "5"}}));
    s.api().Create(PathOf("pods", other), Pod("p"));
    s.api().Create(PathOf("services", other), ClusterIpService("s"));
    s.Create("resourcequotas", Quota("q", {{"pods", "5"}}));
  }
  Scenario next;
  for (const char* resource : {"resourcequotas", "pods", "services"}) {
    CAPTURE(resource);
    const json::Value list = next.api().Get(PathOf(resource));
    std::set<std::string> namespaces;
    for (const json::Value& object : *list.At({"items"})->AsArray())
      namespaces.emplace(object.StringAt({"metadata", "namespace"}));
    namespaces.erase("default");  // the API server's own service
    CHECK(namespaces.empty());
  }
  // No quota of the next scenario selects it.
  const json::Value stored = next.api().Get(PathOf("namespaces", "", other));
  CHECK(stored.StringAt({"metadata", "labels", "team"}).empty());
}

}  // namespace e2e::clean_server_test

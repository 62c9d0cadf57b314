#include "pkg/webhook/exempt_namespaces.h"

#include <boost/asio/io_context.hpp>

#include "pkg/base/manual_scheduler.h"
#include "tests/fake/fake_cluster.h"
#include "tests/pkg/webhook/webhook_testing.h"

namespace webhook::exempt_namespaces_test {
namespace {

using Names = ExemptNamespaces::Names;

json::Value NamespaceNamed(const std::string& name) {
  return json::Object{{"metadata", json::Object{{"name", name}}}};
}

struct ExemptFixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  int changes = 0;
  ExemptNamespaces exempt{scheduler,     cluster,     {"kube-system"},
                          "tier=system", {.seed = 1}, [this] { ++changes; }};
};

}  // namespace

TEST_CASE_METHOD(ExemptFixture, "exempt namespaces: labels add to the names", "[admission]") {
  const std::shared_ptr<const Names> all = exempt.all();
  CHECK(*all == Names{"kube-system"});
  exempt.BeginList();
  for (const char* ns : {"calico", "kube-system", "dns"}) exempt.Upsert(NamespaceNamed(ns));
  exempt.EndList();
  CHECK(*all == Names{"calico", "dns", "kube-system"});
  CHECK(exempt.named() == Names{"kube-system"});
  CHECK(changes == 2);
  exempt.Upsert(NamespaceNamed("dns"));
  exempt.Remove(NamespaceNamed("calico"));  // or its labels have changed
  exempt.Remove(NamespaceNamed("kube-system"));
  exempt.Remove(NamespaceNamed("unknown"));
  CHECK(*all == Names{"dns", "kube-system"});
  CHECK(changes == 3);
  exempt.BeginList();
  exempt.Upsert(NamespaceNamed("web"));
  exempt.EndList();
  CHECK(*all == Names{"kube-system", "web"});
  CHECK(changes == 5);
}

}  // namespace webhook::exempt_namespaces_test

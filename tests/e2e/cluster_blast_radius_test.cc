// The effect of a webhook that does not answer, if ClusterQuotas limit: only namespaces that some
// ClusterQuota may select depend on it.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"

namespace e2e::cluster_blast_radius_test {
namespace {

// Enforces ClusterQuotas, and has their CRD.
struct Enforced {
  explicit Enforced(const std::vector<std::string>& more_flags = {})
      : a({.server = Managed(), .more_flags = Flags(more_flags)}), quotas(a.api()) {}

  static std::vector<std::string> Flags(std::vector<std::string> more) {
    more.insert(more.begin(), "--enforce=cluster");
    return more;
  }
  // A namespace with these labels, which no other scenario selects.
  std::string NewNamespace(const std::string& prefix, const json::Object& labels = {}) {
    std::string name = FreshName(prefix);
    json::Value ns = Namespace(name);
    for (const auto& [key, value] : labels) ns.Make({"metadata", "labels", key}) = value;
    a.api().Create(PathOf("namespaces"), ns);
    return name;
  }
  void Label(const std::string& ns, const std::string& key, const std::string& value) {
    const json::Value labels = json::Object{{key, value}};
    a.api().MergePatch(PathOf("namespaces", "", ns),
                       json::Object{{"metadata", json::Object{{"labels", labels}}}});
  }
  Attempt Post(const std::string& ns, std::string_view resource, const json::Value& object) {
    return ToAttempt(a.api().Do(PostOf(PathOf(resource, ns), object)));
  }
  Attempt PostPod(const std::string& ns, const std::string& name) {
    return Post(ns, "pods", Pod(name));
  }

  Admission a;
  ClusterQuotas quotas;
};

bool IsShutOut(const Attempt& attempt) {
  return attempt.code == 500 && attempt.message.find("failed calling webhook") != std::string::npos;
}

bool IsExceeded(const Attempt& attempt) {
  return attempt.code == 403 && attempt.message.find("exceeded cluster quota") != std::string::npos;
}

}  // namespace

TEST_CASE("cluster blast radius: a cluster starts while no replica answers",
          "[e2e][cluster][admission][outage]") {
  Enforced e;
  const std::string team = FreshName("team");
  // A network plugin with a namespace of its own, as nobody has exempted it.
  const std::string network = e.NewNamespace("network");
  const std::string by_label = e.NewNamespace("web", {{"team", team}});
  const std::string other_value = e.NewNamespace("other", {{"team", "x"}});
  const std::string by_name = e.NewNamespace("shop");
  const std::string company = FreshName("company");
  const std::string named = FreshName("named");
  const std::string everywhere = FreshName("everywhere");
  e.quotas.Create(company, R"({"hard":{"pods":"50"}})");
  // Its pods are limited by the quota above it.
  e.quotas.Create(team,
                  SelectTeam(team, R"("parent":")" + company + R"(","hard":{"secrets":"50"})"));
  e.quotas.Create(named, R"({"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":")" +
                             by_name + R"("}},"hard":{"pods":"5"}})");
  e.quotas.Create(everywhere, R"({"namespaceSelector":{},"hard":{"configmaps":"5000"}})");
  for (const std::string& quota : {company, team, named, everywhere}) {
    e.quotas.WaitCondition(quota, "Ready", "True");
  }
  CHECK(e.PostPod(network, "beside-the-daemon").ok());
  e.a.daemon().Kill();
  for (const std::string& ns : {by_label, other_value, by_name}) {
    const Attempt limited = e.PostPod(ns, "p");
    INFO(ns << ": " << limited.Text());
    CHECK(IsShutOut(limited));
  }
  CHECK(IsShutOut(e.Post(by_label, "secrets", Secret("s"))));
  CHECK(IsShutOut(e.Post(network, "configmaps", ConfigMap("c"))));
  for (const auto& [ns, resource, object] :
       {std::tuple(network, "pods", Pod("cold-start")), std::tuple(network, "secrets", Secret("s")),
        std::tuple(by_name, "secrets", Secret("s")),
        std::tuple(by_label, "services", ClusterIpService("s"))}) {
    const Attempt free = e.Post(ns, resource, object);
    INFO(resource << " in " << ns << ": " << free.Text());
    CHECK(free.ok());
  }
}

TEST_CASE("cluster blast radius: namespaces with exempt labels do not depend on the daemon",
          "[e2e][cluster][admission][outage]") {
  const std::string tier = FreshName("tier");
  Enforced e({"--exempt-namespace-selector=tier in (" + tier + ",x)"});
  const std::string everywhere = FreshName("everywhere");
  const std::string none = FreshName("none");
  const std::string network = e.NewNamespace("network", {{"tier", tier}});
  const std::string plain = e.NewNamespace("plain", {{"tier", "user"}});
  const std::string later = e.NewNamespace("later");
  e.quotas.Create(everywhere, R"({"namespaceSelector":{},"hard":{"pods":"5000"}})");
  e.quotas.Create(none, R"({"namespaceSelector":{"matchLabels":{"tier":")" + tier +
                            R"("}},"hard":{"pods":"0"}})");
  for (const std::string& quota : {everywhere, none}) {
    e.quotas.WaitCondition(quota, "Ready", "True");
    e.quotas.WaitCondition(quota, "Exempt", "True SelectsExemptNamespaces");
  }
  const Attempt beside = e.PostPod(network, "beside-the-daemon");
  INFO(beside.Text());
  CHECK(beside.ok());
  e.quotas.WaitUsed(none, {{"pods", "1"}});
  CHECK(e.PostPod(plain, "p").ok());
  e.Label(plain, "tier", tier);
  e.quotas.WaitUsed(none, {{"pods", "2"}});
  e.Label(plain, "tier", "user");
  e.quotas.WaitUsed(none, {{"pods", "1"}});
  e.a.daemon().Kill();
  CHECK(e.PostPod(network, "cold-start").ok());
  CHECK(IsShutOut(e.PostPod(plain, "q")));
  e.Label(later, "tier", "x");
  Eventually("the API server has learned of the label", [&] {
    const Attempt made = e.PostPod(later, FreshName("pod"));
    return made.ok() ? "" : made.Text();
  });
}

TEST_CASE("cluster blast radius: a namespace that gets a label is counted, and then limited",
          "[e2e][cluster][admission]") {
  Enforced e;
  const std::string team = FreshName("team");
  const std::string ns = e.NewNamespace("late");
  e.quotas.Create(team, SelectTeam(team, R"("hard":{"pods":"2"})"));
  e.quotas.WaitCondition(team, "Ready", "True");
  for (const char* pod : {"one", "two", "three"}) CHECK(e.PostPod(ns, pod).ok());
  e.Label(ns, "team", team);
  e.quotas.WaitUsed(team, {{"pods", "3"}});
  Eventually("the API server has learned of the label", [&] {
    client::ApiRequest dry_run = PostOf(PathOf("pods", ns), Pod("four"));
    dry_run.query.emplace_back("dryRun", "All");
    const Attempt four = ToAttempt(e.a.api().Do(std::move(dry_run)));
    return IsExceeded(four) ? "" : four.Text();
  });
  CHECK(IsExceeded(e.PostPod(ns, "four")));
  e.a.api().Delete(PathOf("pods", ns, "one"));
  e.a.api().Delete(PathOf("pods", ns, "two"));
  e.quotas.WaitUsed(team, {{"pods", "1"}});
  CHECK(e.PostPod(ns, "five").ok());
  CHECK(IsExceeded(e.PostPod(ns, "six")));
}

TEST_CASE("cluster blast radius: a namespace with the labels of several quotas is asked about once",
          "[e2e][cluster][admission]") {
  Enforced e;
  const std::string team = FreshName("team");
  const std::string env = FreshName("env");
  const std::string ns = e.NewNamespace("both", {{"team", team}, {"environment", env}});
  e.quotas.Create(team, SelectTeam(team, R"("hard":{"pods":"9","services.nodeports":"9"})"));
  e.quotas.Create(env, R"({"namespaceSelector":{"matchLabels":{"environment":")" + env +
                           R"("}},"hard":{"pods":"3","services.nodeports":"9"}})");
  for (const std::string& quota : {team, env}) e.quotas.WaitCondition(quota, "Ready", "True");
  const auto reviews = [&] { return e.a.Metric("quota_admission_decisions_total"); };
  const double before = reviews();
  for (const char* pod : {"one", "two", "three"}) {
    const Attempt made = e.PostPod(ns, pod);
    INFO(made.Text());
    CHECK(made.ok());
  }
  CHECK(e.Post(ns, "services", ClusterIpService("s")).ok());
  CHECK(reviews() == before + 4);
  e.a.api().MergePatch(PathOf("services", ns, "s"), Json(R"({"spec":{"type":"NodePort"}})"));
  CHECK(reviews() == before + 5);
  CHECK(IsExceeded(e.PostPod(ns, "four")));
  e.quotas.WaitUsed(team, {{"pods", "3"}, {"services.nodeports", "1"}});
  e.quotas.WaitUsed(env, {{"pods", "3"}, {"services.nodeports", "1"}});
}

TEST_CASE("cluster blast radius: a limit holds while the rules of another label are stored",
          "[e2e][cluster][admission]") {
  Enforced e;
  const std::string company = FreshName("company");
  const std::string team = FreshName("team");
  const std::string group = FreshName("group");
  const std::string ns = e.NewNamespace("web", {{"team", team}});
  const std::string added = e.NewNamespace("added", {{"group", group}});
  e.quotas.Create(company, R"({"hard":{"pods":"2"}})");
  e.quotas.Create(team, SelectTeam(team, R"("parent":")" + company + R"(","hard":{"pods":"5"})"));
  e.quotas.WaitCondition(team, "Ready", "True");
  for (const char* pod : {"one", "two"}) CHECK(e.PostPod(ns, pod).ok());
  e.quotas.Create(group, R"({"parent":")" + company +
                             R"(","namespaceSelector":{"matchLabels":{"group":")" + group +
                             R"("}},"hard":{"pods":"5"}})");
  Eventually("the quota of the other label is enforced", [&]() -> std::string {
    CHECK(IsExceeded(e.PostPod(ns, "three")));  // whenever it is tried
    const std::string ready = e.quotas.Condition(group, "Ready");
    return ready.starts_with("True") ? "" : "not ready: " + ready;
  });
  const Attempt one = e.PostPod(added, "one");
  INFO(one.Text());
  CHECK(IsExceeded(one));
}

}  // namespace e2e::cluster_blast_radius_test

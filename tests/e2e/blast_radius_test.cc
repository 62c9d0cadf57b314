// The effect of a webhook that does not answer: only objects that a quota limits are refused, only
// in the namespaces of those quotas, and never in exempt namespaces.
#include <catch2/catch.hpp>

#include "pkg/webhook/stored_configuration.h"
#include "tests/e2e/harness/admission.h"

namespace e2e::blast_radius_test {
namespace {

// A namespace of its own.
std::string NewNamespace(Admission& a, const std::string& prefix) {
  std::string name = FreshName(prefix);
  a.api().Create(PathOf("namespaces"), Namespace(name));
  return name;
}

Attempt PostIn(Admission& a, const std::string& ns, std::string_view resource,
               const json::Value& object) {
  return ToAttempt(a.api().Do(PostOf(PathOf(resource, ns), object)));
}

void LimitIn(Admission& a, const std::string& ns, const Quantities& hard) {
  a.api().Create(PathOf("resourcequotas", ns), Quota("q", hard));
  Eventually("the quota in " + ns + " is enforced",
             [&] { return Unenforced(a.api().Get(PathOf("resourcequotas", ns, "q")), hard); });
}

bool IsShutOut(const Attempt& attempt) {
  return attempt.code == 500 && attempt.message.find("failed calling webhook") != std::string::npos;
}

}  // namespace

TEST_CASE("blast radius: only limited namespaces are blocked while the daemon is away",
          "[e2e][admission][outage]") {
  Admission a;
  const std::string with_secrets = NewNamespace(a, "with-secrets");
  const std::string without = NewNamespace(a, "without");
  LimitIn(a, with_secrets, {{"secrets", "5"}});
  a.Limit("q", {{"pods", "5"}});
  a.daemon().Kill();
  const Attempt limited = a.Post("pods", Pod("p"));
  INFO(limited.Text());
  CHECK(IsShutOut(limited));
  CHECK(IsShutOut(PostIn(a, with_secrets, "secrets", Secret("s"))));
  for (const auto& [ns, resource, object] :
       {std::tuple(without, "pods", Pod("p")), std::tuple(without, "secrets", Secret("s")),
        std::tuple(with_secrets, "pods", Pod("p")),
        std::tuple(a.scenario().ns(), "secrets", Secret("s"))}) {
    const Attempt free = PostIn(a, ns, resource, object);
    INFO(resource << " in " << ns << ": " << free.Text());
    CHECK(free.ok());
  }
}

TEST_CASE("blast radius: the objects that a cluster starts with pass while no replica answers",
          "[e2e][admission][outage]") {
  // If more namespaces have such a quota than a selector can name, the webhook is called for all
  // namespaces.
  const std::string network = FreshName("network");
  Admission a({.more_flags = {"--exempt-namespaces=kube-system," + network}});
  a.api().Create(PathOf("namespaces"), Namespace(network));
  a.Limit("q", {{"pods", "5"}});
  for (const std::string& ns : {std::string("kube-system"), network}) {
    a.api().Create(PathOf("resourcequotas", ns), Quota("cold", {{"pods", "0"}}));
    Eventually("the quota is counted in " + ns, [&] {
      return Unenforced(a.api().Get(PathOf("resourcequotas", ns, "cold")), {{"pods", "0"}});
    });
    Eventually("an Event reports the missing enforcement in " + ns, [&]() -> std::string {
      const json::Value events = a.api().Get(PathOf("events", ns));
      for (const json::Value& event : *events.At({"items"})->AsArray()) {
        if (event.StringAt({"involvedObject", "name"}) == "cold" &&
            event.StringAt({"reason"}) == "QuotaNotEnforced") {
          return "";
        }
      }
      return json::Write(events);
    });
  }
  const auto pass = [&](const std::string& name) {
    for (const std::string& ns : {std::string("kube-system"), network}) {
      const Attempt attempt = PostIn(a, ns, "pods", Pod(name));
      INFO(ns << ": " << attempt.Text());
      CHECK(attempt.ok());
    }
  };
  pass("beside-the-daemon");
  a.daemon().Kill();
  CHECK(IsShutOut(a.Post("pods", Pod("p"))));
  pass("cold-start");
}

TEST_CASE("blast radius: a namespace is limited as soon as the API server calls for it",
          "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "5"}});
  for (int i = 0; i < 3; ++i) {
    const std::string ns = NewNamespace(a, "late");
    LimitIn(a, ns, {{"pods", "1"}});
    CHECK(PostIn(a, ns, "pods", Pod("one")).ok());
    CHECK(PostIn(a, ns, "pods", Pod("two")).exceeded());
  }
  const json::Value stored = a.api().Get(ConfigurationPath());
  for (const webhook::GuardedResource& guarded : webhook::GuardedBy(stored)) {
    CHECK_FALSE(guarded.namespaces.all_but);
  }
}

TEST_CASE("blast radius: the webhook selects all namespaces if there are too many for a selector",
          "[e2e][admission][slow]") {
  const auto server = StartServer();  // hundreds of namespaces stay on it
  Admission a(*server, {});
  const auto count = static_cast<int>(webhook::kMostNamespaces) + 1;
  std::vector<client::ApiRequest> namespaces;
  std::vector<client::ApiRequest> quotas;
  for (int i = 0; i < count; ++i) {
    const std::string ns = "many-" + std::to_string(i);
    namespaces.push_back(PostOf(PathOf("namespaces"), Namespace(ns)));
    quotas.push_back(PostOf(PathOf("resourcequotas", ns), Quota("q", {{"pods", "1"}})));
  }
  for (auto* requests : {&namespaces, &quotas}) {
    for (const Attempt& attempt : a.DoAll(std::move(*requests), 8)) REQUIRE(attempt.ok());
  }
  for (const int i : {0, count / 2, count - 1}) {
    const std::string ns = "many-" + std::to_string(i);
    Eventually(
        "the quota in " + ns + " is enforced",
        [&] {
          return Unenforced(a.api().Get(PathOf("resourcequotas", ns, "q")), {{"pods", "1"}});
        },
        Stretched(30s));
    CHECK(PostIn(a, ns, "pods", Pod("one")).ok());
    CHECK(PostIn(a, ns, "pods", Pod("two")).exceeded());
  }
  const auto guarded = webhook::GuardedBy(a.api().Get(ConfigurationPath()));
  REQUIRE(guarded.size() == 1);
  CHECK(guarded[0].namespaces.all_but);
}

TEST_CASE("admission: a flag sets how long the API server waits", "[e2e][admission]") {
  Admission a({.more_flags = {"--admission-timeout=3s"}});
  a.Limit("q", {{"pods", "1"}});
  const json::Value stored = a.api().Get(ConfigurationPath());
  for (const json::Value& webhook : *stored.At({"webhooks"})->AsArray()) {
    CHECK(webhook.At({"timeoutSeconds"})->AsInt64() == 3);
  }
}

}  // namespace e2e::blast_radius_test

// The traces of a refusal: events, metrics, and the API server's audit log.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/e2e/harness/admission.h"

namespace e2e::refusals_test {
namespace {

using Texts = std::vector<std::string>;

// "Warning RefusedByQuota: message" of each event about this object, oldest first.
Texts Said(Admission& a, const std::string& kind, const std::string& name) {
  const auto answer =
      a.api().Do({.path = a.scenario().Path("events"),
                  .query = {{"fieldSelector",
                             "involvedObject.kind=" + kind + ",involvedObject.name=" + name}}});
  json::Value list = Json(answer.value().body);
  auto events = *list.Make({"items"}).AsArray();
  std::sort(events.begin(), events.end(), [](const json::Value& one, const json::Value& other) {
    return one.StringAt({"metadata", "name"}) < other.StringAt({"metadata", "name"});
  });
  Texts said;
  for (const json::Value& event : events) {
    said.push_back(std::string(event.StringAt({"type"})) + " " +
                   std::string(event.StringAt({"reason"})) + ": " +
                   std::string(event.StringAt({"message"})));
  }
  return said;
}

void WaitSaid(Admission& a, const std::string& kind, const std::string& name,
              const Texts& expected) {
  Eventually("events are on " + kind + " " + name, [&]() -> std::string {
    const Texts said = Said(a, kind, name);
    if (said == expected) return "";
    return said.empty() ? "none" : said.back();
  });
}

json::Value PodOf(const std::string& name, const std::string& replica_set) {
  json::Value pod = Pod(name);
  pod.Make({"metadata", "ownerReferences"}) =
      json::Array{json::Object{{"apiVersion", "apps/v1"},
                               {"kind", "ReplicaSet"},
                               {"name", replica_set},
                               {"uid", "7f3c0f0e-2b1c-4d6f-9a55-0c4e1f1f5a11"},
                               {"controller", true}}};
  return pod;
}

// The causes in this Status, as JSON; "" without any.
std::string CausesOf(const json::Value& status) {
  const json::Value* causes = status.At({"details", "causes"});
  return causes == nullptr ? "" : json::Write(*causes);
}

// The value of quota_refused_requests_total for this limit, as written.
std::string Refused(Admission& a, const std::string& quota, const std::string& limit) {
  const std::string series = "quota_refused_requests_total{namespace=\"" + a.scenario().ns() +
                             "\",quota=\"" + quota + "\",quota_api=\"core\",resource=\"" + limit +
                             "\"} ";
  const std::string text = a.daemon().MetricsText();
  const auto at = text.find(series);
  if (at == std::string::npos) return "";
  const auto begin = at + series.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("refusals: quota and owner get an event, and a metric counts", "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "1"}, {"requests.cpu", "2"}});
  json::Value first = PodOf("web-1", "web");
  first.Make({"spec"}) = *Pod("web-1", {{"cpu", "1m"}}).At({"spec"});
  REQUIRE(a.Post("pods", first).ok());
  json::Value second = PodOf("web-2", "web");
  second.Make({"spec"}) = *Pod("web-2", {{"cpu", "1m"}}).At({"spec"});
  CHECK(a.Post("pods", second, true).exceeded());  // a dry run leaves no trace
  for (int i = 0; i < 5; ++i) CHECK(a.Post("pods", second).exceeded());
  const std::string text =
      "Warning RefusedByQuota: pods \"web-2\" is forbidden: exceeded quota: q, requested: pods=1, "
      "used: pods=1, limited: pods=1";
  WaitSaid(a, "ResourceQuota", "q", {text});
  WaitSaid(a, "ReplicaSet", "web", {text});
  CHECK(Refused(a, "q", "pods") == "5");
  CHECK(Refused(a, "q", "requests.cpu").empty());
  // A missing requirement: no limit is counted.
  CHECK(a.Post("pods", Pod("silent")).code == 403);
  CHECK(Refused(a, "q", "") == "1");
  // The other refusals of this minute are in one event, sent at the latest when the daemon stops.
  CHECK(a.daemon().Stop() == 0);
  const std::string gathered =
      "Warning RefusedByQuota: refused 5 requests within a minute, the last one: pods \"silent\" "
      "is forbidden: failed quota: q: must specify requests.cpu for: main";
  WaitSaid(a, "ResourceQuota", "q", {text, gathered});
}

TEST_CASE("refusals: the client gets the causes", "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "1"}, {"requests.cpu", "1"}, {"limits.cpu", "9"}});
  json::Value pod = Pod("p", {{"cpu", "2"}});
  pod.Make({"spec", "containers"}).AsArray()->front().Make({"resources", "limits"}) =
      json::Object{{"cpu", "2"}};
  const auto refusal = [&](const json::Value& object) {
    return BodyOfPost(a.scenario().server().Kubeconfig(), a.scenario().Path("pods"), object);
  };
  const json::Value exceeded = refusal(pod);
  CHECK(std::string(exceeded.StringAt({"message"})) ==
        Denied("pods \"p\" is forbidden: exceeded quota: q, requested: requests.cpu=2, used: "
               "requests.cpu=0, limited: requests.cpu=1"));
  CHECK(exceeded.StringAt({"reason"}) == "Forbidden");
  CHECK(exceeded.At({"code"})->AsInt64() == 403);
  CHECK(exceeded.StringAt({"details", "name"}) == "p");
  CHECK(exceeded.StringAt({"details", "kind"}) == "pods");
  CHECK(CausesOf(exceeded) ==
        R"([{"reason":"QuotaExceeded","message":"requested: 2, used: 0, limited: 1",)"
        R"("field":"ResourceQuota/q/requests.cpu"}])");
  const json::Value silent = refusal(Pod("p"));
  CHECK(CausesOf(silent) ==
        R"([{"reason":"MustSpecify","message":"must specify limits.cpu for: main",)"
        R"("field":"ResourceQuota/q/limits.cpu"},)"
        R"({"reason":"MustSpecify","message":"must specify requests.cpu for: main",)"
        R"("field":"ResourceQuota/q/requests.cpu"}])");
}

TEST_CASE("refusals: the Deployment of a ReplicaSet gets an event, too", "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}});
  const json::Value deployment = a.scenario().Create("deployments", Deployment("web"));
  json::Value made = Owned(Deployment("web-1"), deployment);
  made.Make({"kind"}) = "ReplicaSet";
  const json::Value replica_set = a.scenario().Create("replicasets", made);
  CHECK(a.Post("pods", Owned(Pod("web-1-x"), replica_set)).exceeded());
  const std::string text =
      "Warning RefusedByQuota: pods \"web-1-x\" is forbidden: exceeded quota: q, requested: "
      "pods=1, used: pods=0, limited: pods=0";
  WaitSaid(a, "ReplicaSet", "web-1", {text});
  WaitSaid(a, "Deployment", "web", {text});
}

TEST_CASE("refusals: forged owners have no effect", "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}});
  CHECK(a.Post("pods", PodOf("p", "NO name/at all")).exceeded());
  CHECK(a.Post("pods", PodOf("p", std::string(3'000, 'x'))).exceeded());
  CHECK(a.Post("pods", PodOf("p", "web")).exceeded());
  Eventually("the owner that can have an event has it", [&]() -> std::string {
    return Said(a, "ReplicaSet", "web").size() == 1 ? "" : "none";
  });
  CHECK(a.Metric("event_recorder_events_total{result=\"refused\"}") <= 0);
  CHECK(a.daemon().Log().find("refused an event") == std::string::npos);
}

TEST_CASE("refusals: the API server's audit log names the quota", "[e2e][admission][real-only]") {
  TempDir dir;
  const std::string log = dir.path() + "/audit.log";
  const auto server = StartServer({.audit_log = log});
  Admission a(*server, {});
  a.Limit("compute", {{"pods", "0"}});
  REQUIRE(a.Post("pods", Pod("p")).exceeded());
  // Each annotation begins with the name of the webhook.
  Eventually("the refusal is in the audit log", [&]() -> std::string {
    std::istringstream lines(ReadFile(log));
    for (std::string line; std::getline(lines, line);) {
      const auto event = json::Parse(line);
      const json::Value* annotations = event ? event->At({"annotations"}) : nullptr;
      if (annotations == nullptr) continue;
      const std::string text = json::Write(*annotations);
      const std::string domain = "core.quota-controller-manager.io/";
      if (text.find(domain + "refused-by-quota\":\"compute\"") == std::string::npos) continue;
      CHECK(text.find(domain + "exceeded\":\"pods\"") != std::string::npos);
      CHECK(event->StringAt({"objectRef", "resource"}) == "pods");
      return "";
    }
    return "not yet";
  });
}

}  // namespace e2e::refusals_test

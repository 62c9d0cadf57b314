// What tenants write into names, owners, labels, events, conditions and files reaches other
// people's terminals, spreadsheets and programs only as text.

#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace strangers_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kPods{"", "v1", "pods"};
const api::GroupVersionResource kEvents{"", "v1", "events"};
const api::GroupVersionResource kReplicaSets{"apps", "v1", "replicasets"};
const api::GroupVersionResource kDeployments{"apps", "v1", "deployments"};
const api::GroupVersionResource kClusterQuotas = quota::ClusterQuotaApi().resource;

// Begins as a formula, clears the screen, names the window, begins a line, reverses and hides.
const std::string kEvil =
    "=EVIL\x1b[2J\x1b]0;t\a\r\nFORGED\xC2\x9B\x32J\xE2\x80\xAE\xE2\x80\xA8\xE2\x80\x8B\x7F";

class Hostile : public Plugin {
 public:
  Hostile() {
    cluster.Serve(kPods, "Pod");
    cluster.Serve(kEvents, "Event");
    cluster.Serve(kReplicaSets, "ReplicaSet");
    cluster.Serve(kDeployments, "Deployment");
    cluster.Serve(kClusterQuotas, "ClusterQuota", false);
    Add(kNamespaces,
        R"({apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {a: b}}})");
    Add(kQuotas, R"({apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop},
        spec: {hard: {pods: 1}}, status: {hard: {pods: 1}, used: {pods: 1}}})");
    Add(kQuotas, R"({apiVersion: v1, kind: ResourceQuota, metadata: {name: EVIL, namespace: shop},
        spec: {hard: {count/EVIL: 1, pods: 9}}, status: {hard: {pods: 9}, used: {pods: 1}}})");
    Add(kQuotas, R"({apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: EVIL},
        spec: {hard: {pods: 9}}, status: {hard: {pods: 9}, used: {pods: 1}}})");
    Add(kPods, R"({apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop, labels: {app:
        EVIL}, ownerReferences: [{apiVersion: EVIL/v1, kind: EVIL, name: EVIL, uid: u,
        controller: true}]}, spec: {containers: [{name: c}]}, status: {phase: Pending, conditions:
        [{type: PodScheduled, status: 'False', message: EVIL}]}})");
    Add(kPods, R"({apiVersion: v1, kind: Pod, metadata: {name: EVIL, namespace: shop}, spec:
        {containers: [{name: c}]}})");
    Add(kReplicaSets, R"({apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace:
        shop, uid: rs}, spec: {replicas: 2, template: {spec: {containers: [{name: c}]}}}})");
    Add(kEvents, R"({apiVersion: v1, kind: Event, metadata: {name: e, namespace: shop},
        involvedObject: {kind: ReplicaSet, name: web, namespace: shop, uid: rs}, reason:
        FailedCreate, lastTimestamp: '2026-01-01T00:00:00Z', message: 'exceeded quota EVIL'})");
    Add(kDeployments, R"({apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace:
        shop}, spec: {replicas: 0, template: {spec: {containers: [{name: c, image: EVIL}]}}}})");
    Add(kClusterQuotas, R"({apiVersion: quota-controller-manager.io/v1alpha1, kind: ClusterQuota,
        metadata: {name: EVIL}, spec: {namespaceSelector: {}, parent: EVILER, hard: {pods: 9}},
        status: {hard: {pods: 9}, used: {pods: 1}, conditions: [{type: Ready, status: 'False',
        reason: EVIL, message: EVIL}]}})");
  }

  // Returns the object with the strangers' text in place of EVIL.
  static std::string Infect(const std::string& yaml) {
    auto value = config::ParseYaml(yaml);
    REQUIRE(value.has_value());
    return json::Write(*InfectAll(*value));
  }

 private:
  void Add(const api::GroupVersionResource& resource, const std::string& yaml) {
    Put(resource, Infect(yaml));
  }
  static std::string InfectText(std::string text) {
    const std::size_t at = text.find("EVIL");
    return at == std::string::npos ? text : text.replace(at, 4, kEvil);
  }
  static json::Value* InfectAll(json::Value& value) {
    if (const std::string* text = value.AsString()) value = InfectText(*text);
    if (json::Array* list = value.AsArray()) {
      for (json::Value& element : *list) InfectAll(element);
    }
    if (const json::Object* object = value.AsObject()) {
      json::Object infected;
      for (auto [name, member] : *object) infected.Set(InfectText(name), *InfectAll(member));
      value = std::move(infected);
    }
    return &value;
  }
};

std::string OutputOf(const std::vector<std::string>& arguments) {
  const auto at = std::ranges::find(arguments, "-o");
  return at == arguments.end() ? "" : *(at + 1);
}

void CheckShown(const std::string& text, const std::string& output) {
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(inspect::HarmlessOutput(text) == text);
  if (output == "json" || output == "yaml") return;
  CHECK_THAT("\n" + text, !Contains("\nFORGED") && !Contains("\rFORGED"));
  if (output != "csv") return;
  CHECK_THAT("\n" + text, !Contains("\n=") && !Contains(",=") && !Contains("\"="));
}

}  // namespace

TEST_CASE("strangers: every command and format shows what they wrote as harmless text",
          "[kubectl-quota]") {
  Hostile plugin;
  const std::string web = Hostile::Infect(
      "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: EVIL, namespace: shop}, spec: "
      "{replicas: 2, template: {spec: {containers: [{name: EVIL}]}}}}");
  const std::string custom = Hostile::Infect(
      "{apiVersion: EVIL/v1, kind: EVIL, metadata: {name: x, namespace: shop}, spec: {replicas: "
      "2}}");
  const std::string quota = Hostile::Infect(
      "{apiVersion: v1, kind: ResourceQuota, metadata: {name: EVIL, namespace: shop}, spec: {hard: "
      "{pods: 1, requests.cpu: 1}}}");
  const std::string files = plugin.File("m" + kEvil + ".yaml", web + "\n---\n" + custom);
  const std::string quotas = plugin.File("q.json", quota);
  const std::string definition = Hostile::Infect(
      "{apiVersion: quota-controller-manager.io/v1alpha1, kind: UsageDefinition, metadata: {name: "
      "buckets.example.com}, spec: {resource: {group: example.com, resource: buckets}, usage: "
      "[{name: example.com/size, path: .spec.size}, {name: example.com/iops, class: {path: "
      ".spec.tier, resource: {group: example.com, resource: tiers}, field: .spec.iops}}], "
      "countsWhile: {path: .spec.phase, notIn: [EVIL]}, scopes: [{name: example.com/tier, path: "
      ".spec.tier}]}}");
  const std::string buckets = Hostile::Infect(
      "{apiVersion: v1, kind: List, items: [{apiVersion: example.com/v1, kind: Bucket, metadata: "
      "{name: EVIL, namespace: EVIL}, spec: {size: EVIL, tier: EVIL}}, {apiVersion: "
      "example.com/v1, kind: Bucket, metadata: {name: old}, spec: {phase: EVIL}}, {apiVersion: "
      "EVIL/v1, kind: EVIL, metadata: {name: x}}]}");
  const std::string usage = plugin.File("u" + kEvil + ".yaml", definition + "\n---\n" + buckets);
  const std::string broken = plugin.File("b" + kEvil + ".yaml", "a: b: c");
  const std::vector<std::vector<std::string>> calls{
      {"top"},
      {"top", "-A"},
      {"who", "q"},
      {"who", "q", "--by", "label=app"},
      {"who", "q", "--by", "object"},
      {"who", "clusterquota/" + kEvil},
      {"who", kEvil + "absent"},
      {"why", "rs/web"},
      {"why", "p"},
      {"why", "gadget" + kEvil + "/x"},
      {"tree"},
      {"tree", kEvil + "absent"},
      {"check", "-f", files},
      {"check", "-f", files, "--dry-run=server"},
      {"check", "-f", files, "--quota-file", quotas},
      {"check", "-f", broken},
      {"check", "-f", broken + "absent"},
      {"suggest"},
      {"import", "-f", files},
      {"usage-definition", "test", "-f", usage},
      {"usage-definition", "test", "-f", usage, "-f", usage},
      {"usage-definition", "test", "-f", files},
      {"report"},
      {"report", "-A"},
      {"version"},
      {"__complete", "tree", ""},
      {"__complete", "who", ""},
  };
  for (const auto& call : calls) {
    for (const char* output : {"", "wide", "json", "yaml", "csv", "junit", "html", "name"}) {
      std::vector<std::string> arguments = call;
      if (*output != 0) arguments.insert(arguments.end(), {"-o", output});
      if (call.front() == "__complete" && *output != 0) continue;
      const auto told = plugin.TryAsk(arguments);
      if (!told) continue;  // the command has no such format
      INFO(call.front() << " " << call.back() << " -o " << output << ":\n"
                        << told->output << told->warnings);
      // Not in vain.
      CHECK_THAT(told->output + told->warnings,
                 Contains("EVIL", Catch::CaseSensitive::No) || Contains("suggested"));
      CheckShown(told->output, OutputOf(arguments));
      CheckShown(told->warnings, "");
      const bool document = OutputOf(arguments) == "json" || OutputOf(arguments) == "yaml";
      if (!document || told->output.empty()) continue;
      const auto value = config::ParseYaml(told->output);
      REQUIRE(value.has_value());
      // Programs get what was written.
      CHECK_THAT(json::Write(*value), Contains(json::Quote(kEvil).substr(1, 20)));
    }
  }
}

TEST_CASE("strangers: aliases in a file cannot use up the memory", "[kubectl-quota]") {
  Plugin plugin;
  const std::string quotas = plugin.File(
      "q.yaml",
      "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 1}}}");
  std::string laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  std::string merges = "b0: &b0 {x: lol}\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + before;
    merges += "b" + std::to_string(i) + ": &b" + std::to_string(i) + " {p: *b" + before;
    for (int j = 1; j < 9; ++j) laughs += ", *a" + before;
    for (int j = 1; j < 9; ++j) merges += ", p" + std::to_string(j) + ": *b" + before;
    laughs += "]\n";
    merges += "}\n";
  }
  std::string wide = "a: &a '" + std::string(100'000, 'x') + "'\nb: [*a";
  for (int i = 0; i < 100'000; ++i) wide += ", *a";
  wide += "]\n";
  for (const std::string& bomb : {laughs, merges, wide}) {
    const std::string file = plugin.File("bomb.yaml", bomb);
    for (const std::vector<std::string>& call :
         {std::vector<std::string>{"check", "-f", file, "--quota-file", quotas},
          {"check", "-f", file},
          {"check", "-f", quotas, "--quota-file", file},
          {"check", "-f", quotas, "--quota-file", quotas, "--limitrange-file", file},
          {"check", "-f", quotas, "--quota-file", quotas, "--used-file", file}}) {
      const Told told = plugin.Ask(call);
      CHECK(told.code == 2);
      CHECK_THAT(told.warnings, Contains("bomb.yaml") && Contains("aliases repeat too much"));
    }
  }
}

}  // namespace strangers_test

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

#include "tests/cmd/kubectl-quota/plugin.h"
#include "tests/source_dir.h"

namespace usage_definition_test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

constexpr const char* kSizes =
    "---\n{apiVersion: quota-controller-manager.io/v1alpha1, kind: UsageDefinition, metadata: "
    "{name: buckets.storage.example.com}, spec: {resource: {group: storage.example.com, resource: "
    "buckets}, usage: [{name: example.com/bucket-bytes, path: .spec.size}]}}\n";
constexpr const char* kTiers =
    "---\n{apiVersion: quota-controller-manager.io/v1alpha1, kind: UsageDefinition, metadata: "
    "{name: disks.storage.example.com}, spec: {resource: {group: storage.example.com, resource: "
    "disks}, usage: [{name: example.com/iops, class: {path: '.spec.tiers[*]', resource: {group: "
    "storage.example.com, resource: tiers}, field: .spec.iops}}, {name: example.com/rate, class: "
    "{path: '.spec.tiers[*]', resource: {group: storage.example.com, resource: tiers}, field: "
    ".spec.rate}}]}}\n";

std::string Object(const std::string& kind, const std::string& name, const std::string& spec) {
  return "---\n{apiVersion: storage.example.com/v1, kind: " + kind + ", metadata: {name: " + name +
         "}, spec: " + spec + "}\n";
}

Told Test(Plugin& plugin, const std::string& text, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"usage-definition", "test", "-f", plugin.File("a.yaml", text)};
  words.insert(words.end(), more.begin(), more.end());
  return plugin.Ask(words);
}

}  // namespace

TEST_CASE("usage-definition test: each object and name has a row, and each name a total",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto told =
      Test(plugin,
           kSizes + Object("Bucket", "a", "{size: 1Gi}") + Object("Bucket", "b", "{size: 512Mi}"),
           {"-n", "shop"});
  CHECK(told.code == 0);
  CHECK(told.warnings.empty());
  CHECK(told.output ==
        "NAMESPACE   OBJECT                         NAME                       USES\n"
        "shop        bucket.storage.example.com/a   example.com/bucket-bytes   1Gi\n"
        "shop        bucket.storage.example.com/b   example.com/bucket-bytes   512Mi\n"
        "\n"
        "NAME                                TOTAL\n"
        "count/buckets.storage.example.com   2\n"
        "example.com/bucket-bytes            1536Mi\n");
  CHECK(plugin.cluster.lists == 0);
}

TEST_CASE("usage-definition test: definitions, objects and classes may be in several files",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string definition = plugin.File("definition.yaml", kSizes);
  const std::string objects = plugin.File("objects.yaml", Object("Bucket", "a", "{size: 5}"));
  const std::string list =
      plugin.File("list.json",
                  R"({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion":
                  "storage.example.com/v1", "kind": "Bucket", "metadata": {"name": "b"}, "spec":
                  {"size": 7}}]})");
  const std::string both = std::string(definition).append(",").append(objects);
  for (const char* name : {"usage-definition", "usedef"}) {
    const auto told = plugin.Ask({name, "test", "-f", both, "-f", list, "--no-headers"});
    CHECK(told.code == 0);
    CHECK(told.output ==
          "<none>   bucket.storage.example.com/a   example.com/bucket-bytes   5\n"
          "<none>   bucket.storage.example.com/b   example.com/bucket-bytes   7\n"
          "\n"
          "count/buckets.storage.example.com   2\n"
          "example.com/bucket-bytes            12\n");
  }
}

TEST_CASE("usage-definition test: an unknown amount has a reason, and makes the exit code 1",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string text = kSizes + Object("Bucket", "a", "{size: 1Gi}") +
                           Object("Bucket", "b", "{}") + Object("Bucket", "c", "{size: big}");
  const auto told = Test(plugin, text);
  CHECK(told.code == 1);
  CHECK_THAT(
      told.output,
      Contains("NAME                       USES      WHY\n") &&
          Contains("/a   example.com/bucket-bytes   1Gi\n") &&
          Contains("/b   example.com/bucket-bytes   unknown   spec.size: is missing\n") &&
          Contains("/c   example.com/bucket-bytes   unknown   spec.size: quantities must match") &&
          Contains("\nexample.com/bucket-bytes            at least 1Gi\n"));
}

TEST_CASE("usage-definition test: an invalid amount that is ignored is shown", "[kubectl-quota]") {
  Plugin plugin;
  std::string definition = kSizes;
  definition.replace(definition.rfind("}}"), 2, ", invalidAmountPolicy: Ignore}}");
  const std::string text =
      definition + Object("Bucket", "a", "{size: 1Gi}") + Object("Bucket", "b", "{}");
  const auto told = Test(plugin, text);
  CHECK(told.code == 0);
  CHECK_THAT(told.output,
             Contains("/b   example.com/bucket-bytes   0      ignored: spec.size: is missing\n") &&
                 Contains("\nexample.com/bucket-bytes            1Gi\n"));
  CHECK_THAT(Test(plugin, text, {"-o", "yaml"}).output,
             Contains("  ignored:\n    example.com/bucket-bytes: \"spec.size: is missing\"\n"));
}

TEST_CASE("usage-definition test: JSON and YAML have what is known, and why the rest is not",
          "[kubectl-quota]") {
  Plugin plugin;
  std::string definition = kSizes;
  definition.replace(definition.rfind("}}"), 2,
                     ", scopes: [{name: example.com/tier, path: .spec.tier}]}}");
  const std::string text = definition + Object("Bucket", "a", "{size: 1Gi, tier: fast}") +
                           Object("Bucket", "b", "{size: -1}");
  const auto json = Test(plugin, text, {"-n", "shop", "-o", "json"});
  CHECK(json.code == 1);
  CHECK(json.output == R"({
    "apiVersion": "cli.quota-controller-manager.io/v1alpha1",
    "kind": "UsageDefinitionTest",
    "objects": [
        {
            "apiVersion": "storage.example.com/v1",
            "kind": "Bucket",
            "namespace": "shop",
            "name": "a",
            "usage": {
                "count/buckets.storage.example.com": "1",
                "example.com/bucket-bytes": "1Gi"
            },
            "unknown": {},
            "scopes": {
                "example.com/tier": "fast"
            }
        },
        {
            "apiVersion": "storage.example.com/v1",
            "kind": "Bucket",
            "namespace": "shop",
            "name": "b",
            "usage": {
                "count/buckets.storage.example.com": "1"
            },
            "unknown": {
                "example.com/bucket-bytes": "spec.size: must not be negative"
            },
            "scopes": {}
        }
    ],
    "total": {
        "count/buckets.storage.example.com": "2",
        "example.com/bucket-bytes": "1Gi"
    },
    "unknown": [
        "example.com/bucket-bytes"
    ]
}
)");
  const auto yaml = Test(plugin, text, {"-o", "yaml"});
  CHECK_THAT(yaml.output, StartsWith("apiVersion: cli.") &&
                              Contains("unknown:\n- example.com/bucket-bytes\n") &&
                              Contains("    example.com/bucket-bytes: 1Gi\n"));
  CHECK_THAT(Test(plugin, text, {"-o", "wide"}).output,
             Contains("USES      SCOPES                  WHY\n") &&
                 Contains("1Gi       example.com/tier=fast\n") &&
                 Contains("unknown   <none>                  spec.size: must not be negative\n"));
}

TEST_CASE("usage-definition test: an object that countsWhile excludes uses nothing, and tells why",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto [rule, state] =
      GENERATE(std::pair("{path: .status.phase, notIn: [Released]}", "status.phase is Released"),
               std::pair("{path: .status.phase, in: [Bound]}", "status.phase is Released"),
               std::pair("{path: .spec.on, in: ['true']}", "spec.on is not set"));
  std::string text = kSizes;
  text.replace(text.rfind("}}"), 2, std::string(", countsWhile: ") + rule + "}}");
  text +=
      "---\n{apiVersion: storage.example.com/v1, kind: Bucket, metadata: {name: a}, spec: {size: "
      "1Gi}, status: {phase: Released}}\n";
  const auto told = Test(plugin, text);
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains(std::string("0      not counted while ") + state + "\n") &&
                              Contains("\ncount/buckets.storage.example.com   1\n") &&
                              Contains("\nexample.com/bucket-bytes            0\n"));
  CHECK_THAT(Test(plugin, text, {"-o", "json"}).output,
             Contains(std::string(R"("notCountedWhile": ")") + state + "\""));
}

TEST_CASE("usage-definition test: of pods it shows what the definition adds", "[kubectl-quota]") {
  Plugin plugin;
  const std::string definition =
      "apiVersion: quota-controller-manager.io/v1alpha1\nkind: UsageDefinition\n"
      "metadata: {name: pods}\nspec: {resource: {group: '', resource: pods},\n"
      "  usage: [{name: example.com/chips, path: .metadata.annotations.chips}],\n"
      "  scopes: [{name: example.com/tier, path: .metadata.labels.tier}]}\n---\n";
  const auto pod = [](const std::string& phase) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {tier: gold}, annotations: "
           "{chips: '4'}}\nspec: {containers: [{name: c}]}\nstatus: {phase: " +
           phase + "}\n";
  };
  const auto running = Test(plugin, definition + pod("Running"), {"-o", "wide"});
  CHECK(running.code == 0);
  CHECK_THAT(running.output, Contains("example.com/chips") && Contains("gold"));
  CHECK_THAT(running.output, !Contains("requests.cpu") && !Contains("BestEffort"));
  CHECK_THAT(Test(plugin, definition + pod("Failed")).output,
             Contains("not counted while it has ended"));
}

TEST_CASE("usage-definition test: classes of the files tell what one unit uses",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string tiers = Object("Tier", "fast", "{iops: 500, rate: 1Gi}") +
                            Object("Tier", "odd", "{iops: 10}") +
                            Object("Tier", "worse", "{rate: much}");
  const auto known = Test(plugin, kTiers + Object("Disk", "a", "{tiers: [fast, fast]}") + tiers);
  CHECK(known.code == 0);
  CHECK(known.warnings.empty());
  CHECK_THAT(known.output,
             Contains("example.com/iops   1k\n") && Contains("example.com/rate   2Gi\n"));
  SECTION("a missing amount makes only its own name unknown, and each class has its reason") {
    const auto told = Test(plugin, kTiers + Object("Disk", "a", "{tiers: [odd, fast]}") + tiers);
    CHECK(told.code == 1);
    CHECK_THAT(told.output,
               Contains("example.com/iops   510\n") &&
                   Contains("example.com/rate   unknown   tiers.storage.example.com \"odd\": "
                            "spec.rate: is missing\n") &&
                   Contains("\nexample.com/rate                  at least 1Gi\n"));
    CHECK_THAT(Test(plugin, kTiers + Object("Disk", "a", "{tiers: [odd, worse]}") + tiers).output,
               Contains("iops   unknown   tiers.storage.example.com \"worse\": spec.iops: is") &&
                   Contains("rate   unknown   tiers.storage.example.com \"odd\": spec.rate: is"));
  }
  SECTION("a class that is in no file makes all names of classes unknown") {
    const auto told = Test(plugin, kTiers + Object("Disk", "a", "{tiers: [odd, none]}") + tiers);
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains("example.com/iops   unknown   tiers.storage.example.com "
                                     "\"none\" not found in the files\n"));
  }
  SECTION("an object that names no class") {
    const auto told = Test(plugin, kTiers + Object("Disk", "a", "{tiers: [3]}") + tiers);
    CHECK(told.code == 1);
    CHECK_THAT(told.output, Contains("unknown   spec.tiers[0]: must name an object of "
                                     "tiers.storage.example.com\n"));
  }
}

namespace {

// A CustomResourceDefinition of storage.example.com whose version v1 has these members in its spec.
std::string Crd(const std::string& plural, const std::string& kind, const std::string& members,
                const std::string& more_versions = "") {
  return "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
         "{name: " +
         plural +
         ".storage.example.com}, spec: {group: storage.example.com, names: {kind: " + kind +
         ", plural: " + plural + "}, versions: [" + more_versions +
         "{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
         "properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 9}}}, "
         "spec: {type: object, properties: " +
         members + "}}}}}]}}\n";
}

}  // namespace

TEST_CASE("usage-definition test: paths are compared with a CustomResourceDefinition of the files",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string bucket = Object("Bucket", "a", "{size: 1Gi}");
  const std::string missing =
      "a.yaml, document 1: "
      "usagedefinition.quota-controller-manager.io/buckets.storage.example.com: "
      "PathNotInSchema: spec.usage[0].path: spec.size is not in the schema of Bucket "
      "(storage.example.com/v1): spec has bytes, tier";
  const auto good = Test(plugin, kSizes + bucket + Crd("buckets", "Bucket", "{size: {}}"));
  CHECK(good.code == 0);
  CHECK(good.warnings.empty());
  SECTION("a path that it lacks is told, beside what the objects would use") {
    const std::string text =
        kSizes + bucket + Crd("buckets", "Bucket", "{bytes: {type: string}, tier: {type: string}}");
    const auto told = Test(plugin, text);
    CHECK(told.code == 1);
    CHECK_THAT(told.warnings, StartsWith("error: /") && Contains(missing + "\n"));
    CHECK_THAT(told.output, Contains("\nexample.com/bucket-bytes            1Gi\n"));
    const auto json = Test(plugin, text, {"-o", "json"});
    CHECK(json.code == 1);
    CHECK_THAT(json.output, Contains(R"(    "definitions": [
        {
            "name": "buckets.storage.example.com",
            "reason": "PathNotInSchema",
            "message": "spec.usage[0].path: spec.size is not in the schema of Bucket )"
                                     R"((storage.example.com/v1): spec has bytes, tier"
        }
    ]
)"));
    CHECK_THAT(Test(plugin, text, {"-o", "yaml"}).output, Contains("\ndefinitions:\n- name: buck"));
  }
  SECTION("it is told without objects, too") {
    const auto told = Test(plugin, kSizes + Crd("buckets", "Bucket", "{bytes: {type: string}}"));
    CHECK(told.code == 1);
    CHECK(told.output.empty());
    CHECK_THAT(told.warnings, Contains("spec has bytes\n") && !Contains("no object"));
  }
  SECTION("the version is that which a daemon reads") {
    const auto other = [](const std::string& name, const std::string& served) {
      return "{name: " + name + ", served: " + served +
             ", storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: "
             "object, properties: {bytes: {type: string}}}}}}}, ";
    };
    const auto code = [&](const std::string& versions) {
      return Test(plugin, kSizes + bucket + Crd("buckets", "Bucket", "{size: {}}", versions)).code;
    };
    CHECK(code(other("v1beta1", "true")) == 0);
    CHECK(code(other("v2", "true")) == 1);
    CHECK(code(other("v2", "false")) == 0);
    CHECK(code(other("v2alpha1", "true") + other("old", "true")) == 0);
  }
  SECTION("what it leaves open is no mistake") {
    const std::string labels = "path: \".metadata.labels['a.b/c']\"";
    std::string by_label = kSizes;
    by_label.replace(by_label.find("path: .spec.size"), 16, labels);
    const std::string labelled =
        "---\n{apiVersion: storage.example.com/v1, kind: Bucket, metadata: {name: a, labels: "
        "{a.b/c: '3'}}}\n";
    CHECK(Test(plugin, by_label + labelled + Crd("buckets", "Bucket", "{bytes: {}}")).code == 0);
    CHECK(Test(plugin, kSizes + bucket + Crd("tiers", "Tier", "{bytes: {type: string}}")).code ==
          0);
    const std::string no_schema =
        "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
        "{name: buckets.storage.example.com}, spec: {group: storage.example.com, names: {kind: "
        "Bucket, plural: buckets}, versions: [{name: v1, served: true}]}}\n";
    CHECK(Test(plugin, kSizes + bucket + no_schema).code == 0);
  }
  SECTION("the field of a class is looked for in the class") {
    const std::string disk =
        Object("Disk", "a", "{tiers: [fast]}") + Object("Tier", "fast", "{iops: 500, rate: 1Gi}");
    const std::string disks = Crd("disks", "Disk", "{tiers: {type: array, items: {type: string}}}");
    const std::string numbers = "{iops: {type: integer}, rate: {x-kubernetes-int-or-string: true}}";
    CHECK(Test(plugin, kTiers + disk + disks + Crd("tiers", "Tier", numbers)).code == 0);
    const auto told = Test(plugin, kTiers + disk + disks + Crd("tiers", "Tier", "{iops: {}}"));
    CHECK(told.code == 1);
    CHECK_THAT(told.warnings, Contains("PathNotInSchema: spec.usage[1].class.field: spec.rate is "
                                       "not in the schema of Tier (storage.example.com/v1): spec "
                                       "has iops\n"));
  }
}

TEST_CASE("usage-definition test: objects in no namespace cannot be limited", "[kubectl-quota]") {
  Plugin plugin;
  const auto scoped = [](const std::string& scope) {
    std::string crd = Crd("buckets", "Bucket", "{size: {}}");
    return crd.insert(crd.find("names: "), "scope: " + scope + ", ");
  };
  const std::string text = kSizes + Object("Bucket", "a", "{size: 1Gi}");
  CHECK(Test(plugin, text + scoped("Namespaced")).code == 0);
  const auto told = Test(plugin, text + scoped("Cluster"));
  CHECK(told.code == 1);
  CHECK_THAT(told.warnings, Contains("buckets.storage.example.com: NotSupported: "
                                     "buckets.storage.example.com are in no namespace, so no quota "
                                     "can limit them\n"));
  CHECK_THAT(Test(plugin, text + scoped("Cluster"), {"-o", "yaml"}).output,
             Contains("  reason: NotSupported\n"));
}

TEST_CASE("usage-definition test: an object that uses nothing but counts has a row, too",
          "[kubectl-quota]") {
  Plugin plugin;
  std::string scopes = kSizes;
  scopes.replace(scopes.find("usage: "), scopes.rfind("}}") - scopes.find("usage: "),
                 "scopes: [{name: example.com/tier, path: .spec.tier}]");
  const auto told =
      Test(plugin, scopes + Object("Bucket", "a", "{tier: fast}"), {"-o", "wide", "-n", "shop"});
  CHECK(told.code == 0);
  CHECK_THAT(told.output,
             Contains("shop        bucket.storage.example.com/a   count/buckets.storage.example.com"
                      "   1      example.com/tier=fast\n"));
}

TEST_CASE("usage-definition test: kinds of no definition are ignored, with one note",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string config = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n";
  const std::string text = kSizes + Object("Bucket", "a", "{size: 1}") + config;
  CHECK(Test(plugin, text).warnings ==
        "note: 1 object is ignored, because no UsageDefinition describes the kind: configmap\n");
  const auto told = Test(plugin, text + Object("Tier", "fast", "{}"));
  CHECK(told.code == 0);
  CHECK(told.warnings ==
        "note: 2 objects are ignored, because no UsageDefinition describes the kind: configmap, "
        "tier.storage.example.com\n");
}

TEST_CASE("usage-definition test: the resource of a kind is that of the files, or a guess",
          "[kubectl-quota]") {
  Plugin plugin;
  std::string mice = kSizes;
  while (mice.find("buckets") != std::string::npos) mice.replace(mice.find("buckets"), 7, "mice");
  const std::string mouse = Object("Mouse", "a", "{size: 3}");
  const auto guessed = Test(plugin, mice + mouse);
  CHECK(guessed.code == 2);
  CHECK(guessed.warnings ==
        "error: no object of mice.storage.example.com in the files; the objects in them are of: "
        "mouse.storage.example.com; a CustomResourceDefinition in the files tells the resource of "
        "a kind\n");
  const auto told = Test(plugin, mice + mouse +
                                     "---\n{apiVersion: apiextensions.k8s.io/v1, kind: "
                                     "CustomResourceDefinition, metadata: {name: "
                                     "mice.storage.example.com}, spec: {group: "
                                     "storage.example.com, scope: Namespaced, names: {kind: "
                                     "Mouse, plural: mice}}}\n");
  CHECK(told.code == 0);
  CHECK(told.warnings.empty());
  CHECK_THAT(told.output, Contains("\nexample.com/bucket-bytes         3\n"));
  SECTION("a likeness is noted") {
    const auto like = Test(plugin, kSizes + Object("Bucketx", "a", "{size: 3}"));
    CHECK(like.code == 0);
    CHECK(like.warnings ==
          "note: bucketx.storage.example.com is taken for the kind of buckets.storage.example.com: "
          "a CustomResourceDefinition in the files tells it\n");
  }
}

TEST_CASE("usage-definition test: of several manifests of one object the last one counts",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto told = Test(
      plugin, kSizes + Object("Bucket", "a", "{size: 1}") + Object("Bucket", "a", "{size: 2}"));
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains("\nexample.com/bucket-bytes            2\n"));
  CHECK(told.warnings ==
        "note: bucket.storage.example.com/a: stands 2 times in the files, and the last one "
        "counts\n");
}

TEST_CASE("usage-definition test: what cannot be answered is an error with exit code 2",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string bucket = Object("Bucket", "a", "{size: 1}");
  const auto wrong = [&](const std::string& text) {
    const auto told = Test(plugin, text);
    CHECK(told.code == 2);
    CHECK(told.output.empty());
    return told.warnings;
  };
  const auto with = [](std::string text, const std::string& part, const std::string& other) {
    return text.replace(text.find(part), part.size(), other);
  };
  CHECK_THAT(wrong(bucket + with(kSizes, ".spec.size", "spec.size")),
             StartsWith("error: /") &&
                 Contains("a.yaml, document 2: usagedefinition.quota-controller-manager.io/"
                          "buckets.storage.example.com: spec.usage[0].path: must"));
  CHECK_THAT(wrong(bucket + with(kSizes, "name: buckets.", "name: bucket.")),
             Contains("metadata.name: must be buckets.storage.example.com, so that"));
  CHECK_THAT(wrong(bucket), Contains("error: no UsageDefinition of quota-controller-manager.io in "
                                     "the files; the objects in them are of: "
                                     "bucket.storage.example.com\n"));
  CHECK_THAT(wrong(with(kSizes, "quota-controller-manager.io", "example.com")),
             Contains("no UsageDefinition of quota-controller-manager.io in the files; the objects "
                      "in them are of: usagedefinition.example.com\n"));
  CHECK_THAT(wrong(""), Contains("there are no other objects in them\n"));
  CHECK_THAT(wrong(kSizes),
             Contains("error: no object of buckets.storage.example.com in the files; there are no "
                      "other objects in them\n"));
  CHECK_THAT(
      wrong(std::string(kSizes) + kTiers + "---\n{apiVersion: v1, kind: Pod, metadata: {name: p}}"),
      Contains("no object of buckets.storage.example.com or disks.storage.example.com in "
               "the files; the objects in them are of: pod\n"));
  CHECK_THAT(wrong(bucket + kSizes + kSizes),
             Contains("a.yaml, document 3: usagedefinition.quota-controller-manager.io/"
                      "buckets.storage.example.com: spec.resource: buckets.storage.example.com has "
                      "a definition in /") &&
                 Contains("a.yaml, document 2, too\n"));
  CHECK_THAT(wrong(bucket + kSizes + with(kTiers, "example.com/rate", "example.com/bucket-bytes")),
             Contains("disks.storage.example.com: spec.usage[1].name: example.com/bucket-bytes is "
                      "a name of the definition buckets.storage.example.com in /") &&
                 Contains("a.yaml, document 2, too\n"));
}

TEST_CASE("usage-definition test: a mistyped field is told, because no API server drops it",
          "[kubectl-quota]") {
  Plugin plugin;
  std::string text = kSizes;
  text.replace(text.find("path: .spec.size"), 0, "defualt: 1, ");
  const auto told = Test(plugin, text + Object("Bucket", "a", "{}"));
  CHECK(told.code == 2);
  CHECK_THAT(told.warnings, Contains("a.yaml"));
  CHECK_THAT(
      told.warnings,
      Contains("usagedefinition.quota-controller-manager.io/buckets.storage.example.com: "
               "spec.usage[0].defualt: is no field; there are class, default, format, name, path, "
               "times, timesDefault"));
}

TEST_CASE("usage-definition test: -n is the namespace, as in kubectl", "[kubectl-quota]") {
  Plugin plugin;
  const std::string text =
      std::string(kSizes) +
      "---\n{apiVersion: storage.example.com/v1, kind: Bucket, metadata: {name: a, namespace: "
      "shop}, spec: {size: 1}}\n";
  CHECK_THAT(Test(plugin, text).output, Contains("\nshop        bucket."));
  CHECK(Test(plugin, text, {"-n", "shop"}).code == 0);
  const auto told = Test(plugin, text, {"-n", "other"});
  CHECK(told.code == 2);
  CHECK_THAT(told.warnings, Contains("does not match the namespace \"other\""));
}

TEST_CASE("usage-definition test: wrong calls are refused", "[kubectl-quota]") {
  Plugin plugin;
  CHECK_FALSE(plugin.TryAsk({"usage-definition"}));
  CHECK_FALSE(plugin.TryAsk({"usage-definition", "test"}));
  CHECK_FALSE(plugin.TryAsk({"usage-definition", "tset", "-f", "x"}));
  CHECK_FALSE(plugin.TryAsk({"usage-definition", "test", "x", "-f", "x"}));
  CHECK_FALSE(plugin.TryAsk({"usage-definition", "test", "-f", "x", "-o", "csv"}));
  CHECK_FALSE(plugin.TryAsk({"usage-definition", "test", "-f", "x", "-l", "a=b"}));
  CHECK_FALSE(plugin.TryAsk({"usage-definition", "test", "-f", "x", "-w"}));
  CHECK(plugin.Ask({"usage-definition", "test", "-f", "/nowhere"}).code == 2);
}

TEST_CASE("usage-definition test: the README shows what the examples give", "[kubectl-quota]") {
  Plugin plugin;
  const std::string folder = tests::SourcePath("/cmd/kubectl-quota/");
  const auto told =
      plugin.Ask({"usage-definition", "test", "-f", folder + "examples/usage-definition.yaml", "-f",
                  folder + "examples/buckets.yaml"});
  CHECK(told.code == 1);
  std::ifstream readme(folder + "README.md");
  const std::string text(std::istreambuf_iterator<char>(readme), {});
  CHECK_THAT(text, Contains("-f examples/usage-definition.yaml -f examples/buckets.yaml\n" +
                            told.output + "```\n"));
}

}  // namespace usage_definition_test

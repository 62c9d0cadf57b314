#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_offline_test {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;

std::string Document(const std::string& head, const std::string& ns, const std::string& rest) {
  return "---\n" + head + "\nmetadata: {name: x" + (ns.empty() ? "" : ", namespace: " + ns) +
         "}\n" + rest;
}

std::string Pod(const std::string& ns) {
  return Document("apiVersion: v1\nkind: Pod", ns, "spec: {containers: [{name: c, image: i}]}\n");
}

std::string Quota(const std::string& ns, const std::string& used = "{}") {
  return Document("apiVersion: v1\nkind: ResourceQuota", ns,
                  "spec: {hard: {requests.cpu: 4, pods: 4}}\nstatus: {used: " + used + "}\n");
}

std::string Defaults(const std::string& ns, const std::string& cpu) {
  return Document("apiVersion: v1\nkind: LimitRange", ns,
                  "spec: {limits: [{type: Container, defaultRequest: {cpu: " + cpu + "}}]}\n");
}

TEST_CASE("check offline: LimitRanges hold in their namespace, or everywhere without one",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto ask = [&](const std::string& ranges) {
    return plugin.Ask({"check", "-f", plugin.File("pods.yaml", Pod("a") + Pod("b")), "--quota-file",
                       plugin.File("quotas.yaml", Quota("a") + Quota("b")), "--limitrange-file",
                       plugin.File("ranges.yaml", ranges)});
  };
  CHECK_THAT(
      ask(Defaults("a", "1") + Defaults("b", "2")).output,
      Contains("a           x       requests.cpu   0        1       1       4       yes\n") &&
          Contains("b           x       requests.cpu   0        2       2       4       yes\n"));
  CHECK_THAT(
      ask(Defaults("", "3")).output,
      Contains("a           x       requests.cpu   0        3       3       4       yes\n") &&
          Contains("b           x       requests.cpu   0        3       3       4       yes\n"));
  CHECK_THAT(ask(Defaults("c", "3")).output, Contains("must specify requests.cpu for: c"));
}

TEST_CASE("check offline: usage is that of the quota of the same namespace", "[kubectl-quota]") {
  Plugin plugin;
  const auto ask = [&](const std::string& quotas, const std::string& used) {
    return plugin.Ask({"check", "-f", plugin.File("pods.yaml", Pod("a") + Pod("b")), "--quota-file",
                       plugin.File("quotas.yaml", quotas), "--used-file",
                       plugin.File("used.yaml", used), "--limitrange-file",
                       plugin.File("ranges.yaml", Defaults("", "1"))});
  };
  const std::string used = Quota("a", "{pods: 1}") + Quota("b", "{pods: 3}");
  for (const std::string& quotas : {Quota("a") + Quota("b"), Quota("")}) {
    CHECK_THAT(
        ask(quotas, used).output,
        Contains("a           x       pods           1        1       2       4       yes\n") &&
            Contains("b           x       pods           3        1       4       4       yes\n"));
  }
  CHECK_THAT(
      ask(Quota("a") + Quota("b"), Quota("", "{pods: 3}")).output,
      Contains("a           x       pods           3        1       4       4       yes\n") &&
          Contains("b           x       pods           3        1       4       4       yes\n"));
  SECTION("amounts without a quota are for one namespace") {
    const auto plain = ask(Quota("a") + Quota("b"), "pods: 3\n");
    CHECK(plain.code == 2);
    CHECK_THAT(
        plain.warnings,
        Contains("used.yaml: amounts by name are for one namespace, and the manifests are for "
                 "several"));
  }
}

TEST_CASE("check offline: objects without a namespace may be beside the others",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto ask = [&](const std::string& files, const std::string& quotas, const std::string& ns) {
    return plugin.Ask({"check", "-f", plugin.File("files.yaml", files), "--quota-file",
                       plugin.File("quotas.yaml", quotas), "--namespace=" + ns});
  };
  const std::string one = "spec: {hard: {pods: 1}}\n";
  const std::string head = "apiVersion: v1\nkind: ResourceQuota";
  const std::string anywhere = Document(head, "", one);
  const auto told = ask(Pod("") + Pod("a"), anywhere, "");
  CHECK(told.code == 3);
  CHECK_THAT(told.output, Contains("whether objects without a namespace are in a and use pods of "
                                   "quota x, too; -n says where they are"));
  CHECK(ask(Pod("") + Pod("a"), Document(head, "a", one) + Document(head, "b", one), "").code == 3);
  const std::string web = "{apiVersion: v1, kind: Pod, metadata: {name: web}}\n";
  CHECK(ask(web + Pod("a"), anywhere, "a").code == 1);
  // Nothing of the others is limited, or all of them have a namespace.
  const std::string map = Document("apiVersion: v1\nkind: ConfigMap", "a", "");
  CHECK(ask(Pod("") + map, anywhere, "").code == 0);
  CHECK(ask(Pod("a") + Pod("b"), anywhere, "").code == 0);
}

TEST_CASE("check offline: a RuntimeClass that no file has may add to the usage",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string pods =
      "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 3, "
      "template: {spec: {runtimeClassName: kata, containers: [{name: c, resources: {requests: "
      "{cpu: 500m}}}]}}}}\n";
  const auto told = plugin.CheckFiles(pods, "{requests.cpu: 2}");
  CHECK(told.code == 3);
  CHECK_THAT(told.output, Contains("the overhead of RuntimeClass kata, which is not in the files"));
  CHECK(plugin.CheckFiles(pods, "{pods: 3, requests.storage: 1}").code == 0);
  CHECK(plugin.CheckFiles(pods, "{requests.cpu: 1}").code == 1);
  const std::string runtime =
      "---\n{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: k";
  CHECK(plugin.CheckFiles(pods + runtime + "}\n", "{requests.cpu: 2}").code == 0);
  CHECK(plugin
            .CheckFiles(pods + runtime + ", overhead: {podFixed: {cpu: 250m}}}\n",
                        "{requests.cpu: 2}")
            .code == 1);
}

TEST_CASE("check offline: usage that meets no quota is told", "[kubectl-quota]") {
  Plugin plugin;
  const auto ask = [&](const std::string& used) {
    return plugin.Ask({"check", "-f", plugin.File("pods.yaml", Pod("a")), "--quota-file",
                       plugin.File("quotas.yaml", Quota("a") + Defaults("a", "1")), "--used-file",
                       plugin.File("used.yaml", used)});
  };
  const auto plain = ask("{request.cpu: 2, pods: 1}");
  CHECK(plain.code == 2);
  CHECK_THAT(plain.warnings, Contains("used.yaml: no quota limits request.cpu"));
  CHECK(ask("{pods: 1}").code == 0);
  const std::string all = "{pods: 1, requests.cpu: 1}";
  CHECK(ask(Quota("a", all)).code == 0);
  CHECK(ask(Quota("a", all) + Quota("b", all)).code == 0);
  const auto elsewhere = ask(Quota("b", all));
  CHECK(elsewhere.code == 3);
  CHECK_THAT(elsewhere.output, Contains("what is used of pods, requests.cpu of quota x is not in "
                                        "what --used-file names"));
  const auto partly = ask(Quota("a", "{pods: 1}"));
  CHECK(partly.code == 3);
  CHECK_THAT(partly.output, Contains("what is used of requests.cpu of quota x"));
}

TEST_CASE("check offline: a name that no server takes is doubted in a quota", "[kubectl-quota]") {
  Plugin plugin;
  const auto told = plugin.CheckFiles(Pod("shop"), "{pod: 1}");
  CHECK(told.code == 3);
  CHECK_THAT(told.output, Contains("quota.yaml: resourcequota/q: spec.hard[pod]: Invalid value: "
                                   "\"pod\": must be a standard resource for quotas"));
}

TEST_CASE("check offline: LimitRanges for other namespaces only are told", "[kubectl-quota]") {
  Plugin plugin;
  const auto warnings = [&](const std::string& ranges) {
    return plugin
        .Ask({"check", "-f", plugin.File("pods.yaml", Pod("a")), "--quota-file",
              plugin.File("quotas.yaml", Quota("a")), "--limitrange-file",
              plugin.File("ranges.yaml", ranges)})
        .warnings;
  };
  const std::string warning = "no LimitRange in what --limitrange-file names is for namespace a";
  CHECK_THAT(warnings(Defaults("b", "1")), Contains(warning));
  CHECK_THAT(warnings(Defaults("a", "1")), !Contains(warning));
}

TEST_CASE("check offline: an error names what the server would refuse, and where",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto quotas = plugin.File("quotas.yaml", Quota(""));
  const auto ask = [&](const std::string& spec, const std::vector<std::string>& more = {}) {
    const auto file = plugin.File(
        "web.yaml", Document("apiVersion: apps/v1\nkind: Deployment", "a", "spec: " + spec));
    std::vector<std::string> arguments{"check", "-f", file, "--quota-file", quotas};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return plugin.Ask(arguments);
  };
  const auto misplaced = ask("{template: {replicas: 5}}");
  CHECK(misplaced.code == 2);
  CHECK_THAT(misplaced.warnings,
             Contains("web.yaml: deployment.apps/x: unknown field spec.template.replicas"));
  CHECK(ask("{template: {replicas: 5}}", {"--validate=false"}).code != 2);
  // Such a value is never accepted.
  for (const auto& more : {std::vector<std::string>{}, {"--validate=false"}}) {
    const auto mistyped = ask("{replicas: '5'}", more);
    CHECK(mistyped.code == 2);
    CHECK_THAT(
        mistyped.warnings,
        Contains("web.yaml: deployment.apps/x: spec.replicas must be of type integer, not string"));
  }
}

TEST_CASE("check offline: an amount that is no quantity is an error, whatever is limited",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string claim = "resources: {requests: {storage: 10GB}}";
  const std::string manifest = GENERATE_COPY(
      Document("apiVersion: v1\nkind: PersistentVolumeClaim", "shop", "spec: {" + claim + "}\n"),
      Document("apiVersion: v1\nkind: Pod", "shop",
               "spec: {volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {" + claim +
                   "}}}}], containers: [{name: c}]}\n"),
      Document("apiVersion: v1\nkind: Pod", "shop",
               "spec: {overhead: {cpu: 1x}, containers: [{name: c}]}\n"),
      Document("apiVersion: apps/v1\nkind: StatefulSet", "shop",
               "spec: {replicas: 0, template: {spec: {containers: [{name: c}]}}, "
               "volumeClaimTemplates: [{metadata: {name: d}, spec: {" +
                   claim + "}}]}\n"));
  const auto told = plugin.CheckFiles(manifest, "{persistentvolumeclaims: 4, pods: 10}");
  INFO(manifest << told.output);
  CHECK(told.code == 2);
  CHECK_THAT(told.warnings, Contains("]: quantities must match"));
}

// Two GPUs for a pod by its own claim.
std::string Claim(const std::string& ns) {
  return Document("apiVersion: resource.k8s.io/v1\nkind: ResourceClaim", ns,
                  "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: big, count: "
                  "2}}]}}\n");
}

std::string DeviceClass(const std::string& extended) {
  return "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: big}\nspec: {" +
         extended + "}\n";
}

TEST_CASE("check offline: a DeviceClass in the files says under which resource its claims count",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto quota = [](const std::string& ns) {
    return Document("apiVersion: v1\nkind: ResourceQuota", ns,
                    "spec: {hard: {requests.example.com/gpu: 1, "
                    "requests.deviceclass.resource.kubernetes.io/big: 5}}\n");
  };
  const auto ask = [&](const std::string& manifests, const std::string& quotas) {
    return plugin.Ask({"check", "-f", plugin.File("claims.yaml", manifests), "--quota-file",
                       plugin.File("quotas.yaml", quotas)});
  };
  const std::string declared = DeviceClass("extendedResourceName: example.com/gpu");
  const char* refused =
      "x       requests.deviceclass.resource.kubernetes.io/big   0        2       2       5       "
      "yes\n"
      "x       requests.example.com/gpu                          0        2       2       1       "
      "no, lacks 1\n";
  SECTION("beside the claims") {
    CHECK_THAT(ask(Claim("a") + declared, quota("a")).output, Contains(refused));
  }
  SECTION("beside the quotas") {
    CHECK_THAT(ask(Claim("a"), quota("a") + declared).output, Contains(refused));
  }
  SECTION("the one beside the claims is the newer one") {
    CHECK_THAT(ask(Claim("a") + declared, DeviceClass("") + quota("a")).output, Contains(refused));
    const auto told = ask(DeviceClass("") + Claim("a"), quota("a") + declared);
    CHECK(told.code == 0);
    CHECK_THAT(told.output, !Contains("example.com/gpu"));
  }
  SECTION("in every namespace") {
    const auto told = ask(Claim("a") + declared + Claim("b"), quota("a") + quota("b"));
    CHECK_THAT(told.output, Contains("2 of 4 limits would be exceeded"));
  }
  SECTION("the class of another group is another kind") {
    std::string other = declared;
    other.replace(other.find("resource.k8s.io"), 15, "x.example.com");
    const auto told = ask(Claim("a") + other, quota("a"));
    CHECK(told.code == 3);
    CHECK_THAT(told.output, Contains("device class \"big\" not found"));
  }
}

TEST_CASE("check: each file of a folder that cannot be read is named", "[kubectl-quota]") {
  Plugin plugin;
  const std::string quotas = plugin.File("quota.json", Quota("a"));
  const std::string pod = plugin.File("pod.yaml", Pod("a"));
  const std::filesystem::path folder = std::filesystem::path(pod).parent_path() / "files";
  const auto ask = [&] {
    return plugin.Ask({"check", "-f", folder.string(), "--quota-file", quotas});
  };
  std::filesystem::create_directory(folder);
  CHECK_THAT(ask().warnings, Contains("no .yaml, .yml or .json file in " + folder.string()));
  std::filesystem::create_symlink(pod, folder / "pod.yaml");
  std::filesystem::create_symlink("loop", folder / "loop");
  mkfifo((folder / "pipe.yaml").c_str(), 0600);
  CHECK_THAT(ask().output, Contains("must specify requests.cpu for: c"));
  std::filesystem::create_symlink("loop.yaml", folder / "loop.yaml");
  const auto loop = ask();
  CHECK(loop.code == 2);
  CHECK_THAT(loop.warnings, Contains("cannot read " + (folder / "loop.yaml").string() +
                                     ": Too many levels of symbolic links"));
  std::filesystem::remove(folder / "loop.yaml");
  std::filesystem::create_symlink("absent", folder / "gone.yaml");
  CHECK_THAT(ask().warnings, Contains("cannot read " + (folder / "gone.yaml").string() +
                                      ": No such file or directory"));
}

TEST_CASE("check offline: an object uses what a UsageDefinition in the files says",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string limit =
      "---\napiVersion: quota-controller-manager.io/v1alpha1\nkind: ClusterQuota\n"
      "metadata: {name: team}\n"
      "spec: {namespaceSelector: {}, hard: {example.com/bytes: 10Gi, pods: 5}}\n"
      "status: {used: {example.com/bytes: 1Gi, pods: 1}}\n";
  const auto definition = [](const std::string& path) {
    return "---\napiVersion: quota-controller-manager.io/v1alpha1\nkind: UsageDefinition\n"
           "metadata: {name: vmses.example.com}\n"
           "spec: {resource: {group: example.com, resource: vmses},\n"
           "       usage: [{name: example.com/bytes, path: " +
           path + "}]}\n";
  };
  const auto disk = [](const std::string& size) {
    return Document("apiVersion: example.com/v1\nkind: VMs", "a", "spec: {size: " + size + "}\n");
  };
  const auto ask = [&](const std::string& manifests, const std::string& quotas) {
    return plugin.Ask({"check", "-f", plugin.File("objects.yaml", manifests), "--quota-file",
                       plugin.File("quotas.yaml", quotas)});
  };
  // A guess, or silence, would be a yes that is not true.
  const auto unknown = ask(disk("100Gi"), limit);
  CHECK(unknown.code == 3);
  CHECK_THAT(unknown.output, Contains("quota clusterquota/team limits example.com/bytes, and no "
                                      "UsageDefinition is known that says what uses it"));
  CHECK(ask(Pod("a"), limit).code == 3);
  CHECK(ask(Document("apiVersion: v1\nkind: Secret", "a", ""), limit).code == 0);

  const std::string by_size = definition(".spec.size");
  CHECK(ask(disk("9Gi") + by_size, limit).code == 0);
  const auto refused = ask(disk("100Gi"), limit + by_size);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, Contains("requested: example.com/bytes=100Gi, used: "
                                      "example.com/bytes=1Gi, limited: example.com/bytes=10Gi"));
  CHECK(ask(disk("9Gi") + definition(".spec.other"), limit).code != 0);
  const auto wrong = ask(disk("9Gi") + definition("size"), limit);
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.warnings,
             Contains("usagedefinition/vmses.example.com: spec.usage[0].path: must begin with"));
}

TEST_CASE("check offline: an amount that cannot be read concerns the quotas of its name",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string policy = GENERATE("Unknown", "Ignore");
  const std::string definition =
      "---\napiVersion: quota-controller-manager.io/v1alpha1\nkind: UsageDefinition\n"
      "metadata: {name: vmses.example.com}\n"
      "spec: {resource: {group: example.com, resource: vmses}, invalidAmountPolicy: " +
      policy +
      ",\n       usage: [{name: example.com/bytes, path: .spec.size},\n"
      "               {name: example.com/iops, path: .spec.iops}]}\n";
  const std::string disk =
      Document("apiVersion: example.com/v1\nkind: VMs", "a", "spec: {size: 1Gi}\n");
  const auto quota = [](const std::string& name, const std::string& mode, const std::string& hard) {
    return "---\napiVersion: quota-controller-manager.io/v1alpha1\nkind: ClusterQuota\n"
           "metadata: {name: " +
           name + "}\nspec: {namespaceSelector: {}, enforcement: " + mode + ", hard: {" + hard +
           "}}\nstatus: {used: {example.com/bytes: 0, example.com/iops: 0}}\n";
  };
  const auto check = [&](const std::string& quotas) {
    return plugin.Ask({"check", "-f", plugin.File("objects.yaml", disk + definition),
                       "--quota-file", plugin.File("quotas.yaml", quotas)});
  };
  const auto ask = [&](const std::string& hard) { return check(quota("team", "Deny", hard)); };
  CHECK(ask("example.com/bytes: 10Gi").code == 0);
  const auto refused = ask("example.com/bytes: 10Gi, example.com/iops: 5");
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, Contains("it cannot be counted: spec.iops: is missing"));
  SECTION("which only warns if none of them may refuse") {
    const std::string tried = quota("trial", GENERATE("Warn", "Audit"), "example.com/iops: 5");
    for (const std::string& other :
         {std::string(), quota("team", "Deny", "example.com/bytes: 9Gi")}) {
      const auto told = check(tried + other);
      INFO(told.output);
      CHECK(told.code == 0);
      CHECK_THAT(told.output, Contains("vms.example.com/x: would warn: it cannot be counted: "
                                       "spec.iops: is missing\n"));
    }
    CHECK(check(tried + quota("team", "Deny", "example.com/iops: 5")).code == 1);
  }
}

TEST_CASE("check offline: pods use what a UsageDefinition of pods adds", "[kubectl-quota]") {
  Plugin plugin;
  const std::string rules =
      "---\napiVersion: quota-controller-manager.io/v1alpha1\nkind: UsageDefinition\n"
      "metadata: {name: pods}\n"
      "spec: {resource: {group: '', resource: pods},\n"
      "       usage: [{name: example.com/chips, path: \".metadata.annotations.chips\"}]}\n"
      "---\napiVersion: quota-controller-manager.io/v1alpha1\nkind: ClusterQuota\n"
      "metadata: {name: team}\n"
      "spec: {namespaceSelector: {}, hard: {example.com/chips: 8, pods: 5}}\n"
      "status: {used: {example.com/chips: 1, pods: 1}}\n";
  const auto ask = [&](int replicas, const std::string& chips) {
    const std::string deployment =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
        "spec: {replicas: " +
        std::to_string(replicas) +
        ", selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}, annotations: "
        "{chips: '" +
        chips + "'}}, spec: {containers: [{name: c, image: c}]}}}\n";
    return plugin.Ask({"check", "-f", plugin.File("objects.yaml", deployment), "--quota-file",
                       plugin.File("quotas.yaml", rules)});
  };
  CHECK(ask(3, "2").code == 0);
  const auto refused = ask(4, "2");
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, Contains("example.com/chips"));
  const auto unread = ask(1, "many");
  CHECK(unread.code == 1);  // admission refuses it
  CHECK_THAT(unread.output, Contains("it cannot be counted: metadata.annotations.chips: "
                                     "quantities must match"));
}

}  // namespace check_offline_test

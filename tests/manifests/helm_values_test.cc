// What the Helm chart renders: the same objects as the folders of manifests/, what the values say,
// and nothing for values that cannot work. Needs QCM_HELM and KUBEBUILDER_ASSETS.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/installation.h"
#include "tests/manifests/helm.h"
#include "tests/source_dir.h"

namespace e2e::helm_values_test {
namespace {

using Words = std::vector<std::string>;

Words Template(const std::string& ns, const std::string& values) {
  Words arguments{"template", "quotas", kChart, "--namespace=" + ns};
  if (!values.empty()) arguments.push_back("--set=" + values);
  return arguments;
}

// Before the first document helm mentions the links in the chart's folder.
std::string WithoutRemarks(const std::string& output) {
  std::string text;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("walk.go:")) text.append(line).append("\n");
  }
  return text;
}

using Objects = std::map<std::string, json::Value>;

Objects ByName(const std::vector<json::Value>& documents) {
  Objects objects;
  for (const json::Value& document : documents) {
    std::string name(document.StringAt({"kind"}));
    for (const std::string_view part :
         {document.StringAt({"metadata", "namespace"}), document.StringAt({"metadata", "name"})}) {
      name.append(" ").append(part);
    }
    INFO(name);
    CHECK(objects.emplace(name, document).second);
  }
  return objects;
}

std::set<std::string> Names(const Objects& objects) {
  std::set<std::string> names;
  for (const auto& [name, object] : objects) names.insert(name);
  return names;
}

Objects OfFolders(const Words& folders) {
  std::vector<json::Value> all;
  for (const std::string& folder : folders) {
    for (json::Value& object : RenderManifests(folder)) all.push_back(std::move(object));
  }
  return ByName(all);
}

bool IsHook(const json::Value& object) {
  return object.At({"metadata", "annotations", "helm.sh/hook"}) != nullptr;
}

std::vector<json::Value> Rendered(const std::string& values) {
  auto documents =
      config::ParseYamlDocuments(WithoutRemarks(MustHelm(Template(kQuotaSystem, values))));
  if (!documents) throw std::runtime_error(documents.error().message);
  return std::move(*documents);
}

// An object of the chart without the labels that every one of them has, and the folder's lacks.
json::Value WithoutChartLabels(json::Value object, const json::Value& of_folder) {
  json::Object& metadata = *object.Make({"metadata"}).AsObject();
  json::Object& labels = *metadata.Find("labels")->AsObject();
  const json::Value* expected = of_folder.At({"metadata", "labels"});
  for (const std::string name :
       {"helm.sh/chart", "app.kubernetes.io/component", "app.kubernetes.io/instance",
        "app.kubernetes.io/managed-by", "app.kubernetes.io/name", "app.kubernetes.io/version"}) {
    INFO(object.StringAt({"kind"}) << " " << name);
    const bool own = expected != nullptr && expected->AsObject()->Contains(name);
    if (!own) CHECK(labels.Erase(name));
  }
  if (labels.empty()) metadata.Erase("labels");
  return object;
}

// Without hooks, which are not part of the installation.
Objects OfChart(const std::string& values) {
  auto documents = Rendered(values);
  std::erase_if(documents, IsHook);
  return ByName(documents);
}

// The kinds of the quotas that `helm test` creates.
Words TestedQuotas(const std::string& values) {
  Words kinds;
  for (const json::Value& object : Rendered(values)) {
    const std::string kind(object.StringAt({"kind"}));
    if (IsHook(object) && kind.ends_with("Quota")) kinds.push_back(kind);
  }
  return kinds;
}

struct Same {
  Words folders;
  std::string values;
};

const std::vector<Same> kSame{
    {{"base"}, "namespace.create=true"},
    {{"base", "monitoring"}, "namespace.create=true,monitoring.enabled=true"},
    {{"cluster-enforced"}, "namespace.create=true,enforce={cluster,defined}"},
    {{"core-enforced"}, "namespace.create=true,enforce={core,cluster}"},
    {{"core-enforced", "monitoring-verified"},
     "namespace.create=true,enforce={core,cluster},monitoring.enabled=true"},
    {{"core-enforced-client-ca"},
     "namespace.create=true,enforce={core,cluster},clientCA=quota-controller-manager-client-ca"},
    {{"cert-manager", "monitoring-cert-manager"},
     "namespace.create=true,enforce={core,cluster},certificate=cert-manager,monitoring.enabled="
     "true"},
    {{"gke"}, "namespace.create=true,criticalPodsQuota=10"},
    {{"aks"}, R"(namespace.create=true,webhookAnnotations.admissions\.enforcer/disabled=true)"},
    {{"openshift"},
     "namespace.create=true,podSecurityContext.runAsUser=null,podSecurityContext.runAsGroup=null"},
    {{"openshift", "monitoring-token"},
     "namespace.create=true,podSecurityContext.runAsUser=null,podSecurityContext.runAsGroup=null,"
     "monitoring.enabled=true,monitoring.ownToken=true"},
    {{"ironcore"},
     "namespace.create=true,ironcore=true,quotaApis={core,cluster,ironcore},"
     "enforce={cluster,ironcore}"},
    {{"karmada"}, "install=karmada-api-server"},
    {{"karmada-host"},
     "namespace.create=true,quotaApis={karmada},enforce={karmada},certificate=cert-manager,"
     "kubeconfigSecret=quota-controller-manager-kubeconfig"}};

}  // namespace

TEST_CASE("the hook of helm uninstall is left out where no API server is asked", "[helm]") {
  for (const char* values :
       {"enforce={core}",
        "quotaApis={karmada},enforce={karmada},certificate=cert-manager,kubeconfigSecret=k"}) {
    for (const json::Value& object : Rendered(values)) CHECK(object.StringAt({"kind"}) != "Job");
  }
}

TEST_CASE("the hook of helm uninstall works on the daemon's installation and API server",
          "[helm]") {
  const auto arguments = [](const std::string& values) {
    Words all = Template(kQuotaSystem, values);
    all.insert(all.end(), {"--api-versions=batch/v1/Job", "--show-only=templates/uninstall.yaml"});
    const auto job = config::ParseYamlDocuments(WithoutRemarks(MustHelm(std::move(all))));
    REQUIRE(job.has_value());
    const json::Value& pod = *job->at(0).At({"spec", "template", "spec"});
    CHECK((pod.At({"volumes"}) != nullptr) == (values.find("Secret") != std::string::npos));
    Words found;
    for (const json::Value& argument : pod.ArrayAt({"containers"}).front().ArrayAt({"args"})) {
      found.emplace_back(*argument.AsString());
    }
    return found;
  };
  CHECK(arguments("enforce={core},clientCA=callers") ==
        Words{"--break-glass", "--break-glass-for=5m"});
  CHECK(arguments("enforce={core},extraArgs={-v=1,--leader-elect-resource-name=other}") ==
        Words{"--break-glass", "--break-glass-for=5m", "--leader-elect-resource-name=other"});
  CHECK(arguments("quotaApis={karmada},enforce={karmada},certificate=cert-manager,"
                  "kubeconfigSecret=karmada") ==
        Words{"--break-glass", "--break-glass-for=5m",
              "--kubeconfig=/etc/quota-controller-manager/karmada/kubeconfig",
              "--leader-elect-resource-namespace=kube-system"});
}

TEST_CASE("the chart renders the objects of every folder of manifests/", "[helm]") {
  std::set<std::string> covered{"crds", "dashboard"};  // parts of "base" and "monitoring"
  for (const Same& same : kSame) {
    INFO(same.values);
    covered.insert(same.folders.begin(), same.folders.end());
    const Objects folders = OfFolders(same.folders);
    const Objects chart = OfChart(same.values + ",crds.keep=false,crds.deletionWarning=false");
    CHECK(Names(chart) == Names(folders));
    for (const auto& [name, object] : folders) {
      const auto found = chart.find(name);
      if (found == chart.end()) continue;
      const json::Value rendered = WithoutChartLabels(found->second, object);
      if (rendered == object) continue;
      FAIL_CHECK(name << "\nkustomize: " << json::Write(object)
                      << "\nhelm:      " << json::Write(rendered));
    }
  }
  const Words folders = ManifestFolders();
  CHECK(covered == std::set<std::string>(folders.begin(), folders.end()));
}

TEST_CASE("a folder that installs ClusterQuota counts it, and enforces it if it enforces",
          "[helm]") {
  int checked = 0;
  for (const std::string& folder : ManifestFolders()) {
    const Objects objects = OfFolders({folder});
    const bool installed =
        objects.contains("CustomResourceDefinition  clusterquotas.quota-controller-manager.io");
    const bool runs = objects.contains("Deployment quota-system quota-controller-manager");
    if (!installed || !runs) continue;
    INFO(folder);
    ++checked;
    for (const std::string& argument : DeployedArguments(folder)) {
      const bool quota_apis =
          argument.starts_with("--quota-apis=") || argument.starts_with("--enforce=");
      if (quota_apis) CHECK_THAT(argument, Catch::Contains("cluster"));
    }
  }
  CHECK(checked >= 8);
}

TEST_CASE("a folder counts the quota APIs that its roles allow to count, and no others", "[helm]") {
  const std::map<std::string, std::string> groups{{"cluster", "quota-controller-manager.io"},
                                                  {"ironcore", "core.ironcore.dev"},
                                                  {"karmada", "policy.karmada.io"}};
  int checked = 0;
  for (const std::string& folder : ManifestFolders()) {
    const Objects objects = OfFolders({folder});
    const auto role = objects.find("ClusterRole  quota-controller-manager");
    if (role == objects.end()) continue;  // no daemon, or one without rights in this cluster
    INFO(folder);
    ++checked;
    std::string rules = json::Write(role->second);
    const auto more = objects.find("ClusterRole  quota-controller-manager-ironcore");
    if (more != objects.end()) rules += json::Write(more->second);
    std::string counted;
    for (const std::string& argument : DeployedArguments(folder)) {
      if (argument.starts_with("--quota-apis=")) counted = argument;
    }
    CHECK_THAT(counted, Catch::Contains("core"));
    for (const auto& [api, group] : groups) {
      INFO(api);
      CHECK((counted.find(api) != std::string::npos) ==
            (rules.find("\"" + group + "\"") != std::string::npos));
    }
  }
  CHECK(checked >= 9);
  CHECK((OfChart("ironcore=true") == OfChart("ironcore=true,quotaApis={core,cluster,ironcore}")));
}

TEST_CASE("the chart warns of deletions where Kubernetes can", "[helm]") {
  const auto warns = [](const std::string& version, const std::string& values) {
    Words arguments = Template(kQuotaSystem, values);
    arguments.push_back("--kube-version=" + version);
    const auto documents = config::ParseYamlDocuments(WithoutRemarks(MustHelm(arguments)));
    if (!documents) throw std::runtime_error(documents.error().message);
    return std::ranges::count_if(*documents, [](const json::Value& object) {
      return object.StringAt({"kind"}).starts_with("ValidatingAdmissionPolicy");
    });
  };
  CHECK(warns("1.29.6", "") == 0);
  CHECK(warns("1.30.0", "") == 2);
  CHECK(warns("v1.33.1-gke.1", "enforce={cluster}") == 2);
  CHECK(warns("1.36.3", "crds.deletionWarning=false") == 0);
  CHECK(warns("1.36.3", "crds.clusterQuota=false") == 0);
  CHECK(warns("1.36.3", "install=karmada-api-server") == 0);
}

TEST_CASE("the chart uses only the namespace of the release", "[helm]") {
  for (const Same& same : kSame) {
    if (same.folders.front() == "karmada") continue;
    INFO(same.values);
    CHECK(MustHelm(Template("elsewhere", same.values)).find(kQuotaSystem) == std::string::npos);
  }
}

TEST_CASE("a folder with the name of the namespace replaced is what the chart renders there",
          "[helm]") {
  const std::string text = ReadFile(tests::SourcePath("/manifests/README.md"));
  CHECK_THAT(text, Catch::Contains("| sed 's/quota-system/platform-quota/g' |"));
  const auto moved = [](const json::Value& object) {
    return Json(
        std::regex_replace(json::Write(object), std::regex(kQuotaSystem), "platform-quota"));
  };
  for (const Same& same : kSame) {
    if (same.folders.front() == "karmada") continue;
    INFO(same.values);
    std::vector<json::Value> folders;
    for (const auto& [name, object] : OfFolders(same.folders)) folders.push_back(moved(object));
    auto chart = config::ParseYamlDocuments(WithoutRemarks(MustHelm(
        Template("platform-quota", same.values + ",crds.keep=false,crds.deletionWarning=false"))));
    REQUIRE(chart.has_value());
    std::erase_if(*chart, IsHook);
    const Objects rendered = ByName(*chart);
    for (const auto& [name, object] : ByName(folders)) {
      INFO(name);
      REQUIRE(rendered.contains(name));
      CHECK((WithoutChartLabels(rendered.at(name), object) == object));
    }
  }
}

TEST_CASE("a namespace whose name looks like a number stays text", "[helm]") {
  for (const Same& same : kSame) {
    if (same.folders.front() == "karmada") continue;
    INFO(same.values);
    const auto documents =
        config::ParseYamlDocuments(WithoutRemarks(MustHelm(Template("2024", same.values))));
    REQUIRE(documents.has_value());
    for (const json::Value& object : *documents) {
      const std::string text = json::Write(object);
      INFO(text);
      CHECK(text.find(":2024") == std::string::npos);
      CHECK(text.find("[2024") == std::string::npos);
    }
  }
}

TEST_CASE("roles, policies and flags can be left out", "[helm]") {
  const Objects objects = OfChart(
      "rbac.countAny=false,rbac.countSecrets=false,networkPolicy.enabled=false,flowSchema=false,"
      "priorityClassName=,replicas=1,crds.clusterQuota=false");
  for (const auto& [name, object] : objects) {
    CHECK(name.find("clusterquotas") == std::string::npos);  // nor appliedclusterquotas
    CHECK(name.find("usagedefinitions") == std::string::npos);
    CHECK(name.find("count-") == std::string::npos);
    CHECK_FALSE(name.starts_with("NetworkPolicy"));
    CHECK_FALSE(name.starts_with("FlowSchema"));
    CHECK_FALSE(name.starts_with("Namespace"));
    if (name.starts_with("Deployment")) {
      CHECK(object.At({"spec", "template", "spec", "priorityClassName"}) == nullptr);
    }
  }
}

TEST_CASE("groups of CRDs are allowed without the kinds of Kubernetes", "[helm]") {
  const Objects objects = OfChart("rbac.countAny=false,rbac.countGroups={example.com}");
  REQUIRE(objects.contains("ClusterRoleBinding  quota-controller-manager-count-any"));
  CHECK(*objects.at("ClusterRole  quota-controller-manager-count-any").At({"rules"}) ==
        Json(R"([{"apiGroups":["example.com"],"resources":["*"],"verbs":["list","watch"]}])"));
}

TEST_CASE("a value that an upgrade sets to null is turned off", "[helm]") {
  CHECK((OfChart("enforce=null") == OfChart("replicas=2")));
}

TEST_CASE("values that cannot work are refused, and named", "[helm]") {
  const auto refusal = [](const std::string& values) {
    const auto result = Helm(Template(kQuotaSystem, values));
    return result.exit_code == 0 ? "accepted" : result.output;
  };
  CHECK_THAT(refusal("enforce={nodes}"), Catch::Contains("/enforce/0"));
  CHECK_THAT(refusal("replicas=-1"), Catch::Contains("/replicas"));
  CHECK_THAT(refusal("resyncPeriod=soon"), Catch::Contains("/resyncPeriod"));
  CHECK_THAT(refusal("replicaCount=3"), Catch::Contains("replicaCount"));
  CHECK_THAT(refusal("certificate=letsencrypt"), Catch::Contains("/certificate"));
  CHECK_THAT(refusal("extraArgs={v=1}"), Catch::Contains("/extraArgs/0"));
  // Each replica would create its own certificate.
  CHECK_THAT(refusal("enforce={karmada},kubeconfigSecret=k"), Catch::Contains("/certificate"));
  CHECK_THAT(refusal("enforce={ironcore}"), Catch::Contains("/ironcore"));
  CHECK_THAT(refusal("enforce={karmada}"), Catch::Contains("quotaApis counts only core,cluster"));
  CHECK_THAT(refusal("quotaApis={core},enforce={core,cluster}"),
             Catch::Contains("enforce names cluster, but quotaApis counts only core"));
  CHECK_THAT(refusal("failurePolicy=fail"), Catch::Contains("/failurePolicy"));
  CHECK_THAT(refusal("admissionPort=443"), Catch::Contains("/admissionPort"));
  CHECK_THAT(refusal("admissionPort=8080"), Catch::Contains("/admissionPort"));  // of the metrics
  CHECK_THAT(refusal("monitoring.clusterLabels={a.b}"), Catch::Contains("/clusterLabels/0"));
  CHECK_THAT(refusal("monitoring.namespaceLabels={owner)}"), Catch::Contains("/namespaceLabels/0"));
  CHECK_THAT(refusal("image.digest=latest"), Catch::Contains("/image/digest"));
  CHECK_THAT(refusal("extraEnv[0].value=x"), Catch::Contains("/extraEnv/0"));
  CHECK_THAT(refusal(R"(podLabels.app\.kubernetes\.io/name=x)"),
             Catch::Contains("app.kubernetes.io/name"));
  // "*" contains Secrets.
  CHECK_THAT(refusal("rbac.countGroups={*}"), Catch::Contains("/rbac/countSecrets"));
}

TEST_CASE("the objects have what the values say", "[helm]") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const Objects objects = OfChart(
      "appliedClusterQuotas=false,enforce={core},replicas=3,failurePolicy=Ignore,admissionPort="
      "10250,extraArgs={-v=1},"
      "exemptNamespaces={kube-system,calico-system},exemptNamespaceSelector=tier=system,"
      "resources.limits.memory=1Gi,"
      "extraEnv[0].name=TZ,extraEnv[0].value=Etc/UTC,image.digest=" +
      digest +
      ",podAnnotations.team=quota,podLabels.cost=7,nodeSelector.pool=system,"
      "tolerations[0].key=dedicated,tolerations[0].operator=Exists,"
      "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight=5,"
      "rbac.countSecrets=true,rbac.countGroups={example.com},"
      "monitoring.enabled=true,monitoring.interval=15s,monitoring.labels.release=prometheus");
  const auto object = [&](const std::string& kind, const std::string& name = "") {
    const std::string ns = name.empty() ? "quota-system" : "";
    const std::string wanted =
        std::string(kind).append(" ").append(ns).append(" quota-controller-manager").append(name);
    const auto found = objects.find(wanted);
    if (found == objects.end()) throw std::runtime_error("there is no " + wanted);
    return json::Write(found->second);
  };
  const auto has = [](const std::string& text) { return Catch::Contains(text); };
  const std::string deployment = object("Deployment");
  for (const std::string& text :
       {std::string(R"("replicas":3)"), "\"image\":\"quota-controller-manager@" + digest + "\"",
        std::string("--admission-failure-policy=Ignore"),
        std::string("--admission-bind-address=:10250"), std::string(R"("containerPort":10250)"),
        std::string("--exempt-namespaces=kube-system,calico-system"),
        std::string("--exempt-namespace-selector=tier=system"), std::string("\"-v=1\""),
        std::string(R"("memory":"1Gi")"), std::string(R"("team":"quota")"),
        std::string(R"("cost":"7")"), std::string(R"("pool":"system")"),
        std::string(R"("key":"dedicated")"), std::string(R"("weight":5)"),
        std::string(R"("value":"Etc/UTC")"), std::string("--applied-cluster-quotas=false")}) {
    CHECK_THAT(deployment, has(text));
  }
  CHECK_THAT(deployment, !has("podAntiAffinity"));
  for (const char* kind : {"ServiceMonitor", "PrometheusRule"}) {
    CHECK_THAT(object(kind), has(R"("release":"prometheus")"));
  }
  CHECK_THAT(object("ServiceMonitor"), has(R"("interval":"15s")"));
  CHECK_THAT(object("ServiceMonitor"), !has("insecureSkipVerify"));
  CHECK_THAT(object("ClusterRole", "-count-any"), has("example.com"));
  CHECK_THAT(object("ClusterRole", "-count-secrets"), has("secrets"));
  CHECK_THAT(json::Write(OfChart("install=karmada-api-server")
                             .at("CustomResourceDefinition  karmadaquotas.policy.karmada.io")),
             has(R"("helm.sh/resource-policy":"keep")"));
  for (const char* kept : {"clusterquotas", "usagedefinitions"}) {
    CHECK_THAT(json::Write(objects.at(std::string("CustomResourceDefinition  ") + kept +
                                      ".quota-controller-manager.io")),
               has(R"("helm.sh/resource-policy":"keep")"));
  }
  // Without the daemon their content becomes outdated.
  for (const char* left : {"appliedclusterquotas", "definedquotas"}) {
    CHECK_THAT(json::Write(objects.at(std::string("CustomResourceDefinition  ") + left +
                                      ".quota-controller-manager.io")),
               !has("helm.sh/resource-policy"));
  }
}

TEST_CASE("every object has the usual labels and those of the values, and selectors have neither",
          "[helm]") {
  const std::string values =
      "commonLabels.team=x,enforce={core,cluster},monitoring.enabled=true,namespace.create=true,"
      "criticalPodsQuota=10,rbac.countSecrets=true,serviceAccount.annotations.role=r";
  for (const json::Value& object : Rendered(values)) {
    INFO(json::Write(object));
    for (const char* label :
         {"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version",
          "app.kubernetes.io/managed-by", "app.kubernetes.io/component", "helm.sh/chart", "team"}) {
      CHECK(object.At({"metadata", "labels", label}) != nullptr);
    }
    // An upgrade cannot change the selector of a Deployment.
    for (const char* selector : {"matchLabels", "app.kubernetes.io/name"}) {
      const json::Value* selected = object.At({"spec", "selector"});
      if (selected == nullptr || selected->At({selector}) == nullptr) continue;
      CHECK(json::Write(*selected).find("team") == std::string::npos);
      CHECK(json::Write(*selected).find("version") == std::string::npos);
      CHECK(json::Write(*selected).find("instance") == std::string::npos);
    }
  }
  const Objects objects = OfChart(values);
  CHECK(objects.at("ServiceAccount quota-system quota-controller-manager")
            .StringAt({"metadata", "annotations", "role"}) == "r");
  CHECK(objects.at("Secret quota-system quota-controller-manager-certificate")
            .StringAt({"metadata", "labels", "app.kubernetes.io/managed-by"}) ==
        "quota-controller-manager");
  CHECK(OfChart("podSecurityContext=null")
            .contains("Deployment quota-system quota-controller-manager"));
}

TEST_CASE("helm test creates a quota that the daemon counts, and nobody else if possible",
          "[helm]") {
  // kube-controller-manager counts ResourceQuotas, too.
  CHECK(TestedQuotas("") == Words{"ClusterQuota"});
  CHECK(TestedQuotas("quotaApis={core,cluster}") == Words{"ClusterQuota"});
  CHECK(TestedQuotas("quotaApis={core,ironcore}") == Words{"ResourceQuota"});
  CHECK(TestedQuotas("crds.clusterQuota=false") == Words{"ResourceQuota"});
}

TEST_CASE("the chart works as a subchart with global values", "[helm]") {
  const TempDir dir;
  dir.Write("Chart.yaml",
            "apiVersion: v2\nname: platform\nversion: 1.0.0\ndependencies:\n"
            "- {name: quota-controller-manager, version: '*', condition: "
            "quota-controller-manager.enabled}\n");
  dir.Write("values.yaml",
            "global: {region: eu, imageRegistry: registry.example.com}\n"
            "quota-controller-manager:\n  enabled: true\n  global: {team: a}\n");
  std::filesystem::create_directory(dir.path() + "/charts");
  std::filesystem::create_directory_symlink(kChart, dir.path() + "/charts/quotas");
  const auto names = [&](const std::string& values) {
    auto documents = config::ParseYamlDocuments(WithoutRemarks(
        MustHelm({"template", "platform", dir.path(), "--namespace=quota-system", values})));
    if (!documents) throw std::runtime_error(documents.error().message);
    return Names(ByName(*documents));
  };
  CHECK(names("--set=a=b").contains("Deployment quota-system quota-controller-manager"));
  CHECK(names("--set=quota-controller-manager.enabled=false").empty());
}

}  // namespace e2e::helm_values_test

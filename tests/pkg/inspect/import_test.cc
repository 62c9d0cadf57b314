#include "pkg/inspect/import.h"

#include <catch2/catch.hpp>

#include "pkg/base/text.h"
#include "pkg/config/yaml.h"

namespace import_test {

using Catch::Matchers::Contains;
using inspect::Imported;
using Texts = std::vector<std::string>;

namespace {

Imported Import(const std::string& yaml, const std::string& file = "f") {
  const auto manifests = inspect::ReadManifests(yaml, file);
  REQUIRE(manifests.has_value());
  return inspect::Import(*manifests, "Audit");
}

// "clusterquota/acme", with "!" in front of what is lost.
Texts RowsOf(const Imported& imported) {
  Texts rows;
  for (const inspect::ImportRow& row : imported.rows) {
    rows.push_back((row.lost ? "!" : "") + row.field + " -> " + row.to + ": " + row.how);
  }
  return rows;
}

std::string Tenant(const std::string& spec, const std::string& annotations = "{}") {
  return "{apiVersion: capsule.clastix.io/v1beta2, kind: Tenant, metadata: {name: acme, "
         "annotations: " +
         annotations + "}, spec: " + spec + "}";
}

std::string Crq(const std::string& spec) {
  return "{apiVersion: quota.openshift.io/v1, kind: ClusterResourceQuota, metadata: {name: red}, "
         "spec: " +
         spec + "}";
}

std::string Hrq(const std::string& spec) {
  return "{apiVersion: hnc.x-k8s.io/v1alpha2, kind: HierarchicalResourceQuota, metadata: {name: "
         "all, namespace: org}, spec: " +
         spec + "}";
}

std::string Project(const std::string& spec) {
  return "{apiVersion: management.cattle.io/v3, kind: Project, metadata: {name: p-x1, namespace: "
         "c-m-1}, spec: " +
         spec + "}";
}

constexpr const char* kByCapsule =
    "selects namespaces with capsule.clastix.io/tenant=acme, which Capsule sets: label them "
    "yourself before you remove it";

}  // namespace

TEST_CASE("import: a quota of a Capsule Tenant becomes a ClusterQuota", "[inspect]") {
  const Imported imported =
      Import(Tenant("{resourceQuotas: {scope: Tenant, items: [{hard: {limits.cpu: '8', "
                    "requests.storage: 10Gi}, scopes: [NotTerminating]}]}}"));
  CHECK(imported.Complete());
  CHECK(inspect::ImportText(imported) ==
        "---\n"
        "# f: tenant.capsule.clastix.io/acme, spec.resourceQuotas.items[0]\n"
        "apiVersion: quota-controller-manager.io/v1alpha1\n"
        "kind: ClusterQuota\n"
        "metadata:\n"
        "  name: acme\n"
        "spec:\n"
        "  enforcement: Audit\n"
        "  namespaceSelector:\n"
        "    matchLabels:\n"
        "      capsule.clastix.io/tenant: acme\n"
        "  hard:\n"
        "    limits.cpu: \"8\"\n"
        "    requests.storage: 10Gi\n"
        "  scopes:\n"
        "  - NotTerminating\n");
  CHECK(RowsOf(imported) ==
        Texts{std::string("spec.resourceQuotas.items[0] -> clusterquota/acme: ") + kByCapsule});
}

TEST_CASE("import: each item of a Tenant has a name, and Tenant is the default scope",
          "[inspect]") {
  const Imported imported =
      Import(Tenant("{resourceQuotas: {items: [{hard: {pods: 1}}, {hard: {services: 2}}]}}"));
  REQUIRE(imported.quotas.size() == 2);
  CHECK(imported.quotas[0].object.StringAt({"metadata", "name"}) == "acme-0");
  CHECK(imported.quotas[1].object.StringAt({"metadata", "name"}) == "acme-1");
  const Imported old = Import(Tenant("{resourceQuotas: [{hard: {pods: 1}}]}"));
  CHECK(old.quotas.size() == 1);
}

TEST_CASE("import: what else a Tenant says stays, or is lost", "[inspect]") {
  CHECK(RowsOf(Import(Tenant("{resourceQuotas: {scope: Namespace, items: [{hard: {pods: 1}}]}, "
                             "owners: [{name: a}], ingressOptions: {}, namespaceOptions: {quota: "
                             "3}}"))) ==
        Texts{"spec.resourceQuotas -> stays: scope Namespace: a ResourceQuota in each namespace",
              "!spec.namespaceOptions.quota -> nothing: namespaces are not counted",
              "spec.owners, namespaceOptions -> stays: no quota: Capsule keeps it"});
  CHECK(RowsOf(Import(Tenant("{}"))) == Texts{"- -> stays: it has no quota"});
  CHECK(RowsOf(Import(Tenant("{resourceQuotas: {scope: Node, items: [{hard: {pods: 1}}]}}"))) ==
        Texts{"!spec.resourceQuotas.scope -> nothing: must be Tenant or Namespace"});
  CHECK(RowsOf(Import(Tenant("{resourceQuotas: 7}"))) ==
        Texts{"!spec.resourceQuotas -> nothing: must be an object, not number"});
  CHECK(RowsOf(Import(Tenant("{resourceQuotas: {items: [7]}}"))) ==
        Texts{"!spec.resourceQuotas.items[0] -> nothing: must be an object, not number"});
}

TEST_CASE("import: a Tenant's limits of custom resources are counted", "[inspect]") {
  const Imported imported =
      Import(Tenant("{}",
                    "{quota.resources.capsule.clastix.io/mysqls.databases.acme.corp_v1: '3', "
                    "used.resources.capsule.clastix.io/mysqls.databases.acme.corp_v1: '1', "
                    "quota.resources.capsule.clastix.io/odd: '3'}"));
  CHECK(RowsOf(imported) ==
        Texts{"!metadata.annotations[quota.resources.capsule.clastix.io/odd] -> nothing: names no "
              "custom resource: must be <plural>.<group>_<version>",
              std::string("metadata.annotations -> clusterquota/acme-custom-resources: ") +
                  kByCapsule});
  CHECK(imported.quotas.at(0).object.StringAt(
            {"spec", "hard", "count/mysqls.databases.acme.corp"}) == "3");
}

TEST_CASE("import: a ClusterResourceQuota keeps its selector of labels", "[inspect]") {
  const Imported imported = Import(
      Crq("{selector: {annotations: null, labels: {matchLabels: {team: red}, matchExpressions: "
          "[{key: stage, operator: In, values: [a, b]}, {key: old, operator: DoesNotExist}]}}, "
          "quota: {hard: {pods: 4}}}"));
  CHECK(imported.Complete());
  CHECK(RowsOf(imported) ==
        Texts{"spec.quota -> clusterquota/red: selects namespaces with team=red,stage in "
              "(a,b),!old"});
  CHECK(RowsOf(Import(Crq("{selector: {labels: {}}, quota: {hard: {pods: 4}}}"))) ==
        Texts{"spec.quota -> clusterquota/red: selects all namespaces"});
}

TEST_CASE("import: a quota that would limit other namespaces is not written", "[inspect]") {
  for (const char* selector :
       {"{annotations: {openshift.io/requester: jane}}",
        "{annotations: {openshift.io/requester: jane}, labels: {matchLabels: {team: red}}}"}) {
    const Imported imported =
        Import(Crq(std::string("{selector: ") + selector + ", quota: {hard: {pods: 4}}}"));
    CHECK(imported.quotas.empty());
    CHECK_FALSE(imported.Complete());
    CHECK_THAT(imported.rows.at(0).how, Contains("select by the label"));
  }
  CHECK(RowsOf(Import(Crq("{selector: {labels: null}, quota: {hard: {pods: 4}}}"))) ==
        Texts{"!spec.selector -> nothing: selects no namespace"});
  CHECK(RowsOf(Import(Crq("{selector: {fields: {}, labels: {}}, quota: {hard: {pods: 4}}, "
                          "more: 1}"))) ==
        Texts{"!spec.more -> nothing: import does not know this field",
              "!spec.selector.fields -> nothing: import does not know this field",
              "spec.quota -> clusterquota/red: selects all namespaces"});
  const Imported broken =
      Import(Crq("{selector: {labels: {matchLabels: 7}}, quota: {hard: {pods: 4}}}"));
  CHECK(broken.quotas.empty());
  CHECK_THAT(broken.rows.at(0).how, Contains("spec.namespaceSelector"));
}

TEST_CASE("import: a HierarchicalResourceQuota selects its subtree", "[inspect]") {
  const Imported imported = Import(Hrq("{hard: {requests.cpu: 4}}"));
  CHECK(imported.Complete());
  CHECK(RowsOf(imported) ==
        Texts{"spec -> clusterquota/org-all: selects namespaces with org.tree.hnc.x-k8s.io/depth, "
              "which HNC sets: label them yourself before you remove it"});
  CHECK(imported.rows.at(0).from ==
        "f: hierarchicalresourcequota.hnc.x-k8s.io/all in namespace org");
}

TEST_CASE("import: the limits of a Rancher project get the names of ResourceQuota", "[inspect]") {
  const Imported imported = Import(
      Project("{displayName: shop, resourceQuota: {limit: {limitsCpu: 8000m, requestsCpu: 4000m, "
              "limitsMemory: 4Gi, requestsMemory: 2Gi, requestsStorage: 10Gi, configMaps: '1', "
              "persistentVolumeClaims: '2', pods: '3', replicationControllers: '4', secrets: '5', "
              "services: '6', servicesLoadBalancers: '7', servicesNodePorts: '8', extended: "
              "{count/cronjobs.batch: '9'}}, usedLimit: {pods: '1'}}, "
              "namespaceDefaultResourceQuota: {limit: {pods: '2'}}}"));
  CHECK(imported.Complete());
  CHECK(RowsOf(imported) ==
        Texts{"spec.resourceQuota.limit -> clusterquota/p-x1: selects namespaces with "
              "field.cattle.io/projectId=p-x1, which Rancher sets: label them yourself before you "
              "remove it",
              "spec.namespaceDefaultResourceQuota -> stays: a ResourceQuota in each namespace; "
              "remove it to let namespaces share",
              "spec.displayName -> stays: no quota: Rancher keeps it"});
  const auto hard = config::ParseYaml(
      "{limits.cpu: 8000m, requests.cpu: 4000m, limits.memory: 4Gi, requests.memory: 2Gi, "
      "requests.storage: 10Gi, configmaps: '1', persistentvolumeclaims: '2', pods: '3', "
      "replicationcontrollers: '4', secrets: '5', services: '6', services.loadbalancers: '7', "
      "services.nodeports: '8', count/cronjobs.batch: '9'}");
  REQUIRE(hard.has_value());
  CHECK(*imported.quotas.at(0).object.At({"spec", "hard"}) == *hard);
  CHECK(RowsOf(Import(Project("{resourceQuota: {limit: {gpus: '1', pods: '2'}, more: 1}}"))) ==
        Texts{"!spec.resourceQuota.more -> nothing: import does not know this field",
              "!spec.resourceQuota.limit.gpus -> nothing: import does not know this limit",
              RowsOf(imported).front()});
}

TEST_CASE("import: names that are never counted and amounts that cannot be read are lost",
          "[inspect]") {
  const Imported some = Import(Hrq("{hard: {example.com/gpu: 1, pods: 2}}"));
  CHECK(RowsOf(some).front() ==
        "!spec.hard[example.com/gpu] -> nothing: a name that can never be counted (did you mean "
        "requests.example.com/gpu?)");
  CHECK(*some.quotas.at(0).object.At({"spec", "hard"}) == json::Object{{"pods", 2}});
  const Imported none = Import(Hrq("{hard: {podz: 1}}"));
  CHECK(none.quotas.empty());
  CHECK_FALSE(none.Complete());
  const Imported broken = Import(Hrq("{hard: {pods: many}}"));
  CHECK(broken.quotas.empty());
  CHECK_THAT(broken.rows.at(0).how, Contains("spec.hard"));
  CHECK(RowsOf(Import(Hrq("{}"))) == Texts{"spec -> stays: it limits nothing"});
}

TEST_CASE("import: other kinds are named, with their file", "[inspect]") {
  const Imported imported = Import(Hrq("{hard: {pods: 2}}") + "\n---\n" +
                                       "{apiVersion: v1, kind: Pod, metadata: {name: p}}\n---\n" +
                                       "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, "
                                       "namespace: a}}\n---\n" +
                                       "{apiVersion: example.com/v1, kind: Tenant, metadata: "
                                       "{generateName: t}}",
                                   "dir/all.yaml");
  REQUIRE(imported.rows.size() == 4);
  CHECK(imported.rows[1].from == "dir/all.yaml, document 2: pod/p");
  CHECK(imported.rows[1].lost);
  CHECK_THAT(imported.rows[1].how,
             Contains("Tenant.capsule.clastix.io") && Contains("Project.management.cattle.io"));
  CHECK_FALSE(imported.rows[2].lost);
  CHECK(imported.rows[3].field == "metadata.name");
  CHECK(imported.rows[3].lost);
}

TEST_CASE("import: two objects do not become one ClusterQuota", "[inspect]") {
  const Imported imported = Import(Hrq("{hard: {pods: 2}}") + "\n---\n" + Hrq("{hard: {pods: 3}}"));
  CHECK(imported.quotas.size() == 1);
  CHECK(RowsOf(imported).back() ==
        "!spec -> nothing: another object became clusterquota/org-all already");
}

TEST_CASE("import: foreign text cannot leave its comment", "[inspect]") {
  const Imported imported = Import(Hrq("{hard: {pods: 2}}"), "a\nkind: Pod\n# b");
  const auto documents = config::ParseYamlDocuments(inspect::ImportText(imported));
  REQUIRE(documents.has_value());
  REQUIRE(documents->size() == 1);
  CHECK(documents->front().StringAt({"kind"}) == "ClusterQuota");
}

}  // namespace import_test

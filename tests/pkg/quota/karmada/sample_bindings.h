#pragma once

// ResourceBindings with the fields of Karmada v1.19.0-rc.0, as JSON.

namespace sample {

// 3 replicas over two clusters: cpu 1500m, memory 3Gi, example.com/fpga 3, pods 3.
inline constexpr const char* kDeployment = R"({
  "apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding",
  "metadata":{"name":"web-deployment","finalizers":["karmada.io/binding-controller"],
    "labels":{"resourcebinding.karmada.io/permanent-id":"6d0f6f0e-2c1b-4b38-9b1b-2a4f2a7f0a01"}},
  "spec":{
    "resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"team-a","name":"web",
      "uid":"3f0a2c54-8a57-4f53-9c55-0d9b1f5f7c21","resourceVersion":"1187"},
    "replicas":3,
    "replicaRequirements":{"namespace":"team-a","priorityClassName":"middle",
      "resourceRequest":{"cpu":"500m","memory":"1Gi","example.com/fpga":"1"}},
    "schedulerName":"default-scheduler","conflictResolution":"Abort",
    "placement":{"clusterAffinity":{"clusterNames":["member1","member2"]},
      "replicaScheduling":{"replicaSchedulingType":"Divided",
        "replicaDivisionPreference":"Weighted"}},
    "clusters":[{"name":"member1","replicas":2},{"name":"member2","replicas":1}]}})";

// Two components in one cluster: cpu 9, memory 18Gi, pods 5.
inline constexpr const char* kFlink = R"({
  "apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding",
  "metadata":{"name":"clicks-flinkdeployment","finalizers":["karmada.io/binding-controller"]},
  "spec":{
    "resource":{"apiVersion":"flink.apache.org/v1beta1","kind":"FlinkDeployment",
      "namespace":"team-a","name":"clicks","uid":"9a4f2be2-6f0c-4a6a-8c36-3ab6bc7b9d11",
      "resourceVersion":"2044"},
    "components":[
      {"name":"jobmanager","replicas":1,"replicaRequirements":{"priorityClassName":"middle",
        "resourceRequest":{"cpu":"1","memory":"2Gi"}}},
      {"name":"taskmanager","replicas":4,"replicaRequirements":{"priorityClassName":"low",
        "resourceRequest":{"cpu":"2","memory":"4Gi"}}}],
    "schedulerName":"default-scheduler",
    "placement":{"clusterAffinity":{"clusterNames":["member1","member2"]},
      "spreadConstraints":[{"spreadByField":"cluster","minGroups":1,"maxGroups":1}],
      "replicaScheduling":{"replicaSchedulingType":"Divided",
        "replicaDivisionPreference":"Aggregated"}},
    "clusters":[{"name":"member1","components":[{"name":"jobmanager","replicas":1},
                                                {"name":"taskmanager","replicas":4}]}]}})";

// services 1.
inline constexpr const char* kService = R"({
  "apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding",
  "metadata":{"name":"web-service","finalizers":["karmada.io/binding-controller"]},
  "spec":{
    "resource":{"apiVersion":"v1","kind":"Service","namespace":"team-a","name":"web",
      "uid":"51c5d1a0-6d3d-4b2e-8a43-b14c7f6c5e02","resourceVersion":"1190"},
    "schedulerName":"default-scheduler",
    "placement":{"clusterAffinity":{"clusterNames":["member1","member2"]}},
    "clusters":[{"name":"member1"},{"name":"member2"}]}})";

// Propagated because kDeployment needs it: secrets 1.
inline constexpr const char* kSecret = R"({
  "apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding",
  "metadata":{"name":"web-tls-secret","finalizers":["karmada.io/binding-controller"]},
  "spec":{
    "resource":{"apiVersion":"v1","kind":"Secret","namespace":"team-a","name":"web-tls",
      "uid":"c0b8b0c4-94f4-4df6-9a0e-54b7e9c3d703","resourceVersion":"1102"},
    "conflictResolution":"Abort","preserveResourcesOnDeletion":false,
    "requiredBy":[{"namespace":"team-a","name":"web-deployment",
      "clusters":[{"name":"member1","replicas":2},{"name":"member2","replicas":1}]}]}})";

// Suspended: nothing; then cpu 500m, memory 24576m, pods 2.
inline constexpr const char* kJob = R"({
  "apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding",
  "metadata":{"name":"batch-job"},
  "spec":{
    "resource":{"apiVersion":"batch/v1","kind":"Job","namespace":"team-a","name":"batch"},
    "replicas":2,
    "replicaRequirements":{"resourceRequest":{"cpu":"250m","memory":"12288m"}},
    "suspension":{"scheduling":true}}})";

}  // namespace sample

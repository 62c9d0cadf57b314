#pragma once

// A sample of manifests/samples/usage on trial: objects of its kind are counted beside a sum by
// hand. The CRDs are those in tests/e2e. With QCM_OPERATOR_CRDS=FOLDER they are
// FOLDER/<name of the CRD>.yaml: the projects' own, whole.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/usage/by_hand.h"

namespace e2e {

// A CRD that exists during the lifetime of this object.
class OperatorCrd {
 public:
  // Its file is tests/e2e/<folder>/<plural>-crd.yaml.
  OperatorCrd(Api& api, const std::string& name, const std::string& folder = "usage");
  ~OperatorCrd();
  OperatorCrd(const OperatorCrd&) = delete;
  OperatorCrd& operator=(const OperatorCrd&) = delete;

  // The paths of the collections.
  [[nodiscard]] std::string InCluster() const { return version_ + plural_; }
  [[nodiscard]] std::string In(const std::string& ns) const {
    return version_ + "/namespaces/" + ns + plural_;
  }

 private:
  Api& api_;
  std::string name_;
  std::string version_;  // "/apis/ray.io/v1"
  std::string plural_;
};

// The objects in tests/e2e/usage/<file>.yaml.
std::vector<json::Value> SampleObjects(const std::string& file);

// One that an admission refuses: the spec of an object, and a part of the message.
struct RefusedSpec {
  const char* spec;
  const char* message;
};

// With this scope, a quota forbids an object: its limit is 0.
struct ScopedSpec {
  std::string scope;
  std::string value;
  std::string limit;
  std::string spec;         // of an object in the scope
  bool any_but_it = false;  // the quota is about objects with any other value
};

struct UsageSample {
  std::string file;  // of manifests/samples/usage
  std::string objects;
  std::function<by_hand::Sums(const json::Value&)> uses;
  // Changes of objects by name. All is compared again after them.
  std::vector<std::pair<std::string, std::string>> changes;
  std::vector<RefusedSpec> refused;
  std::vector<ScopedSpec> scoped{};
};

// Creates, changes and deletes the objects, and compares status.used of a ClusterQuota with the sum
// by hand each time. Then tries what must be refused. `collection` is that of a namespace; its CRD
// exists.
void TrySample(Admission& a, UsageDefinitions& definitions, const UsageSample& sample,
               const std::function<std::string(const std::string& ns)>& collection);

}  // namespace e2e

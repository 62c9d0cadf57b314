#pragma once

// One random case of `kubectl quota check` on a real cluster: its namespace with quotas, what check
// foresees of its manifests, and what kube-apiserver and kube-controller-manager then do. Manifests
// are applied as `kubectl apply` does. There is no kubelet: MakeReady() says that pods run.
//
// One thread.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/random_manifests.h"

namespace e2e {

// Lets all pods of the cluster run and be ready.
void MakeReady(Api& api);

class Trial {
 public:
  Trial(Api& api, RandomCase made, std::string ns)
      : api_(&api), made_(std::move(made)), ns_(std::move(ns)) {}

  // Creates what is stored before the manifests.
  void MakeRules();
  // Returns "" once the namespace has what controllers make, and all quotas are counted.
  std::string Uncounted();
  void Check(const std::string& kubeconfig, const TempDir& dir);
  void Apply();
  // Changes the manifests; false if nothing changed. What has no name of its own is left out.
  bool Change(RandomManifests& random);
  // Gives workloads their earlier templates; false if none changed.
  bool Return();

  [[nodiscard]] bool Fits() const { return said_.At({"fits"})->AsBool().value_or(false); }
  // True if the last check asks for nothing.
  [[nodiscard]] bool AsksNothing() const;
  // Returns "" once the prediction has come true, otherwise the first difference.
  std::string NotTrue();
  [[nodiscard]] std::string Story() const;

 private:
  // True if this quota or class is applied before the other manifests.
  static bool IsPolicy(const json::Value& manifest);
  [[nodiscard]] std::string CollectionOf(const json::Value& object) const;
  [[nodiscard]] std::string PathOf(const json::Value& object) const;
  json::Value QuotaNow(const std::string& name);
  std::set<std::string> QuotaNames();
  void ApplyOne(const json::Value& manifest);
  void Send(client::ApiRequest request);
  // Notes what changes from `before`.
  bool Note(const std::vector<json::Value>& before);
  void Remember();
  void LookForRefusals();
  [[nodiscard]] bool WasForeseen(const std::string& refusal) const;
  [[nodiscard]] bool Lacks(const std::string& quota, const std::string& name) const;
  [[nodiscard]] bool IsSilent() const;
  [[nodiscard]] std::string Foreseen(const std::string& quota, const std::string& name) const;
  // Returns how usage differs from what is foreseen. That is the largest usage of a rollout, and
  // what is freed later counts.
  std::string UsageNotTrue();
  std::string NotRolledOut();

  Api* api_;
  RandomCase made_;
  std::string ns_;
  json::Value said_;
  std::set<std::string> refusals_;
  std::set<std::string> earlier_;               // refusals of earlier steps
  std::map<std::string, json::Value> applied_;  // by path
  std::map<std::string, json::Value> first_;    // the first manifests, by path
  std::map<std::string, std::string> before_;   // "quota-0 pods": what was used before
  std::vector<std::string> rolling_;            // paths of workloads whose pods are being replaced
  bool shrinks_ = false;
  // The only change is one rollout whose course does not depend on the moments at which pods are
  // ready. Then a no comes true, too.
  bool sure_ = false;
};

}  // namespace e2e

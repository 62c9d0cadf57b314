#pragma once

// Random quotas, LimitRanges, classes and manifests of all kinds, and changes of them, for tests of
// properties that must always hold.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "pkg/json/value.h"

namespace e2e {

struct RandomCase {
  std::vector<json::Value> rules;  // stored ResourceQuotas, and a LimitRange sometimes
  // Whole objects, without a namespace, in the order of the files. Some are exports, some have a
  // generated name, one may be there twice, and some are policies: a Namespace, quotas, classes.
  std::vector<json::Value> manifests;
};

class RandomManifests {
 public:
  explicit RandomManifests(std::uint64_t seed) : random_(seed) {}
  // For a namespace of this name.
  RandomCase Next(const std::string& ns);
  // Changes named manifests: they grow, shrink, get another template or another autoscaler. Often
  // it changes one of them only.
  void Change(std::vector<json::Value>& manifests);
  bool Chance(int percent) { return Below(100) < percent; }

 private:
  // In [0, bound).
  int Below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  std::string Pick(const std::vector<std::string>& words) {
    return words[static_cast<std::size_t>(Below(static_cast<int>(words.size())))];
  }

  json::Value Resources();
  json::Value Container(const std::string& name);
  json::Value PodSpec(bool of_job);
  json::Value Template(const std::string& app, bool of_job);
  json::Value Workload(const std::string& kind, const std::string& name);
  json::Value Claim(const std::string& name);
  json::Value Service(const std::string& name);
  json::Value Manifest(int number);
  void SetStrategy(const std::string& kind, json::Value& object);
  json::Value Autoscaler(const json::Value& target);
  json::Value Quota(int number);
  void AddScope(const std::string& scope, json::Value& quota);
  json::Value LimitRange();
  void AddClasses(const std::string& ns, RandomCase& made);
  void AddPolicies(const std::string& ns, RandomCase& made);
  void MakeUnusual(std::vector<json::Value>& manifests);
  void Repaint(json::Value& pod_template);
  void ChangeOne(json::Value& manifest);

  std::mt19937_64 random_;
  std::string priority_class_;  // of the case; "": it has none
  std::string runtime_class_;
  std::string storage_class_;
};

}  // namespace e2e

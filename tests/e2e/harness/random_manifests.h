#pragma once

// Random quotas, LimitRanges and manifests of all kinds, for tests of properties that must always
// hold.

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "pkg/json/value.h"

namespace e2e {

struct RandomCase {
  std::vector<json::Value> rules;      // ResourceQuotas, and a LimitRange sometimes
  std::vector<json::Value> manifests;  // whole objects, without a namespace
};

class RandomManifests {
 public:
  explicit RandomManifests(std::uint64_t seed) : random_(seed) {}
  RandomCase Next();
  // The number of replicas to which a manifest may grow. nullopt if it has no replicas or is
  // paused.
  std::optional<int> Growth(const json::Value& manifest);

 private:
  // In [0, bound).
  int Below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  bool Chance(int percent) { return Below(100) < percent; }
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
  json::Value Quota(int number);
  json::Value LimitRange();

  std::mt19937_64 random_;
};

}  // namespace e2e

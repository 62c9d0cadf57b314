#pragma once

// Specs and statuses of our kinds of quotas, for a comparison of their definitions with the parser.
// Each is valid but for one odd part: a name, an amount, a scope, a selector or another member,
// made of parts of valid ones, and sometimes broken by a character. The same seed gives the same
// objects.

#include <cstdint>
#include <string>
#include <vector>

#include "pkg/json/value.h"
#include "tests/differential/random.h"

namespace e2e {

class OddQuotas {
 public:
  // `names` can be limited by this kind of quota.
  OddQuotas(std::uint64_t seed, std::vector<std::string> names)
      : random_(seed), names_(std::move(names)) {}

  // What a KarmadaQuota has, and what a ClusterQuota has.
  json::Value Spec();
  json::Value ClusterSpec();
  // hard and used.
  json::Value Status();
  // These, and available and largest.
  json::Value ClusterStatus();
  json::Value AppliedStatus();

 private:
  std::string Broken(std::string text);
  std::string Repeated(std::string_view part, std::size_t least, std::size_t most);
  std::string OddName();
  json::Value OddAmount();
  json::Value Amounts(bool odd, bool odd_names = true);
  json::Value OddValue();
  json::Value OddText(std::initializer_list<const char*> texts);
  json::Value OddScopes();
  json::Value OddScopeSelector();
  json::Value OddNamespaceSelector();
  json::Value OddExpression(const char* key, std::initializer_list<const char*> keys);

  differential::Random random_;
  std::vector<std::string> names_;
};

}  // namespace e2e

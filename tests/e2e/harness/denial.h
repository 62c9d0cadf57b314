#pragma once

// A refusal of ours as the API server words it: the name of the webhook that it asked, and our
// words. The name is the quota API's, or has the first of the resources that are limited in the
// same namespaces before it. Which it is depends on the quotas of other scenarios.

#include <iosfwd>
#include <string>

namespace e2e {

struct Denial {
  std::string quota_api;
  std::string words;
};
bool operator==(const std::string& message, const Denial& denial);
std::ostream& operator<<(std::ostream& out, const Denial& denial);

// By quotas of core, karmada and ironcore.
Denial Denied(std::string words);
Denial DeniedByKarmada(std::string words);
Denial DeniedByCloud(std::string words);

}  // namespace e2e
